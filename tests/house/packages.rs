//! Which packages may depend on which others, according to `cargo metadata`, and whether the
//! documentation lists what they depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use host::process;
use runner::setup::workspace::Workspace;
use serde::Deserialize;

/// The members of the workspace, as `cargo metadata` describes them.
#[derive(Deserialize)]
pub struct Metadata {
    /// The packages.
    pub packages: Vec<Package>,
    workspace_root: PathBuf,
}

/// A package in the workspace.
#[derive(Deserialize)]
pub struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    /// The programs and libraries in the package, and its tests.
    pub targets: Vec<Target>,
}

/// An entry in a package's list of dependencies.
#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or None.
    kind: Option<String>,
    /// The folder of a package in this repository; None if the package is from a registry.
    path: Option<PathBuf>,
}

/// What a package builds.
#[derive(Deserialize)]
pub struct Target {
    /// The name of the crate.
    pub name: String,
    /// `lib`, `cdylib`, `bin`, `test` and so on.
    pub kind: Vec<String>,
    /// The crate's root file.
    pub src_path: PathBuf,
}

impl Metadata {
    /// Asks cargo about the workspace at `root`.
    pub fn read(root: &Path) -> Self {
        let arguments = [
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ];
        let mut command = process::cargo();
        let text = process::output(command.args(arguments).current_dir(root));
        Self::parse(&text.expect("the packages"))
    }

    fn parse(text: &str) -> Self {
        serde_json::from_str(text).expect("the output of cargo metadata")
    }

    /// Returns a path relative to the root of the workspace. The payload's folder is empty.
    fn inner<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.workspace_root)
            .expect("a path in the workspace")
    }

    fn folder<'p>(&self, package: &'p Package) -> &'p Path {
        self.inner(package.manifest_path.parent().expect("a folder"))
    }

    /// Returns one line for each dependency that is not allowed. A package may depend on packages in
    /// `crates/`, and a tool's package also on packages in the tool's own folder.
    fn forbidden_dependencies(&self) -> Vec<String> {
        let mut found = Vec::new();
        for package in &self.packages {
            let from = self.folder(package);
            for dependency in &package.dependencies {
                let Some(path) = &dependency.path else {
                    continue;
                };
                let to = self.inner(path);
                let is_same_tool = tool_of(from).is_some_and(|tool| tool_of(to) == Some(tool));
                if !to.starts_with("crates") && !is_same_tool {
                    found.push(format!("{} -> {}", package.name, dependency.name));
                }
            }
        }
        found
    }

    /// Returns the normal dependencies on packages in this repository of each package outside
    /// `tools/`, by the package's folder.
    fn core_dependencies(&self) -> BTreeMap<String, BTreeSet<String>> {
        let core = self
            .packages
            .iter()
            .filter(|package| tool_of(self.folder(package)).is_none());
        core.map(|package| {
            let normal = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.path.is_some() && dependency.kind.is_none());
            let names = normal.map(|dependency| dependency.name.clone()).collect();
            let folder = match self.folder(package).to_str().expect("a path in UTF-8") {
                "" => "src".to_owned(),
                folder => folder.to_owned(),
            };
            (folder, names)
        })
        .collect()
    }

    /// Returns the names of all packages from a registry that a package in the workspace depends on.
    fn registry_dependencies(&self) -> BTreeSet<&str> {
        let all = self
            .packages
            .iter()
            .flat_map(|package| &package.dependencies);
        all.filter(|dependency| dependency.path.is_none())
            .map(|dependency| dependency.name.as_str())
            .collect()
    }
}

/// Returns the name of the tool that a folder belongs to.
fn tool_of(folder: &Path) -> Option<&Path> {
    folder
        .strip_prefix("tools")
        .ok()?
        .iter()
        .next()
        .map(Path::new)
}

/// Returns the cells of each row of the tables in a page.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    page.lines().filter_map(|line| {
        let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(row.split(" | ").collect())
    })
}

/// Returns the dependencies that the table of packages in a page lists, by folder. The row of a
/// package is its folder in backticks, its purpose, and the names of the packages or a dash.
fn documented_dependencies(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for row in rows(page).skip_while(|row| row.last() != Some(&"depends on")) {
        if let [folder, _, names] = row[..]
            && let Some(folder) = folder.strip_prefix('`')
            && let Some(folder) = folder.strip_suffix('`')
        {
            let names = names.split(", ").filter(|name| *name != "–");
            found.insert(folder.to_owned(), names.map(str::to_owned).collect());
        }
    }
    found
}

/// Returns the names in the first column of the tables in a page.
fn documented_packages(page: &str) -> BTreeSet<&str> {
    rows(page).flat_map(|row| row[0].split(", ")).collect()
}

/// Returns the text from a heading to the next one of the same level.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, rest) = page.split_once(heading).expect(heading);
    rest.split_once("\n## ").map_or(rest, |(text, _)| text)
}

fn read_page(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join("docs").join(name)).expect(name)
}

