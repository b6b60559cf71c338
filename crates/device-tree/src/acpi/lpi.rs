//! Idle states from `_LPI` (ACPI 6.5, section 8.4.3; Arm Functional Fixed Hardware specification,
//! DEN0048). As in Linux, each CPU's states are combined with those of its processor containers.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hardware::board::{CPU_MAX, IDLE_STATES_MAX};
use hardware::spec::psci::StateFormat;

use super::aml::Segment;
use super::lpi_method::Switch;
use super::lpi_reader::{Entry, LpiReader, State, WFI};
use super::namespace::{Namespace, path_text};
use super::osc;
use super::tables::Tables;
use crate::DeviceTreeNode;
use crate::declared::Duration;
use crate::nodes::{self, BuildNode as _};

/// The maximum length of a node name (Devicetree Specification v0.4, section 2.2.1).
const NAME_MAX: usize = 31;
/// The maximum number of switches whose alternatives are read. Known firmware has one.
const SWITCHES_MAX: usize = 4;

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
    /// Returns the states that can be entered through PSCI, one for each power_state.
    fn sound(&self) -> impl Iterator<Item = (u64, &State)> {
        let states = self.states.iter();
        let firsts = states.filter_map(|(power_state, alike)| Some((*power_state, alike.first()?)));
        firsts.filter(|(power_state, _)| is_psci(*power_state) && is_sound(*power_state))
    }

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
    let mut reader = LpiReader::new(&namespace, None);
    let machine_states = read_states(&namespace, &mut reader, uids);
    notes.append(&mut reader.notes);
    let count = reader.switches.len();
    if count > SWITCHES_MAX {
        notes.push(format!(
            "{count} named integers decide what _LPI returns; the alternatives follow for only \
             {SWITCHES_MAX} of them"
        ));
    }
    for switch in reader.switches.iter().take(SWITCHES_MAX) {
        let mut other_reader = LpiReader::new(&namespace, Some(switch));
        let other_states = read_states(&namespace, &mut other_reader, uids);
        notes.push(alternative(switch, &machine_states, &other_states));
        let other_notes = other_reader.notes.into_iter();
        let new_notes: Vec<_> = other_notes.filter(|note| !notes.contains(note)).collect();
        let path = path_text(&switch.path);
        let assumed = switch.other_value();
        notes.extend(
            new_notes
                .iter()
                .map(|note| format!("if {path} were {assumed}: {note}")),
        );
    }
    if machine_states.sound().next().is_some() {
        notes.extend(osc::why_unconfirmed(&namespace));
    }
    machine_states
}

/// Reads the states of all CPUs with these UIDs, and of the CPUs whose UID is unknown.
fn read_states(
    namespace: &Namespace<'_>,
    reader: &mut LpiReader<'_, '_>,
    uids: &[u32],
) -> MachineStates {
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
        let states = reader.states_of(cpu);
        let uid = namespace.uid(cpu);
        if uid.is_none() && !states.is_empty() {
            let message = "no numeric _UID, so its idle states are attributed to all CPUs";
            reader.note(cpu, message);
        }
        for state in states {
            machine_states.add(uid, state);
        }
    }
    machine_states
}

/// Returns a note about the states that the machine would have if a switch had its other value.
fn alternative(switch: &Switch, present: &MachineStates, other: &MachineStates) -> String {
    let only_in = |one: &MachineStates, two: &MachineStates| {
        let states = one.sound();
        let missing = states.filter(|(power_state, _)| !two.states.contains_key(power_state));
        let named: Vec<_> = missing
            .map(|(power_state, State { name, .. })| {
                let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
                if is_plain {
                    format!("{power_state:#x} ({name})")
                } else {
                    format!("{power_state:#x}")
                }
            })
            .collect();
        named.join(", ")
    };
    let (added, removed) = (only_in(other, present), only_in(present, other));
    let path = path_text(&switch.path);
    let (value, assumed) = (switch.value, switch.other_value());
    let change = match (added.is_empty(), removed.is_empty()) {
        (true, true) => "would be the same power_states".into(),
        (false, true) => format!("would also be {added}"),
        (true, false) => format!("would not be {removed}"),
        (false, false) => format!("would be {added} instead of {removed}"),
    };
    format!(
        "{path} is {value} in these tables, and decides what _LPI returns: if it were {assumed}, \
         there {change}"
    )
}

/// Returns the states that the payload can use, by power_state; None if there are none.
fn choose(
    mut states: BTreeMap<u64, Vec<State>>,
    notes: &mut Vec<String>,
) -> Option<Vec<ListedState>> {
    states.retain(|power_state, _| is_psci(*power_state));
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

/// Returns true unless the value means WFI or is missing.
fn is_psci(power_state: u64) -> bool {
    !matches!(power_state, 0 | WFI)
}

/// Returns true if a power_state is valid in one of the PSCI formats.
fn is_sound(power_state: u64) -> bool {
    let Ok(word) = u32::try_from(power_state) else {
        return false;
    };
    StateFormat::ALL.iter().any(|format| format.accepts(word))
}
