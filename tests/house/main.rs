//! The layout of the code: no two files import each other, and no folder
//! imports one that stands after it in `docs/folders.txt`.

mod imports;

use std::fs;
use std::path::{Path, PathBuf};

use imports::{Crates, circles, upward};
use xtask::setup::workspace::Workspace;

/// Circles that are still to be broken.
const CIRCLES: usize = 6;
/// Imports against the order of folders that are still to go.
const LATER: usize = 3;

fn read_all(root: &Path) -> Crates {
    let mut crates = Crates::default();
    crates.read("psci_bench", &root.join("src/lib.rs"));
    crates.read("psci_bench_bin", &root.join("src/main.rs"));
    crates.read("xtask", &root.join("xtask/src/lib.rs"));
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

fn show(root: &Path, (from, to): &(PathBuf, PathBuf)) -> String {
    let short = |file: &PathBuf| {
        file.strip_prefix(root)
            .unwrap_or(file)
            .display()
            .to_string()
    };
    format!("{} -> {}", short(from), short(to))
}

#[test]
fn no_files_import_each_other() {
    let root = Workspace::find().expect("the workspace").root;
    let imports = read_all(&root).imports();
    let found = circles(&imports);
    let mut list = String::new();
    for circle in &found {
        list += &format!("circle of {}:\n", circle.len());
        let inner = |it: &&(PathBuf, PathBuf)| circle.contains(&it.0) && circle.contains(&it.1);
        for import in imports.iter().filter(inner) {
            list += &format!("  {}\n", show(&root, import));
        }
    }
    // Each that goes lowers the number, down to none.
    assert_eq!(found.len(), CIRCLES, "{list}");
}

#[test]
fn no_folder_imports_a_later_one() {
    let root = Workspace::find().expect("the workspace").root;
    let imports = read_all(&root).imports();
    let mut list = Vec::new();
    for of in ["src", "xtask/src"] {
        let order = order(&root, of);
        let found = upward(&imports, &root.join(of), &order);
        list.extend(found.iter().map(|import| show(&root, import)));
    }
    // Each that goes lowers the number, down to none.
    assert_eq!(list.len(), LATER, "{}", list.join("\n"));
}
