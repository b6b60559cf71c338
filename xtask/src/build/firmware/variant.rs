//! What TF-A is built with.

use std::fmt;
use std::str::FromStr;

use anyhow::Result;

use crate::board::StateFormat;

/// How the firmware keeps caches coherent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coherency {
    /// The hardware does (HW_ASSISTED_COHERENCY=1).
    #[default]
    Hardware,
    /// The firmware does, as on Juno.
    Software,
}

/// How the firmware answers for PMF's time stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pmf {
    /// At the vendor-specific EL3 function IDs.
    #[default]
    New,
    /// At the older SiP function IDs.
    Sip,
    /// Not at all.
    Off,
}

/// The key of [`Variant::os_initiated`].
pub(super) const OSI: &str = "osi";

/// A variant of the overlay platform. `Display` and `FromStr` have the form
/// `coherency=hw,gic-reset=0,pmf=new,state-id=original,timer-stop=0,faults=0,osi=0`;
/// what is left out is as here.
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
    /// `faults=0|1`: it can be told to have a fault ([`super::fault`]).
    pub faults: bool,
    /// `osi=0|1`: CPU_SUSPEND's OS-initiated mode (TF-A's PSCI_OS_INIT_MODE).
    pub os_initiated: bool,
}

impl Variant {
    /// The value of each key, in the order of the fields.
    pub(super) fn values(self) -> [(&'static str, &'static str); 7] {
        [
            (
                "coherency",
                match self.coherency {
                    Coherency::Hardware => "hw",
                    Coherency::Software => "sw",
                },
            ),
            ("gic-reset", if self.gic_reset { "1" } else { "0" }),
            (
                "pmf",
                match self.pmf {
                    Pmf::New => "new",
                    Pmf::Sip => "sip",
                    Pmf::Off => "off",
                },
            ),
            (
                "state-id",
                match self.state_id {
                    StateFormat::Original => "original",
                    StateFormat::Extended => "extended",
                },
            ),
            ("timer-stop", if self.timer_stop { "1" } else { "0" }),
            ("faults", if self.faults { "1" } else { "0" }),
            (OSI, if self.os_initiated { "1" } else { "0" }),
        ]
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.values().map(|(key, value)| format!("{key}={value}"));
        f.write_str(&words.join(","))
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut variant = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            match word {
                "coherency=hw" => variant.coherency = Coherency::Hardware,
                "coherency=sw" => variant.coherency = Coherency::Software,
                "gic-reset=0" => variant.gic_reset = false,
                "gic-reset=1" => variant.gic_reset = true,
                "pmf=new" => variant.pmf = Pmf::New,
                "pmf=sip" => variant.pmf = Pmf::Sip,
                "pmf=off" => variant.pmf = Pmf::Off,
                "state-id=original" => variant.state_id = StateFormat::Original,
                "state-id=extended" => variant.state_id = StateFormat::Extended,
                "timer-stop=0" => variant.timer_stop = false,
                "timer-stop=1" => variant.timer_stop = true,
                "faults=0" => variant.faults = false,
                "faults=1" => variant.faults = true,
                "osi=0" => variant.os_initiated = false,
                "osi=1" => variant.os_initiated = true,
                other => {
                    return Err(format!(
                        "{other:?} is no variant: use coherency=hw|sw, gic-reset=0|1, \
                         pmf=new|sip|off, state-id=original|extended, timer-stop=0|1, \
                         faults=0|1, osi=0|1, with commas between"
                    ));
                }
            }
        }
        Ok(variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_comes_back() {
        let text = "coherency=sw,gic-reset=1,pmf=sip,state-id=extended,timer-stop=1,faults=1,osi=1";
        let variant: Variant = text.parse().expect("known words");
        assert_eq!(variant.to_string(), text);
        assert_eq!("".parse(), Ok(Variant::default()));
        let off = "pmf=off".parse::<Variant>().expect("a known word");
        assert_eq!(
            off.to_string(),
            "coherency=hw,gic-reset=0,pmf=off,state-id=original,timer-stop=0,faults=0,osi=0"
        );
        let error = "pmf=none".parse::<Variant>().expect_err("unknown");
        assert!(
            error.contains("\"pmf=none\"") && error.contains("pmf=new|sip|off"),
            "{error}"
        );
    }
}
