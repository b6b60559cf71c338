//! The files that are to be written, and checks of them.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// An option and the file that it names.
type Named<'n, P> = (&'n str, P);

/// Refuses to write over the file that is read.
pub(super) fn apart(output: Named<'_, &Path>, input: Named<'_, Option<&Path>>) -> Result<()> {
    let (option, path) = output;
    if input.1.is_some_and(|input| same(path, input)) {
        bail!(
            "{option} {}: this is the file that {} reads",
            path.display(),
            input.0
        );
    }
    Ok(())
}

/// Refuses to write two files to one place.
pub(super) fn distinct(one: Named<'_, &Path>, other: Named<'_, &Path>) -> Result<()> {
    if same(one.1, other.1) {
        bail!(
            "{} {}: this is the file that {} {} names as well",
            one.0,
            one.1.display(),
            other.0,
            other.1.display()
        );
    }
    Ok(())
}

/// Whether both are one file. By links there can be two paths to it.
fn same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((meta.dev(), meta.ino()))
    };
    let one = identity(one);
    one.is_some() && one == identity(other)
}

/// Refuses what can be seen to be no place for a file.
pub(super) fn writable((option, path): Named<'_, &Path>) -> Result<()> {
    if path.is_dir() {
        bail!("{option} {}: this is a directory", path.display());
    }
    // A rename asks for the right to write to the directory alone. Who is root
    // may open the file nevertheless.
    if let Some(old) = fs::metadata(path).ok().filter(fs::Metadata::is_file) {
        let at = || format!("{option} {}: this file may not be written", path.display());
        if old.permissions().readonly() {
            bail!("{}: it is read-only", at());
        }
        OpenOptions::new().write(true).open(path).with_context(at)?;
    }
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(dir) = parent.filter(|dir| !dir.is_dir()) {
        bail!(
            "{option} {}: there is no directory {}",
            path.display(),
            dir.display()
        );
    }
    Ok(())
}

/// Writes `data` to a file that is either as it was or all new, whatever
/// happens meanwhile.
pub(super) fn write((option, path): Named<'_, &Path>, data: &[u8]) -> Result<()> {
    let at = || format!("{option} {}", path.display());
    writable((option, path))?;
    // A link stays one. What is no file, such as a flash's device, cannot be
    // replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return fs::write(&target, data).with_context(at);
    }
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty());
    let permissions = match old {
        Some(old) => old.permissions(),
        None => Permissions::from_mode(0o666),
    };
    let mut file = tempfile::Builder::new()
        .permissions(permissions)
        .tempfile_in(dir.unwrap_or(Path::new(".")))
        .with_context(at)?;
    file.write_all(data).with_context(at)?;
    file.as_file().sync_all().with_context(at)?;
    file.persist(&target).with_context(at)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_replaced_and_stays_what_it_was() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("set");
        symlink("file", &link).expect("made");
        // Who has it open keeps the old one: it is another file by then.
        let before = fs::metadata(&file).expect("there").ino();
        write(("--out", &link), b"new").expect("written");
        assert_eq!(fs::read(&file).expect("there"), b"new");
        let after = fs::metadata(&file).expect("there");
        assert_ne!(after.ino(), before);
        assert_eq!(after.permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
        fs::set_permissions(&file, Permissions::from_mode(0o444)).expect("set");
        let error = write(("--out", &link), b"newer").expect_err("read-only");
        assert!(error.to_string().contains("it is read-only"), "{error}");
        assert_eq!(fs::read(&file).expect("there"), b"new");
        write(("--out", Path::new("/dev/null")), b"new").expect("written");
        let error = write(("--out", dir.path()), b"new").expect_err("a directory");
        assert!(error.to_string().contains("this is a directory"));
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 2);
    }
}
