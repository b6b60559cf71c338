//! Idle states from `_LPI` (ACPI 6.5, section 8.4.3; Arm Functional Fixed Hardware specification,
//! DEN0048). As in Linux, each CPU's states are combined with those of its processor containers.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::{CPU_MAX, IDLE_STATES_MAX};
use hardware::spec::psci::StateFormat;

use super::aml::{Segment, Stream, Value};
use super::namespace::{Namespace, Object};
use super::tables::Tables;
use crate::DeviceTreeNode;
use crate::declared::Duration;
use crate::nodes::{self, BuildNode as _};

/// The address that means WFI in a [`FIXED_HARDWARE`] register.
const WFI: u64 = 0xffff_ffff;
/// The address space in which addresses are power_state values.
const FIXED_HARDWARE: u8 = 0x7f;
/// The maximum number of states in a package, and the maximum for a CPU across all levels.
const LEVEL_MAX: usize = 16;
const COMBINED_MAX: usize = 128;
/// The maximum length of a node name (Devicetree Specification v0.4, section 2.2.1).
const NAME_MAX: usize = 31;

/// How a state is entered.
#[derive(Clone, Copy)]
enum Entry {
    /// The complete power_state.
    Register(u64),
    /// A value to add to the power_state of the level below.
    Added(u64),
}

/// A state at one level, or a combination of states at several levels.
#[derive(Clone)]
struct State {
    /// The index of the topmost level's state in its package, starting at 1.
    index: u64,
    min_residency_us: u64,
    wakeup_us: u64,
    loses_context: bool,
    /// The highest-numbered state at the next level that may be combined with this state.
    enabled_parent: u64,
    entry: Entry,
    name: String,
}

impl State {
    /// Returns true if two states with the same power_state can share a node.
    fn is_like(&self, other: &Self) -> bool {
        self.min_residency_us == other.min_residency_us && self.wakeup_us == other.wakeup_us
    }
}

/// The idle states of a machine.
pub struct IdleStates {
    /// `/cpus/idle-states`.
    pub node: DeviceTreeNode,
    /// The phandles of each CPU's states, shallowest first, by the CPU's UID.
    pub lists: BTreeMap<u64, Vec<u32>>,
}

/// A state and its power_state.
type ListedState = (u64, State);

/// The states of all CPUs, without copies, and the states of each CPU.
#[derive(Default)]
struct MachineStates {
    /// The states by power_state.
    states: BTreeMap<u64, Vec<State>>,
    /// Each CPU's states, by the CPU's UID.
    lists: BTreeMap<u64, Vec<ListedState>>,
    /// The states of CPUs whose UID is unknown.
    without_uid: Vec<ListedState>,
}

impl MachineStates {
    /// Adds a state of the CPU with this UID, if the state is entered with a complete power_state.
    fn add(&mut self, uid: Option<u64>, state: State) {
        let list = match uid {
            Some(uid) => self.lists.entry(uid).or_default(),
            None => &mut self.without_uid,
        };
        let Entry::Register(power_state) = state.entry else {
            return;
        };
        let alike = self.states.entry(power_state).or_default();
        match alike.iter_mut().find(|other| state.is_like(other)) {
            Some(other) => other.loses_context |= state.loses_context,
            None => alike.push(state.clone()),
        }
        list.push((power_state, state));
    }
}

/// Reads the idle states from the AML in all tables, for the CPUs with these UIDs. Returns None if
/// there are no states. If states may be missing, adds the reasons to `notes`.
pub fn idle_states(
    tables: &Tables<'_>,
    uids: &[u32],
    timer_stops: bool,
    notes: &mut Vec<String>,
) -> Option<IdleStates> {
    let MachineStates {
        states,
        lists,
        without_uid,
    } = find_states(tables, uids, notes);
    let states = choose(states, notes)?;
    let mut phandle_lists: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (uid, list) in &lists {
        let phandles = phandle_lists.entry(*uid).or_default();
        add_phandles(phandles, list, &states);
    }
    for uid in uids {
        let phandles = phandle_lists.entry(u64::from(*uid)).or_default();
        add_phandles(phandles, &without_uid, &states);
    }
    Some(IdleStates {
        node: idle_states_node(&states, timer_stops),
        lists: phandle_lists,
    })
}

/// Adds the phandles of the states in `list` that `phandles` lacks. A state that is not one of
/// `states` has no node.
fn add_phandles(phandles: &mut Vec<u32>, list: &[ListedState], states: &[ListedState]) {
    for (power_state, state) in list {
        let is_same = |node: &ListedState| node.0 == *power_state && state.is_like(&node.1);
        if let Some(index) = states.iter().position(is_same) {
            let phandle = nodes::IDLE_PHANDLES + index as u32;
            if !phandles.contains(&phandle) {
                phandles.push(phandle);
            }
        }
    }
}

