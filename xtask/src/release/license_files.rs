//! The licenses of everything that is linked into the programs of a release.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use host::process;
use itertools::Itertools as _;

use super::linked_packages::{LinkedPackage, linked_packages};
use crate::setup::workspace::Workspace;
use host::folder::FolderFile;

/// File name prefixes, in upper case, that identify license files.
const NAMES: [&str; 6] = [
    "AUTHORS",
    "COPYING",
    "COPYRIGHT",
    "LICENSE",
    "NOTICE",
    "UNLICENSE",
];

/// The copyright notice of musl 1.2.5, the C library that Rust links into `psci-report`.
const MUSL: &str = include_str!("notices/musl.txt");

const INTRODUCTION: &str = "\
The packages that are linked into the programs of psci-bench, with their licenses.
Each program also contains parts of Rust's standard library
(rust-standard-library.html). psci-report also contains the C library musl
(musl.txt), and libunwind and startup code from LLVM (llvm.txt). The EFI
application, which is also in stick.img, contains the payload.
";

const OF_LLVM: &str = "\
libunwind and the compiler-rt startup code are part of the LLVM Project, which
is licensed under the Apache License v2.0 with LLVM Exceptions:
";

/// Returns the files with the licenses.
pub(super) fn license_files(workspace: &Workspace) -> Result<Vec<FolderFile>> {
    let toolchain = toolchain_documents(workspace)?;
    let read = |name: &str| {
        let path = toolchain.join(name);
        fs::read_to_string(&path).with_context(|| {
            let path = path.display();
            format!("{path}: this file is part of the Rust license; install Rust with rustup")
        })
    };
    let standard_library = read("COPYRIGHT-library.html")?;
    let apache = read("licenses/Apache-2.0.txt")?;
    let exception = read("licenses/LLVM-exception.txt")?;
    let packages = linked_packages(workspace)?;
    Ok(vec![
        FolderFile::new("licenses/packages.txt", page(&packages)?),
        FolderFile::new("licenses/rust-standard-library.html", standard_library),
        FolderFile::new("licenses/musl.txt", MUSL),
        FolderFile::new(
            "licenses/llvm.txt",
            format!("{OF_LLVM}\n{apache}\n{exception}"),
        ),
    ])
}

/// Returns the documentation folder of the Rust toolchain in use.
fn toolchain_documents(workspace: &Workspace) -> Result<PathBuf> {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc
        .args(["--print", "sysroot"])
        .current_dir(&workspace.root);
    let sysroot = process::output_once(&mut rustc)?;
    Ok(Path::new(sysroot.trim()).join("share/doc/rust"))
}

/// Returns the page with a table of the packages and the text of their licenses.
fn page(packages: &[LinkedPackage]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        for (file, text) in license_texts(package)? {
            let owner = format!("{}, {file}", package.name);
            texts.entry(text).or_default().push(owner);
        }
    }
    let mut page = format!("{INTRODUCTION}\n{}", table(packages));
    // The license texts appear in package order.
    for (text, owners) in texts
        .iter()
        .sorted_by_key(|(_, owners)| owners[0].to_lowercase())
    {
        page += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), owners.join("\n"));
    }
    Ok(page)
}

/// Returns a table of the packages, their licenses and the programs that contain them.
fn table(packages: &[LinkedPackage]) -> String {
    let rows = packages.iter().map(|package| {
        let programs = package.programs.join(", ");
        [package.name.clone(), package.license.clone(), programs]
    });
    let rows = rows.collect_vec();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    rows.iter()
        .map(|[name, license, programs]| {
            format!("{name:<first$}  {license:<second$}  {programs}\n")
        })
        .collect()
}

/// Returns the license files of `package`, as names and contents, sorted by name.
fn license_texts(package: &LinkedPackage) -> Result<Vec<(String, String)>> {
    let folder = &package.folder;
    let at = || format!("package {}: {}", package.name, folder.display());
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(at)? {
        let path = entry.with_context(at)?.path();
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let upper = file.to_uppercase();
        if path.is_file() && NAMES.iter().any(|name| upper.starts_with(name)) {
            let text = fs::read(&path).with_context(at)?;
            texts.push((file, normal(&String::from_utf8_lossy(&text))));
        }
    }
    if texts.is_empty() {
        bail!(
            "package {} has no license file in {}, so a release cannot contain it",
            package.name,
            folder.display()
        );
    }
    texts.sort();
    Ok(texts)
}

/// Returns `text` without trailing whitespace on any line or empty lines at either end, so that
/// identical licenses compare equal.
fn normal(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).join("\n");
    lines.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn package(folder: &Path, name: &str, files: &[(&str, &str)]) -> LinkedPackage {
        let folder = folder.join(name);
        fs::create_dir(&folder).expect("made");
        for (file, text) in files {
            fs::write(folder.join(file), text).expect("written");
        }
        LinkedPackage {
            name: format!("{name} 1.0"),
            license: "MIT".to_owned(),
            folder,
            programs: vec!["payload", "psci-report"],
        }
    }

    #[test]
    fn equal_texts_appear_once() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let packages = [
            package(
                dir.path(),
                "a",
                &[
                    ("LICENSE-MIT", "Permission\r\n \r\nis granted\r\n"),
                    ("README.md", "No"),
                ],
            ),
            package(
                dir.path(),
                "bee",
                &[
                    ("copying.txt", "\nPermission\n\nis granted\n\n"),
                    ("Notice", "By Bee"),
                ],
            ),
        ];
        let page = page(&packages).expect("the license texts");
        let page = page.strip_prefix(INTRODUCTION).expect("the introduction");
        expect![[r#"

            a 1.0    MIT  payload, psci-report
            bee 1.0  MIT  payload, psci-report

            ================================================================================
            a 1.0, LICENSE-MIT
            bee 1.0, copying.txt

            Permission

            is granted

            ================================================================================
            bee 1.0, Notice

            By Bee
        "#]]
        .assert_eq(page);
    }

    #[test]
    fn a_package_without_a_text_is_an_error_with_its_name() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let error = page(&[package(dir.path(), "a", &[("README.md", "MIT")])]);
        let error = error.expect_err("no text").to_string();
        assert!(
            error.starts_with("package a 1.0 has no license file in "),
            "{error}"
        );
    }
}
