//! Finds the nodes that are, or should be, idle states, and the CPUs' lists of them.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::fdt::Fdt;
use super::node::Node;
use crate::text::format_error::Result;

/// The property that contains the `power_state`.
pub(super) const PARAMETER: &str = "arm,psci-suspend-param";
/// The property that contains the power level.
pub(super) const LEVEL: &str = "psci-bench,power-level";
const COMPATIBLE: &str = "arm,idle-state domain-idle-state";
/// The names of nodes whose children are idle states.
const CONTAINERS: [&[u8]; 2] = [b"idle-states", b"domain-idle-states"];

/// The number of nodes for which memory is reserved at once.
const NODES_USUAL: usize = 16;
/// A set of nodes, by index.
pub(super) type NodeSet = u64;
/// The maximum number of nodes that are, or should be, idle states.
const NODES_MAX: usize = NodeSet::BITS as usize;

/// The reason why an idle state in the device tree is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// A CPU lists it, but it has no `arm,psci-suspend-param`.
    NoParameter,
    /// A CPU lists it, but its `compatible` property is missing or wrong.
    NotCompatible,
    /// No node has this phandle, which the CPU or power domain of this name lists.
    NoNode(u32),
    /// No node has this phandle, which the CPU or power domain of this name has as its power
    /// domain.
    NoDomain(u32),
    /// A CPU lists it, but its `status` disables it.
    Disabled,
    /// No CPU lists it.
    NotListed,
    /// Its `power_state`, this value, is in the format that the firmware does not use.
    OtherFormat(u32),
}

/// A node that is, or should be, an idle state, or an entry in a list that no node matches.
pub(super) struct StateNode<'t> {
    /// The state or, if there is no such node, the one that lists it.
    pub(super) node: Node<'t>,
    phandle: Option<u32>,
    /// The reason why there is no such node.
    missing: Option<LeftOut>,
    is_listed: bool,
    /// The nodes that precede this one in a list.
    pub(super) after: NodeSet,
}

impl<'t> StateNode<'t> {
    fn new(node: Node<'t>, phandle: Option<u32>) -> Self {
        Self {
            node,
            phandle,
            missing: None,
            is_listed: false,
            after: 0,
        }
    }

    /// Returns the declared power level; None if it is missing or invalid.
    pub(super) fn level(&self) -> Option<u8> {
        let level = self.node.u32(LEVEL).ok().flatten();
        level
            .filter(|level| self.missing.is_none() && *level < 4)
            .map(|level| level as u8)
    }

    /// Returns the reason why the state cannot be used; None if it can be used.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        match self {
            Self {
                missing: Some(reason),
                ..
            } => Some(*reason),
            Self {
                is_listed: false, ..
            } => Some(LeftOut::NotListed),
            _ if !self.node.is_available() => Some(LeftOut::Disabled),
            _ if self.node.compatible_with(COMPATIBLE).is_none() => Some(LeftOut::NotCompatible),
            _ if self.node.value(PARAMETER).is_none() => Some(LeftOut::NoParameter),
            _ => None,
        }
    }
}

/// The idle states in a tree, and the CPUs' lists.
pub(super) struct StateNodes<'t> {
    /// The nodes, in tree order.
    pub(super) nodes: Vec<StateNode<'t>>,
    /// The nodes that each enabled CPU lists. Equal sets are merged.
    pub(super) lists: Vec<NodeSet>,
}

/// Finds the idle states in a tree, and reads the lists of all enabled CPUs.
pub(super) fn read<'t>(tree: Fdt<'t>) -> Result<StateNodes<'t>> {
    let mut nodes = find(tree)?;
    let mut lists = Vec::new();
    for cpu in super::cpus::enabled_nodes(tree)? {
        let list = note_list(&mut nodes, cpu?)?;
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    Ok(StateNodes { nodes, lists })
}

/// Finds the nodes that look like idle states, in tree order.
fn find<'t>(tree: Fdt<'t>) -> Result<Vec<StateNode<'t>>> {
    let mut nodes = Vec::with_capacity(NODES_USUAL);
    // The depth of the container that the walk is currently inside, if any.
    let mut container = usize::MAX;
    for (depth, node) in Node::root(tree).subtree() {
        if depth <= container {
            container = usize::MAX;
        }
        if container == usize::MAX && CONTAINERS.contains(&node.name()) {
            container = depth;
            continue;
        }
        let is_contained = depth.checked_sub(1) == Some(container);
        let is_state =
            || node.compatible_with(COMPATIBLE).is_some() || node.value(PARAMETER).is_some();
        if is_contained || is_state() {
            push(&mut nodes, StateNode::new(node, node.phandle()?))?;
        }
    }
    Ok(nodes)
}

fn push<'t>(nodes: &mut Vec<StateNode<'t>>, state: StateNode<'t>) -> Result<()> {
    if nodes.len() == NODES_MAX {
        return Err(state.node.too_many("(idle states)", NODES_MAX));
    }
    nodes.push(state);
    Ok(())
}

/// Notes the states that a CPU and the power domains around it list, and their order. Returns
/// these states.
fn note_list<'t>(nodes: &mut Vec<StateNode<'t>>, cpu: Node<'t>) -> Result<NodeSet> {
    const DOMAINS_MAX: usize = 8;
    let mut before: NodeSet = 0;
    note_entries(nodes, cpu, "cpu-idle-states", &mut before)?;
    let mut inner = cpu;
    for _ in 0..DOMAINS_MAX {
        let Some((phandle, domain)) = inner.power_domain()? else {
            break;
        };
        let Some(domain) = domain else {
            note_entry(nodes, inner, phandle, LeftOut::NoDomain, &mut before)?;
            break;
        };
        note_entries(nodes, domain, "domain-idle-states", &mut before)?;
        inner = domain;
    }
    Ok(before)
}

/// Notes the states listed in a property. `before` contains the states that the CPU has listed so
/// far.
fn note_entries<'t>(
    nodes: &mut Vec<StateNode<'t>>,
    lister: Node<'t>,
    property: &'static str,
    before: &mut NodeSet,
) -> Result<()> {
    for phandle in lister.cells(property)? {
        note_entry(nodes, lister, phandle, LeftOut::NoNode, before)?;
    }
    Ok(())
}

/// Notes one entry of a list. If no node has the phandle, `missing` is the reason.
fn note_entry<'t>(
    nodes: &mut Vec<StateNode<'t>>,
    lister: Node<'t>,
    phandle: u32,
    missing: fn(u32) -> LeftOut,
    before: &mut NodeSet,
) -> Result<()> {
    let known = nodes
        .iter()
        .position(|state| state.phandle == Some(phandle));
    let index = match known {
        Some(index) => index,
        None => {
            let target = Node::with_phandle(lister.fdt, phandle);
            let mut state = StateNode::new(target.unwrap_or(lister), Some(phandle));
            if target.is_none() {
                state.missing = Some(missing(phandle));
            }
            push(nodes, state)?;
            nodes.len() - 1
        }
    };
    let state = &mut nodes[index];
    state.is_listed = true;
    state.after |= *before & !(1 << index);
    *before |= 1 << index;
    Ok(())
}
