//! The rules of an audit, one function each. A rule judges one state.

use device_tree::declared::{DeclaredState, DeclaredStates, Duration, TIMER_STOP};
use itertools::Itertools as _;
use report::analysis::value_text::us_text;

use super::judgement::{Judgement, LongestTime, RuleVerdict};
use super::measured_state::{Entered, MeasuredState, ReachedState, mpidrs_text};
use crate::worst_case::TimerInState;

/// How much faster a deeper state may be than a shallower one before their order is in doubt, in
/// percent.
const ORDER_NOISE_PERCENT: u64 = 2;

/// The state that a rule judges, and what is known about it.
#[derive(Clone, Copy)]
pub struct JudgedState<'a> {
    pub declared: &'a DeclaredStates,
    pub index: usize,
    /// What the logs say about each state; empty without a log.
    pub measured: &'a [MeasuredState],
    /// The largest factor by which a value may exceed the measured worst case.
    pub margin: f64,
}

/// A named function that judges a state, and the properties that it is about.
pub struct Rule {
    /// The name, which is unique.
    pub name: &'static str,
    /// The properties that can be changed to comply with the rule.
    pub properties: &'static [&'static str],
    judge: fn(JudgedState<'_>) -> Vec<Judgement>,
}

const ENTRY: &str = Duration::Entry.name();
const EXIT: &str = Duration::Exit.name();
const WAKEUP: &str = Duration::Wakeup.name();
const MIN_RESIDENCY: &str = Duration::MinResidency.name();

/// The rule about whether a state is used at all.
pub static LISTED: Rule = rule("listed", &[], listed);

/// The rules about states that are used, in report order. README.md describes them.
pub static RULES: &[Rule] = &[
    rule(ENTRY, &[ENTRY], entry),
    rule(EXIT, &[EXIT], exit),
    rule(WAKEUP, &[WAKEUP], wakeup),
    rule(MIN_RESIDENCY, &[MIN_RESIDENCY], min_residency),
    rule(TIMER_STOP, &[TIMER_STOP], timer_stop),
    rule("entered", &[], entered),
    rule("reached", &[], reached),
    rule("measured-order", &[], measured_order),
    rule("required", &[ENTRY, EXIT, MIN_RESIDENCY], required),
    rule("exit-within-wakeup", &[WAKEUP], exit_within_wakeup),
    rule("wakeup-within-sum", &[WAKEUP], wakeup_within_sum),
    rule(
        "residency-covers-latency",
        &[MIN_RESIDENCY],
        residency_covers_latency,
    ),
    rule("residency-order", &[], residency_order),
    rule("wakeup-order", &[], wakeup_order),
];

const fn rule(
    name: &'static str,
    properties: &'static [&'static str],
    judge: fn(JudgedState<'_>) -> Vec<Judgement>,
) -> Rule {
    Rule {
        name,
        properties,
        judge,
    }
}

/// Judges a state by all rules. A state that no CPU uses is judged only by [`LISTED`].
pub fn judge(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let unlisted = LISTED.judge(judged_state);
    if unlisted.is_empty() {
        RULES
            .iter()
            .flat_map(|rule| rule.judge(judged_state))
            .collect()
    } else {
        unlisted
    }
}

impl Rule {
    /// Judges a state. A rule that does not apply returns nothing.
    pub fn judge(&self, judged_state: JudgedState<'_>) -> Vec<Judgement> {
        let mut judgements = (self.judge)(judged_state);
        for judgement in &mut judgements {
            judgement.rule = self.name;
        }
        judgements
    }
}

impl<'a> JudgedState<'a> {
    fn state(self) -> &'a DeclaredState {
        &self.declared.states[self.index]
    }

    /// Returns what the logs say about the state; None without a log.
    fn measured_state(self) -> Option<&'a MeasuredState> {
        self.measured.get(self.index)
    }

    fn power_state(self) -> String {
        power_state_text(self.state().power_state)
    }

    /// Returns a declared duration in microseconds.
    fn us(self, duration: Duration) -> Option<u64> {
        self.state().us(duration).map(u64::from)
    }

    /// Returns the states that are listed just before this one.
    fn shallower(self) -> impl Iterator<Item = Self> {
        let before = self.declared.shallower(self.index).into_iter();
        before.map(move |index| Self { index, ..self })
    }

    /// Names the CPUs that use the state.
    fn users(self) -> String {
        mpidrs_text(&self.declared.users(self.index))
    }
}

