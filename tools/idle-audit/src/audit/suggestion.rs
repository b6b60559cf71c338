//! Suggests values for the properties that are wrong.

use device_tree::declared::{DeclaredState, DeclaredStates, Duration, TIMER_STOP};
use serde::Serialize;

use super::idle_rules::{JudgedState, RULES, effective_wakeup, measured_wakeup, suggested};
use super::judgement::{Judgement, RuleVerdict};

/// A change to one property of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropertyChange {
    /// The property's name.
    pub name: &'static str,
    /// The old value; None if the property is missing.
    pub old: Option<PropertyValue>,
    /// The new value; None to remove the property.
    pub new: Option<PropertyValue>,
    /// The reason, as a sentence without the final period.
    pub evidence: String,
}

impl PropertyChange {
    /// Makes the change in `state`.
    pub fn apply(&self, state: &mut DeclaredState) {
        for duration in Duration::ALL {
            if duration.name() == self.name {
                state.durations[duration as usize] = match self.new {
                    Some(PropertyValue::Cell(us)) => Some(us),
                    Some(PropertyValue::Present) | None => None,
                };
            }
        }
        if self.name == TIMER_STOP {
            state.timer_stops = self.new.is_some();
        }
    }
}

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PropertyValue {
    /// One cell.
    Cell(u32),
    /// A property without a value.
    Present,
}

/// Returns the changes to each state. After them, no declared value contradicts another one or the
/// measured worst cases. `judgements` are the verdicts on each state. Nothing is suggested for what
/// no value can fix, such as states in the wrong order.
pub fn suggest(
    judged_state: JudgedState<'_>,
    judgements: &[Vec<Judgement>],
) -> Vec<Vec<PropertyChange>> {
    let declared = judged_state.declared;
    let mut new = declared.clone();
    let states = new.states.iter_mut().enumerate();
    for (index, state) in states.filter(|(index, _)| declared.is_listed(*index)) {
        suggest_latencies(
            JudgedState {
                index,
                ..judged_state
            },
            &judgements[index],
            state,
        );
    }
    for list in &declared.lists {
        for pair in list.states.array_windows() {
            keep_order(judged_state, *pair, &mut new);
        }
    }
    declared
        .states
        .iter()
        .zip(&new.states)
        .zip(judgements)
        .map(|((old_state, new_state), judgements)| changes(old_state, new_state, judgements))
        .collect()
}

fn set(state: &mut DeclaredState, duration: Duration, us: u32) {
    state.durations[duration as usize] = Some(us);
}

/// Corrects the values of one state.
fn suggest_latencies(
    judged_state: JudgedState<'_>,
    judgements: &[Judgement],
    state: &mut DeclaredState,
) {
    let is_wrong = |rule: &str| {
        judgements
            .iter()
            .filter(|judgement| judgement.rule == rule)
            .any(|judgement| {
                matches!(
                    judgement.verdict,
                    RuleVerdict::TooSmall | RuleVerdict::TooLarge
                )
            })
    };
    let measured = judged_state.measured.get(judged_state.index);
    let margin = judged_state.margin;
    let entry = measured.and_then(|measured_state| measured_state.entry.as_ref());
    let exit = measured.and_then(|measured_state| measured_state.exit.as_ref());
    for (duration, longest) in [(Duration::Entry, entry), (Duration::Exit, exit)] {
        let is_missing = state.us(duration).is_none() && state.us(Duration::Wakeup).is_none();
        if let Some(longest) = longest.filter(|_| is_missing || is_wrong(duration.name())) {
            set(state, duration, suggested(longest.us, margin));
        }
    }
    let longest_wakeup = measured.and_then(measured_wakeup).map(|wakeup| wakeup.us);
    let sum = state
        .us(Duration::Entry)
        .zip(state.us(Duration::Exit))
        .map(|(entry, exit)| entry.saturating_add(exit));
    if let Some(old) = state.us(Duration::Wakeup) {
        let exit_us = state.us(Duration::Exit).unwrap_or(0);
        let wakeup = longest_wakeup
            .filter(|_| is_wrong(Duration::Wakeup.name()))
            .map_or(old, |longest_us| suggested(longest_us, margin));
        // A value that contradicts the others is replaced by the default, which is their sum.
        let consistent = if wakeup < exit_us {
            sum.unwrap_or(exit_us)
        } else {
            wakeup.min(sum.unwrap_or(u32::MAX))
        };
        set(state, Duration::Wakeup, consistent);
    }
    let least = effective_wakeup(state)
        .unwrap_or(0)
        .max(sum.map_or(0, u64::from))
        .max(longest_wakeup.unwrap_or(0));
    suggest_residency(state, u32::try_from(least).unwrap_or(u32::MAX));
    let timer_stop = judgements
        .iter()
        .find(|judgement| judgement.rule == TIMER_STOP);
    if timer_stop.is_some_and(|judgement| judgement.verdict.calls_for_change()) {
        state.timer_stops = !state.timer_stops;
    }
}

