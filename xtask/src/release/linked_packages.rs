//! The packages that are linked into the programs of a release.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::process;
use itertools::Itertools as _;
use serde::Deserialize;

use super::license_expression::is_accepted;
use crate::build::report_program::REPORT_PROGRAM;
use crate::setup::workspace::Workspace;
use crate::setup::{EFI_TARGET, REPORT_TARGET, TARGET};

/// A program, its package, and the target that it is built for.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("payload", "psci-bench", TARGET),
    ("EFI application", "psci-bench-efi", EFI_TARGET),
    (REPORT_PROGRAM, "report", REPORT_TARGET),
];

/// A package that is linked into at least one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkedPackage {
    /// The package name and version.
    pub name: String,
    /// The license expression in its manifest.
    pub license: String,
    /// The folder that contains its license files.
    pub folder: PathBuf,
    /// The programs that it is linked into.
    pub programs: Vec<&'static str>,
}

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    /// None if the package is in this repository.
    source: Option<String>,
}

/// Returns the packages that are linked into the programs, sorted by name. All packages in this
/// repository count as one.
pub(super) fn linked_packages(workspace: &Workspace) -> Result<Vec<LinkedPackage>> {
    let mut words = vec!["metadata", "--locked", "--format-version", "1"];
    for (_, _, target) in PROGRAMS {
        words.extend(["--filter-platform", target]);
    }
    let metadata = cargo(workspace, &words)?;
    let mut trees = Vec::new();
    for (program, package, target) in PROGRAMS {
        let words = format!(
            "tree --locked --package {package} --target {target} \
             --edges normal,no-proc-macro --prefix none --format {{p}}"
        );
        let words: Vec<&str> = words.split(' ').collect();
        trees.push((program, cargo(workspace, &words)?));
    }
    select(&metadata, &trees, &workspace.root)
}

/// Runs cargo and returns its standard output.
fn cargo(workspace: &Workspace, words: &[&str]) -> Result<String> {
    let mut command = process::cargo();
    command.args(words).current_dir(&workspace.root);
    process::output(&mut command)
}

/// Selects the packages in `trees`, each of which is the output of `cargo tree` for a program, from
/// the output of `cargo metadata`.
fn select(
    metadata: &str,
    trees: &[(&'static str, String)],
    root: &Path,
) -> Result<Vec<LinkedPackage>> {
    let metadata: Metadata =
        serde_json::from_str(metadata).context("cannot parse the output of `cargo metadata`")?;
    // The form in which `cargo tree` prints a package.
    let words = |package: &MetadataPackage| format!("{} v{}", package.name, package.version);
    let known: BTreeMap<String, &MetadataPackage> =
        metadata.packages.iter().map(|it| (words(it), it)).collect();
    let mut linked: BTreeMap<String, LinkedPackage> = BTreeMap::new();
    for (program, tree) in trees {
        // A folder or a `(*)` marker may follow the name and version.
        let lines = tree.lines().map(|line| line.split(' ').take(2).join(" "));
        for words in lines.filter(|words| !words.is_empty()) {
            let package = known.get(&words).with_context(|| {
                format!("{words} is linked, but `cargo metadata` does not list it")
            })?;
            let new = linked_package(package, root)?;
            let entry = linked.entry(new.name.to_lowercase()).or_insert(new);
            if entry.programs.last() != Some(program) {
                entry.programs.push(program);
            }
        }
    }
    Ok(linked.into_values().collect())
}

/// Returns a package that is not linked into any program yet.
fn linked_package(package: &MetadataPackage, root: &Path) -> Result<LinkedPackage> {
    let name = format!("{} {}", package.name, package.version);
    let Some(license) = &package.license else {
        bail!("package {name} has no license in its manifest, so a release cannot contain it");
    };
    if !is_accepted(license) {
        bail!(
            "package {name}: its license, {license}, is not accepted in a release: use another \
             package, or add the license in xtask/src/release/license_expression.rs"
        );
    }
    let is_own = package.source.is_none();
    let (name, folder) = if is_own {
        (format!("psci-bench {}", package.version), root)
    } else {
        let folder = package.manifest_path.parent();
        (name, folder.context("a manifest has a folder")?)
    };
    Ok(LinkedPackage {
        name,
        license: license.clone(),
        folder: folder.to_path_buf(),
        programs: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
report v0.1.0 (/src/crates/report)
regex v1.13.2
Zeta v2.0.0
run v0.1.0 (/src/crates/run) (*)
regex v1.13.2 (*)
";

    /// Returns `cargo metadata` output in which the license of the regex package is `license`.
    fn metadata(license: &str) -> String {
        let package = |name: &str, version: &str, license: &str, source: &str| {
            format!(
                r#"{{"name":"{name}","version":"{version}","license":{license},"source":{source},
                "manifest_path":"/registry/{name}/Cargo.toml","id":"ignored"}}"#
            )
        };
        let mit = r#""MIT""#;
        let packages = [
            package("report", "0.1.0", mit, "null"),
            package("run", "0.1.0", mit, "null"),
            package("regex", "1.13.2", license, r#""registry""#),
            package("Zeta", "2.0.0", mit, r#""registry""#),
            package("unused", "1.0.0", "null", r#""registry""#),
        ];
        format!(r#"{{"packages":[{}]}}"#, packages.join(","))
    }

    fn selected(license: &str) -> Result<Vec<LinkedPackage>> {
        let trees = [
            ("payload", "run v0.1.0\n".to_owned()),
            ("psci-report", TREE.to_owned()),
        ];
        select(&metadata(license), &trees, Path::new("/src"))
    }

    #[test]
    fn linked_packages_are_selected_with_their_programs() {
        let packages = selected(r#""MIT OR Apache-2.0""#).expect("accepted licenses");
        let rows = packages.iter().map(|package| {
            let folder = package.folder.display();
            format!(
                "{}; {}; {folder}; {:?}",
                package.name, package.license, package.programs
            )
        });
        let expected = [
            r#"psci-bench 0.1.0; MIT; /src; ["payload", "psci-report"]"#,
            r#"regex 1.13.2; MIT OR Apache-2.0; /registry/regex; ["psci-report"]"#,
            r#"Zeta 2.0.0; MIT; /registry/Zeta; ["psci-report"]"#,
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn missing_and_unknown_licenses_are_errors_with_the_name() {
        for (license, expected) in [
            (
                "null",
                "package regex 1.13.2 has no license in its manifest",
            ),
            (
                r#""GPL-3.0-only""#,
                "package regex 1.13.2: its license, GPL-3.0-only, is not accepted",
            ),
        ] {
            let error = selected(license).expect_err("refused").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let trees = [("payload", "gone v1.0.0\n".to_owned())];
        let error = select(&metadata("null"), &trees, Path::new("/src")).expect_err("unknown");
        assert!(
            error.to_string().contains("gone v1.0.0 is linked"),
            "{error}"
        );
    }
}
