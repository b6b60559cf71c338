//! A TF-A checkout: the commits in a range, and the source at a commit. The checkout is never
//! modified.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use host::process;
use host::untrusted_text::plain;
use serde::Serialize;

/// A commit of a TF-A checkout.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Commit {
    /// The full hash, in lowercase hexadecimal.
    pub id: String,
    /// The hash of the commit's files.
    #[serde(skip)]
    pub tree: String,
    /// The first line of the commit message.
    pub title: String,
    /// The tag of the release, such as "v2.12.0"; None for all other commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
}

impl Commit {
    /// Returns the abbreviated hash.
    pub fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }

    /// Returns the tag of a release, and the abbreviated hash of any other commit.
    pub fn name(&self) -> &str {
        self.release.as_deref().unwrap_or_else(|| self.short())
    }
}

/// A selection of commits.
#[derive(Clone, Copy, Debug)]
pub struct CommitRange<'r> {
    /// The ends in Git notation, `A..B`.
    pub ends: &'r str,
    /// Omits commits from merged branches.
    pub first_parent: bool,
    /// Omits commits that are neither releases nor an end.
    pub only_releases: bool,
}

fn git(checkout: &Path, arguments: &[&str]) -> Result<String> {
    // Drop the caller's GIT_DIR and similar variables, which refer to another repository if this
    // runs in a hook.
    let mut command = process::minimal_command("git");
    // It is safe to use a checkout owned by another user, because it is only read.
    command.args(["-c", "safe.directory=*", "-C"]).arg(checkout);
    process::output(command.args(arguments))
}

/// Returns commit A and the commits in `range`, in order.
pub fn commits(checkout: &Path, range: &CommitRange<'_>) -> Result<Vec<Commit>> {
    let CommitRange {
        ends: range,
        first_parent,
        only_releases,
    } = *range;
    let ends = range.split_once("..").filter(|(start_name, end_name)| {
        let is_name = |name: &str| !name.is_empty() && !name.starts_with(['-', '.']);
        is_name(start_name) && is_name(end_name)
    });
    let (from, to) = ends.with_context(|| format!("{range}: expected a range of the form A..B"))?;
    let list = |arguments: &[&str]| list(checkout, arguments);
    let location = || format!("{range} in {}", checkout.display());
    let mut all = list(&["-1", from]).with_context(location)?;
    let parents = first_parent.then_some("--first-parent");
    let range = format!("{from}..{to}");
    let ancestor = git(checkout, &["merge-base", "--is-ancestor", from, to]);
    ancestor.map_err(|_| anyhow!("{}: A is not an ancestor of B", location()))?;
    let merges = git(
        checkout,
        &["rev-list", "--merges", "--max-count=1", &range, "--"],
    )?;
    if !first_parent && !merges.is_empty() {
        bail!(
            "{}: the range contains merges, so its commits have no linear order; \
             use --first-parent",
            location()
        );
    }
    let words: Vec<&str> = parents.into_iter().chain([range.as_str()]).collect();
    all.extend(list(&words).with_context(location)?);
    let mut releases = releases(checkout)?;
    for commit in &mut all {
        commit.release = releases.remove(&commit.id);
    }
    if all.len() < 2 {
        bail!(
            "{}: the range contains no commits; is B older than A?",
            location()
        );
    }
    if only_releases {
        keep_releases(&mut all).with_context(location)?;
    }
    Ok(all)
}

/// Omits commits that are neither releases nor at an end of `commits`.
fn keep_releases(commits: &mut Vec<Commit>) -> Result<()> {
    let last = commits.len() - 1;
    let mut index = 0;
    commits.retain(|commit| {
        let is_end = index == 0 || index == last;
        index += 1;
        is_end || commit.release.is_some()
    });
    if commits.len() == 2 {
        bail!("--releases: the range contains no tag of a release, such as v2.12.0");
    }
    Ok(())
}

/// Returns the commits that `git log` lists for `selection`, oldest first.
fn list(checkout: &Path, selection: &[&str]) -> Result<Vec<Commit>> {
    let log = ["log", "--reverse", "--format=%H %T %s"];
    let output = git(checkout, &[&log[..], selection, &["--"]].concat())?;
    let commit = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let mut next_word = || words.next().unwrap_or_default().to_owned();
        Commit {
            id: next_word(),
            tree: next_word(),
            title: plain(&next_word()),
            release: None,
        }
    };
    Ok(output.lines().map(commit).collect())
}

/// Returns the tags of releases, such as "v2.12.0", by commit. Release candidates do not count.
fn releases(checkout: &Path) -> Result<BTreeMap<String, String>> {
    let format = "--format=%(refname:short) %(objectname) %(*objectname)";
    let output = git(checkout, &["for-each-ref", format, "refs/tags/v*"])?;
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let release = |line: &str| {
        let mut words = line.split(' ');
        let tag = words.next()?;
        // An annotated tag has an object of its own, which refers to the commit.
        let commit = words.rfind(|word| !word.is_empty())?;
        let is_release = tag.strip_prefix('v')?.chars().all(is_digit);
        is_release.then(|| (commit.to_owned(), tag.to_owned()))
    };
    // If a commit has several tags, the last one is kept: "v2.12.0" instead of "v2.12".
    Ok(output.lines().filter_map(release).collect())
}

/// Returns the branch that `commit` merged: the commit at which the branch left the main line,
/// followed by the commits on the branch, in order. Empty if `commit` is not a merge of one branch.
pub fn merged_branch(checkout: &Path, commit: &Commit) -> Result<Vec<Commit>> {
    let parents = git(checkout, &["log", "-1", "--format=%P", &commit.id, "--"])?;
    let [main, branch] = parents.split_whitespace().collect::<Vec<_>>()[..] else {
        return Ok(Vec::new());
    };
    let merge_base = git(checkout, &["merge-base", main, branch])?;
    let base = merge_base.trim();
    let mut all = list(checkout, &["-1", base])?;
    let branch_range = format!("{base}..{branch}");
    all.extend(list(checkout, &["--first-parent", &branch_range])?);
    Ok(all)
}

/// Returns true if files in the checkout differ from its commit; ignores untracked files.
pub fn has_changes(checkout: &Path) -> Result<bool> {
    let status = ["status", "--porcelain", "--untracked-files=no"];
    Ok(!git(checkout, &status)?.trim().is_empty())
}

/// Returns the commit and the nearest tag, with "-dirty" if files differ from the commit.
pub fn describe(checkout: &Path) -> Result<String> {
    let describe = ["describe", "--always", "--dirty", "--abbrev=12"];
    Ok(git(checkout, &describe)?.trim().to_owned())
}

/// Returns the abbreviated hash of the commit, with "-dirty" if files differ from the commit.
pub fn abbreviated_commit(checkout: &Path) -> Result<String> {
    // No tag is left, so the name is the hash.
    let describe = [
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ];
    Ok(git(checkout, &describe)?.trim().to_owned())
}

/// Unpacks the source at `commit` into `folder`, which must be empty.
pub fn unpack(checkout: &Path, commit: &Commit, folder: &Path) -> Result<()> {
    let archive = folder.join(".archive.tar");
    let output = format!("--output={}", archive.display());
    git(checkout, &["archive", "--format=tar", &output, &commit.id])?;
    let mut tar = process::minimal_command("tar");
    process::output(tar.arg("-xf").arg(&archive).arg("-C").arg(folder))?;
    std::fs::remove_file(&archive).with_context(|| archive.display().to_string())
}
