//! Checks the structure of the code. Packages depend on the core and on their own tool only. Within
//! each crate, no two files import each other, and no folder imports a folder that is listed after
//! it in the table in the crate's root file.

mod documents;
mod imports;
mod packages;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use imports::{Crates, Imports, circular, upward};
use packages::{Metadata, Target};
use runner::setup::workspace::Workspace;

/// Returns the name and the root file of each library and each program in the workspace. A program's
/// name has a suffix if its package also has a library, which may have the same name.
fn crate_roots(root: &Path) -> Vec<(String, PathBuf)> {
    let mut roots = Vec::new();
    for package in Metadata::read(root).packages {
        let is_lib = |target: &Target| target.kind.iter().any(|kind| kind.ends_with("lib"));
        let has_lib = package.targets.iter().any(is_lib);
        for target in package.targets {
            let name = target.name.replace('-', "_");
            if is_lib(&target) {
                roots.push((name, target.src_path));
            } else if target.kind == ["bin"] {
                let suffix = if has_lib { "_bin" } else { "" };
                roots.push((name + suffix, target.src_path));
            }
        }
    }
    roots
}

fn read_all(root: &Path) -> Crates {
    let mut crates = Crates::default();
    for (name, file) in crate_roots(root) {
        crates.read(&name, &file);
    }
    crates
}

/// The files through which plans, records and results name the scenarios and the rules, whose lists
/// lead to all code that measures and checks them. Their imports are not checked.
const LOOKUPS: [&str; 2] = [
    "crates/suite/src/plan/scenario_id.rs",
    "crates/suite/src/model/rule_lookup.rs",
];

/// Returns the imports of all crates that are checked.
fn checked_imports(root: &Path) -> Imports {
    let mut imports = read_all(root).imports();
    for lookup in LOOKUPS {
        let count = imports.len();
        imports.retain(|(file, _)| *file != root.join(lookup));
        assert!(imports.len() < count, "{lookup} has moved");
    }
    imports
}

/// Returns a crate's folders in the order of the table at the start of its root file.
fn order(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("the crate's root");
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | "));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

/// Returns one line per import, with file paths relative to the root.
fn list<'i>(root: &Path, imports: impl IntoIterator<Item = &'i (PathBuf, PathBuf)>) -> String {
    let short_path = |file: &'i PathBuf| file.strip_prefix(root).unwrap_or(file).display();
    imports
        .into_iter()
        .map(|(source_path, target_path)| {
            format!(
                "{} -> {}\n",
                short_path(source_path),
                short_path(target_path)
            )
        })
        .collect()
}

#[test]
fn no_files_import_each_other() {
    let root = Workspace::find().expect("the workspace").root;
    let found = circular(&checked_imports(&root));
    assert!(found.is_empty(), "{}", list(&root, &found));
}

#[test]
fn no_folder_imports_a_later_one() {
    let root = Workspace::find().expect("the workspace").root;
    let imports = checked_imports(&root);
    for (name, file) in crate_roots(&root) {
        let order = order(&file);
        let folder = file.parent().expect("a folder");
        let found = upward(&imports, folder, &order);
        assert!(found.is_empty(), "{name}: {}", list(&root, &found));
    }
}

/// Writes a crate that consists of these files. Returns the number of imports in cycles and the
/// number of imports from a later folder.
fn judge(files: &[(&str, &str)]) -> (usize, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let mut crates = Crates::default();
    crates.read("made_up", &folder.path().join("lib.rs"));
    let imports = crates.imports();
    let order = ["low", "high"].map(str::to_owned);
    let found = upward(&imports, folder.path(), &order).len();
    (circular(&imports).len(), found)
}

#[test]
fn planted_imports_are_found() {
    let lib = ("lib.rs", "pub mod low; pub mod high;");
    let high = ("high/mod.rs", "mod a; mod b; pub use self::a::A;");
    let b = ("high/b.rs", "pub struct B;");
    let sound = ("high/a.rs", "use super::b::B; pub struct A(B);");
    // A parent's `pub use` and a test module may import anything.
    let test = "pub struct L; #[cfg(test)] mod tests { use crate::high::A; }";
    let low = ("low.rs", test);
    assert_eq!(judge(&[lib, high, sound, b, low]), (0, 0));
    // Imports through a re-exported name, inline, and in a macro.
    let imports = [
        "use crate::high::A; pub struct B(A);",
        "pub struct B; fn f() { let _ = super::a::A::new(); }",
        "pub struct B; fn f() { println!(\"{}\", super::A::NAME); }",
    ];
    for text in imports {
        let (in_cycles, _) = judge(&[lib, high, sound, ("high/b.rs", text), low]);
        assert_eq!(in_cycles, 2, "{text}");
    }
    for text in ["use crate::high::A;", "fn f() { crate::high::A::new() }"] {
        let found = judge(&[lib, high, sound, b, ("low.rs", text)]);
        assert_eq!(found, (0, 1), "{text}");
    }
    // A parent and a child that use each other's items.
    let parent = (
        "high/mod.rs",
        "mod a; mod b; pub struct A; fn f() { b::g() }",
    );
    let child = ("high/b.rs", "pub fn g() { super::A; }");
    assert_eq!(judge(&[lib, parent, ("high/a.rs", ""), child, low]), (2, 0));
}

/// Returns the text of all Rust files below `root`, by relative path.
fn rust_files(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inner = path.strip_prefix(root).expect("a path below the root");
                found.insert(inner.into(), fs::read_to_string(&path).expect("a text"));
            }
        }
    }
    found
}

/// Only the file that manages translation tables may load from addresses directly or through an
/// external crate. Translation tables are not device memory. Device registers are read in
/// `src/machine/memory/mmio.rs`, and `tests/entries` checks the loads there.
#[test]
fn no_other_file_of_the_machine_loads_from_addresses() {
    const HARMLESS: &str = "arm_gic::gicv3::{GicCpuInterface, InterruptGroup};";
    let root = Workspace::find().expect("the workspace").root;
    let mut found = Vec::new();
    for (file, text) in rust_files(&root.join("src/machine")) {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let loads = lines.filter(|line| {
            let by_package = line.contains("arm_gic::") || line.contains("safe_mmio");
            line.contains("read_volatile") || by_package && !line.ends_with(HARMLESS)
        });
        found.extend(loads.map(|_| file.display().to_string()));
    }
    assert_eq!(found, ["memory/tables.rs"]);
}
