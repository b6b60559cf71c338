//! The layout of the code: no two files import each other, and no folder
//! imports one that stands after it in `docs/folders.txt`.

mod imports;

use std::fs;
use std::path::{Path, PathBuf};

use imports::{Crates, circles, upward};
use xtask::workspace::Workspace;

fn read_all(root: &Path) -> Crates {
    let mut crates = Crates::default();
    crates.read("psci_bench", &root.join("src/lib.rs"));
    crates.read("psci_bench_bin", &root.join("src/main.rs"));
    crates.read("xtask", &root.join("xtask/src/lib.rs"));
    crates
}

#[test]
fn no_files_import_each_other() {
    let root = Workspace::find().expect("the workspace").root;
    let imports = read_all(&root).imports();
    let found = circles(&imports);
    for circle in &found {
        println!("circle of {}:", circle.len());
        for file in circle {
            println!("  {}", file.strip_prefix(&root).unwrap_or(file).display());
        }
        for (from, to) in imports
            .iter()
            .filter(|it| circle.contains(&it.0) && circle.contains(&it.1))
        {
            let short = |file: &PathBuf| {
                file.strip_prefix(&root)
                    .unwrap_or(file)
                    .display()
                    .to_string()
            };
            println!("    {} -> {}", short(from), short(to));
        }
    }
    assert_eq!(found.len(), 0);
}
