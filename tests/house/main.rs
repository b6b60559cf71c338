//! The layout of the code: no two files import each other, no folder imports one
//! that stands after it in `docs/folders.txt`, and comments and sizes keep the limits.

mod files;
mod imports;

use std::fs;
use std::path::{Path, PathBuf};

use imports::{Crates, circular, upward};
use xtask::setup::workspace::Workspace;

fn read_all(root: &Path) -> Crates {
    let mut crates = Crates::default();
    crates.read("psci_bench", &root.join("src/lib.rs"));
    crates.read("psci_bench_bin", &root.join("src/main.rs"));
    crates.read("xtask", &root.join("xtask/src/lib.rs"));
    crates.read("device_tree", &root.join("device-tree/src/lib.rs"));
    crates.read("psci_bench_efi_bin", &root.join("efi/src/main.rs"));
    crates
}

/// The order of the folders of a crate, by `docs/folders.txt`.
fn order(root: &Path, of: &str) -> Vec<String> {
    let text = fs::read_to_string(root.join("docs/folders.txt")).expect("the file");
    let line = text.lines().find_map(|line| line.strip_prefix(of));
    let names = line.and_then(|line| line.strip_prefix(": "));
    let names = names.expect("the crate's line").split(' ');
    names.map(str::to_owned).collect()
}

/// A line for each import, by its files' paths from the root.
fn list<'i>(root: &Path, imports: impl IntoIterator<Item = &'i (PathBuf, PathBuf)>) -> String {
    let short = |file: &'i PathBuf| file.strip_prefix(root).unwrap_or(file).display();
    let line = |it: &'i (PathBuf, PathBuf)| format!("{} -> {}\n", short(&it.0), short(&it.1));
    imports.into_iter().map(line).collect()
}

#[test]
fn no_files_import_each_other() {
    let root = Workspace::find().expect("the workspace").root;
    let found = circular(&read_all(&root).imports());
    assert!(found.is_empty(), "{}", list(&root, &found));
}

#[test]
fn no_folder_imports_a_later_one() {
    let root = Workspace::find().expect("the workspace").root;
    let imports = read_all(&root).imports();
    for of in ["src", "xtask/src"] {
        let found = upward(&imports, &root.join(of), &order(&root, of));
        assert!(found.is_empty(), "{}", list(&root, &found));
    }
}

/// Writes a crate of these files, and returns the numbers of imports in circles and of
/// those to a later folder.
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
    // Nothing but a parent's `pub use`, and a test that imports what it likes.
    let test = "pub struct L; #[cfg(test)] mod tests { use crate::high::A; }";
    let low = ("low.rs", test);
    assert_eq!(judge(&[lib, high, sound, b, low]), (0, 0));
    // By a name that is passed on, inline, and in a macro.
    let imports = [
        "use crate::high::A; pub struct B(A);",
        "pub struct B; fn f() { let _ = super::a::A::new(); }",
        "pub struct B; fn f() { println!(\"{}\", super::A::NAME); }",
    ];
    for text in imports {
        let b = ("high/b.rs", text);
        assert_eq!(judge(&[lib, high, sound, b, low]).0, 2, "{text}");
    }
    for text in ["use crate::high::A;", "fn f() { crate::high::A::new() }"] {
        let low = ("low.rs", text);
        assert_eq!(judge(&[lib, high, sound, b, low]), (0, 1), "{text}");
    }
    // A parent with items that uses its child, which uses them.
    let parent = "mod a; mod b; pub struct A; fn f() { b::g() }";
    let parent = ("high/mod.rs", parent);
    let child = ("high/b.rs", "pub fn g() { super::A; }");
    assert_eq!(judge(&[lib, parent, ("high/a.rs", ""), child, low]), (2, 0));
}

/// The files that turn a clippy lint off, and the lint: at most 20.
const LINT_EXCEPTIONS: [(&str, &str); 3] = [
    ("src/machine/round/cells.rs", "mut_from_ref"),
    ("src/machine/round/handover.rs", "mut_from_ref"),
    ("verify/src/cells.rs", "mut_from_ref"),
];

const MOST_LINES: usize = 500;

#[test]
fn comments_have_heads_and_plain_words() {
    let root = Workspace::find().expect("the workspace").root;
    let mut list = String::new();
    for (file, text) in files::read_all(&root) {
        for (line, fault) in files::wording_faults(&text) {
            list += &format!("{}:{line}: {fault}\n", file.display());
        }
    }
    assert_eq!(list, "");
}

#[test]
fn planted_wording_faults_are_found() {
    for (text, lines) in [
        (
            "/// Returns it.\n/// What follows is a second line.",
            &[][..],
        ),
        ("/// What a CPU does.", &[1]),
        ("fn f() {}\n/// Who rings.\nfn g() {}", &[2]),
        ("/// The same for a cluster.", &[1]),
        ("/// The sameness of both.", &[]),
        (
            "/// Its length.\nlen: u8,\n/// Its base.\nbase: u8,",
            &[1, 3],
        ),
        ("#[doc = \"How it ends.\"]", &[1]),
        ("/// Powers on.\n//! What it is.", &[2]),
        ("// What the loader left.", &[]),
        ("// Nobody\n// told\n// him\n// that", &[1, 2]),
        ("let a = 1; // his own", &[1]),
        ("let a = \"http:// his\";", &[]),
    ] {
        let found = files::wording_faults(text).into_iter().map(|it| it.0);
        assert_eq!(found.collect::<Vec<_>>(), lines, "{text}");
    }
}

/// Where the payload loads from memory by its own hand, or has a package that does: translation
/// tables, which are no device's. Devices have `memory/mmio.rs`, whose loads `tests/entries` holds.
#[test]
fn no_other_file_of_the_machine_loads_from_addresses() {
    const HARMLESS: [&str; 2] = [
        "arm_gic::gicv3::GicCpuInterface;",
        "arm_gic::{IntId, InterruptGroup};",
    ];
    let root = Workspace::find().expect("the workspace").root;
    let mut found = Vec::new();
    for (file, text) in files::read_all(&root.join("src/machine")) {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let loads = lines.filter(|line| {
            let by_package = line.contains("arm_gic::") || line.contains("safe_mmio");
            let is_harmless = HARMLESS.iter().any(|it| line.ends_with(it));
            line.contains("read_volatile") || by_package && !is_harmless
        });
        found.extend(loads.map(|_| file.display().to_string()));
    }
    assert_eq!(found, ["memory/tables.rs"]);
}

#[test]
fn files_are_short_and_keep_the_lints() {
    let root = Workspace::find().expect("the workspace").root;
    let (mut long, mut exceptions) = (Vec::new(), Vec::new());
    for (file, text) in files::read_all(&root) {
        let file = file.display().to_string();
        let lints = files::lint_exceptions(&text).into_iter();
        exceptions.extend(lints.map(|lint| (file.clone(), lint)));
        if text.lines().count() > MOST_LINES {
            long.push(file);
        }
    }
    assert_eq!(long, [""; 0]);
    let known = LINT_EXCEPTIONS.map(|(file, lint)| (file.to_owned(), lint.to_owned()));
    assert_eq!(exceptions, known);
}

#[test]
fn planted_lint_exceptions_are_found() {
    let text = "#![off(\n clippy::indexing_slicing)]\n#[off(dead_code)]";
    let text = text.replace("off", "allow") + "#[" + "expect(clippy::too_many_lines)]";
    let found = files::lint_exceptions(&text);
    assert_eq!(found, ["indexing_slicing", "too_many_lines"]);
}
