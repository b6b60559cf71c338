//! Chooses the idle state for a scenario's suspends.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::measure::Action;
use crate::model::{Skip, Undecided};
use crate::plan::{Plan, ScenarioId, StateChoice, UsedStates};
use hardware::board::{IdleState, IdleStates};
use hardware::spec::psci::StateFormat;
use hardware::spec::stat::{Ladder, Rung};

use super::board_states::{BoardStates, level, powerdowns};

/// An idle state that scenarios use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsableState {
    pub(crate) power_state: u32,
    pub(crate) powerdown: bool,
    pub(crate) timer_stops: bool,
    /// The power level; None if neither the board nor the format specifies it.
    pub(crate) level: Option<u8>,
    /// The power-down states at lower levels, followed by this state.
    pub(crate) ladder: Ladder,
}

impl UsableState {
    /// Returns the state with this value, which need not be one of the board's.
    fn new(power_state: u32, idle_states: &[IdleState<'_>], format: StateFormat) -> Self {
        // For a state added by the user, it is not known whether timers stop. Without a trial, a
        // CPU whose timer stops would never wake up, so such a state is assumed to stop timers if
        // any of the board's states does.
        let mut timer_stops = idle_states.iter().any(|state| state.local_timer_stop);
        let mut power_level = format.level(power_state);
        for state in idle_states {
            if state.power_state == power_state {
                timer_stops = state.local_timer_stop;
                power_level = level(state, format);
                break;
            }
        }
        Self {
            power_state,
            powerdown: format.is_powerdown(power_state),
            timer_stops,
            level: power_level,
            ladder: ladder(power_state, power_level, idle_states, format),
        }
    }

    /// Returns the suspend to this state.
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
    /// The deepest power-down state; None if the board has no such state, or if another one may be
    /// deeper.
    pub(crate) deepest: Option<UsableState>,
    /// The power-down state for a single CPU; None if the board has no such state, or if another
    /// one may be shallower.
    pub(crate) core: Option<UsableState>,
    /// The firmware's format.
    pub(crate) format: StateFormat,
    /// The board's states in the firmware's format, shallowest first as far as that is known.
    pub(crate) accepted: Vec<UsableState>,
    /// The board's remaining states, whose `power_state` is in the other format.
    pub(crate) foreign: Vec<u32>,
    /// True if the CPUs' own timers stop in any of the board's states.
    pub(crate) any_stops: bool,
    /// The reasons if the board has power-down states, but the deepest or the core state cannot be
    /// chosen from them.
    undecided: [Option<Undecided>; 2],
}

impl States {
    /// Chooses the deepest and the core state from the board's idle states. States specified in the
    /// plan take precedence.
    ///
    /// The deepest power-down state has the highest level, and the core state has level 0. If
    /// neither the board nor the format specifies levels, the order of the states comes from the
    /// CPUs' lists and from the declared latencies ([`IdleState::deeper_than`]). If that does not
    /// show which state is the deepest, none is chosen.
    pub fn choose(idle_states: &IdleStates<'_>, plan: &Plan, format: StateFormat) -> Self {
        let board = BoardStates::new(idle_states, format);
        let usable = &board.states.usable;
        let (deepest, core) = (board.deepest(), board.core());
        let mut accepted = Vec::with_capacity(usable.len());
        let mut foreign = Vec::with_capacity(usable.len());
        for index in board.shallowest_first() {
            let power_state = usable[index].power_state;
            if board.is_foreign[index] {
                foreign.push(power_state);
            } else {
                accepted.push(UsableState::new(power_state, usable, format));
            }
        }
        Self {
            deepest: chosen_state(plan.deepest, deepest, usable, format),
            core: chosen_state(plan.core, core, usable, format),
            format,
            accepted,
            foreign,
            any_stops: usable.iter().any(|state| state.local_timer_stop),
            undecided: [deepest.err(), core.err()],
        }
    }

    /// Returns the idle state used by a suite scenario.
    pub(crate) const fn state_for(&self, scenario: ScenarioId) -> Option<UsableState> {
        match scenario.state() {
            Some(StateChoice::Deepest) => self.deepest,
            Some(StateChoice::Core) => self.core,
            None => None,
        }
    }

