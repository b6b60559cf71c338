//! Chooses the idle state for a scenario's suspends.

use alloc::vec::Vec;

use hardware::board::IdleState;
use hardware::spec::psci::StateFormat;
use hardware::spec::stat::{Ladder, Rung};
use run::measure::Action;
use run::model::Skip;
use run::plan::{Axis, Plan, Procedure, ScenarioId, StateChoice};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) power_state: u32,
    pub(crate) powerdown: bool,
    pub(crate) timer_stops: bool,
    /// The power level; None if neither the board nor the format specifies it.
    pub(crate) level: Option<u8>,
    /// The power-down states at lower levels, followed by this state.
    pub(crate) ladder: Ladder,
}

impl Chosen {
    fn new(power_state: u32, idle_states: &[IdleState<'_>], format: StateFormat) -> Self {
        let known = idle_states.iter().find(|s| s.power_state == power_state);
        // For a state added by the user, it is not known whether timers stop. Without a trial, a
        // CPU whose timer stops would never wake up, so such a state is assumed to stop timers if
        // any of the board's states does.
        let any_stops = || idle_states.iter().any(|s| s.local_timer_stop);
        let level = known.map_or(format.level(power_state), |state| level(state, format));
        Self {
            power_state,
            powerdown: format.is_powerdown(power_state),
            timer_stops: known.map_or_else(any_stops, |s| s.local_timer_stop),
            level,
            ladder: ladder(power_state, level, idle_states, format),
        }
    }

    pub(crate) fn action(self) -> Action {
        Action::Suspend {
            power_state: self.power_state,
            powerdown: self.powerdown,
        }
    }
}

/// The idle states used by a plan's scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct States {
    /// The deepest power-down state; None if the board has no such state, or if a deeper one is in
    /// a format that the firmware does not accept.
    pub(crate) deepest: Option<Chosen>,
    /// The power-down state for a single CPU.
    pub(crate) core: Option<Chosen>,
    /// The firmware's format.
    pub(crate) format: StateFormat,
    /// The board's states in the firmware's format.
    pub(crate) accepted: Vec<Chosen>,
    /// The board's remaining states, whose `power_state` is in the other format.
    pub(crate) foreign: Vec<u32>,
    /// True if the CPUs' own timers stop in any of the board's states.
    pub(crate) any_stops: bool,
}

