//! Reads what a device tree declares about idle states: the latencies, which the payload does not
//! need, and the CPUs that use each state.
//!
//! See the Linux bindings *cpu/idle-states.yaml* and *power/domain-idle-state.yaml*. The states are
//! found wherever they are in the tree.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use dtoolkit::fdt::FdtNode;
use dtoolkit::standard::NodeStandard as _;
use dtoolkit::{FromPropertyValue, Node as _, Property as _};
use hardware::board::{FormatError, Mpidr};

use super::Result;
use super::readable_tree::ReadableTree;

/// A property of an idle state that is a duration in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Duration {
    /// The longest time that a CPU needs to enter the state.
    Entry,
    /// The longest time that a CPU needs to leave the state.
    Exit,
    /// The longest time from a wake-up event until the CPU runs again. If it is missing, it is the
    /// sum of [`Self::Entry`] and [`Self::Exit`].
    Wakeup,
    /// The shortest time in the state, including its entry, that saves energy.
    MinResidency,
}

impl Duration {
    /// All durations, in the order of [`DeclaredState::durations`].
    pub const ALL: [Self; 4] = [Self::Entry, Self::Exit, Self::Wakeup, Self::MinResidency];

    /// Returns the property name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry-latency-us",
            Self::Exit => "exit-latency-us",
            Self::Wakeup => "wakeup-latency-us",
            Self::MinResidency => "min-residency-us",
        }
    }
}

/// The property that marks a state in which the CPU's own timer stops.
pub const TIMER_STOP: &str = "local-timer-stop";

const POWER_STATE: &str = "arm,psci-suspend-param";
const OF_DOMAIN: &str = "domain-idle-state";
/// The properties of CPUs and of power domains that list states.
const OF_CPUS: &str = "cpu-idle-states";
const OF_DOMAINS: &str = "domain-idle-states";
/// Power domains may be nested this deep.
const DOMAINS_MAX: usize = 8;

/// An idle state that is entered through PSCI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredState {
    /// The last component of `path`.
    pub name: String,
    /// The path of the node.
    pub path: String,
    /// `arm,psci-suspend-param`.
    pub power_state: u32,
    /// True for a state of a power domain, which Linux treats differently from a CPU's state.
    pub is_of_domain: bool,
    /// The values of [`Duration::ALL`] in microseconds.
    pub durations: [Option<u32>; 4],
    /// [`TIMER_STOP`].
    pub timer_stops: bool,
    /// True if `status` disables the state.
    pub is_disabled: bool,
}

impl DeclaredState {
    /// Returns a duration in microseconds.
    pub const fn us(&self, duration: Duration) -> Option<u32> {
        self.durations[duration as usize]
    }
}

/// The states among which an operating system chooses, shallowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateList {
    /// The states, as indices, without repetitions.
    pub states: Vec<usize>,
    /// The CPUs for which the choice is made.
    pub cpus: Vec<Mpidr>,
}

/// The idle states in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredStates {
    /// The root's `model` or, if there is no model, its first `compatible` string. May be empty.
    pub model: String,
    /// The enabled CPUs, in tree order.
    pub cpus: Vec<Mpidr>,
    /// The states, in tree order.
    pub states: Vec<DeclaredState>,
    /// The lists of the CPUs and of the power domains around them, without disabled states. Equal
    /// lists are merged. A state may be in no list.
    pub lists: Vec<StateList>,
    /// The states that disabled CPUs, or power domains around them, list, as indices.
    pub listed_by_disabled: BTreeSet<usize>,
    /// The states that any power domains list, as indices.
    pub listed_by_domains: BTreeSet<usize>,
}

impl DeclaredStates {
    /// Reads the device tree at the start of `blob`. The tree may have no idle states.
    ///
    /// # Errors
    /// Returns an error if the tree is malformed, or if a property that is read has a wrong length.
    pub fn read(blob: &[u8]) -> Result<Self> {
        let readable = ReadableTree::read(blob)?;
        let index = NodeIndex::of_tree(readable.fdt().root());
        let states = index.states()?;
        let (enabled, disabled): (Vec<_>, Vec<_>) = index
            .cpus()?
            .into_iter()
            .partition(|(node_index, _)| index.is_available(*node_index));
        let lists_of_disabled = lists(&index, &disabled, &states)?;
        let mut listed_by_domains = BTreeSet::new();
        for node_index in 0..index.nodes.len() {
            listed_by_domains.extend(list(&index, node_index, OF_DOMAINS, &states)?);
        }
        let lists = lists(&index, &enabled, &states)?;
        let model = index
            .text(0, "model")
            .or_else(|| index.text(0, "compatible"));
        Ok(Self {
            model: model.unwrap_or_default(),
            cpus: enabled.into_iter().map(|(_, mpidr)| mpidr).collect(),
            states: states.into_iter().map(|(_, state)| state).collect(),
            lists,
            listed_by_disabled: lists_of_disabled
                .into_iter()
                .flat_map(|list| list.states)
                .collect(),
            listed_by_domains,
        })
    }

