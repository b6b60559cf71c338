//! The order of a board's idle states, from shallowest to deepest, as far as the board shows it.

use alloc::vec::Vec;

use crate::model::Undecided;
use hardware::board::{IdleState, IdleStates, LeftOut, LeftOutState};
use hardware::spec::psci::StateFormat;

/// The board's states with their order in the firmware's format.
pub(super) struct BoardStates<'b> {
    pub(super) states: &'b IdleStates<'b>,
    /// True for each usable state that is in the format that the firmware does not accept.
    pub(super) is_foreign: Vec<bool>,
    format: StateFormat,
}

impl<'b> BoardStates<'b> {
    pub(super) fn new(states: &'b IdleStates<'b>, format: StateFormat) -> Self {
        let indices = 0..states.usable.len();
        Self {
            states,
            is_foreign: indices
                .map(|index| is_foreign(&states.usable, index, format))
                .collect(),
            format,
        }
    }

    /// Returns the format to which the value of the state at `index` belongs.
    fn format_of(&self, index: usize) -> StateFormat {
        if self.is_foreign[index] {
            self.format.other()
        } else {
            self.format
        }
    }

    /// Returns the power level of the state at `index`.
    fn level(&self, index: usize) -> Option<u8> {
        level(&self.states.usable[index], self.format_of(index))
    }

    /// Returns the indices of the power-down states.
    fn powerdowns(&self) -> impl Iterator<Item = usize> + Clone {
        let usable = &self.states.usable;
        let is_powerdown = |index: &usize| {
            let power_state = usable[*index].power_state;
            self.format_of(*index).is_powerdown(power_state)
        };
        (0..usable.len()).filter(is_powerdown)
    }

    /// Returns true if it is known that the first state is deeper than the second one. If lists or
    /// latencies contradict levels that are not part of the values, nothing is known.
    fn is_deeper(&self, first: usize, second: usize) -> bool {
        let are_certain = self.has_level_in_value(first) && self.has_level_in_value(second);
        match (self.level(first), self.level(second)) {
            (Some(one), Some(other)) if one != other => {
                one > other && (are_certain || !self.follows(second, first))
            }
            _ => self.follows(first, second),
        }
    }

    /// Returns true if the level is part of the state's value.
    fn has_level_in_value(&self, index: usize) -> bool {
        let power_state = self.states.usable[index].power_state;
        self.format_of(index).level(power_state).is_some()
    }

    /// Returns true if lists and latencies show that the first state is deeper.
    fn follows(&self, first: usize, second: usize) -> bool {
        self.states.usable[first].deeper_than.contains(second)
    }

    /// Returns the reason if it is not known which of two states is deeper.
    fn order_unknown(&self, one: usize, other: usize) -> Undecided {
        let mut values = [one, other].map(|index| self.states.usable[index].power_state);
        values.sort_unstable();
        Undecided::OrderUnknown(values[0], values[1])
    }

