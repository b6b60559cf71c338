//! Variants of the overlay platform.

use std::fmt;
use std::str::FromStr;

use boards::StateFormat;
use thiserror::Error;

/// The settings for each key. The first setting for a key is the default.
const KEYS: [&[&str]; 10] = [
    // Caches are kept coherent by hardware (HW_ASSISTED_COHERENCY=1), or by software, as on Juno.
    &["coherency=hw", "coherency=sw"],
    // The local GIC enable bits are lost on power-down.
    &["gic-reset=0", "gic-reset=1"],
    // PMF timestamps use vendor-specific EL3 function IDs, or the older SiP ones.
    &["pmf=new", "pmf=sip", "pmf=off"],
    &["state-id=original", "state-id=extended"],
    // A CPU's own timers stop during power-down.
    &["timer-stop=0", "timer-stop=1"],
    // Cores reach the power controller one at a time.
    &["power-channel=0", "power-channel=1"],
    // The firmware accepts a fault ([`super::fault`]).
    &["faults=0", "faults=1"],
    // CPU_SUSPEND's OS-initiated mode: TF-A's PSCI_OS_INIT_MODE option, not an overlay option.
    &["osi=0", "osi=1"],
    // Cores abandon a power-down if an interrupt is pending (FEAT_PABANDON).
    &["pabandon=0", "pabandon=1"],
    // The return value of CPU_ON during the time set by `cpu-on-race=`.
    &["cpu-on-answer=success", "cpu-on-answer=failure"],
];

/// The key of [`FirmwareVariant::cpu_on_race_us`], and its maximum value.
const CPU_ON_RACE: &str = "cpu-on-race";
const CPU_ON_RACE_MAX_US: u32 = 1_000_000;

/// A variant of the overlay platform: a setting for each key, and a number. `Display` and `FromStr`
/// use the form `coherency=hw,gic-reset=0,...,cpu-on-race=0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmwareVariant {
    words: [&'static str; KEYS.len()],
    /// The time after CPU_OFF during which CPU_ON comes too early, in microseconds.
    cpu_on_race_us: u32,
}

impl Default for FirmwareVariant {
    fn default() -> Self {
        Self {
            words: KEYS.map(|words| words[0]),
            cpu_on_race_us: 0,
        }
    }
}

impl FirmwareVariant {
    /// Returns each key with its value.
    pub(super) fn values(self) -> impl Iterator<Item = (&'static str, String)> {
        let words = self.words.into_iter();
        let pairs = words
            .filter_map(|word| word.split_once('='))
            .map(|(key, value)| (key, value.to_owned()));
        pairs.chain([(CPU_ON_RACE, self.cpu_on_race_us.to_string())])
    }

    /// Returns true if this variant includes `word`, such as `pmf=off`.
    pub fn has(self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Returns this variant with `word`, such as `pmf=off`, set.
    pub fn with(mut self, word: &str) -> Self {
        let (key, word) = find(word).expect("a setting in the list");
        self.words[key] = word;
        self
    }

    /// Applies `word`, such as `pmf=off`. Returns None if there is no such setting.
    fn set(&mut self, word: &str) -> Option<()> {
        if let Some((key, word)) = find(word) {
            self.words[key] = word;
            return Some(());
        }
        let number = word
            .strip_prefix(CPU_ON_RACE)?
            .strip_prefix('=')?
            .parse()
            .ok()?;
        self.cpu_on_race_us = Some(number).filter(|number| *number <= CPU_ON_RACE_MAX_US)?;
        Some(())
    }

    /// Returns the format of the power_state values.
    pub fn state_format(self) -> StateFormat {
        StateFormat::ALL[usize::from(self.has("state-id=extended"))]
    }
}

/// Returns the index of a setting's key, and the setting.
fn find(word: &str) -> Option<(usize, &'static str)> {
    let mut all = (0..).zip(KEYS);
    all.find_map(|(key, words)| Some((key, *words.iter().find(|choice| **choice == word)?)))
}

impl fmt::Display for FirmwareVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words.join(",");
        write!(f, "{words},{CPU_ON_RACE}={}", self.cpu_on_race_us)
    }
}

/// Settings that do not make up a valid variant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VariantError {
    /// A key appears twice; this is its second setting.
    #[error("{0:?}: this key is specified twice")]
    Twice(String),
    /// A setting that is not in any of the lists.
    #[error(
        "unknown variant {0:?}: use {known}, {CPU_ON_RACE}=0 to {CPU_ON_RACE_MAX_US} \
         in microseconds, separated by commas",
        known = KEYS.map(|words| words.join("|")).join(", ")
    )]
    Unknown(String),
    /// A return value for CPU_ON is specified, but there is no race in which it would be returned.
    #[error("cpu-on-answer=failure has no effect without {CPU_ON_RACE}=")]
    NoRace,
    /// Cores abandon a power-down, but their caches are kept coherent by software.
    #[error("pabandon=1 requires coherency=hw, as TF-A does")]
    NotCoherent,
}

impl FromStr for FirmwareVariant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let mut variant = Self::default();
        let mut given = Vec::new();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let key = word.split_once('=').map_or(word, |(key, _)| key);
            if given.contains(&key) {
                return Err(VariantError::Twice(word.to_owned()));
            }
            given.push(key);
            let unknown = || VariantError::Unknown(word.to_owned());
            variant.set(word).ok_or_else(unknown)?;
        }
        if variant.cpu_on_race_us == 0 && variant.has("cpu-on-answer=failure") {
            return Err(VariantError::NoRace);
        }
        if variant.has("pabandon=1") && variant.has("coherency=sw") {
            return Err(VariantError::NotCoherent);
        }
        Ok(variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_printed_as_it_is_read() {
        for text in [
            "coherency=sw,gic-reset=1,pmf=sip,state-id=extended,timer-stop=1,power-channel=1,faults=1,osi=1,\
             pabandon=0,cpu-on-answer=failure,cpu-on-race=500",
            "coherency=hw,gic-reset=0,pmf=off,state-id=original,timer-stop=0,power-channel=0,faults=0,osi=0,\
             pabandon=1,cpu-on-answer=success,cpu-on-race=0",
        ] {
            let variant: FirmwareVariant = text.parse().expect("known words");
            assert_eq!(variant.to_string(), text);
        }
        assert_eq!("".parse(), Ok(FirmwareVariant::default()));
        for bad in [
            "cpu-on-race=1000001",
            "cpu-on-race=",
            "cpu-on-race=-1",
            "cpu-on-race",
        ] {
            let error = bad.parse::<FirmwareVariant>().expect_err(bad).to_string();
            assert!(error.contains("cpu-on-race=0 to 1000000"), "{error}");
        }
        let error = "cpu-on-race=1,cpu-on-race=2".parse::<FirmwareVariant>();
        let twice = VariantError::Twice("cpu-on-race=2".to_owned());
        assert_eq!(error, Err(twice));
        let error = "cpu-on-answer=failure".parse::<FirmwareVariant>();
        assert_eq!(error, Err(VariantError::NoRace));
        let error = "pabandon=1,coherency=sw".parse::<FirmwareVariant>();
        assert_eq!(error, Err(VariantError::NotCoherent));
        let error = "pmf=none"
            .parse::<FirmwareVariant>()
            .expect_err("unknown")
            .to_string();
        let expected = "unknown variant \"pmf=none\": use coherency=hw|coherency=sw, gic-reset=0|";
        assert!(error.starts_with(expected), "{error}");
    }
}
