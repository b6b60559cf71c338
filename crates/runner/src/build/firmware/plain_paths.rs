//! Paths for TF-A's makefiles, which split paths at spaces and expand some characters.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use host::TmpdirContext as _;
use tempfile::TempDir;

/// A temporary folder with a symbolic link to each path that makefiles cannot use. The links exist
/// as long as `self` does.
pub(super) struct PlainPaths(TempDir);

impl PlainPaths {
    pub fn new() -> Result<Self> {
        let dir = tempfile::tempdir().tmpdir_context()?;
        if !is_plain(dir.path()) {
            let path = dir.path().display();
            bail!("{path}: TF-A's makefiles cannot use this path; set TMPDIR to another folder");
        }
        Ok(Self(dir))
    }

    /// Returns `path`, or a link to it if makefiles cannot use `path`.
    pub fn path(&self, path: &Path) -> Result<PathBuf> {
        if is_plain(path) {
            return Ok(path.to_path_buf());
        }
        let number = fs::read_dir(self.0.path()).tmpdir_context()?.count();
        let link = self.0.path().join(number.to_string());
        symlink(path, &link).tmpdir_context()?;
        Ok(link)
    }
}

/// Returns true if makefiles and the shell leave `path` as it is.
pub(crate) fn is_plain(path: &Path) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(byte);
    path.as_os_str().as_encoded_bytes().iter().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_makefiles_would_change_get_a_link() {
        let paths = PlainPaths::new().expect("a temporary folder");
        let plain = Path::new("/home/user_1/tf-a@v2.12.1+x");
        assert_eq!(paths.path(plain).expect("a path"), plain);
        for name in [
            "a b", "a\tb", "a#b", "a$b", "a%b", "a:b", "a'b", "(a)", "a;b", "ä",
        ] {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let path = dir.path().join(name);
            fs::create_dir(&path).expect("made");
            let link = paths.path(&path).expect("a link");
            assert!(is_plain(&link), "{name}");
            assert_eq!(fs::canonicalize(link).expect("it exists"), path, "{name}");
        }
    }
}
