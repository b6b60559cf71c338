//! Reads what a device tree declares about idle states: the latencies, which the payload does not
//! need, and the CPUs that use each state.
//!
//! See the Linux bindings *cpu/idle-states.yaml* and *power/domain-idle-state.yaml*. The states are
//! found wherever they are in the tree.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::NodeStandard as _;
use dtoolkit::{FromPropertyValue, Node as _, Property as _};
use hardware::board::{FormatError, Mpidr};

use super::Result;
use super::readable::readable;

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
    /// The node name.
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
        let blob = readable(blob)?;
        let fdt = Fdt::new_unchecked(&blob);
        let mut nodes = Vec::new();
        collect(fdt.root(), String::new(), &mut nodes);
        let tree = Tree::new(nodes);
        let states = tree.states()?;
        let (cpus, disabled): (Vec<_>, Vec<_>) =
            tree.cpus()?.into_iter().partition(|cpu| cpu.is_enabled);
        let lists_of_disabled = lists(&tree, &disabled, &states)?;
        let mut listed_by_domains = BTreeSet::new();
        for place in 0..tree.nodes.len() {
            listed_by_domains.extend(list(&tree, place, OF_DOMAINS, &states)?);
        }
        let lists = lists(&tree, &cpus, &states)?;
        let root = &tree.nodes[0];
        let model = root.text("model").or_else(|| root.text("compatible"));
        Ok(Self {
            model: model.unwrap_or_default(),
            cpus: cpus.iter().map(|cpu| cpu.mpidr).collect(),
            states: states.into_iter().map(|it| it.1).collect(),
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
        let lists = self.lists.iter().filter(|it| it.states.contains(&index));
        let users: BTreeSet<Mpidr> = lists.flat_map(|it| &it.cpus).copied().collect();
        let cpus = self.cpus.iter().copied();
        cpus.filter(|cpu| users.contains(cpu)).collect()
    }

    /// Returns the states that are listed just before the state at `index`.
    pub fn shallower(&self, index: usize) -> Vec<usize> {
        let pairs = self.lists.iter().flat_map(|it| it.states.array_windows());
        let own = pairs.filter(|[_, deeper]| *deeper == index);
        let before: BTreeSet<usize> = own.map(|[shallower, _]| *shallower).collect();
        before.into_iter().collect()
    }
}

/// A node with its path.
struct PathNode<'t> {
    path: String,
    node: FdtNode<'t>,
}

fn collect<'t>(node: FdtNode<'t>, path: String, nodes: &mut Vec<PathNode<'t>>) {
    let children: Vec<_> = node.children().collect();
    let inner = |child: &FdtNode<'t>| format!("{path}/{}", child.name());
    let children: Vec<_> = children.iter().map(|it| (*it, inner(it))).collect();
    nodes.push(PathNode { path, node });
    for (child, path) in children {
        collect(child, path, nodes);
    }
}

impl<'t> PathNode<'t> {
    fn value(&self, name: &str) -> Option<&'t [u8]> {
        self.node.property(name)?.value_as().ok()
    }

    /// Reads a property; None if it is missing. `expected` is the expected length.
    fn read<T: FromPropertyValue<'t>>(&self, name: &str, expected: &str) -> Result<Option<T>> {
        let Some(property) = self.node.property(name) else {
            return Ok(None);
        };
        property.value_as().map(Some).map_err(|_| {
            let (path, bytes) = (&self.path, property.value().len());
            FormatError::new(format_args!(
                "{path} {name}: {bytes} bytes, expected {expected}"
            ))
        })
    }

    fn cells(&self, name: &str) -> Result<Vec<u32>> {
        Ok(self.read(name, "a multiple of 4")?.unwrap_or_default())
    }

    fn cell(&self, name: &str) -> Result<Option<u32>> {
        self.read(name, "4")
    }

    /// Returns a property's first string.
    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.value(name)?.split(|byte| *byte == 0).next()?;
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        (!text.is_empty()).then(|| text.into())
    }

    /// Returns true unless `status` disables the node.
    fn is_available(&self) -> bool {
        let status = self.value("status");
        status.is_none_or(|status| status == b"okay\0" || status == b"ok\0")
    }

    fn phandle(&self) -> Result<Option<u32>> {
        match self.cell("phandle")? {
            None => self.cell("linux,phandle"),
            some => Ok(some),
        }
    }

    /// Returns the state in this node; None if the node is not a state that is entered through
    /// PSCI. Vendors' kernels have `compatible` strings of their own.
    fn state(&self) -> Result<Option<DeclaredState>> {
        let Some(power_state) = self.cell(POWER_STATE)? else {
            return Ok(None);
        };
        let mut durations = [None; 4];
        for (duration, value) in Duration::ALL.iter().zip(&mut durations) {
            *value = self.cell(duration.name())?;
        }
        Ok(Some(DeclaredState {
            name: self.node.name().into(),
            path: self.path.clone(),
            power_state,
            is_of_domain: self.node.is_compatible(OF_DOMAIN),
            durations,
            timer_stops: self.value(TIMER_STOP).is_some(),
            is_disabled: !self.is_available(),
        }))
    }
}