/// Finds the states of all CPUs with these UIDs, and of the CPUs whose UID is unknown.
fn find_states(tables: &Tables<'_>, uids: &[u32], notes: &mut Vec<String>) -> MachineStates {
    let namespace = Namespace::read(tables, notes);
    let is_used = |cpu: &&[Segment]| {
        let is_present = match namespace.integer(cpu, *b"_STA") {
            Some(status) => status & 1 != 0,
            None => true,
        };
        let is_wanted = match namespace.uid(cpu) {
            Some(uid) => uids.iter().any(|wanted_uid| u64::from(*wanted_uid) == uid),
            None => true,
        };
        is_present && is_wanted
    };
    let mut machine_states = MachineStates::default();
    for cpu in namespace.cpus().filter(is_used).take(CPU_MAX) {
        let states = states_of(&namespace, cpu, notes);
        let uid = namespace.uid(cpu);
        if uid.is_none() && !states.is_empty() {
            let message = "no numeric _UID, so its idle states are attributed to all CPUs";
            add_note(notes, cpu, message);
        }
        for state in states {
            machine_states.add(uid, state);
        }
    }
    machine_states
}

/// Returns the states that the payload can use, by power_state; None if there are none.
fn choose(
    mut states: BTreeMap<u64, Vec<State>>,
    notes: &mut Vec<String>,
) -> Option<Vec<ListedState>> {
    states.retain(|power_state, _| !matches!(power_state, 0 | &WFI));
    let unsound: Vec<u64> = states
        .extract_if(.., |power_state, _| !is_sound(*power_state))
        .map(|(power_state, _)| power_state)
        .collect();
    if let Some(first) = unsound.first() {
        let count = unsound.len();
        notes.push(format!(
            "{count} _LPI idle states are ignored because their power_state is invalid in both \
             PSCI formats; the first is {first:#x}"
        ));
    }
    if states.is_empty() {
        notes.push(
            "no idle states: the AML has no readable _LPI; specify states with the core= and \
             deepest= boot arguments"
                .into(),
        );
        return None;
    }
    let count = states.len();
    let half = IDLE_STATES_MAX / 2;
    if count > IDLE_STATES_MAX {
        notes.push(format!(
            "{count} idle states; only the {half} lowest and {half} highest power_states are used"
        ));
    }
    let mut used = Vec::new();
    for (index, (power_state, alike)) in states.into_iter().enumerate() {
        if count <= IDLE_STATES_MAX || index < half || index >= count - half {
            used.extend(alike.into_iter().map(|state| (power_state, state)));
        }
    }
    Some(used)
}

/// Builds `/cpus/idle-states` from the states and their power_states.
fn idle_states_node(states: &[ListedState], timer_stops: bool) -> DeviceTreeNode {
    let mut parent = nodes::idle_states();
    let mut names = Vec::new();
    // A power_state loses context if it does so on any CPU.
    let loses_context = |power_state: u64| {
        let mut states = states.iter();
        states.any(|(other, state)| *other == power_state && state.loses_context)
    };
    for ((power_state, state), phandle) in states.iter().zip(nodes::IDLE_PHANDLES..) {
        let name = free_name(&state.name, *power_state, &names);
        let timer_stops = timer_stops && loses_context(*power_state);
        let mut node = nodes::idle_state(&name, *power_state as u32, None, timer_stops);
        for (duration, us) in [
            (Duration::Wakeup, state.wakeup_us),
            (Duration::MinResidency, state.min_residency_us),
        ] {
            let cell = u32::try_from(us).unwrap_or(u32::MAX);
            node = node.with_property(duration.name(), cell);
        }
        parent = parent.with_child(node.with_property("phandle", phandle));
        names.push(name);
    }
    parent
}

/// Returns a node name that is not in `taken`: the state's own name if it is a valid one, otherwise
/// one generated from the power_state.
fn free_name(name: &str, power_state: u64, taken: &[String]) -> String {
    let is_free = |name: &str| !taken.iter().any(|other| other == name);
    if is_node_name(name) && is_free(name) {
        return name.to_owned();
    }
    let number = format!("state-{power_state:#x}");
    let mut free_name = number.clone();
    let mut repeat_number = 0;
    while !is_free(&free_name) {
        repeat_number += 1;
        free_name = format!("{number}-{repeat_number}");
    }
    free_name
}

/// Returns true if `name` is a valid node name and does not look like one generated from a
/// power_state.
fn is_node_name(name: &str) -> bool {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "._+-".contains(character);
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && !name.starts_with("state-")
        && name.len() <= NAME_MAX
        && name.chars().all(is_plain)
}

/// Returns true if a power_state is valid in one of the PSCI formats.
fn is_sound(power_state: u64) -> bool {
    let Ok(word) = u32::try_from(power_state) else {
        return false;
    };
    StateFormat::ALL.iter().any(|format| format.accepts(word))
}

