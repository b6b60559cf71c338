//! Paths and links in the documentation lead to files and headings.

use std::fs;
use std::path::Path;

use cli::documented::pages;
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

/// Returns true if `path` is in a tool that the README lists and that has been removed.
fn is_in_removed_tool(root: &Path, path: &str) -> bool {
    let mut parts = path
        .strip_prefix("tools/")
        .into_iter()
        .flat_map(|path| path.split('/'));
    parts.next().is_some_and(|name| {
        let readme = fs::read_to_string(root.join("README.md")).expect("the README");
        let is_listed = readme.contains(&format!("](tools/{name}/README.md)"));
        is_listed && !root.join("tools").join(name).exists()
    })
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
    for (page, text) in pages(&root) {
        let absent = paths(&text)
            .filter(|path| !root.join(path).exists() && !is_in_removed_tool(&root, path));
        let name = page.strip_prefix(&root).unwrap_or(&page).display();
        missing.extend(absent.map(|path| format!("{name}: {path}")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    let text = "`crates/absent/a.rs` and `cargo x` and `platforms/NAME/board.toml`";
    assert!(paths(text).eq(["crates/absent/a.rs"]));
    assert!(!is_in_removed_tool(&root, "tools/labz/src"));
}

/// Returns the text outside code blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// Returns the targets of the links to files, each with its anchor, which may be empty.
fn links(text: &str) -> Vec<(String, String)> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1);
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
    targets
        .filter(|target| !target.contains("://"))
        .map(|target| match target.split_once('#') {
            Some((file, anchor)) => (file.to_owned(), anchor.to_owned()),
            None => (target.to_owned(), String::new()),
        })
        .collect()
}

/// Returns true if the text has a heading whose anchor, as GitHub makes it, is `anchor`.
fn has_anchor(text: &str, anchor: &str) -> bool {
    let prose = prose(text);
    let mut headings = prose.lines().filter(|line| line.starts_with('#'));
    headings.any(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c })
            .eq(anchor.chars())
    })
}

/// Returns the path from the root to a file that need not exist.
fn from_root(root: &Path, target: &Path) -> String {
    let mut parts = Vec::new();
    for part in target.strip_prefix(root).unwrap_or(target) {
        match part.to_str() {
            Some("..") => drop(parts.pop()),
            other => parts.extend(other),
        }
    }
    parts.join("/")
}

/// Returns the links on a page that lead nowhere.
fn broken_links(root: &Path, page: &Path, text: &str) -> Vec<String> {
    let folder = page.parent().expect("a page's folder");
    let leads_nowhere = |(file, anchor): &(String, String)| {
        let target = if file.is_empty() {
            page.to_path_buf()
        } else {
            folder.join(file)
        };
        let Ok(target) = target.canonicalize() else {
            return !is_in_removed_tool(root, &from_root(root, &target));
        };
        let is_page = target.extension().is_some_and(|end| end == "md");
        let has = || has_anchor(&fs::read_to_string(&target).expect("a page"), anchor);
        is_page && !anchor.is_empty() && !has()
    };
    let broken = links(text).into_iter().filter(leads_nowhere);
    let name = page.strip_prefix(root).unwrap_or(page).display();
    broken
        .map(|(file, anchor)| format!("{name}: {file}#{anchor}"))
        .collect()
}

#[test]
fn links_lead_to_pages_and_headings() {
    let root = Workspace::find().expect("the workspace").root;
    let pages = pages(&root);
    let broken: Vec<String> = pages
        .iter()
        .flat_map(|(page, text)| broken_links(&root, page, text))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));

    let planted = "# A `b`, c\n[3](gone.md) [4](boards.md#on-qemu) \
                   [5](boards.md#none) [6](../tools/labz/README.md)";
    let page = root.join("docs/planted.md");
    let found = broken_links(&root, &page, planted);
    let expected = ["gone.md#", "boards.md#none", "../tools/labz/README.md#"];
    assert_eq!(
        found,
        expected.map(|link| format!("docs/planted.md: {link}"))
    );
    let page = root.join("tools/labs/../gem5/README.md");
    assert_eq!(from_root(&root, &page), "tools/gem5/README.md");
    assert!(has_anchor(planted, "a-b-c") && !has_anchor(planted, "a-b"));
}