fn power_state_text(power_state: u32) -> String {
    format!("{power_state:#010x}")
}

/// Returns the latency that Linux assumes for a wake-up: the property or, if it is missing, the sum
/// of entry and exit.
pub fn effective_wakeup(state: &DeclaredState) -> Option<u64> {
    let us = |duration| state.us(duration).map(u64::from);
    us(Duration::Wakeup).or_else(|| Some(us(Duration::Entry)? + us(Duration::Exit)?))
}

/// Returns the measured counterpart of [`effective_wakeup`]: an event that arrives just after the
/// start of an entry waits for both the entry and the exit.
pub fn measured_wakeup(measured: &MeasuredState) -> Option<LongestTime> {
    let entry = measured.entry.as_ref()?;
    let exit = measured.exit.as_ref()?;
    let cpu = if entry.cpu == exit.cpu {
        entry.cpu.clone()
    } else {
        format!("{}, {}", entry.cpu, exit.cpu)
    };
    Some(LongestTime {
        ns: entry.ns + exit.ns,
        us: entry.us + exit.us,
        cpu,
        origin: format!("entry: {}; exit: {}", entry.origin, exit.origin),
    })
}

/// Returns the largest value that is right if `measured` is the worst case.
fn largest_right(measured: u64, margin: f64) -> u64 {
    // The cast saturates.
    (measured as f64 * margin).ceil() as u64
}

/// Returns the value to suggest if `measured` is the worst case: the middle of the range that is
/// right, so that a slightly slower or faster run does not change the verdict.
pub fn suggested(measured: u64, margin: f64) -> u32 {
    let middle = u64::midpoint(measured, largest_right(measured, margin));
    u32::try_from(middle).unwrap_or(u32::MAX)
}

/// Returns a judgement whose rule is filled in later.
fn judgement(verdict: RuleVerdict, declared: impl ToString, reason: String) -> Judgement {
    Judgement {
        rule: "",
        verdict,
        declared: declared.to_string(),
        measured: String::new(),
        cpu: None,
        reason,
    }
}

/// Judges a declared latency by the longest one measured. `gap` is the reason why that may not be
/// the worst case.
fn judge_latency(
    declared: u64,
    longest: &LongestTime,
    gap: Option<&str>,
    margin: f64,
) -> Judgement {
    let origin = &longest.origin;
    let text = longest.text();
    let (verdict, reason) = if declared < longest.us {
        let lacking = us_text(longest.ns.saturating_sub(declared * 1000) as f64);
        let why = format!("too small by {lacking} us: it took {text} us ({origin})");
        (RuleVerdict::TooSmall, why)
    } else if let Some(gap) = gap {
        let why = format!("at least {text} us ({origin}), but {gap}");
        (RuleVerdict::CannotTell, why)
    } else if declared > largest_right(longest.us, margin) {
        let factor = declared as f64 / longest.us as f64;
        let why = format!("too large by a factor of {factor:.1}: it took {text} us ({origin})");
        (RuleVerdict::TooLarge, why)
    } else {
        (RuleVerdict::Right, format!("it took {text} us ({origin})"))
    };
    Judgement {
        measured: text,
        cpu: Some(longest.cpu.clone()),
        ..judgement(verdict, declared, reason)
    }
}

/// Requires that a CPU uses the state.
fn listed(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let declared = judged_state.declared;
    if declared.is_listed(judged_state.index) {
        return Vec::new();
    }
    let reason = if judged_state.state().is_disabled {
        "defined, but disabled by its status property"
    } else if declared.listed_by_disabled.contains(&judged_state.index) {
        "defined, but only disabled CPUs list it"
    } else if declared.listed_by_domains.contains(&judged_state.index) {
        "defined, but only power domains without a CPU list it"
    } else if judged_state.state().is_of_domain {
        "defined, but no power domain lists it"
    } else {
        "defined, but no CPU lists it"
    };
    vec![judgement(
        RuleVerdict::Unused,
        judged_state.power_state(),
        reason.to_owned(),
    )]
}

