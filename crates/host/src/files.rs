//! Checks and writes output files.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempPath;

use crate::progress::say;
use crate::stdout::Out;
use crate::wrap::TerminalText;

/// An option and the file it specifies.
type NamedPath<'n, P> = (&'n str, P);
/// A complete file that has not been renamed yet, and its final path; None if the file was written
/// in place.
type Staged = Option<(TempPath, PathBuf)>;

/// Returns an error if the output would overwrite an input file or be written to an input folder.
pub fn check_not_input(
    output: NamedPath<'_, &Path>,
    input: NamedPath<'_, Option<&Path>>,
) -> Result<()> {
    let ((option, path), (reader, Some(input))) = (output, input) else {
        return Ok(());
    };
    let input = match input == Path::new("-") {
        true => Path::new("/dev/stdin"),
        false => input,
    };
    let shown = path.display();
    if is_same_file(path, input) {
        bail!("{option} {shown}: this is the input file for {reader}");
    }
    if input.is_dir() && is_below(path, input) {
        bail!(
            "{option} {shown}: this is in the input folder for {reader}; specify a file outside it"
        );
    }
    Ok(())
}

/// Returns true if the file at `path`, or the target of a link at `path`, is inside `folder`, at
/// any depth.
fn is_below(path: &Path, folder: &Path) -> bool {
    let folder = fs::canonicalize(folder).ok();
    let places = [path, directory(path)].map(|place| fs::canonicalize(place).ok());
    folder.is_some_and(|folder| {
        let mut known = places.iter().flatten();
        known.any(|place| place.starts_with(&folder))
    })
}

/// Rejects an output path that cannot be a file or is also an input.
pub fn check_output(
    output: NamedPath<'_, &Path>,
    inputs: &[NamedPath<'_, Option<&Path>>],
) -> Result<()> {
    check_writable(output)?;
    inputs
        .iter()
        .try_for_each(|input| check_not_input(output, *input))
}

/// Returns true if both paths refer to the same file. A file can have two paths because of links or
/// `./`, even if it does not exist yet.
fn is_same_file(first: &Path, second: &Path) -> bool {
    let identity = |path: &Path| {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((meta.dev(), meta.ino()))
    };
    let target = |path: &Path| {
        let dir = fs::canonicalize(directory(path)).ok()?;
        // A device, such as /dev/null, can be opened twice.
        Some((dir, path.file_name().filter(|_| !path.exists())?.to_owned()))
    };
    match (identity(first), identity(second)) {
        (None, None) => target(first).is_some() && target(first) == target(second),
        (first, second) => first == second,
    }
}

/// Returns the directory that contains `path`.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Rejects a path that cannot be written to. The work before the output may take minutes.
fn check_writable((option, path): NamedPath<'_, &Path>) -> Result<()> {
    let location = format!("{option} {}", path.display());
    if path.is_dir() {
        bail!("{location}: is a directory");
    }
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        bail!("{location}: no such directory; specify a file");
    }
    if path == Path::new("-") {
        bail!(
            "{location}: specify a file (./- for a file named -); without {option}, output goes to \
             stdout if possible"
        );
    }
    // A rename needs write permission only for the directory, so a read-only file is rejected here.
    // Opening it is not a sufficient test, because root may be able to open a read-only file.
    if let Some(old) = fs::metadata(path).ok().filter(fs::Metadata::is_file) {
        if old.permissions().readonly() {
            bail!("{location}: cannot write this file: it is read-only");
        }
        let opened = OpenOptions::new().write(true).open(path);
        opened.with_context(|| format!("{location}: cannot write this file"))?;
    }
    let dir = directory(path);
    match (dir.is_dir(), dir.exists()) {
        (true, _) => {
            check_creatable(path).with_context(|| format!("{location}: cannot create this file"))
        }
        (_, true) => bail!("{location}: {} is not a directory", dir.display()),
        _ => bail!("{location}: no such directory: {}", dir.display()),
    }
}

