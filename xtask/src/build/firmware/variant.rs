//! The variants of the overlay platform.

use std::fmt;
use std::str::FromStr;

use crate::board::StateFormat;

/// The words of each key; the first is the default.
const KEYS: [&[&str]; 7] = [
    // Caches are kept coherent by hardware (HW_ASSISTED_COHERENCY=1), or by software, as on Juno.
    &["coherency=hw", "coherency=sw"],
    // The GIC's local enables are lost on power-down.
    &["gic-reset=0", "gic-reset=1"],
    // PMF's timestamps have vendor-specific EL3 function IDs, or the older SiP ones.
    &["pmf=new", "pmf=sip", "pmf=off"],
    &["state-id=original", "state-id=extended"],
    // A CPU's own timers stop in a power-down.
    &["timer-stop=0", "timer-stop=1"],
    // It can be given a fault ([`super::fault`]).
    &["faults=0", "faults=1"],
    // CPU_SUSPEND's OS-initiated mode: TF-A's PSCI_OS_INIT_MODE, and no option of the overlay's.
    &["osi=0", "osi=1"],
];

/// A variant of the overlay platform: a word of each key. `Display` and `FromStr` have the
/// form `coherency=hw,gic-reset=0,...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant([&'static str; KEYS.len()]);

impl Default for Variant {
    fn default() -> Self {
        Self(KEYS.map(|words| words[0]))
    }
}

impl Variant {
    /// Returns each key with its value.
    pub(super) fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.into_iter().filter_map(|word| word.split_once('='))
    }

    /// Returns true if `word`, such as `pmf=off`, is a part of this variant.
    pub fn has(self, word: &str) -> bool {
        self.0.contains(&word)
    }

    /// Returns this variant with another `word`, such as `pmf=off`.
    pub fn with(mut self, word: &str) -> Self {
        let (key, word) = find(word).expect("a word of the list");
        self.0[key] = word;
        self
    }

    /// Returns the format of power_state values.
    pub fn state_format(self) -> StateFormat {
        StateFormat::ALL[usize::from(self.has("state-id=extended"))]
    }
}

/// Returns the place of a word's key, and the word.
fn find(word: &str) -> Option<(usize, &'static str)> {
    let mut all = (0..).zip(KEYS);
    all.find_map(|(key, words)| Some((key, *words.iter().find(|it| **it == word)?)))
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut variant, mut given) = (Self::default(), Vec::new());
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let Some((key, word)) = find(word) else {
                let known = KEYS.map(|words| words.join("|")).join(", ");
                return Err(format!(
                    "{word:?} is no variant: use {known}, with commas between"
                ));
            };
            if given.contains(&key) {
                return Err(format!("{word:?}: this key is given twice"));
            }
            given.push(key);
            variant.0[key] = word;
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
            "coherency=sw,gic-reset=1,pmf=sip,state-id=extended,timer-stop=1,faults=1,osi=1",
            "coherency=hw,gic-reset=0,pmf=off,state-id=original,timer-stop=0,faults=0,osi=0",
        ] {
            let variant: Variant = text.parse().expect("known words");
            assert_eq!(variant.to_string(), text);
        }
        assert_eq!("".parse(), Ok(Variant::default()));
        let error = "pmf=none".parse::<Variant>().expect_err("unknown");
        let expected = "\"pmf=none\" is no variant: use coherency=hw|coherency=sw, gic-reset=0|";
        assert!(error.starts_with(expected), "{error}");
    }
}