/// Compares entry-latency-us with the longest entry.
fn entry(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let measured = judged_state.measured_state();
    let (Some(declared), Some(measured)) = (judged_state.us(Duration::Entry), measured) else {
        return Vec::new();
    };
    vec![match (&measured.entry, &measured.exit) {
        (Some(longest), _) => {
            judge_latency(declared, longest, measured.entry_gap, judged_state.margin)
        }
        (None, Some(_)) => {
            let why = "only the firmware's timestamps (PMF) show when a CPU is down";
            judgement(RuleVerdict::CannotTell, declared, why.to_owned())
        }
        (None, None) => not_measured(declared),
    }]
}

/// Returns the judgement for a value that has no measured counterpart.
fn not_measured(declared: u64) -> Judgement {
    let why = "the logs have no samples of this state";
    judgement(RuleVerdict::NotMeasured, declared, why.to_owned())
}

/// Compares exit-latency-us with the longest exit.
fn exit(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let measured = judged_state.measured_state();
    let (Some(declared), Some(measured)) = (judged_state.us(Duration::Exit), measured) else {
        return Vec::new();
    };
    vec![match &measured.exit {
        Some(longest) => judge_latency(declared, longest, measured.exit_gap, judged_state.margin),
        None => not_measured(declared),
    }]
}

/// Compares wakeup-latency-us, or the latency that Linux assumes without it, with the longest entry
/// and exit.
fn wakeup(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let declared = effective_wakeup(judged_state.state());
    let (Some(declared), Some(measured)) = (declared, judged_state.measured_state()) else {
        return Vec::new();
    };
    let gap = match measured.entry {
        Some(_) => measured.entry_gap.or(measured.exit_gap),
        None => Some("the entry was not measured"),
    };
    let longest = measured_wakeup(measured).or_else(|| measured.exit.clone());
    let mut judged = match longest {
        Some(longest) => judge_latency(declared, &longest, gap, judged_state.margin),
        None => not_measured(declared),
    };
    if judged_state.us(Duration::Wakeup).is_none() {
        judged.declared = format!("sum: {declared}");
    }
    vec![judged]
}

/// Requires that min-residency-us covers the time to enter and leave the state.
fn min_residency(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let measured = judged_state.measured_state();
    let (Some(declared), Some(measured)) = (judged_state.us(Duration::MinResidency), measured)
    else {
        return Vec::new();
    };
    let Some(least) = measured_wakeup(measured).or_else(|| measured.exit.clone()) else {
        return vec![not_measured(declared)];
    };
    let bound = least.text();
    let (verdict, reason) = if declared < least.us {
        let lacking = us_text(least.ns.saturating_sub(declared * 1000) as f64);
        let why = format!(
            "too small by {lacking} us: time alone gives a lower bound of {bound} us ({})",
            least.origin
        );
        (RuleVerdict::TooSmall, why)
    } else {
        let why = format!(
            "the exact value depends on energy; time alone gives a lower bound of {bound} us"
        );
        (RuleVerdict::CannotTell, why)
    };
    vec![Judgement {
        measured: format!("> {bound}"),
        cpu: Some(least.cpu),
        ..judgement(verdict, declared, reason)
    }]
}

