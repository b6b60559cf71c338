//! The profile next to a log. A comparison of two logs uses their profiles to attribute changes to
//! functions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use host::hex::hex;
use itertools::Itertools as _;
use sha2::{Digest, Sha256};

use super::difference::{self, InstructionScope, PhaseChange};
use super::document::{number, signed};
use super::profile::Profile;

/// The maximum number of functions listed per phase in a sentence.
const NAMED_MAX: usize = 4;

/// Returns the path of a log's profile.
pub fn profile_path(log: &Path) -> PathBuf {
    log.with_added_extension("profile.json")
}

/// Returns the SHA-256 that a profile uses to identify its log.
pub fn log_hash(log: &[u8]) -> String {
    hex(&Sha256::digest(log))
}

/// Returns the profile next to `log`; None if it does not exist.
///
/// # Errors
/// Returns an error if the profile belongs to a different log.
fn read(log: &Path) -> Result<Option<Profile>> {
    let path = profile_path(log);
    if !path.is_file() {
        return Ok(None);
    }
    let name = || path.display().to_string();
    let json = fs::read(&path).with_context(name)?;
    let profile = Profile::from_json(&json).with_context(name)?;
    if log_hash(&fs::read(log)?) != profile.log {
        bail!(
            "{}: this profile belongs to a different log; remove it, or create a new profile",
            name()
        );
    }
    Ok(Some(profile))
}

/// Returns a sentence for each phase that differs, listing the functions that cause the difference.
/// The list is empty unless both logs have profiles.
pub fn sentences(log: &Path, baseline: &Path) -> Result<Vec<String>> {
    let (Some(new), Some(old)) = (read(log)?, read(baseline)?) else {
        return Ok(Vec::new());
    };
    let changes = difference::changes(&old, &new);
    Ok(changes.iter().filter_map(sentence).collect())
}

/// Describes a phase's change; None if its counts are equal.
fn sentence(change: &PhaseChange) -> Option<String> {
    let counts = [
        ("own", change.both(InstructionScope::Own)),
        ("all CPUs", change.both(InstructionScope::All)),
    ];
    let is_equal = |counts: Option<[f64; 2]>| {
        counts.is_none_or(|[old_count, new_count]| old_count == new_count)
    };
    if counts.iter().all(|(_, counts)| is_equal(*counts)) {
        return None;
    }
    let figures = counts
        .into_iter()
        .filter_map(|(scope, counts)| {
            let [old, new] = counts?.map(number);
            Some(format!("{scope} {old} -> {new}"))
        })
        .join(", ");
    let mut causes: Vec<String> = change
        .changed_functions()
        .take(NAMED_MAX)
        .map(|function| {
            let difference = signed(function.new - function.old);
            format!("{} {difference}", function.label())
        })
        .collect();
    let others = change.changed_functions().skip(NAMED_MAX).count();
    if others > 0 {
        causes.push(format!("{others} others"));
    }
    let functions = if causes.is_empty() {
        String::new()
    } else {
        format!(": {}", causes.join(", "))
    };
    let figure = &change.figure_name;
    Some(format!(
        "{figure}: mean instructions per call: {figures}{functions}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a log and its profile, whose only phase contains the sums for two calls.
    fn write_log(dir: &Path, name: &str, own: u64, all: u64) -> PathBuf {
        let log = dir.join(name);
        let mut profile = Profile::synthetic(&[("parallel", "entry", own, all)]);
        profile.log = log_hash(name.as_bytes());
        fs::write(&log, name).expect("written");
        let json = serde_json::to_vec(&profile).expect("a profile");
        fs::write(profile_path(&log), json).expect("written");
        log
    }

    #[test]
    fn phase_that_only_waits_longer_has_a_sentence() {
        let dir = tempfile::tempdir().expect("a folder");
        let old = write_log(dir.path(), "old.log", 2788, 63_434);
        let new = write_log(dir.path(), "new.log", 2788, 943_026);
        assert_eq!(
            sentences(&new, &old).expect("two profiles"),
            [
                "parallel:entry: mean instructions per call: own 1394 -> 1394, all CPUs 31717 -> \
                 471513."
            ]
        );
        assert!(sentences(&old, &old).expect("two profiles").is_empty());
    }
}