impl States {
    /// Chooses the deepest and the core state from the board's idle states. States specified in the
    /// plan take precedence.
    ///
    /// The deepest power-down state is the state with the highest level, and the core state is the
    /// state at level 0. If neither the board nor the format specifies levels, the device tree is
    /// assumed to list the states by depth, as the idle-states binding requires.
    pub fn choose(idle_states: &[IdleState<'_>], plan: &Plan, format: StateFormat) -> Self {
        let (mut deepest, mut core, mut most, mut place) = (None, None, 0, 0);
        let mut accepted = Vec::with_capacity(idle_states.len());
        let mut foreign = Vec::with_capacity(idle_states.len());
        let chosen = |state| Chosen::new(state, idle_states, format);
        for state in idle_states {
            let power_state = state.power_state;
            let is_taken = !is_foreign(state, idle_states, format);
            let its_format = if is_taken {
                accepted.push(chosen(power_state));
                format
            } else {
                foreign.push(power_state);
                format.other()
            };
            if !its_format.is_powerdown(power_state) {
                continue;
            }
            let depth = level(state, its_format).map_or(place, usize::from);
            place += 1;
            if depth >= most {
                (deepest, most) = (is_taken.then_some(power_state), depth);
            }
            if depth == 0 && is_taken {
                core.get_or_insert(power_state);
            }
        }
        Self {
            deepest: plan.deepest.or(deepest).map(chosen),
            core: plan.core.or(core).map(chosen),
            format,
            accepted,
            foreign,
            any_stops: idle_states.iter().any(|state| state.local_timer_stop),
        }
    }

    /// Returns the idle state used by a suite scenario.
    pub(crate) const fn of(&self, scenario: ScenarioId) -> Option<Chosen> {
        match scenario.procedure().state() {
            Some(StateChoice::Deepest) => self.deepest,
            Some(StateChoice::Core) => self.core,
            None => None,
        }
    }

    /// Returns the states in a plan that need a trial before they are measured: power-down
    /// states, and states that stop the CPUs' own timers. They are ordered from shallowest to
    /// deepest, by level and then by position in the device tree.
    pub(crate) fn to_try(&self, plan: &Plan) -> Vec<Chosen> {
        let both = [self.core, self.deepest];
        let is_wanted = |state: Chosen| {
            plan.scenarios
                .iter()
                .any(|id| match (id.procedure(), id.axis()) {
                    (Procedure::Steps, Some(Axis::PowerState)) => self.accepted.contains(&state),
                    (Procedure::Steps, Some(Axis::Bytes | Axis::Cpus) | None)
                    | (Procedure::Interrupts, Some(Axis::Offset)) => both.contains(&Some(state)),
                    _ => self.of(id) == Some(state),
                })
        };
        let accepted = self.accepted.iter().copied();
        let mut all: Vec<Chosen> = Vec::with_capacity(self.accepted.len() + 2);
        for state in accepted.chain(both.into_iter().flatten()) {
            let needs_trial = state.powerdown || state.timer_stops;
            if needs_trial && !all.contains(&state) && is_wanted(state) {
                let level = |it: &Chosen| it.level.unwrap_or(0);
                let place = all.partition_point(|it| level(it) <= level(&state));
                all.insert(place, state);
            }
        }
        all
    }

    /// Records that the CPUs' own timers stop in this state, even if the board description does not
    /// say so.
    pub(crate) fn note_timer_stops(&mut self, power_state: u32) {
        let named = self.deepest.iter_mut().chain(&mut self.core);
        for state in named.chain(&mut self.accepted) {
            state.timer_stops |= state.power_state == power_state;
        }
        self.any_stops = true;
    }

    /// Changes `skip` to mention the other format, if that is the reason.
    pub(crate) fn explain(&self, skip: Skip) -> Skip {
        if skip == Skip::NoIdleState && !self.foreign.is_empty() {
            Skip::OtherFormat(self.format)
        } else {
            skip
        }
    }
}

/// Returns true if the state is in the format that the firmware does not accept.
///
/// The extended format reserves too few bits to decide from the value alone: 0x01010022, for
/// example, is a standby state in that format. A state that is a power-down only in the other
/// format is assumed to be in that format if its level is above 0, if it comes after a power-down
/// state in the firmware's format, or if there is no such power-down state, because standby states
/// are never that deep.
fn is_foreign(state: &IdleState<'_>, all: &[IdleState<'_>], format: StateFormat) -> bool {
    let (value, other) = (state.power_state, format.other());
    if !format.accepts(value) {
        return true;
    }
    if format.is_powerdown(value) || !other.accepts(value) || !other.is_powerdown(value) {
        return false;
    }
    let mut powerdowns = powerdowns(all, format);
    let first = powerdowns.next().map(|state| state.power_state);
    let mut until_own = all
        .iter()
        .map(|it| it.power_state)
        .take_while(|it| *it != value);
    state.level.is_some_and(|level| level > 0)
        || first.is_none_or(|first| until_own.any(|it| it == first))
}

fn powerdowns<'b>(
    idle_states: &'b [IdleState<'b>],
    format: StateFormat,
) -> impl Iterator<Item = &'b IdleState<'b>> {
    let is_powerdown = move |state| format.accepts(state) && format.is_powerdown(state);
    let states = idle_states.iter();
    states.filter(move |state| is_powerdown(state.power_state))
}

/// Returns a state's power level, from the board description or the format.
fn level(state: &IdleState<'_>, format: StateFormat) -> Option<u8> {
    state.level.or(format.level(state.power_state))
}