/// Compares local-timer-stop with the interrupts that woke the CPUs.
fn timer_stop(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let Some(measured) = judged_state.measured_state() else {
        return Vec::new();
    };
    let is_declared = judged_state.state().timer_stops;
    let seen = match measured.timer {
        TimerInState::Stops => "stops",
        TimerInState::WakesCpu => "wakes",
        TimerInState::NotMeasured => "",
    };
    let (verdict, reason) = match (measured.timer, measured.exit_gap, is_declared) {
        (TimerInState::NotMeasured, _, _) => {
            let why = "no CPU had to rely on its own timer in this state";
            (RuleVerdict::NotMeasured, why.to_owned())
        }
        (TimerInState::Stops, _, true) => {
            let why = "the CPUs were woken by another interrupt";
            (RuleVerdict::Right, why.to_owned())
        }
        (TimerInState::Stops, _, false) => {
            let why = "a trial showed that the CPU's own timer does not wake it, or the tree of \
                       the run declares that";
            (RuleVerdict::Contradictory, why.to_owned())
        }
        // The timer may stop only if the other CPUs are down as well.
        (TimerInState::WakesCpu, Some(gap), _) => {
            let why = format!("the CPU's own timer woke it, but {gap}");
            (RuleVerdict::CannotTell, why)
        }
        (TimerInState::WakesCpu, None, false) => {
            let why = "the CPU's own timer woke it";
            (RuleVerdict::Right, why.to_owned())
        }
        (TimerInState::WakesCpu, None, true) => {
            let why = "too cautious: the CPU's own timer woke it";
            (RuleVerdict::TooLarge, why.to_owned())
        }
    };
    vec![Judgement {
        measured: seen.to_owned(),
        cpu: measured.timer_cpu.clone().filter(|_| !seen.is_empty()),
        ..judgement(verdict, if is_declared { "yes" } else { "no" }, reason)
    }]
}

/// Requires that every CPU that uses the state entered it.
fn entered(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let Some(measured) = judged_state.measured_state() else {
        return Vec::new();
    };
    let judged = |verdict, reason| judgement(verdict, judged_state.power_state(), reason);
    vec![match &measured.entered {
        Entered::ByAll(count) => {
            let why = format!("entered by each of the {count} CPUs that use it");
            judged(RuleVerdict::Right, why)
        }
        Entered::NotBy(cpus) => judged(RuleVerdict::NotMeasured, format!("no sample from {cpus}")),
        Entered::NotTried(why) => judged(RuleVerdict::NotMeasured, why.clone()),
        Entered::Never(cpu, why) => Judgement {
            cpu: cpu.clone(),
            ..judged(RuleVerdict::Contradictory, format!("never entered: {why}"))
        },
    }]
}

/// Requires that PSCI_STAT counted the requested state.
fn reached(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let Some(measured) = judged_state.measured_state() else {
        return Vec::new();
    };
    let judged =
        |verdict, reason: &str| judgement(verdict, judged_state.power_state(), reason.to_owned());
    vec![match &measured.reached {
        ReachedState::Asked => {
            let why = "PSCI_STAT counted the state that was requested";
            judged(RuleVerdict::Right, why)
        }
        ReachedState::Other(cpu, due, state) => {
            let counted = state.map_or_else(|| "no state".to_owned(), power_state_text);
            let requested = power_state_text(*due);
            let why = format!("PSCI_STAT counted {counted} instead of {requested}");
            Judgement {
                measured: counted,
                cpu: Some(cpu.clone()),
                ..judged(RuleVerdict::Contradictory, &why)
            }
        }
        ReachedState::Prevented => {
            let why = "in each sample, a CPU that was awake prevented it";
            judged(RuleVerdict::CannotTell, why)
        }
        ReachedState::Unknown(why) => judged(RuleVerdict::NotMeasured, why),
    }]
}

/// Requires that a deeper state takes at least as long to enter and leave as a shallower one, apart
/// from noise.
fn measured_order(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let wakeup = |judged_state: JudgedState<'_>| measured_wakeup(judged_state.measured_state()?);
    let Some(deeper) = wakeup(judged_state) else {
        return Vec::new();
    };
    let judgements = judged_state.shallower().filter_map(|shallower_state| {
        let shallower = wakeup(shallower_state)?;
        if deeper.ns * 100 >= shallower.ns * (100 - ORDER_NOISE_PERCENT) {
            return None;
        }
        let name = &shallower_state.state().name;
        let why = format!(
            "entry and exit took {} us, less than the {} us of the shallower {name}",
            deeper.text(),
            shallower.text()
        );
        Some(Judgement {
            measured: deeper.text(),
            cpu: Some(deeper.cpu.clone()),
            ..judgement(RuleVerdict::Contradictory, "deeper", why)
        })
    });
    judgements.collect()
}

/// Returns the judgement that declared values contradict each other for this reason.
fn contradiction(judged_state: JudgedState<'_>, declared: Option<u64>, reason: &str) -> Judgement {
    let value = declared.map_or_else(String::new, |us| us.to_string());
    let with_users = format!("{reason} ({})", judged_state.users());
    judgement(RuleVerdict::Contradictory, value, with_users)
}

