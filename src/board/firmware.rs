//! The `psci` node: is there PSCI, and by which instruction is it called?
//!
//! Linux binding *arm/psci.yaml*. The node is known by its `compatible`, as
//! some boards have it at /firmware/psci instead of /psci.

use super::error::{BoardError, Problem};
use super::fdt::Fdt;
use super::tree::{self, Chain, Facts, compatible_with};
use crate::image::Conduit;

/// With function IDs of the standard's.
const STANDARD: [&str; 2] = ["arm,psci-1.0", "arm,psci-0.2"];
/// PSCI 0.1: function IDs are properties of the node.
const OLD: [&str; 1] = ["arm,psci"];

/// What a walk has seen of PSCI so far. The first standard node counts.
#[derive(Default)]
pub(super) struct Psci<'t> {
    standard: Option<Result<Conduit, BoardError<'t>>>,
    old: Option<BoardError<'t>>,
}

impl<'t> Psci<'t> {
    pub fn visit(&mut self, chain: &Chain<'t>, facts: &Facts<'t>) {
        if self.standard.is_none() && compatible_with(facts.compatible, &STANDARD).is_some() {
            self.standard = Some(method(chain));
        } else if self.old.is_none() && compatible_with(facts.compatible, &OLD).is_some() {
            self.old = Some(chain.node().error("compatible", Problem::OldPsci));
        }
    }

    pub fn conduit(self) -> Result<Conduit, BoardError<'t>> {
        let none = "no node compatible with arm,psci-1.0 or arm,psci-0.2: the firmware has no PSCI";
        self.standard
            .unwrap_or_else(|| Err(self.old.unwrap_or(BoardError::tree(Problem::NoNode(none)))))
    }
}

fn method<'t>(chain: &Chain<'t>) -> Result<Conduit, BoardError<'t>> {
    let node = chain.node();
    match node.text("method")? {
        None => Err(node.error("method", Problem::Missing)),
        Some("smc") => Ok(Conduit::Smc),
        Some("hvc") => Ok(Conduit::Hvc),
        Some(value) => {
            let expected = "smc or hvc";
            Err(node.error("method", Problem::Text { value, expected }))
        }
    }
}

/// The conduit alone.
pub(super) fn conduit(fdt: Fdt<'_>) -> Result<Conduit, BoardError<'_>> {
    let mut psci = Psci::default();
    tree::walk(fdt, &mut |chain, facts| {
        psci.visit(chain, facts);
        Ok(())
    })?;
    psci.conduit()
}