    /// Returns the states in a plan that need a trial before they are measured: power-down
    /// states, and states that stop the CPUs' own timers. They are ordered from shallowest to
    /// deepest.
    pub(crate) fn to_try(&self, plan: &Plan) -> Vec<UsableState> {
        let accepted = self.accepted.iter().copied();
        let mut to_try: Vec<UsableState> = Vec::with_capacity(self.accepted.len() + 2);
        for state in accepted.chain(self.core).chain(self.deepest) {
            let needs_trial = state.powerdown || state.timer_stops;
            if !needs_trial || to_try.contains(&state) || !self.is_used(state, plan) {
                continue;
            }
            let level = state.level.unwrap_or(0);
            let index = to_try.partition_point(|earlier| earlier.level.unwrap_or(0) <= level);
            to_try.insert(index, state);
        }
        to_try
    }

    /// Returns true if one of the plan's scenarios uses the state.
    fn is_used(&self, state: UsableState, plan: &Plan) -> bool {
        for id in plan.scenarios.iter() {
            let is_used = match id.descriptor().states {
                UsedStates::All => self.accepted.contains(&state),
                UsedStates::Both => [self.core, self.deepest].contains(&Some(state)),
                UsedStates::One(_) => self.state_for(id) == Some(state),
                UsedStates::None => false,
            };
            if is_used {
                return true;
            }
        }
        false
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

    /// Returns a sentence for each state set with `deepest=` or `core=` that is not of that kind.
    pub(crate) fn odd_choices(&self) -> Vec<String> {
        let mut odd = Vec::new();
        for (key, state) in [("deepest", self.deepest), ("core", self.core)] {
            if let Some(state) = state
                && !state.powerdown
            {
                let value = state.power_state;
                odd.push(format!("{key}={value:#010x} is not a power-down state."));
            }
        }
        if let (Some(deepest), Some(core)) = (self.deepest, self.core)
            && let (Some(high), Some(low)) = (deepest.level, core.level)
            && high < low
        {
            let (deepest, core) = (deepest.power_state, core.power_state);
            odd.push(format!(
                "the power level of deepest={deepest:#010x} is lower than that of core={core:#010x}."
            ));
        }
        odd
    }

    /// Replaces [`Skip::NoIdleState`] with the reason why a suite scenario has no state, if the
    /// board has states.
    pub(crate) fn explain_for(&self, scenario: ScenarioId, skip: Skip) -> Skip {
        let [deepest, core] = self.undecided;
        let undecided = match scenario.state() {
            Some(StateChoice::Core) => core,
            Some(StateChoice::Deepest) => deepest,
            None => deepest.or(core),
        };
        self.explain_by(skip, undecided)
    }

    /// Does the same for a scenario that uses several states.
    pub(crate) fn explain(&self, skip: Skip) -> Skip {
        let [deepest, core] = self.undecided;
        self.explain_by(skip, deepest.or(core))
    }

    fn explain_by(&self, skip: Skip, undecided: Option<Undecided>) -> Skip {
        match (skip, undecided) {
            (Skip::NoIdleState, Some(undecided)) => Skip::Undecided(undecided),
            (Skip::NoIdleState, None) if !self.foreign.is_empty() => Skip::OtherFormat(self.format),
            _ => skip,
        }
    }
}

/// Returns the state that the plan specifies, or the one chosen from the board's states.
fn chosen_state(
    planned: Option<u32>,
    choice: Result<Option<usize>, Undecided>,
    usable: &[IdleState<'_>],
    format: StateFormat,
) -> Option<UsableState> {
    let power_state = match (planned, choice) {
        (Some(power_state), _) => power_state,
        (None, Ok(Some(index))) => usable[index].power_state,
        (None, Ok(None) | Err(_)) => return None,
    };
    Some(UsableState::new(power_state, usable, format))
}

/// Returns the board's power-down states at lower levels, shallowest first, followed by the
/// requested state.
fn ladder(
    requested: u32,
    requested_level: Option<u8>,
    idle_states: &[IdleState<'_>],
    format: StateFormat,
) -> Ladder {
    let mut lower_states = Vec::new();
    for state in powerdowns(idle_states, format) {
        let Some(level) = level(state, format) else {
            continue;
        };
        if requested_level.is_some_and(|requested_level| level < requested_level) {
            // A level may have several states.
            let indices = 0..idle_states.len();
            let shallower_count = indices
                .filter(|index| state.deeper_than.contains(*index))
                .count();
            lower_states.push((level, shallower_count, state.power_state));
        }
    }
    lower_states.sort_unstable();
    let lower_rungs = lower_states
        .into_iter()
        .rev()
        .map(|(level, _, state)| Rung {
            state,
            level: Some(level),
        });
    let requested_rung = Rung {
        state: requested,
        level: requested_level,
    };
    Ladder::new(requested_rung, lower_rungs)
}

#[cfg(test)]
mod tests {
    use hardware::board::{LeftOut, LeftOutState, StateSet};

    use super::*;

    fn state(power_state: u32, level: Option<u8>) -> IdleState<'static> {
        IdleState {
            name: "state",
            power_state,
            level,
            local_timer_stop: false,
            deeper_than: StateSet::default(),
            is_on_all_cpus: true,
        }
    }

    /// Returns states without levels that a CPU lists in this order.
    fn listed(values: &[u32]) -> Vec<IdleState<'static>> {
        let state_at = |(index, value): (usize, &u32)| IdleState {
            deeper_than: StateSet::all_before(index),
            ..state(*value, None)
        };
        values.iter().enumerate().map(state_at).collect()
    }

    /// Returns the values of the deepest and the core state, with 0 for none.
    fn values(states: &States) -> [u32; 2] {
        [states.deepest, states.core].map(|state| state.map_or(0, |state| state.power_state))
    }

    fn chosen(states: &[IdleState<'_>], format: StateFormat) -> [u32; 2] {
        let found = States::choose(&states.into(), &Plan::default(), format);
        assert!(found.deepest.is_none_or(|state| state.powerdown));
        values(&found)
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
            let all = listed(states);
            assert_eq!(chosen(&all, format), expected, "{states:x?} {format:?}");
        }
        // Levels in the board description take precedence over the order of the states.
        let states = [state(0x4000_0004, Some(1)), state(0x4100_c244, Some(0))];
        assert_eq!(chosen(&states, Extended), [0x4000_0004, 0x4100_c244]);
    }

    /// A core with two power domains has two power-down states, which need not be in order.
    #[test]
    fn both_power_down_states_of_a_core_are_used() {
        let [off, both_off, cluster_off] = [0x4000_0003, 0x4000_0004, 0x4000_0044];
        let indices = |set: &[usize]| {
            let mut deeper_than = StateSet::default();
            set.iter().for_each(|index| deeper_than.insert(*index));
            deeper_than
        };
        let with = |power_state, level, set: &[usize]| IdleState {
            deeper_than: indices(set),
            ..state(power_state, Some(level))
        };
        let states = [
            with(cluster_off, 1, &[1, 2, 3, 4]),
            with(both_off, 0, &[2, 3, 4]),
            with(off, 0, &[3, 4]),
            with(0x2, 0, &[4]),
            with(0x1, 0, &[]),
        ];
        let plan = Plan::parse("only=suite,idle_states").expect("valid arguments");
        let found = States::choose(&states[..].into(), &plan, StateFormat::Extended);
        assert_eq!(values(&found), [cluster_off, off]);
        let power_states = |states: &[UsableState]| -> Vec<u32> {
            states.iter().map(|state| state.power_state).collect()
        };
        let accepted = power_states(&found.accepted);
        assert_eq!(accepted, [0x1, 0x2, off, both_off, cluster_off]);
        assert_eq!(power_states(&found.to_try(&plan)), accepted[2..]);
        let ladder_of = |state: &UsableState| -> Vec<u32> {
            state.ladder.rungs().map(|(_, rung)| rung.state).collect()
        };
        let ladders: Vec<_> = found.accepted.iter().map(ladder_of).collect();
        assert_eq!(ladders[2..4], [[off], [both_off]]);
        assert_eq!(ladders[4], accepted[2..]);
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
            let all = listed(states);
            assert_eq!(chosen(&all, format), expected, "{states:x?} {format:?}");
            let found = States::choose(&all[..].into(), &Plan::default(), format);
            assert_eq!(found.foreign, foreign, "{states:x?} {format:?}");
            let expected_skip = if foreign.is_empty() {
                Skip::NoIdleState
            } else {
                Skip::OtherFormat(format)
            };
            assert_eq!(found.explain(Skip::NoIdleState), expected_skip);
        }
        // A state whose level is too high for a standby state.
        let states = [state(0x101_0022, Some(1)), state(0x4000_0002, Some(0))];
        assert_eq!(chosen(&states, Extended), [0, 0x4000_0002]);
    }

