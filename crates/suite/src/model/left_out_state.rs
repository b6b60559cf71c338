//! Idle states in the device tree that are not used.

use alloc::format;
use alloc::string::String;

use hardware::board::{LeftOut, LeftOutState as BoardState};
use hardware::spec::psci::StateFormat;
use hardware::text::untrusted::Excerpt;
use serde::{Deserialize, Serialize};

/// The maximum length of a node name in output, in characters. Names in valid trees are shorter.
const NAME_MAX: usize = 48;

/// An idle state in the device tree that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutState {
    /// The name of the state's node or, if there is no such node, of the node that lists it.
    pub name: String,
    /// Why the payload does not use the state.
    pub reason: LeftOut,
}

impl LeftOutState {
    /// Returns the state with this node name, which is truncated if it is too long.
    pub fn new(name: &str, reason: LeftOut) -> Self {
        Self {
            name: format!("{}", Excerpt(name, NAME_MAX)),
            reason,
        }
    }

    /// Returns a sentence with the name and the reason.
    pub fn sentence(&self) -> String {
        let Self { name, reason } = self;
        let why = match reason {
            LeftOut::NoNode(phandle) => {
                return format!(
                    "{name} lists an idle state with the phandle {phandle:#x}, which no node has."
                );
            }
            LeftOut::NoDomain(phandle) => {
                return format!(
                    "{name} is in a power domain with the phandle {phandle:#x}, which no node has."
                );
            }
            LeftOut::OtherFormat(power_state) => {
                let has = StateFormat::of(*power_state);
                let (takes, has) = (has.other().name(), has.name());
                return format!(
                    "the idle state {name} is left out: power_state {power_state:#010x} is in the \
                     {has} format, but the firmware uses the {takes} one."
                );
            }
            LeftOut::NoParameter => "it has no arm,psci-suspend-param",
            LeftOut::NotCompatible => {
                "it is not compatible with arm,idle-state or domain-idle-state"
            }
            LeftOut::Disabled => "its status disables it",
            LeftOut::NotListed => "no CPU or power domain lists it",
        };
        format!("the idle state {name} is left out: {why}.")
    }
}

impl From<&BoardState<'_>> for LeftOutState {
    fn from(state: &BoardState<'_>) -> Self {
        Self::new(state.name, state.reason)
    }
}
