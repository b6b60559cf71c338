//! The nodes that are found by `compatible`, wherever they are in the tree.

use super::error::{BoardError, Result};
use super::fdt::{Fdt, number};
use super::node::{Facts, Node, compatible_with, usable_nodes};
use super::{gic, watchdog};
use crate::image::Conduit;

/// The first node of each kind.
#[derive(Default)]
pub(crate) struct Found<'t> {
    psci: Option<Node<'t>>,
    /// PSCI 0.1, with function IDs in the node's properties.
    old_psci: Option<Node<'t>>,
    /// The interrupt controller.
    pub controller: Option<Node<'t>>,
    /// The per-CPU timers.
    pub timer: Option<Node<'t>>,
    /// The memory-mapped timer.
    pub frames: Option<Node<'t>>,
    pub watchdog: Option<Node<'t>>,
    /// Bytes of the largest second-level cache.
    pub cache: Option<u64>,
}

impl<'t> Found<'t> {
    /// Searches the tree in one walk.
    pub fn search(tree: Fdt<'t>) -> Self {
        let mut found = Self::default();
        for facts in usable_nodes(tree) {
            found.cache = found.cache.max(second_level_cache(&facts));
            for (names, first) in [
                ("arm,psci-1.0 arm,psci-0.2", &mut found.psci),
                ("arm,psci", &mut found.old_psci),
                (gic::COMPATIBLE, &mut found.controller),
                ("arm,armv8-timer arm,armv7-timer", &mut found.timer),
                ("arm,armv7-timer-mem", &mut found.frames),
                (watchdog::COMPATIBLE, &mut found.watchdog),
            ] {
                if compatible_with(facts.compatible, names).is_some() {
                    first.get_or_insert(facts.node);
                }
            }
        }
        found
    }

    /// Returns the conduit of PSCI. Some boards have its node at /firmware/psci instead of
    /// /psci (Linux binding *arm/psci.yaml*).
    pub fn conduit(&self, tree: Fdt<'t>) -> Result<Conduit> {
        let Some(node) = self.psci else {
            return Err(self.lack_of_psci(tree));
        };
        match node.text("method")? {
            None => Err(node.missing("method")),
            Some("smc") => Ok(Conduit::Smc),
            Some("hvc") => Ok(Conduit::Hvc),
            Some(value) => Err(node.wrong_text("method", value, "smc or hvc")),
        }
    }

    fn lack_of_psci(&self, tree: Fdt<'t>) -> BoardError {
        if let Some(old) = self.old_psci {
            let own = "PSCI 0.1 with its own function IDs";
            let message = format_args!("{own}; arm,psci-0.2 or arm,psci-1.0 is needed");
            return old.error("compatible", message);
        }
        let by_spin_table = |cpu: Node<'_>| cpu.value("enable-method") == Some(b"spin-table\0");
        let cpus = Node::find(tree, "/cpus");
        let lack = match cpus.is_some_and(|cpus| cpus.children().any(by_spin_table)) {
            true => ", and CPUs with enable-method = \"spin-table\"",
            false => " or arm,psci-0.2",
        };
        BoardError::new(format_args!(
            "no node compatible with arm,psci-1.0{lack}: the firmware has no PSCI"
        ))
    }
}

/// Returns the bytes of a second-level cache (Devicetree Specification v0.4, section
/// 3.9), for CPUs whose own registers do not have them; `None` for another node, and
/// for a size that makes no sense: the size is only a hint.
fn second_level_cache(facts: &Facts<'_>) -> Option<u64> {
    compatible_with(facts.compatible, "cache")?;
    let cell = |name| {
        let value = facts.node.value(name).filter(|value| value.len() == 4);
        value.map(number)
    };
    let is_second = cell("cache-level")? == 2;
    cell("cache-size").filter(|bytes| is_second && *bytes != 0)
}