/// Returns a CPU's states, combined with its containers' states.
fn states_of(namespace: &Namespace<'_>, cpu: &[Segment], notes: &mut Vec<String>) -> Vec<State> {
    let mut below = level(namespace, cpu, notes).unwrap_or_default();
    below.retain(|state| matches!(state.entry, Entry::Register(_)));
    let mut states = below.clone();
    for length in (1..cpu.len()).rev() {
        let container = &cpu[..length];
        let id = namespace.get(&[container, &[*b"_HID"]].concat());
        if !matches!(id, Some(Object::Value(Value::Text(b"ACPI0010")))) {
            break;
        }
        let Some(level) = level(namespace, container, notes) else {
            break;
        };
        let mut combined = Vec::new();
        for upper_state in &level {
            for lower_state in &below {
                combined.extend(combine(lower_state, upper_state));
            }
        }
        below = combined;
        if states.len() + below.len() > COMBINED_MAX {
            let limit = format!("more than {COMBINED_MAX} combined idle states");
            add_note(
                notes,
                cpu,
                &format!("{limit}: container states are ignored"),
            );
            break;
        }
        states.extend_from_slice(&below);
    }
    states
}

/// Combines a state with a state of the enclosing container, in the same way as Linux. Returns None
/// if they cannot be combined, or if the container's power_state is 0, which means that the
/// firmware enters the state autonomously.
fn combine(below: &State, above: &State) -> Option<State> {
    let entry = match (below.entry, above.entry) {
        (_, Entry::Register(power_state)) => power_state,
        // WFI has no power_state, so nothing can be added to it.
        (_, Entry::Added(0)) | (Entry::Register(WFI), _) => return None,
        (Entry::Register(own) | Entry::Added(own), Entry::Added(part)) => own.saturating_add(part),
    };
    if above.index > below.enabled_parent {
        return None;
    }
    Some(State {
        min_residency_us: below.min_residency_us.max(above.min_residency_us),
        wakeup_us: below.wakeup_us.saturating_add(above.wakeup_us),
        loses_context: below.loses_context || above.loses_context,
        entry: Entry::Register(entry),
        name: format!("{}+{}", below.name, above.name),
        ..*above
    })
}

/// Reads the enabled states of a CPU or a container. Returns None if there is no `_LPI`.
fn level(
    namespace: &Namespace<'_>,
    device: &[Segment],
    notes: &mut Vec<String>,
) -> Option<Vec<State>> {
    let path = [device, &[*b"_LPI"]].concat();
    let Object::Value(value) = namespace.get(&path)? else {
        return None;
    };
    let states = read_states(namespace, &path, value);
    if states.is_none() {
        let message =
            format!("ignored because it is not a package of at most {LEVEL_MAX} idle states");
        add_note(notes, &path, &message);
    }
    states
}

/// Reads the enabled states from the `_LPI` package at `path`. Returns None if it is malformed or
/// has more than [`LEVEL_MAX`] states.
fn read_states(namespace: &Namespace<'_>, path: &[Segment], lpi: &Value<'_>) -> Option<Vec<State>> {
    let mut elements = namespace.package(path, lpi)?;
    // Skip the revision, level ID and count.
    for _ in 0..3 {
        elements.value()?;
    }
    let mut states = Vec::new();
    for index in 1..=LEVEL_MAX as u64 {
        if !elements.is_empty() {
            let state = namespace.package(path, &elements.value()?)?;
            states.extend(read_state(index, state)?);
        }
    }
    elements.is_empty().then_some(states)
}

/// Reads a state from its package. An inner None means that the state is disabled or not entered
/// through PSCI.
fn read_state(index: u64, mut elements: Stream<'_>) -> Option<Option<State>> {
    let mut numbers = [0; 6];
    for number in &mut numbers {
        let Value::Integer(value) = elements.value()? else {
            return None;
        };
        *number = value;
    }
    let [min_residency_us, wakeup_us, flags, lost, _, enabled_parent] = numbers;
    let entry = match elements.value()? {
        Value::Integer(part) => Some(Entry::Added(part)),
        Value::Buffer(register) => address(register).map(Entry::Register),
        _ => None,
    };
    // Two counter registers come between the entry method and the name. All three are optional.
    let name = match (elements.value(), elements.value(), elements.value()) {
        (Some(_), Some(_), Some(Value::Text(text))) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let is_enabled = flags & 1 != 0;
    let Some(entry) = entry.filter(|_| is_enabled) else {
        return Some(None);
    };
    Some(Some(State {
        index,
        min_residency_us,
        wakeup_us,
        loses_context: lost & 1 != 0,
        enabled_parent,
        entry,
        name,
    }))
}

/// Returns the address in a resource template if the template starts with a [`FIXED_HARDWARE`]
/// register (section 6.4.3.7).
fn address(template: &[u8]) -> Option<u64> {
    match template.split_first_chunk()? {
        ([0x82, _, _, FIXED_HARDWARE, _, _, _], rest) => super::table::read_number(rest, 0, 8),
        _ => None,
    }
}

/// Adds a note about an object unless the same note already exists for another object.
fn add_note(notes: &mut Vec<String>, path: &[Segment], message: &str) {
    if !notes.iter().any(|note| note.ends_with(message)) {
        let segments: Vec<_> = path
            .iter()
            .map(|segment| String::from_utf8_lossy(segment))
            .collect();
        notes.push(format!(
            "\\{} and possibly others: {message}",
            segments.join(".")
        ));
    }
}