    /// Returns true if an enabled CPU, or a power domain around one, lists the state at `index`.
    pub fn is_listed(&self, index: usize) -> bool {
        self.lists.iter().any(|list| list.states.contains(&index))
    }

    /// Returns the CPUs that use the state at `index`, in tree order; none if no list contains the
    /// state.
    pub fn users(&self, index: usize) -> Vec<Mpidr> {
        let lists = self
            .lists
            .iter()
            .filter(|list| list.states.contains(&index));
        let users: BTreeSet<Mpidr> = lists.flat_map(|list| &list.cpus).copied().collect();
        let cpus = self.cpus.iter().copied();
        cpus.filter(|cpu| users.contains(cpu)).collect()
    }

    /// Returns the states that are listed just before the state at `index`.
    pub fn shallower(&self, index: usize) -> Vec<usize> {
        let pairs = self
            .lists
            .iter()
            .flat_map(|list| list.states.array_windows());
        let shallower: BTreeSet<usize> = pairs
            .filter(|[_, deeper_index]| *deeper_index == index)
            .map(|[shallower_index, _]| *shallower_index)
            .collect();
        shallower.into_iter().collect()
    }
}

/// The nodes of a tree, with what dtoolkit does not offer: paths, and a look-up by phandle. A node
/// is identified by its place in the tree's order, because names may be repeated.
struct NodeIndex<'t> {
    /// The nodes in tree order. The root comes first.
    nodes: Vec<FdtNode<'t>>,
    /// The paths of the nodes, for messages. The root's is empty.
    paths: Vec<String>,
    /// The places of the nodes with a phandle.
    handles: BTreeMap<u32, usize>,
}

impl<'t> NodeIndex<'t> {
    fn of_tree(root: FdtNode<'t>) -> Self {
        let mut index = Self {
            nodes: Vec::new(),
            paths: Vec::new(),
            handles: BTreeMap::new(),
        };
        index.add(root, String::new());
        index
    }

    /// Adds a node and everything in it.
    fn add(&mut self, node: FdtNode<'t>, path: String) {
        let property = node
            .property("phandle")
            .or_else(|| node.property("linux,phandle"));
        // A malformed phandle is as useless as none.
        if let Some(Ok(handle)) = property.map(|property| property.value_as()) {
            self.handles.insert(handle, self.nodes.len());
        }
        self.nodes.push(node);
        self.paths.push(path.clone());
        for child in node.children() {
            self.add(child, format!("{path}/{}", child.name()));
        }
    }

