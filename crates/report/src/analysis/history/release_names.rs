//! The names of runs, and the order of releases.
//!
//! A release name comes from the titles on its page or from lines printed by its firmware.
//! Otherwise, the release is named after the part of its path that distinguishes it from the
//! others. Runs of several boards are named after their boards.

use std::path::{Component, Path};

use anyhow::{Result, bail, ensure};
use itertools::Itertools as _;

use crate::log::LoggedRun;
use crate::log::release_version::ReleaseVersion;

/// Returns the release names.
///
/// # Errors
/// Returns an error if there is only one release, if two releases have the same name, or if they
/// are out of order.
pub(super) fn release_names(runs: &[LoggedRun]) -> Result<Vec<String>> {
    let inputs = runs.iter().map(|run| run.source.input.as_str());
    let inputs: Vec<&str> = inputs.collect();
    if let [only] = inputs[..] {
        bail!("{only}: a history needs at least two releases, oldest first, or runs of two boards");
    }
    let names = names_of_releases(runs);
    check_order(&names, &inputs)?;
    Ok(names)
}

/// Returns the names of runs of several boards. If a board occurs more than once, the release
/// follows its name.
///
/// # Errors
/// Returns an error if two runs have the same board and the same release.
pub(super) fn board_names(runs: &[LoggedRun]) -> Result<Vec<String>> {
    let boards = runs.iter().map(LoggedRun::board);
    let repeated: Vec<Option<&str>> = boards.clone().duplicates().collect();
    let releases = names_of_releases(runs);
    let names = boards.zip(releases).map(|(board, release)| match board {
        Some(board) if repeated.contains(&Some(board)) => format!("{board} {release}"),
        Some(board) => board.to_owned(),
        None => release,
    });
    let names: Vec<String> = names.collect();
    for (first, second) in (0..names.len()).tuple_combinations() {
        let [one, other] = [first, second].map(|place| &runs[place].source.input);
        ensure!(
            names[first] != names[second],
            "{one} and {other} are both from {}: specify each release of a board once",
            names[first]
        );
    }
    Ok(names)
}

/// Returns the release of each run.
fn names_of_releases(runs: &[LoggedRun]) -> Vec<String> {
    let inputs = runs.iter().map(|run| run.source.input.as_str());
    let inputs: Vec<&str> = inputs.collect();
    let names = runs.iter().zip(names_of_paths(&inputs));
    let names = names.map(|(run, of_path)| name_in(run).unwrap_or(of_path));
    names.collect()
}

/// Returns the release named on a page or in a log.
fn name_in(run: &LoggedRun) -> Option<String> {
    if let Some(release) = &run.header.release {
        return Some(release.clone());
    }
    // `v2.14.0(release):v2.14.0-120-g1a2b3c4`: the version, then the output of `git describe`.
    let text = run.firmware_version()?;
    let (version, described) = text.split_once(':').unwrap_or((text, ""));
    let version = version.split('(').next()?.trim();
    ReleaseVersion::parse(version)?;
    let is_later = |version: &ReleaseVersion| version.commits > 0;
    let has_commits = ReleaseVersion::parse(described).is_some_and(|version| is_later(&version));
    let name = if has_commits { described } else { version };
    Some(name.to_owned())
}

/// Returns a name for each path. The name is a version found in a component that is not common to
/// all paths, or in the last component. If there is no version, the name is the last component that
/// is not common to all paths.
fn names_of_paths(inputs: &[&str]) -> Vec<String> {
    let parts = inputs.iter().map(|input| parts(input));
    let parts: Vec<Vec<&str>> = parts.collect();
    let names = parts.iter().map(|own| {
        let is_shared = |part: &str| parts.iter().all(|other| other.contains(&part));
        let mut apart = own.iter().rev().filter(|part| !is_shared(part));
        let last = own.last().copied();
        let version = apart.clone().find_map(|part| ReleaseVersion::find(part));
        let version = version.or_else(|| ReleaseVersion::find(last?));
        let name = version.or(apart.next().copied()).or(last);
        name.unwrap_or_default().to_owned()
    });
    names.collect()
}

/// Returns a path's components, without the file extension.
fn parts(input: &str) -> Vec<&str> {
    let components = Path::new(input).components();
    let parts = components.filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let mut parts: Vec<&str> = parts.collect();
    if let Some(last) = parts.last_mut()
        // In `v2.9`, the 9 is part of the version.
        && let Some((stem, ending)) = last.rsplit_once('.')
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        *last = stem;
    }
    parts
}

/// Rejects releases with the same name, and releases that are not in version order.
fn check_order(names: &[String], inputs: &[&str]) -> Result<()> {
    let versions = names.iter().map(|name| ReleaseVersion::parse(name));
    let versions: Vec<Option<ReleaseVersion>> = versions.collect();
    let said = |place: usize| format!("{} ({})", names[place], inputs[place]);
    for (first, second) in (0..names.len()).tuple_combinations() {
        let is_same_version = versions[first].is_some() && versions[first] == versions[second];
        ensure!(
            names[first] != names[second] && !is_same_version,
            "{} and {} are the same release: specify each release once",
            said(first),
            said(second)
        );
        if let (Some(older), Some(newer)) = (&versions[first], &versions[second]) {
            ensure!(
                older < newer,
                "{} is older than {}: specify the oldest release first",
                said(second),
                said(first)
            );
        }
    }
    Ok(())
}
