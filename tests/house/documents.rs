//! Paths in the documentation exist.

use std::fs;
use std::path::Path;

use runner::setup::workspace::Workspace;

/// The first folder of a path in this repository. Other paths are in TF-A's repository, on a
/// user's machine, or below `target/`.
const FOLDERS: [&str; 9] = [
    "crates",
    "src",
    "xtask",
    "tests",
    "fuzz",
    "tools",
    "linker",
    "platforms",
    ".ci",
];

/// Returns true for a placeholder such as `NAME`, or a pattern.
fn is_placeholder(part: &str) -> bool {
    part.contains('*') || part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns true if `path` is in a tool that has been removed.
fn is_in_removed_tool(root: &Path, path: &str) -> bool {
    let mut parts = path
        .strip_prefix("tools/")
        .into_iter()
        .flat_map(|path| path.split('/'));
    let tool = parts.next().map(|name| root.join("tools").join(name));
    tool.is_some_and(|tool| !tool.exists())
}

/// Returns the paths in backticks.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| {
        let mut parts = code.split('/');
        let is_here = parts.next().is_some_and(|first| FOLDERS.contains(&first));
        is_here && code.contains('/') && !code.contains([' ', '\n']) && !parts.any(is_placeholder)
    })
}

#[test]
fn documents_name_files_that_exist() {
    let root = Workspace::find().expect("the workspace").root;
    let mut missing = Vec::new();
    let docs = fs::read_dir(root.join("docs")).expect("the documentation");
    let pages = docs.map(|entry| entry.expect("an entry").path());
    let tools = fs::read_dir(root.join("tools")).into_iter().flatten();
    let tools = tools.map(|entry| entry.expect("an entry").path().join("README.md"));
    let others = tools
        .filter(|page| page.exists())
        .chain([root.join("README.md")]);
    for page in pages.chain(others) {
        if page.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&page).expect("a page");
            let absent = paths(&text)
                .filter(|path| !root.join(path).exists() && !is_in_removed_tool(&root, path));
            let name = page.strip_prefix(&root).unwrap_or(&page).display();
            missing.extend(absent.map(|path| format!("{name}: {path}")));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    let text = "`crates/absent/a.rs` and `cargo x` and `platforms/NAME/board.toml`";
    assert!(paths(text).eq(["crates/absent/a.rs"]));
}
