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
pub fn place(log: &Path) -> PathBuf {
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
    let place = place(log);
    if !place.is_file() {
        return Ok(None);
    }
    let at = || place.display().to_string();
    let profile = Profile::from_json(&fs::read(&place).with_context(at)?).with_context(at)?;
    if log_hash(&fs::read(log)?) != profile.log {
        bail!(
            "{}: this profile belongs to a different log; remove it, or create a new profile",
            at()
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
    let sentence = |it: &PhaseChange| {
        let texts = InstructionScope::BOTH.map(|part| {
            let [old, new] = it.both(part)?;
            Some((old != new, format!("{} -> {}", number(old), number(new))))
        });
        if !texts.iter().flatten().any(|it| it.0) {
            return None;
        }
        let [own, all] = texts.map(|it| it.map(|it| it.1));
        let own = own.map(|it| format!("own {it}"));
        let all = all.map(|it| format!("all CPUs {it}"));
        let figures = own.into_iter().chain(all).join(", ");
        let named = it.changed_functions().take(NAMED_MAX);
        let named = named.map(|it| format!("{} {}", it.label(), signed(it.new - it.old)));
        let others = it.changed_functions().skip(NAMED_MAX).count();
        let others = (others > 0).then(|| format!("{others} others"));
        let functions = named.chain(others).join(", ");
        let functions = match functions.is_empty() {
            true => String::new(),
            false => format!(": {functions}"),
        };
        Some(format!(
            "{}: mean instructions per call: {figures}{functions}.",
            it.figure
        ))
    };
    Ok(changes.iter().filter_map(sentence).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a log and its profile, whose only phase contains the sums for two calls.
    fn write_log(dir: &Path, name: &str, own: u64, all: u64) -> PathBuf {
        let log = dir.join(name);
        let mut profile = Profile::made_up(&[("parallel", "entry", own, all)]);
        profile.log = log_hash(name.as_bytes());
        fs::write(&log, name).expect("written");
        let profile = serde_json::to_vec(&profile).expect("a profile");
        fs::write(place(&log), profile).expect("written");
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