    const DEEP_CORE: u32 = 0x4000_0002;
    const DEEP_SYSTEM: u32 = 0x4000_0222;

    /// Checks the deepest and the core state, and why a scenario without a state is skipped.
    fn check(states: &IdleStates<'_>, expected: [u32; 2], why: Option<Undecided>) {
        let find = |arguments| {
            let plan = Plan::parse(arguments).expect("valid arguments");
            let first = states.usable.first();
            let format = StateFormat::of(first.map_or(0, |state| state.power_state));
            States::choose(states, &plan, format)
        };
        let found = find("");
        assert_eq!(values(&found), expected, "{states:x?}");
        let expected_skip = why.map_or(Skip::NoIdleState, Skip::Undecided);
        let skip = found.explain(Skip::NoIdleState);
        assert_eq!(skip, expected_skip, "{states:x?}");
        // The user's choice needs no order.
        let by_user = find("deepest=0x40000222 core=0x40000002");
        assert_eq!(values(&by_user), [DEEP_SYSTEM, DEEP_CORE], "{states:x?}");
    }

    #[test]
    fn states_in_an_unknown_order_or_of_some_cpus_are_not_chosen() {
        let unordered = [state(DEEP_CORE, None), state(DEEP_SYSTEM, None)];
        let unknown = Undecided::OrderUnknown(DEEP_CORE, DEEP_SYSTEM);
        check(&unordered[..].into(), [0; 2], Some(unknown));
        let mut partly = listed(&[DEEP_CORE, DEEP_SYSTEM]);
        partly[1].is_on_all_cpus = false;
        let some = Undecided::NotOnAllCpus(DEEP_SYSTEM);
        check(&partly[..].into(), [0, DEEP_CORE], Some(some));
        // Levels that the order contradicts, on both states or only on one of them.
        let mut levels = listed(&[DEEP_CORE, DEEP_SYSTEM]);
        levels[1].level = Some(0);
        check(&levels[..].into(), [DEEP_SYSTEM, 0], Some(unknown));
        levels[0].level = Some(2);
        check(&levels[..].into(), [0; 2], Some(unknown));
        // The last state lacks the bit of power-down states.
        let standby = listed(&[DEEP_CORE, 0x222]);
        let unknown_standby = Undecided::OrderUnknown(0x222, DEEP_CORE);
        check(&standby[..].into(), [0, DEEP_CORE], Some(unknown_standby));
    }