/// Returns the board's power-down states at lower levels, by level, followed by the requested
/// state.
fn ladder(
    state: u32,
    own: Option<u8>,
    idle_states: &[IdleState<'_>],
    format: StateFormat,
) -> Ladder {
    let of_level = |below: u8| {
        let mut all = powerdowns(idle_states, format);
        let there = all.find(|state| level(state, format) == Some(below))?;
        let (state, level) = (there.power_state, Some(below));
        Some(Rung { state, level })
    };
    let below = (0..own.unwrap_or(0)).rev().filter_map(of_level);
    Ladder::new(Rung { state, level: own }, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(power_state: u32, level: Option<u8>) -> IdleState<'static> {
        IdleState {
            name: "state",
            power_state,
            level,
            local_timer_stop: false,
        }
    }

    fn chosen(states: &[IdleState<'_>], format: StateFormat) -> [u32; 2] {
        let States { deepest, core, .. } = States::choose(states, &Plan::default(), format);
        assert!(deepest.is_none_or(|it| it.powerdown));
        [deepest, core].map(|it| it.map_or(0, |it| it.power_state))
    }

    #[test]
    fn the_deepest_and_the_cores_state_are_chosen_by_level_or_by_order() {
        use StateFormat::{Extended, Original};
        const NONE: [u32; 2] = [0, 0];
        let original = &[0x1, 0x201_0222, 0x101_0022, 0x1_0002][..];
        let extended = &[0x4000_0004, 0x4100_c244];
        for (states, format, expected) in [
            (original, Original, [0x201_0222, 0x1_0002]),
            (extended, Extended, [0x4100_c244, 0x4000_0004]),
            (&[0x1], Original, NONE),
            (&[0x1], Extended, NONE),
            (&[], Original, NONE),
        ] {
            let all: Vec<_> = states.iter().map(|it| state(*it, None)).collect();
            assert_eq!(chosen(&all, format), expected, "{states:x?} {format:?}");
        }
        // Levels in the board description take precedence over the order of the states.
        let states = [state(0x4000_0004, Some(1)), state(0x4100_c244, Some(0))];
        assert_eq!(chosen(&states, Extended), [0x4000_0004, 0x4100_c244]);
    }

    #[test]
    fn states_of_the_other_format_are_left_out_and_the_deepest_has_no_stand_in() {
        use StateFormat::{Extended, Original};
        const NONE: [u32; 2] = [0, 0];
        for (states, format, expected, foreign) in [
            // All power-down states are in the other format.
            (
                &[0x1, 0x1_0002, 0x101_0022][..],
                Extended,
                NONE,
                &[0x1_0002, 0x101_0022][..],
            ),
            (
                &[0x1, 0x4000_0002, 0x4000_0222],
                Original,
                NONE,
                &[0x4000_0002, 0x4000_0222],
            ),
            // Only the deepest state is in the other format.
            (
                &[0x1_0002, 0x4000_0022],
                Original,
                [0, 0x1_0002],
                &[0x4000_0022],
            ),
            (
                &[0x1_0002, 0x101_0022, 0x4000_0222],
                Original,
                [0, 0x1_0002],
                &[0x4000_0222],
            ),
            (
                &[0x4000_0002, 0x101_0022],
                Extended,
                [0, 0x4000_0002],
                &[0x101_0022],
            ),
            // A shallower state is in the other format.
            (
                &[0x4000_0002, 0x101_0022],
                Original,
                [0x101_0022, 0],
                &[0x4000_0002],
            ),
            // A standby state that sets bits reserved in the original format.
            (&[0x2_0001, 0x1_0002], Original, [0x1_0002; 2], &[0x2_0001]),
            // A standby state whose StateID has bit 16 set, before a power-down state.
            (&[0x1_0002, 0x4000_0002], Extended, [0x4000_0002; 2], &[]),
        ] {
            let all: Vec<_> = states.iter().map(|it| state(*it, None)).collect();
            assert_eq!(chosen(&all, format), expected, "{states:x?} {format:?}");
            let found = States::choose(&all, &Plan::default(), format);
            assert_eq!(found.foreign, foreign, "{states:x?} {format:?}");
            let named = match foreign.is_empty() {
                true => Skip::NoIdleState,
                false => Skip::OtherFormat(format),
            };
            assert_eq!(found.explain(Skip::NoIdleState), named);
        }
        // A state whose level is too high for a standby state.
        let states = [state(0x101_0022, Some(1)), state(0x4000_0002, Some(0))];
        assert_eq!(chosen(&states, Extended), [0, 0x4000_0002]);
    }
}