/// Requires the properties without which Linux ignores the idle states.
fn required(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let state = judged_state.state();
    let lacks = |duration: &Duration| state.us(*duration).is_none();
    let mut missing: Vec<Duration> = [Duration::Entry, Duration::Exit]
        .into_iter()
        .filter(lacks)
        .collect();
    if !state.is_of_domain && !lacks(&Duration::Wakeup) {
        missing.clear();
    }
    // Linux does not require a domain's state to have one.
    if !state.is_of_domain && lacks(&Duration::MinResidency) {
        missing.push(Duration::MinResidency);
    }
    if missing.is_empty() {
        return Vec::new();
    }
    let names = missing.iter().map(|duration| duration.name()).join(", ");
    let why = format!("without {names}, Linux uses none of the idle states");
    vec![contradiction(judged_state, None, &why)]
}

/// Requires that the exit latency does not exceed the wake-up latency.
fn exit_within_wakeup(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    match (
        judged_state.us(Duration::Exit),
        judged_state.us(Duration::Wakeup),
    ) {
        (Some(exit), Some(wakeup)) if exit > wakeup => {
            let why = format!(
                "wakeup-latency-us {wakeup} is less than exit-latency-us {exit}, which is part of \
                 it"
            );
            vec![contradiction(judged_state, Some(wakeup), &why)]
        }
        _ => Vec::new(),
    }
}

/// Requires that the wake-up latency does not exceed the sum of entry and exit latency.
fn wakeup_within_sum(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let us = |duration| judged_state.us(duration);
    let (Some(entry), Some(exit)) = (us(Duration::Entry), us(Duration::Exit)) else {
        return Vec::new();
    };
    match us(Duration::Wakeup) {
        Some(wakeup) if wakeup > entry + exit => {
            let why = format!(
                "wakeup-latency-us {wakeup} exceeds {}, the sum of entry-latency-us and \
                 exit-latency-us",
                entry + exit
            );
            vec![contradiction(judged_state, Some(wakeup), &why)]
        }
        _ => Vec::new(),
    }
}

/// Requires that the minimum residency covers the declared latencies.
fn residency_covers_latency(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let us = |duration| judged_state.us(duration);
    // The property is one cell, so it cannot be greater.
    let sum = us(Duration::Entry)
        .zip(us(Duration::Exit))
        .map(|(entry, exit)| (entry + exit).min(u32::MAX.into()));
    let least = sum.max(us(Duration::Wakeup));
    match (us(Duration::MinResidency), least) {
        (Some(residency), Some(least)) if residency < least => {
            let why = format!(
                "min-residency-us {residency} is less than {least}, the time to enter and leave \
                 the state"
            );
            vec![contradiction(judged_state, Some(residency), &why)]
        }
        _ => Vec::new(),
    }
}

/// Requires that a deeper state has at least the minimum residency of a shallower one.
fn residency_order(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let residency = |judged_state: JudgedState<'_>| judged_state.us(Duration::MinResidency);
    order(judged_state, "min-residency-us", residency)
}

/// Requires that a deeper state has at least the wake-up latency of a shallower one.
fn wakeup_order(judged_state: JudgedState<'_>) -> Vec<Judgement> {
    let wakeup = |judged_state: JudgedState<'_>| effective_wakeup(judged_state.state());
    order(judged_state, "the wake-up latency", wakeup)
}

/// Judges the order of values: those of shallower states must not be greater than this state's.
fn order(
    judged_state: JudgedState<'_>,
    what: &str,
    value: fn(JudgedState<'_>) -> Option<u64>,
) -> Vec<Judgement> {
    let Some(deeper) = value(judged_state) else {
        return Vec::new();
    };
    let judgements = judged_state.shallower().filter_map(|shallower_state| {
        let shallower = value(shallower_state)?;
        if deeper >= shallower {
            return None;
        }
        let name = &shallower_state.state().name;
        let why = format!(
            "{what} {deeper} is less than the {shallower} of {name}, which is listed before it as \
             the shallower state"
        );
        Some(contradiction(judged_state, Some(deeper), &why))
    });
    judgements.collect()
}