    /// Returns the index of the deepest state; `Ok(None)` if there are no power-down states in the
    /// firmware's format.
    ///
    /// # Errors
    /// Returns the reason if it is not known which state is the deepest.
    pub(super) fn deepest(&self) -> Result<Option<usize>, Undecided> {
        let Some(deepest) =
            self.first_of(self.powerdowns(), &|one, other| self.is_deeper(one, other))?
        else {
            return self.nothing_usable();
        };
        if self.is_foreign[deepest] {
            return Ok(None);
        }
        // A deeper state that is not a power-down state is probably a wrong value.
        let is_deeper_standby = |index: &usize| {
            let is_standby = !self
                .powerdowns()
                .any(|powerdown_index| powerdown_index == *index);
            is_standby && self.follows(*index, deepest)
        };
        let mut indices = 0..self.states.usable.len();
        if let Some(deeper) = indices.find(is_deeper_standby) {
            return Err(self.order_unknown(deepest, deeper));
        }
        let level = self.level(deepest);
        let is_shallower = |state: &LeftOutState<'_>| match (state.level, level) {
            (Some(its), Some(level)) if its != level => its < level,
            _ => state.shallower_than.contains(deepest),
        };
        self.unless_left_out(deepest, &is_shallower)
    }

    /// Returns the index of the shallowest state for a single CPU, in the same way.
    pub(super) fn core(&self) -> Result<Option<usize>, Undecided> {
        let accepted = self.powerdowns().filter(|index| !self.is_foreign[*index]);
        let has_core = accepted.clone().any(|index| self.level(index) == Some(0));
        // Without levels, the shallowest state is assumed to be the core's.
        let level = has_core.then_some(0);
        let candidates = accepted.filter(|index| self.level(*index) == level);
        let Some(core) = self.first_of(candidates, &|one, other| self.is_deeper(other, one))?
        else {
            return self.nothing_usable();
        };
        if has_core {
            // A state of a single CPU is not deeper than any other power-down state.
            let is_shallower = |index: &usize| {
                !self.is_foreign[*index]
                    && self.level(*index) != Some(0)
                    && self.follows(core, *index)
                    && !self.has_level_in_value(core)
            };
            return match self.powerdowns().find(is_shallower) {
                Some(shallower) => Err(self.order_unknown(core, shallower)),
                None => self.if_on_all_cpus(core),
            };
        }
        let mut foreign = self.powerdowns().filter(|index| self.is_foreign[*index]);
        if !foreign.all(|index| self.is_deeper(index, core)) {
            return Ok(None);
        }
        let is_deeper = |state: &LeftOutState<'_>| match state.level {
            Some(level) => level > 0,
            None => state.deeper_than.contains(core),
        };
        self.unless_left_out(core, &is_deeper)
    }

    /// Returns the state that precedes all others; `Ok(None)` if there are no states.
    fn first_of(
        &self,
        states: impl Iterator<Item = usize> + Clone,
        precedes: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Option<usize>, Undecided> {
        let mut rest = states.clone();
        let Some(mut first) = rest.next() else {
            return Ok(None);
        };
        for state in rest {
            if precedes(state, first) {
                first = state;
            }
        }
        let mut others = states.filter(|state| *state != first);
        match others.find(|other| !precedes(first, *other)) {
            None => Ok(Some(first)),
            Some(other) => Err(self.order_unknown(first, other)),
        }
    }

    /// Returns the state, unless a state that was left out may take its place. `is_harmless`
    /// returns true if it is known that a state does not.
    fn unless_left_out(
        &self,
        state: usize,
        is_harmless: &dyn Fn(&LeftOutState<'_>) -> bool,
    ) -> Result<Option<usize>, Undecided> {
        let mut meant = self.states.left_out.iter().filter(|state| state.is_meant());
        if !meant.all(is_harmless) {
            return Err(Undecided::LeftOut);
        }
        self.if_on_all_cpus(state)
    }

    /// Returns the state if every CPU lists it. A CPU that does not list a state may not have it.
    fn if_on_all_cpus(&self, index: usize) -> Result<Option<usize>, Undecided> {
        let state = &self.states.usable[index];
        if state.is_on_all_cpus {
            Ok(Some(index))
        } else {
            Err(Undecided::NotOnAllCpus(state.power_state))
        }
    }

    /// Returns the reason why there is no usable power-down state.
    fn nothing_usable(&self) -> Result<Option<usize>, Undecided> {
        let left_out = &self.states.left_out;
        if left_out.iter().any(LeftOutState::is_meant) {
            Err(Undecided::LeftOut)
        } else if left_out
            .iter()
            .any(|state| state.reason == LeftOut::NotListed)
        {
            Err(Undecided::NotListed)
        } else {
            Ok(None)
        }
    }

    /// Returns the indices of all states. Each one precedes those that are known to be deeper,
    /// unless these relations contradict each other.
    pub(super) fn shallowest_first(&self) -> Vec<usize> {
        let count = self.states.usable.len();
        let mut rest: Vec<usize> = (0..count).collect();
        let mut ordered = Vec::with_capacity(count);
        while !rest.is_empty() {
            let has_shallower =
                |state: usize| rest.iter().any(|other| self.is_deeper(state, *other));
            let next = rest.iter().position(|state| !has_shallower(*state));
            ordered.push(rest.remove(next.unwrap_or(0)));
        }
        ordered
    }
}

/// Returns true if the state at `index` is in the format that the firmware does not accept.
///
/// The extended format reserves too few bits to decide from the value alone: 0x01010022, for
/// example, is a standby state in that format. A state that is a power-down only in the other
/// format is assumed to be in that format. Only if a power-down state in the firmware's format is
/// deeper, and no level above 0 is declared, it is assumed to be a standby state.
fn is_foreign(states: &[IdleState<'_>], index: usize, format: StateFormat) -> bool {
    let (state, other) = (&states[index], format.other());
    let value = state.power_state;
    if !format.accepts(value) {
        return true;
    }
    if format.is_powerdown(value) || !other.accepts(value) || !other.is_powerdown(value) {
        return false;
    }
    let has_deeper = powerdowns(states, format).any(|other| other.deeper_than.contains(index));
    state.level.is_some_and(|level| level > 0) || !has_deeper
}

/// Returns the power-down states in this format.
pub(super) fn powerdowns<'b>(
    states: &'b [IdleState<'b>],
    format: StateFormat,
) -> impl Iterator<Item = &'b IdleState<'b>> {
    let is_powerdown = move |value| format.accepts(value) && format.is_powerdown(value);
    states
        .iter()
        .filter(move |state| is_powerdown(state.power_state))
}

/// Returns a state's power level, from the board description or the format.
pub(super) fn level(state: &IdleState<'_>, format: StateFormat) -> Option<u8> {
    state.level.or(format.level(state.power_state))
}
