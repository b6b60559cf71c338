//! The variants of the overlay platform.

use std::fmt;
use std::str::FromStr;

use anyhow::Result;

use crate::board::StateFormat;

/// The way in which the firmware keeps caches coherent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coherency {
    /// By hardware (HW_ASSISTED_COHERENCY=1).
    #[default]
    Hardware,
    /// By software, as on Juno.
    Software,
}

/// The function IDs of PMF's timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pmf {
    /// Vendor-specific EL3 function IDs.
    #[default]
    New,
    /// The older SiP function IDs.
    Sip,
    /// None: there is no PMF.
    Off,
}

/// The key of [`Variant::os_initiated`].
pub(super) const OSI: &str = "osi";

const SWITCH: &[&str] = &["0", "1"];

/// The keys with their words, in the order of the values that they stand for.
const KEYS: [(&str, &[&str]); 7] = [
    ("coherency", &["hw", "sw"]),
    ("gic-reset", SWITCH),
    ("pmf", &["new", "sip", "off"]),
    ("state-id", &["original", "extended"]),
    ("timer-stop", SWITCH),
    ("faults", SWITCH),
    (OSI, SWITCH),
];

/// A variant of the overlay platform. `Display` and `FromStr` have the form
/// `coherency=hw,gic-reset=0,pmf=new,state-id=original,timer-stop=0,faults=0,osi=0`; the
/// values here are the defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// `coherency=hw|sw`.
    pub coherency: Coherency,
    /// `gic-reset=0|1`: the GIC's local enables are lost on power-down.
    pub gic_reset: bool,
    /// `pmf=new|sip|off`.
    pub pmf: Pmf,
    /// `state-id=original|extended`.
    pub state_id: StateFormat,
    /// `timer-stop=0|1`: a CPU's own timers stop in a power-down.
    pub timer_stop: bool,
    /// `faults=0|1`: it can be given a fault ([`super::fault`]).
    pub faults: bool,
    /// `osi=0|1`: CPU_SUSPEND's OS-initiated mode (TF-A's PSCI_OS_INIT_MODE).
    pub os_initiated: bool,
}

impl Variant {
    /// Returns each key with its word, in the order of the fields.
    pub(super) fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let values = [
            self.coherency as usize,
            self.gic_reset.into(),
            self.pmf as usize,
            self.state_id as usize,
            self.timer_stop.into(),
            self.faults.into(),
            self.os_initiated.into(),
        ];
        let keys = KEYS.into_iter().zip(values);
        keys.map(|((key, words), value)| (key, words.get(value).copied().unwrap_or_default()))
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.values().map(|(key, value)| format!("{key}={value}"));
        f.write_str(&words.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut values = [None; KEYS.len()];
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let value = |(nth, (key, words)): (usize, &(&str, &[&str]))| {
                let value = word.strip_prefix(key)?.strip_prefix('=')?;
                Some((nth, words.iter().position(|it| *it == value)?))
            };
            let Some((nth, value)) = KEYS.iter().enumerate().find_map(value) else {
                let known = KEYS.map(|(key, words)| format!("{key}={}", words.join("|")));
                let known = known.join(", ");
                return Err(format!(
                    "{word:?} is no variant: use {known}, with commas between"
                ));
            };
            if values[nth].replace(value).is_some() {
                return Err(format!("{word:?}: this key is given twice"));
            }
        }
        let is_on = |nth: usize| values[nth] == Some(1);
        Ok(Self {
            coherency: [Coherency::Hardware, Coherency::Software][usize::from(is_on(0))],
            gic_reset: is_on(1),
            pmf: [Pmf::New, Pmf::Sip, Pmf::Off][values[2].unwrap_or_default()],
            state_id: StateFormat::ALL[values[3].unwrap_or_default()],
            timer_stop: is_on(4),
            faults: is_on(5),
            os_initiated: is_on(6),
        })
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
