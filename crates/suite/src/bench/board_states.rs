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
        let mut foreign = Vec::with_capacity(states.usable.len());
        for index in 0..states.usable.len() {
            foreign.push(is_foreign(&states.usable, index, format));
        }
        Self {
            states,
            is_foreign: foreign,
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
        (0..self.states.usable.len()).filter(|index| self.is_powerdown(*index))
    }

    fn is_powerdown(&self, index: usize) -> bool {
        let power_state = self.states.usable[index].power_state;
        self.format_of(index).is_powerdown(power_state)
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
    /// firmware's format. The state must be
    ///
    /// * deeper than all other power-down states,
    /// * in the firmware's format,
    /// * not known to be shallower than a standby state,
    /// * deeper than each state that was left out, and
    /// * listed by all CPUs.
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
        if let Some(standby) = self.standby_deeper_than(deepest) {
            return Err(self.order_unknown(deepest, standby));
        }
        let mut left_out = self.states.left_out.iter().filter(|state| state.is_meant());
        if left_out.any(|state| !self.is_shallower(state, deepest)) {
            return Err(Undecided::LeftOut);
        }
        self.if_on_all_cpus(deepest)
    }

    /// Returns a standby state that follows the power-down state. Its value is probably wrong.
    fn standby_deeper_than(&self, powerdown: usize) -> Option<usize> {
        (0..self.states.usable.len())
            .find(|index| !self.is_powerdown(*index) && self.follows(*index, powerdown))
    }

    /// Returns true if it is known that the state that was left out is shallower than a usable one.
    fn is_shallower(&self, left_out: &LeftOutState<'_>, usable: usize) -> bool {
        match (left_out.level, self.level(usable)) {
            (Some(level), Some(usable_level)) if level != usable_level => level < usable_level,
            _ => left_out.shallower_than.contains(usable),
        }
    }

    /// Returns the index of the shallowest state for a single CPU, in the same way.
    pub(super) fn core(&self) -> Result<Option<usize>, Undecided> {
        let accepted = self.powerdowns().filter(|index| !self.is_foreign[*index]);
        let has_core = accepted.clone().any(|index| self.level(index) == Some(0));
        // Without levels, the shallowest state is assumed to be the core's.
        let level = if has_core { Some(0) } else { None };
        let candidates = accepted.filter(|index| self.level(*index) == level);
        let Some(core) = self.first_of(candidates, &|one, other| self.is_deeper(other, one))?
        else {
            return self.nothing_usable();
        };
        if has_core {
            return self.unless_deeper(core);
        }
        for index in self.powerdowns() {
            if self.is_foreign[index] && !self.is_deeper(index, core) {
                return Ok(None);
            }
        }
        for left_out in self.states.left_out.iter().filter(|state| state.is_meant()) {
            let is_deeper = match left_out.level {
                Some(level) => level > 0,
                None => left_out.deeper_than.contains(core),
            };
            if !is_deeper {
                return Err(Undecided::LeftOut);
            }
        }
        self.if_on_all_cpus(core)
    }

    /// Returns the state at level 0, unless the lists and latencies contradict its declared level:
    /// a state of a single CPU is not deeper than any other power-down state.
    fn unless_deeper(&self, core: usize) -> Result<Option<usize>, Undecided> {
        if !self.has_level_in_value(core) {
            for index in self.powerdowns() {
                let is_higher = !self.is_foreign[index] && self.level(index) != Some(0);
                if is_higher && self.follows(core, index) {
                    return Err(self.order_unknown(core, index));
                }
            }
        }
        self.if_on_all_cpus(core)
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
        for other in states {
            if other != first && !precedes(first, other) {
                return Err(self.order_unknown(first, other));
            }
        }
        Ok(Some(first))
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
            let next = self.shallowest(&rest).unwrap_or(0);
            ordered.push(rest.remove(next));
        }
        ordered
    }

    /// Returns the place of the first state in `indices` that is not deeper than another of them.
    fn shallowest(&self, indices: &[usize]) -> Option<usize> {
        indices.iter().position(|state| {
            let mut others = indices.iter();
            !others.any(|other| self.is_deeper(*state, *other))
        })
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
    states.iter().filter(move |state| {
        format.accepts(state.power_state) && format.is_powerdown(state.power_state)
    })
}

/// Returns a state's power level, from the board description or the format.
pub(super) fn level(state: &IdleState<'_>, format: StateFormat) -> Option<u8> {
    state.level.or(format.level(state.power_state))
}
