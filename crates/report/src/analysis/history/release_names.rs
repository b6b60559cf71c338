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
    let inputs = input_names(runs);
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
    let names: Vec<String> = boards
        .zip(releases)
        .map(|(board, release)| match board {
            Some(board) if repeated.contains(&Some(board)) => format!("{board} {release}"),
            Some(board) => board.to_owned(),
            None => release,
        })
        .collect();
    for (first, second) in (0..names.len()).tuple_combinations() {
        let [one, other] = [first, second].map(|index| &runs[index].source.input);
        ensure!(
            names[first] != names[second],
            "{one} and {other} are both from {}: specify each release of a board once",
            names[first]
        );
    }
    Ok(names)
}

/// Returns the paths from which the runs were read.
fn input_names(runs: &[LoggedRun]) -> Vec<&str> {
    runs.iter()
        .map(|logged| logged.source.input.as_str())
        .collect()
}

/// Returns the release of each run.
fn names_of_releases(runs: &[LoggedRun]) -> Vec<String> {
    let path_names = names_of_paths(&input_names(runs));
    runs.iter()
        .zip(path_names)
        .map(|(logged, path_name)| name_in(logged).unwrap_or(path_name))
        .collect()
}

/// Returns the release named on a page or in a log.
fn name_in(logged: &LoggedRun) -> Option<String> {
    if let Some(release) = &logged.header.release {
        return Some(release.clone());
    }
    // `v2.14.0(release):v2.14.0-120-g1a2b3c4`: the version, then the output of `git describe`.
    let text = logged.firmware_version()?;
    let (build, described) = text.split_once(':').unwrap_or((text, ""));
    let version = build.split('(').next()?.trim();
    ReleaseVersion::parse(version)?;
    let has_commits = ReleaseVersion::parse(described).is_some_and(|version| version.commits > 0);
    let name = if has_commits { described } else { version };
    Some(name.to_owned())
}

/// Returns a name for each path. The name is a version found in a component that is not common to
/// all paths, or in the last component. If there is no version, the name is the last component that
/// is not common to all paths.
fn names_of_paths(inputs: &[&str]) -> Vec<String> {
    let paths: Vec<Vec<&str>> = inputs.iter().map(|input| components(input)).collect();
    let is_shared = |component: &str| paths.iter().all(|path| path.contains(&component));
    let names = paths.iter().map(|path| {
        let mut distinct = path.iter().rev().filter(|component| !is_shared(component));
        let last = path.last().copied();
        let name = distinct
            .clone()
            .find_map(|component| ReleaseVersion::find(component))
            .or_else(|| ReleaseVersion::find(last?))
            .or_else(|| distinct.next().copied())
            .or(last);
        name.unwrap_or_default().to_owned()
    });
    names.collect()
}

/// Returns a path's components, without the file extension.
fn components(input: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Path::new(input)
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    if let Some(last) = names.last_mut()
        // In `v2.9`, the 9 is part of the version.
        && let Some((stem, ending)) = last.rsplit_once('.')
        && ending.starts_with(|letter: char| letter.is_ascii_alphabetic())
    {
        *last = stem;
    }
    names
}

/// Rejects releases with the same name, and releases that are not in version order.
fn check_order(names: &[String], inputs: &[&str]) -> Result<()> {
    let versions: Vec<Option<ReleaseVersion>> = names
        .iter()
        .map(|name| ReleaseVersion::parse(name))
        .collect();
    let title = |index: usize| format!("{} ({})", names[index], inputs[index]);
    for (first, second) in (0..names.len()).tuple_combinations() {
        let is_same_version = versions[first].is_some() && versions[first] == versions[second];
        ensure!(
            names[first] != names[second] && !is_same_version,
            "{} and {} are the same release: specify each release once",
            title(first),
            title(second)
        );
        if let (Some(older), Some(newer)) = (&versions[first], &versions[second]) {
            ensure!(
                older < newer,
                "{} is older than {}: specify the oldest release first",
                title(second),
                title(first)
            );
        }
    }
    Ok(())
}
