//! The variants of the overlay platform.

use std::fmt;
use std::str::FromStr;

use itertools::Itertools as _;

use crate::board::StateFormat;

const SWITCH: &[&str] = &["0", "1"];

/// The keys with their words; the first of each is the default.
const KEYS: [(&str, &[&str]); 7] = [
    // Caches are kept coherent by hardware (HW_ASSISTED_COHERENCY=1), or by software, as on Juno.
    ("coherency", &["hw", "sw"]),
    // The GIC's local enables are lost on power-down.
    ("gic-reset", SWITCH),
    // PMF's timestamps have vendor-specific EL3 function IDs, or the older SiP ones.
    ("pmf", &["new", "sip", "off"]),
    ("state-id", &["original", "extended"]),
    // A CPU's own timers stop in a power-down.
    ("timer-stop", SWITCH),
    // It can be given a fault ([`super::fault`]).
    ("faults", SWITCH),
    // CPU_SUSPEND's OS-initiated mode: TF-A's PSCI_OS_INIT_MODE, and no option of the overlay's.
    ("osi", SWITCH),
];

/// A variant of the overlay platform: the place of each key's word. `Display` and `FromStr`
/// have the form `coherency=hw,gic-reset=0,...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant([usize; KEYS.len()]);

impl Variant {
    /// Returns each key with its word.
    pub(super) fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let values = KEYS.into_iter().zip(self.0);
        values.map(|((key, words), place)| (key, words[place]))
    }

    /// Returns true if `word`, such as `pmf=off`, is a part of this variant.
    pub fn has(self, word: &str) -> bool {
        find(word).is_some_and(|(key, place)| self.0[key] == place)
    }

    /// Returns this variant with another `word`, such as `pmf=off`.
    pub fn with(mut self, word: &str) -> Self {
        let (key, place) = find(word).expect("a word of the list");
        self.0[key] = place;
        self
    }

    /// Returns the format of power_state values.
    pub fn state_format(self) -> StateFormat {
        StateFormat::ALL[usize::from(self.has("state-id=extended"))]
    }
}

/// Returns the places of a key and of its word.
fn find(word: &str) -> Option<(usize, usize)> {
    let (key, value) = word.split_once('=')?;
    let nth = KEYS.iter().position(|row| row.0 == key)?;
    Some((nth, KEYS[nth].1.iter().position(|it| *it == value)?))
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            &self
                .values()
                .map(|(key, value)| format!("{key}={value}"))
                .join(","),
        )
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut variant, mut given) = (Self::default(), Vec::new());
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let Some((key, place)) = find(word) else {
                let known = KEYS.map(|(key, words)| format!("{key}={}", words.join("|")));
                let known = known.join(", ");
                return Err(format!(
                    "{word:?} is no variant: use {known}, with commas between"
                ));
            };
            if given.contains(&key) {
                return Err(format!("{word:?}: this key is given twice"));
            }
            given.push(key);
            variant.0[key] = place;
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
        let expected = "\"pmf=none\" is no variant: use coherency=hw|sw, gic-reset=0|1, \
                        pmf=new|sip|off, state-id=original|extended, timer-stop=0|1, faults=0|1, \
                        osi=0|1, with commas between";
        assert_eq!(error, expected);
    }
}