/// Raises the minimum residency to `least`. Adds it if it is missing, unless the state is a power
/// domain's, which does not need one.
fn suggest_residency(state: &mut DeclaredState, least: u32) {
    let is_needed = least > 0 && !state.is_of_domain;
    match state.us(Duration::MinResidency) {
        Some(old) => set(state, Duration::MinResidency, old.max(least)),
        None if is_needed => set(state, Duration::MinResidency, least),
        None => {}
    }
}

/// Restores the order of two states that were declared in order, if the changes broke it.
fn keep_order(
    judged_state: JudgedState<'_>,
    [shallower, deeper]: [usize; 2],
    new: &mut DeclaredStates,
) {
    let is_in_order = |states: &DeclaredStates, value: fn(&DeclaredState) -> Option<u64>| {
        let [one, other] = [shallower, deeper].map(|index| value(&states.states[index]));
        one.zip(other).is_none_or(|(one, other)| one <= other)
    };
    let breaks = |new_states: &DeclaredStates, value| {
        is_in_order(judged_state.declared, value) && !is_in_order(new_states, value)
    };
    if breaks(new, effective_wakeup)
        && let Some(wakeup) = effective_wakeup(&new.states[shallower])
    {
        let wakeup = u32::try_from(wakeup).unwrap_or(u32::MAX);
        raise_wakeup(&mut new.states[deeper], wakeup);
    }
    let residency = |state: &DeclaredState| state.us(Duration::MinResidency).map(u64::from);
    if breaks(new, residency)
        && let Some(us) = new.states[shallower].us(Duration::MinResidency)
    {
        set(&mut new.states[deeper], Duration::MinResidency, us);
    }
}

/// Raises a state's wake-up latency to `least`, and the values that depend on it.
fn raise_wakeup(state: &mut DeclaredState, least: u32) {
    let sum = state.us(Duration::Entry).zip(state.us(Duration::Exit));
    if let Some((entry, exit)) = sum {
        let lacking = least.saturating_sub(entry.saturating_add(exit));
        set(state, Duration::Entry, entry.saturating_add(lacking));
    }
    if let Some(wakeup) = state.us(Duration::Wakeup) {
        set(state, Duration::Wakeup, wakeup.max(least));
    }
    if let Some(residency) = state.us(Duration::MinResidency) {
        set(state, Duration::MinResidency, residency.max(least));
    }
}

/// Returns the differences between the old and the new state.
fn changes(
    old: &DeclaredState,
    new: &DeclaredState,
    judgements: &[Judgement],
) -> Vec<PropertyChange> {
    let mut changes = Vec::new();
    for duration in Duration::ALL {
        let [before, after] = [old, new].map(|state| state.us(duration).map(PropertyValue::Cell));
        if before != after {
            changes.push(PropertyChange {
                name: duration.name(),
                old: before,
                new: after,
                evidence: evidence(duration.name(), judgements),
            });
        }
    }
    if old.timer_stops != new.timer_stops {
        let value = |is_set: bool| is_set.then_some(PropertyValue::Present);
        changes.push(PropertyChange {
            name: TIMER_STOP,
            old: value(old.timer_stops),
            new: value(new.timer_stops),
            evidence: evidence(TIMER_STOP, judgements),
        });
    }
    changes
}

/// Returns the reason why a property is changed: that of the first rule that calls for it.
fn evidence(property: &str, judgements: &[Judgement]) -> String {
    let cause = judgements
        .iter()
        .find(|judgement| judgement.calls_for(property));
    match cause {
        Some(judgement) => judgement.reason.clone(),
        None => "follows from the other changes".to_owned(),
    }
}

/// Returns the properties that can be changed to comply with a rule.
fn properties(name: &str) -> &'static [&'static str] {
    let listed = RULES.iter().find(|rule| rule.name == name);
    listed.map_or(&[], |rule| rule.properties)
}

impl Judgement {
    /// Returns true if the property should be changed.
    fn calls_for(&self, property: &str) -> bool {
        self.verdict.calls_for_change() && properties(self.rule).contains(&property)
    }

    /// Returns the change that corrects this verdict's property; None if there is none.
    pub(crate) fn change<'c>(&self, changes: &'c [PropertyChange]) -> Option<&'c PropertyChange> {
        changes.iter().find(|change| self.calls_for(change.name))
    }

    /// Returns true if something is wrong that no change of a property can correct.
    pub fn is_uncorrectable(&self) -> bool {
        self.verdict.calls_for_change() && properties(self.rule).is_empty()
    }
}