/// A CPU and the index of its node.
struct CpuNode {
    place: usize,
    mpidr: Mpidr,
    is_enabled: bool,
}

/// All nodes of a tree.
struct Tree<'t> {
    /// The root comes first.
    nodes: Vec<PathNode<'t>>,
    /// The indices of the nodes with a phandle.
    handles: BTreeMap<u32, usize>,
}

impl<'t> Tree<'t> {
    fn new(nodes: Vec<PathNode<'t>>) -> Self {
        let handles = nodes.iter().enumerate();
        // A malformed phandle is as useless as none.
        let handles = handles.filter_map(|(place, it)| Some((it.phandle().ok()??, place)));
        let handles = handles.collect();
        Self { nodes, handles }
    }

    /// Returns the states, each with the index of its node.
    fn states(&self) -> Result<Vec<(usize, DeclaredState)>> {
        let mut states = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            states.extend(node.state()?.map(|state| (place, state)));
        }
        Ok(states)
    }

    /// Returns the CPUs.
    fn cpus(&self) -> Result<Vec<CpuNode>> {
        let mut cpus = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            // Like Linux, which does not require device_type.
            let is_cpu = node.value("device_type") == Some(b"cpu\0")
                || node.node.name_without_address() == "cpu";
            if !is_cpu || !node.path.starts_with("/cpus/") {
                continue;
            }
            let cells = node.cells("reg")?;
            let number = cells
                .iter()
                .fold(0, |high, low| high << 32 | u64::from(*low));
            let mpidr = Mpidr::new(number);
            let is_enabled = node.is_available();
            cpus.push(CpuNode {
                place,
                mpidr,
                is_enabled,
            });
        }
        Ok(cpus)
    }

    /// Returns the nodes that a property refers to. Each phandle may be followed by arguments,
    /// whose number is the value of `cells` in the node.
    fn targets(&self, place: usize, property: &str, cells: &str) -> Result<Vec<usize>> {
        let mut targets = Vec::new();
        let mut rest = self.nodes[place].cells(property)?.into_iter();
        while let Some(handle) = rest.next() {
            let Some(target) = self.handles.get(&handle) else {
                continue;
            };
            targets.push(*target);
            let arguments = self.nodes[*target].cell(cells)?.unwrap_or(0);
            rest.by_ref().take(arguments as usize).for_each(drop);
        }
        Ok(targets)
    }

    /// Returns a CPU's node and the power domains around it, innermost first.
    fn way(&self, cpu: usize) -> Result<Vec<usize>> {
        let (mut way, mut next) = (Vec::from([cpu]), Vec::from([cpu]));
        for _ in 0..DOMAINS_MAX {
            let mut above = Vec::new();
            for place in next {
                above.extend(self.targets(place, "power-domains", "#power-domain-cells")?);
            }
            above.retain(|place| !way.contains(place));
            way.extend_from_slice(&above);
            next = above;
        }
        Ok(way)
    }
}

/// Returns the states that a property lists, as indices without repetitions. Disabled states are
/// left out.
fn list(
    tree: &Tree<'_>,
    place: usize,
    property: &str,
    states: &[(usize, DeclaredState)],
) -> Result<Vec<usize>> {
    let mut listed = Vec::new();
    // A state is listed without arguments.
    for target in tree.targets(place, property, "")? {
        let is_target =
            |(place, state): &(usize, DeclaredState)| *place == target && !state.is_disabled;
        let found = states.iter().position(is_target);
        listed.extend(found.filter(|index| !listed.contains(index)));
    }
    Ok(listed)
}

/// Returns the lists of the CPUs and of the power domains around them.
fn lists(
    tree: &Tree<'_>,
    cpus: &[CpuNode],
    states: &[(usize, DeclaredState)],
) -> Result<Vec<StateList>> {
    let mut lists: Vec<StateList> = Vec::new();
    for cpu in cpus {
        for place in tree.way(cpu.place)? {
            let property = match place == cpu.place {
                true => OF_CPUS,
                false => OF_DOMAINS,
            };
            let own = list(tree, place, property, states)?;
            if own.is_empty() {
                continue;
            }
            match lists.iter_mut().find(|list| list.states == own) {
                Some(list) => list.cpus.push(cpu.mpidr),
                None => lists.push(StateList {
                    states: own,
                    cpus: Vec::from([cpu.mpidr]),
                }),
            }
        }
    }
    Ok(lists)
}