    /// A state that was left out may be the right one, unless it is known to be deeper or
    /// shallower.
    #[test]
    fn no_state_stands_in_for_one_that_was_left_out() {
        use LeftOut::{Disabled, NoParameter, NotListed};
        let none = StateSet::default();
        let [one, two] = [1, 2].map(StateSet::all_before);
        let deep = &listed(&[DEEP_CORE, DEEP_SYSTEM])[..];
        // The levels show which state is the core's.
        let original = &[state(0x1_0002, None), state(0x201_0222, None)][..];
        let (left_out, not_listed) = (Some(Undecided::LeftOut), Some(Undecided::NotListed));
        for (usable, (reason, deeper_than, shallower_than), expected, why) in [
            (deep, (NoParameter, none, none), [0; 2], left_out),
            (deep, (NoParameter, two, none), [0, DEEP_CORE], left_out),
            (
                deep,
                (NoParameter, one, two),
                [DEEP_SYSTEM, DEEP_CORE],
                None,
            ),
            (deep, (NoParameter, none, two), [DEEP_SYSTEM, 0], left_out),
            (original, (NoParameter, none, none), [0, 0x1_0002], left_out),
            (deep, (Disabled, none, none), [DEEP_SYSTEM, DEEP_CORE], None),
            (
                deep,
                (NotListed, none, none),
                [DEEP_SYSTEM, DEEP_CORE],
                None,
            ),
            (&[], (Disabled, none, none), [0; 2], None),
            (&[], (NotListed, none, none), [0; 2], not_listed),
            (&[], (NoParameter, none, none), [0; 2], left_out),
        ] {
            let left_out = LeftOutState {
                name: "left-out",
                reason,
                level: None,
                deeper_than,
                shallower_than,
            };
            let mut states = IdleStates::from(usable);
            states.left_out.push(left_out);
            check(&states, expected, why);
        }
    }

    #[test]
    fn odd_choices_are_named() {
        let odd = |arguments| {
            let plan = Plan::parse(arguments).expect("valid arguments");
            States::choose(&IdleStates::default(), &plan, StateFormat::Original).odd_choices()
        };
        assert_eq!(odd("deepest=0x2010222 core=0x10002"), [""; 0]);
        assert_eq!(
            odd("deepest=0x10002 core=0x2010222"),
            ["the power level of deepest=0x00010002 is lower than that of core=0x02010222."]
        );
        assert_eq!(
            odd("deepest=0x1"),
            ["deepest=0x00000001 is not a power-down state."]
        );
    }
}