    /// Returns a property's bytes.
    fn value(&self, node_index: usize, name: &str) -> Option<&'t [u8]> {
        self.nodes[node_index].property(name)?.value_as().ok()
    }

    /// Reads a property; None if it is missing. `expected` is the expected length.
    fn read<T: FromPropertyValue<'t>>(
        &self,
        node_index: usize,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>> {
        let Some(property) = self.nodes[node_index].property(name) else {
            return Ok(None);
        };
        property.value_as().map(Some).map_err(|_| {
            let path = &self.paths[node_index];
            let bytes = property.value().len();
            FormatError::new(format_args!(
                "{path} {name}: {bytes} bytes, expected {expected}"
            ))
        })
    }

    fn cells(&self, node_index: usize, name: &str) -> Result<Vec<u32>> {
        let cells = self.read(node_index, name, "a multiple of 4")?;
        Ok(cells.unwrap_or_default())
    }

    fn cell(&self, node_index: usize, name: &str) -> Result<Option<u32>> {
        self.read(node_index, name, "4")
    }

    /// Returns a property's first string.
    fn text(&self, node_index: usize, name: &str) -> Option<String> {
        let bytes = self
            .value(node_index, name)?
            .split(|byte| *byte == 0)
            .next()?;
        let text = String::from_utf8_lossy(bytes);
        let trimmed = text.trim();
        (!trimmed.is_empty()).then(|| trimmed.into())
    }

    /// Returns true unless `status` disables the node.
    fn is_available(&self, node_index: usize) -> bool {
        let status = self.value(node_index, "status");
        status.is_none_or(|status| status == b"okay\0" || status == b"ok\0")
    }

    /// Returns the state in a node; None if the node is not a state that is entered through PSCI.
    /// Vendors' kernels have `compatible` strings of their own.
    fn state(&self, node_index: usize) -> Result<Option<DeclaredState>> {
        let Some(power_state) = self.cell(node_index, POWER_STATE)? else {
            return Ok(None);
        };
        let mut durations = [None; 4];
        for (duration, value) in Duration::ALL.iter().zip(&mut durations) {
            *value = self.cell(node_index, duration.name())?;
        }
        let node = &self.nodes[node_index];
        Ok(Some(DeclaredState {
            name: node.name().into(),
            path: self.paths[node_index].clone(),
            power_state,
            is_of_domain: node.is_compatible(OF_DOMAIN),
            durations,
            timer_stops: node.property(TIMER_STOP).is_some(),
            is_disabled: !self.is_available(node_index),
        }))
    }

    /// Returns the states, each with the place of its node.
    fn states(&self) -> Result<Vec<(usize, DeclaredState)>> {
        let mut states = Vec::new();
        for node_index in 0..self.nodes.len() {
            states.extend(self.state(node_index)?.map(|state| (node_index, state)));
        }
        Ok(states)
    }

    /// Returns the CPUs, each with the place of its node.
    fn cpus(&self) -> Result<Vec<(usize, Mpidr)>> {
        let mut cpus = Vec::new();
        for (node_index, node) in self.nodes.iter().enumerate() {
            // Like Linux, which does not require device_type.
            let is_cpu = self.value(node_index, "device_type") == Some(b"cpu\0")
                || node.name_without_address() == "cpu";
            if is_cpu && self.paths[node_index].starts_with("/cpus/") {
                let cells = self.cells(node_index, "reg")?;
                let number = cells.iter().fold(0, |high_word, low_word| {
                    high_word << 32 | u64::from(*low_word)
                });
                cpus.push((node_index, Mpidr::new(number)));
            }
        }
        Ok(cpus)
    }

    /// Returns the nodes that a property refers to. Each phandle may be followed by arguments,
    /// whose number is the value of `cells` in the node.
    fn targets(&self, node_index: usize, property: &str, cells: &str) -> Result<Vec<usize>> {
        let mut targets = Vec::new();
        let mut rest = self.cells(node_index, property)?.into_iter();
        while let Some(handle) = rest.next() {
            let Some(target) = self.handles.get(&handle) else {
                continue;
            };
            targets.push(*target);
            let arguments = self.cell(*target, cells)?.unwrap_or(0);
            rest.by_ref().take(arguments as usize).for_each(drop);
        }
        Ok(targets)
    }

    /// Returns a CPU's node and the power domains around it, innermost first.
    fn cpu_and_domains(&self, cpu: usize) -> Result<Vec<usize>> {
        let mut nodes = Vec::from([cpu]);
        let mut level = Vec::from([cpu]);
        for _ in 0..DOMAINS_MAX {
            let mut above = Vec::new();
            for node_index in level {
                above.extend(self.targets(node_index, "power-domains", "#power-domain-cells")?);
            }
            above.retain(|node_index| !nodes.contains(node_index));
            nodes.extend_from_slice(&above);
            level = above;
        }
        Ok(nodes)
    }
}

/// Returns the states that a property lists, as indices without repetitions. Disabled states are
/// left out.
fn list(
    index: &NodeIndex<'_>,
    node_index: usize,
    property: &str,
    states: &[(usize, DeclaredState)],
) -> Result<Vec<usize>> {
    let mut listed = Vec::new();
    // A state is listed without arguments.
    for target in index.targets(node_index, property, "")? {
        let is_target = |(node_index, state): &(usize, DeclaredState)| {
            *node_index == target && !state.is_disabled
        };
        let state_index = states.iter().position(is_target);
        listed.extend(state_index.filter(|index| !listed.contains(index)));
    }
    Ok(listed)
}

/// Returns the lists of the CPUs and of the power domains around them.
fn lists(
    index: &NodeIndex<'_>,
    cpus: &[(usize, Mpidr)],
    states: &[(usize, DeclaredState)],
) -> Result<Vec<StateList>> {
    let mut lists: Vec<StateList> = Vec::new();
    for (cpu, mpidr) in cpus {
        for node_index in index.cpu_and_domains(*cpu)? {
            let property = if node_index == *cpu {
                OF_CPUS
            } else {
                OF_DOMAINS
            };
            let listed = list(index, node_index, property, states)?;
            if listed.is_empty() {
                continue;
            }
            match lists.iter_mut().find(|list| list.states == listed) {
                Some(list) => list.cpus.push(*mpidr),
                None => lists.push(StateList {
                    states: listed,
                    cpus: Vec::from([*mpidr]),
                }),
            }
        }
    }
    Ok(lists)
}