/// Creates and removes a file at `path`, unless there is one. Permissions alone do not show whether
/// the file system accepts the file and its name.
fn check_creatable(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes the files and prints a message. At any time, each file contains either its complete old
/// contents or its complete new contents. No file is replaced until all the new files are complete.
pub fn write(files: &[(NamedPath<'_, &Path>, &[u8])]) -> Result<()> {
    let mut all_staged = Vec::new();
    for (named, data) in files {
        all_staged.push(stage(*named, |out| Ok(out.write_all(data)?))?);
    }
    for ((named, data), staged) in files.iter().zip(all_staged) {
        replace(*named, staged)?;
        let (_, path) = named;
        say(&format!("{}: {} bytes", path.display(), data.len()));
    }
    Ok(())
}

/// Writes a file by calling `fill`. At any time, the file contains either its complete old contents
/// or its complete new contents.
pub fn write_by(
    named: NamedPath<'_, &Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    replace(named, stage(named, fill)?)
}

/// Writes to the file specified with `-o`, as `write_by` does, or to standard output by default.
pub fn write_or_print(
    output: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    if let Some(path) = output {
        return write_by(("-o", path), fill);
    }
    let mut out = BufWriter::new(Out::default());
    fill(&mut out)?;
    Ok(out.flush()?)
}

/// Like `write_or_print`, but for text, which is wrapped on a terminal.
pub fn write_or_print_text(
    output: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    write_or_print(output, |out| match output {
        Some(_) => fill(out),
        None => {
            let mut text = TerminalText::new(out);
            fill(&mut text)?;
            Ok(text.flush()?)
        }
    })
}

/// Renames a file to its final path.
fn replace((option, path): NamedPath<'_, &Path>, staged: Staged) -> Result<()> {
    match staged {
        Some((file, target)) => file
            .persist(target)
            .with_context(|| format!("{option} {}", path.display())),
        None => Ok(()),
    }
}

/// Calls `fill` to write a temporary file in the directory of the file that it will replace.
fn stage(
    (option, path): NamedPath<'_, &Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<Staged> {
    check_writable((option, path))?;
    fill_beside(path, fill).with_context(|| format!("{option} {}", path.display()))
}

fn fill_beside(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Staged> {
    // A symbolic link is kept, and its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    let is_file = old.as_ref().is_none_or(fs::Metadata::is_file);
    if !is_file || is_of_the_system(path) {
        // Special files, such as a flash device, cannot be replaced. If the path is a regular file,
        // for example a redirected stdout, the output is appended, because other programs may also
        // write to it.
        let file = OpenOptions::new().write(true).append(is_file).open(path)?;
        let mut out = BufWriter::new(file);
        fill(&mut out)?;
        out.flush()?;
        return Ok(None);
    }
    let new = Permissions::from_mode(0o666);
    let mode = old.as_ref().map_or(new, fs::Metadata::permissions);
    let mut builder = tempfile::Builder::new();
    let mut file = builder
        .permissions(mode.clone())
        .tempfile_in(directory(&target))?;
    let mut out = BufWriter::new(file.as_file_mut());
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    if old.is_some() {
        // Keep the old file's permissions, regardless of the umask.
        file.as_file().set_permissions(mode)?;
    }
    file.as_file().sync_all()?;
    Ok(Some((file.into_temp_path(), target)))
}

/// Returns true for a path provided by the system, such as /dev/stdout.
fn is_of_the_system(path: &Path) -> bool {
    fs::canonicalize(directory(path))
        .is_ok_and(|dir| ["/dev", "/proc"].iter().any(|place| dir.starts_with(place)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn replaced_file_keeps_its_mode_and_link() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("file");
        let link = dir.path().join("link");
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("set");
        symlink("file", &link).expect("made");
        write(&[(("--out", &link), b"new")]).expect("written");
        assert_eq!(fs::read(&file).expect("there"), b"new");
        let mode = fs::metadata(&file).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(link.is_symlink());
        // If writing fails, no partial file is left.
        let error = write_by(("--out", &link), |out| {
            out.write_all(b"newer")?;
            bail!("no more")
        });
        error.expect_err("failed");
        assert_eq!(fs::read(&file).expect("there"), b"new");
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 2);
    }

    /// Root may write to any folder, but not to every file system.
    #[test]
    fn file_that_cannot_be_created_is_rejected_before_the_work() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let long = dir.path().join("n".repeat(300));
        for path in [Path::new("/proc/psci-bench.log"), &long] {
            let error = check_output(("--log", path), &[]).expect_err("cannot be created");
            assert!(
                error.to_string().contains("cannot create this file"),
                "{error}"
            );
        }
        check_output(("--log", &dir.path().join("new")), &[]).expect("it can be created");
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 0);
    }

    #[test]
    fn two_paths_to_one_file_are_recognized() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let new = dir.path().join("new");
        let detour = dir.path().join(".").join("new");
        let other = dir.path().join("other");
        assert!(is_same_file(&new, &detour) && !is_same_file(&new, &other));
        fs::write(&new, "").expect("written");
        let null = Path::new("/dev/null");
        assert!(is_same_file(&new, &detour) && !is_same_file(null, null));
    }
}
