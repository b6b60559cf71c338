//! The version of a TF-A source tree.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Returns the version from the Makefile in `dir`, such as `2.12.1`.
///
/// # Errors
/// Returns an error if `dir` is not a TF-A source tree.
pub fn tf_a_version(dir: &Path) -> Result<String> {
    let path = dir.join("Makefile");
    if !path.is_file() {
        bail!("not a TF-A source tree: it has no Makefile");
    }
    let makefile = fs::read(path)?;
    parse_version(&String::from_utf8_lossy(&makefile)).context(
        "not a TF-A source tree: its Makefile does not set VERSION_MAJOR and VERSION_MINOR",
    )
}

fn parse_version(makefile: &str) -> Option<String> {
    let field = |name: &str| {
        let line = makefile.lines().find(|line| line.starts_with(name))?;
        let value = line.split_once('=')?.1.trim();
        value.parse::<u32>().ok()
    };
    let version = format!("{}.{}", field("VERSION_MAJOR")?, field("VERSION_MINOR")?);
    let patch = field("VERSION_PATCH").map_or(String::new(), |patch| format!(".{patch}"));
    Some(version + &patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let lts = "VERSION_MAJOR := 2\nVERSION_MINOR := 12\nVERSION_PATCH := 1\n";
        for (makefile, expected) in [
            (lts, Some("2.12.1")),
            ("VERSION_MAJOR := 2\nVERSION_MINOR := 14\n", Some("2.14")),
            ("VERSION_MAJOR := two\nVERSION_MINOR := 1", None),
        ] {
            assert_eq!(parse_version(makefile).as_deref(), expected);
        }
    }
}