#[test]
fn packages_depend_on_the_core_and_on_their_own_tool_only() {
    let root = Workspace::find().expect("the workspace").root;
    let found = Metadata::read(&root).forbidden_dependencies();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn architecture_page_lists_the_dependencies_of_each_core_package() {
    let root = Workspace::find().expect("the workspace").root;
    let documented = documented_dependencies(&read_page(&root, "architecture.md"));
    assert_eq!(documented, Metadata::read(&root).core_dependencies());
}

#[test]
fn architecture_page_lists_each_registry_package() {
    let root = Workspace::find().expect("the workspace").root;
    let metadata = Metadata::read(&root);
    let page = read_page(&root, "architecture.md");
    let documented = documented_packages(section(&page, "\n## Dependencies\n"));
    let missing: Vec<&str> = metadata
        .registry_dependencies()
        .difference(&documented)
        .copied()
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/architecture.md: {missing:?}"
    );
}

/// Returns a workspace with these dependencies. Each is the folder of the package, the kind, and
/// the folder of the dependency or the name of a package from a registry.
fn made_up(dependencies: &[(&str, Option<&str>, &str)]) -> Metadata {
    let packages: Vec<serde_json::Value> = dependencies
        .iter()
        .map(|(from, kind, to)| {
            let is_here = to.is_empty() || to.contains('/') || ["xtask", "fuzz"].contains(to);
            let path = is_here.then(|| Path::new("/made-up").join(to));
            serde_json::json!({
                "name": from,
                "manifest_path": Path::new("/made-up").join(from).join("Cargo.toml"),
                "dependencies": [{ "name": to, "kind": kind, "path": path }],
                "targets": [],
            })
        })
        .collect();
    let metadata = serde_json::json!({ "packages": packages, "workspace_root": "/made-up" });
    Metadata::parse(&metadata.to_string())
}

#[test]
fn planted_dependencies_are_found() {
    let allowed = [
        ("crates/a", None, "crates/b"),
        ("crates/a", Some("dev"), "crates/a"),
        ("xtask", None, "crates/a"),
        ("fuzz", None, "crates/a"),
        ("tools/x", None, "crates/a"),
        ("tools/x", None, "tools/x/part"),
        ("tools/x/part", Some("dev"), "tools/x/other"),
        ("tools/x", None, "serde"),
    ];
    assert!(made_up(&allowed).forbidden_dependencies().is_empty());
    let forbidden = [
        ("crates/a", None, "tools/x"),
        ("crates/a", Some("dev"), "tools/x/part"),
        ("crates/a", Some("dev"), "xtask"),
        ("crates/a", None, ""),
        ("", Some("dev"), "tools/x"),
        ("", None, "xtask"),
        ("", Some("dev"), "xtask"),
        ("", Some("build"), "xtask"),
        ("xtask", Some("dev"), "tools/x"),
        ("xtask", None, "fuzz"),
        ("fuzz", None, "xtask"),
        ("tools/x", None, "tools/xy"),
        ("tools/x", Some("dev"), "tools/y/part"),
        ("tools/x", Some("dev"), "xtask"),
        ("tools/x", Some("dev"), ""),
        ("tools/x/part", Some("build"), "fuzz"),
    ];
    for (from, kind, to) in forbidden {
        let found = made_up(&[(from, kind, to)]).forbidden_dependencies();
        assert_eq!(found, [format!("{from} -> {to}")], "{kind:?}");
    }
}

#[test]
fn planted_differences_from_the_pages_are_found() {
    let metadata = made_up(&[
        ("", None, "crates/a"),
        ("crates/a", None, "crates/b"),
        ("crates/b", Some("dev"), "crates/a"),
        ("crates/c", None, "serde"),
        ("tools/x", Some("dev"), "loom"),
    ]);
    let head = "| step | file |\n|---|---|\n| `src` | a |\n\n| folder | purpose | depends on |\n";
    let page = [
        head,
        "|---|---|---|\n",
        "| `src` | the payload | crates/a |\n",
        "| `crates/a` | one | crates/b |\n",
        "| `crates/b` | two | – |\n",
        "| `crates/c` | three | – |\n",
    ]
    .concat();
    assert_eq!(documented_dependencies(&page), metadata.core_dependencies());
    let changes = [
        ("crates/b |", "crates/b, crates/c |"),
        ("one | crates/b", "one | –"),
        ("| `crates/c` | three | – |\n", ""),
    ];
    for (text, changed) in changes {
        let page = page.replacen(text, changed, 1);
        let documented = documented_dependencies(&page);
        assert_ne!(documented, metadata.core_dependencies(), "{changed}");
    }
    let packages = metadata.registry_dependencies();
    let page = "| package | why |\n|---|---|\n| serde, loom | both |\n";
    assert!(packages.is_subset(&documented_packages(page)));
    let page = "\n## A\n| loom | a |\n\n## B\n| serde | b |\n\n## C\n| spin | c |\n";
    assert!(
        documented_packages(section(page, "\n## B\n"))
            .into_iter()
            .eq(["serde"])
    );
    let page = "| serde | loom is in another column |\n";
    let missing = packages.difference(&documented_packages(page)).count();
    assert_eq!(missing, 1);
}
