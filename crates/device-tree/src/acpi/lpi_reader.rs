//! The `_LPI` states of a CPU and of the containers around it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::aml::{Segment, Stream, Value};
use super::lpi_method::{Returned, Switch};
use super::namespace::{Namespace, Object, ObjectPath, path_text};

/// The address that means WFI in a [`FIXED_HARDWARE`] register.
pub const WFI: u64 = 0xffff_ffff;
/// The address space in which addresses are power_state values.
const FIXED_HARDWARE: u8 = 0x7f;
/// The maximum number of states in a package, and the maximum for a CPU across all levels.
const LEVEL_MAX: usize = 16;
const COMBINED_MAX: usize = 128;

/// How a state is entered.
#[derive(Clone, Copy)]
pub enum Entry {
    /// The complete power_state.
    Register(u64),
    /// A value to add to the power_state of the level below.
    Added(u64),
}

/// A state at one level, or a combination of states at several levels.
#[derive(Clone)]
pub struct State {
    /// The index of the topmost level's state in its package, starting at 1.
    index: u64,
    pub min_residency_us: u64,
    pub wakeup_us: u64,
    pub loses_context: bool,
    /// The highest-numbered state at the next level that may be combined with this state.
    enabled_parent: u64,
    pub entry: Entry,
    pub name: String,
}

impl State {
    /// Returns true if two states with the same power_state can share a node.
    pub fn is_like(&self, other: &Self) -> bool {
        self.min_residency_us == other.min_residency_us && self.wakeup_us == other.wakeup_us
    }
}

/// Reads the states of CPUs.
pub struct LpiReader<'n, 'm> {
    namespace: &'n Namespace<'m>,
    /// A switch that is read as if it had its other value.
    flipped: Option<&'n Switch>,
    /// The switches that the methods depend on.
    pub switches: Vec<Switch>,
    /// The reasons why states may be missing.
    pub notes: Vec<String>,
}

impl<'n, 'm> LpiReader<'n, 'm> {
    pub fn new(namespace: &'n Namespace<'m>, flipped: Option<&'n Switch>) -> Self {
        Self {
            namespace,
            flipped,
            switches: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns a CPU's states, combined with its containers' states.
    pub fn states_of(&mut self, cpu: &[Segment]) -> Vec<State> {
        let mut below = self.level(cpu).unwrap_or_default();
        below.retain(|state| matches!(state.entry, Entry::Register(_)));
        let mut states = below.clone();
        for length in (1..cpu.len()).rev() {
            let container = &cpu[..length];
            let id = self.namespace.get(&[container, &[*b"_HID"]].concat());
            if !matches!(id, Some(Object::Value(Value::Text(b"ACPI0010")))) {
                break;
            }
            let Some(level) = self.level(container) else {
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
                self.note(cpu, &format!("{limit}: container states are ignored"));
                break;
            }
            states.extend_from_slice(&below);
        }
        states
    }

    /// Reads the enabled states of a CPU or a container. Returns None if there are none.
    fn level(&mut self, device: &[Segment]) -> Option<Vec<State>> {
        let (path, value) = self.value([device, &[*b"_LPI"]].concat())?;
        let states = read_states(self.namespace, &path, &value);
        if states.is_none() {
            let message =
                format!("ignored because it is not a package of at most {LEVEL_MAX} idle states");
            self.note(&path, &message);
        }
        states
    }

    /// Returns the value of the object at `path`, and the path of what it is an alias of.
    fn value(&mut self, path: ObjectPath) -> Option<(ObjectPath, Value<'m>)> {
        let mut found = (path.clone(), self.namespace.get(&path)?);
        if let Object::Value(Value::Name(name)) = found.1 {
            found = self.namespace.find(&path, name).unwrap_or(found);
        }
        let value = match found.1 {
            Object::Value(value) => Some(value.clone()),
            Object::Method(terms) => self.returned(&found.0, terms),
            Object::Device | Object::Processor(_) => None,
        };
        Some((found.0, value?))
    }

    /// Returns the value that the method at `path` returns.
    fn returned(&mut self, path: &[Segment], terms: &Stream<'m>) -> Option<Value<'m>> {
        let returned = Returned::read(self.namespace, path, terms.clone());
        let value = returned.and_then(|returned| {
            if self.is_set(returned.switch) {
                returned.if_set
            } else {
                returned.if_clear
            }
        });
        value.unwrap_or_else(|obstacle| {
            self.note(path, &format!("the method is ignored: {obstacle}"));
            None
        })
    }

    /// Returns true if the switch is not 0, or if there is none.
    fn is_set(&mut self, switch: Option<Switch>) -> bool {
        let Some(switch) = switch else {
            return true;
        };
        let is_flipped = self.flipped == Some(&switch);
        let is_set = (switch.value != 0) != is_flipped;
        if !self.switches.contains(&switch) {
            self.switches.push(switch);
        }
        is_set
    }

    /// Adds a note about an object unless the same note already exists for another object.
    pub fn note(&mut self, path: &[Segment], message: &str) {
        if !self.notes.iter().any(|note| note.ends_with(message)) {
            let path = path_text(path);
            self.notes
                .push(format!("{path} and possibly others: {message}"));
        }
    }
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
