//! The nodes that are found by `compatible`, wherever they are in the tree.

use super::error::{BoardError, Result};
use super::fdt::Fdt;
use super::node::Node;
use super::{cache, gic, psci, timer_frame, timers, tree, watchdog};
use crate::image::Conduit;

/// The first node of each kind.
#[derive(Default)]
pub(crate) struct Found<'t> {
    psci: Option<Node<'t>>,
    old_psci: Option<Node<'t>>,
    /// The interrupt controller with its `compatible`.
    pub controller: Option<(Node<'t>, &'t [u8])>,
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
        let _ = tree::walk(tree, &mut |chain, facts| {
            let (node, compatible) = (chain.node, facts.compatible);
            if psci::is_psci(compatible) {
                found.psci.get_or_insert(node);
            } else if psci::is_old_psci(compatible) {
                found.old_psci.get_or_insert(node);
            }
            found.cache = found.cache.max(cache::second_level(node, compatible));
            if gic::is_gic(compatible) {
                found.controller.get_or_insert((node, compatible));
            } else if timers::is_timer(compatible) {
                found.timer.get_or_insert(node);
            } else if timer_frame::is_timer(compatible) {
                found.frames.get_or_insert(node);
            } else if watchdog::is_watchdog(compatible) {
                found.watchdog.get_or_insert(node);
            }
            Ok(())
        });
        found
    }

    /// Returns the conduit of PSCI.
    pub fn conduit(&self, tree: Fdt<'t>) -> Result<Conduit> {
        match (self.psci, self.old_psci) {
            (Some(node), _) => psci::conduit(node),
            (None, Some(old)) => Err(psci::refusal_of_old(old)),
            (None, None) => {
                let absence = psci::absence(tree);
                Err(BoardError::of_tree(format_args!("{absence}")))
            }
        }
    }
}
