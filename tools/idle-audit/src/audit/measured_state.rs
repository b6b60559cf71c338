//! What logs say about a declared state.

use std::collections::BTreeMap;

use device_tree::declared::DeclaredStates;
use hardware::board::{CpuIndex, Mpidr};
use report::analysis::cpu_names::type_of;
use report::analysis::figure::Figure;
use report::analysis::value_text::cpus_text;
use report::log::LoggedRun;
use serde::Serialize;
use suite::measure::Metric;
use suite::model::{Cell, Failure, Scenario, Skip, Status};
use suite::plan::{ActiveCpus, Axis, Variant};

use super::judgement::LongestTime;
use crate::worst_case::{ENTRY, EXIT, Latency, Suspends, TimerInState, suspends, timer_in_state};

/// The worst cases for CPUs of one type that suspended in the same way.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MeasuredGroup {
    /// The type of the CPUs, such as `Cortex-A57`.
    pub cpu_type: String,
    /// How the CPUs suspended.
    pub how: &'static str,
    /// PMF: from the call to the power-down.
    pub entry: Option<LongestTime>,
    /// The same in the first sample.
    pub cold_entry: Option<LongestTime>,
    /// PMF: from the power-up to the return.
    pub exit: Option<LongestTime>,
    /// The same in the first sample.
    pub cold_exit: Option<LongestTime>,
    /// From the wake-up event to the return, as the caller sees it.
    pub wake: Option<LongestTime>,
}

/// Whether a state was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entered {
    /// By all CPUs that use the state.
    ByAll(usize),
    /// By some CPUs, but not by these.
    NotBy(String),
    /// The logs contain no attempt, for this reason.
    NotTried(String),
    /// There were attempts, but no CPU entered the state: the CPU, and the reason.
    Never(Option<String>, String),
}

/// The state that the firmware reached, according to its own statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachedState {
    /// The requested state.
    Asked,
    /// Another state: the CPU, the requested state and the state that was counted.
    Other(String, u32, Option<u32>),
    /// A CPU that was awake kept the requested state from being reached.
    Prevented,
    /// Unknown, for this reason.
    Unknown(&'static str),
}

/// What the logs say about a state.
#[derive(Clone, Debug)]
pub struct MeasuredState {
    /// The longest entry.
    pub(crate) entry: Option<LongestTime>,
    /// The longest exit.
    pub(crate) exit: Option<LongestTime>,
    /// Why entries may take longer than the longest one.
    pub(crate) entry_gap: Option<&'static str>,
    /// Why exits may take longer than the longest one.
    pub(crate) exit_gap: Option<&'static str>,
    /// The worst cases by CPU type and by how the CPUs suspended.
    pub(crate) groups: Vec<MeasuredGroup>,
    /// What happens to the CPU's own timer.
    pub(crate) timer: TimerInState,
    /// The CPU that shows what happens to the timer.
    pub(crate) timer_cpu: Option<String>,
    pub(crate) entered: Entered,
    pub(crate) reached: ReachedState,
}

/// Returns what `runs` say about each state, in the order of the states.
pub fn measure(declared: &DeclaredStates, runs: &[LoggedRun]) -> Vec<MeasuredState> {
    let suspends_by_run: Vec<_> = runs.iter().map(suspends).collect();
    let none = Suspends::default();
    let mut measured = Vec::new();
    for (index, state) in declared.states.iter().enumerate() {
        let users = declared.users(index);
        let mut state_runs = Vec::new();
        for (logged, suspends) in runs.iter().zip(&suspends_by_run) {
            state_runs.push(StateRun {
                logged,
                power_state: state.power_state,
                users: &users,
                suspends: suspends.get(&state.power_state).unwrap_or(&none),
                is_named: runs.len() > 1,
            });
        }
        measured.push(measure_state(&state_runs, &users));
    }
    measured
}

/// A run, and what it contains for one state.
struct StateRun<'r, 's> {
    logged: &'r LoggedRun,
    power_state: u32,
    users: &'s [Mpidr],
    suspends: &'s Suspends<'r>,
    /// True if origins include the name of the log.
    is_named: bool,
}

/// Combines what the runs say about one state.
fn measure_state(runs: &[StateRun<'_, '_>], users: &[Mpidr]) -> MeasuredState {
    let reached = reached(runs);
    let (timer, timer_cpu) = timer(runs);
    MeasuredState {
        entry: longest_time(runs, ENTRY),
        exit: longest_time(runs, EXIT),
        entry_gap: gap(runs, ENTRY, &reached),
        exit_gap: gap(runs, EXIT, &reached),
        groups: groups(runs),
        timer,
        timer_cpu,
        entered: entered(runs, users),
        reached,
    }
}

/// Returns the longest time in the runs, and the first one of equal times.
fn longest_time(runs: &[StateRun<'_, '_>], metrics: &[Metric]) -> Option<LongestTime> {
    let mut longest: Option<LongestTime> = None;
    for state_run in runs {
        for (_, time) in state_run.times(metrics) {
            keep_longer(&mut longest, time);
        }
    }
    longest
}

/// Replaces the longest time with a longer one.
fn keep_longer(longest: &mut Option<LongestTime>, time: LongestTime) {
    let is_longer = match longest {
        Some(longest_time) => time.ns > longest_time.ns,
        None => true,
    };
    if is_longer {
        *longest = Some(time);
    }
}

/// Returns what happens to the CPU's own timer, and the CPU that shows it.
fn timer(runs: &[StateRun<'_, '_>]) -> (TimerInState, Option<String>) {
    for timer in [
        TimerInState::Stops,
        TimerInState::WakesCpu,
        TimerInState::NotMeasured,
    ] {
        for state_run in runs {
            if timer_in_state(state_run.logged, state_run.suspends) == timer {
                return (timer, state_run.suspended_cpu());
            }
        }
    }
    (TimerInState::NotMeasured, None)
}

impl<'r> StateRun<'r, '_> {
    /// Returns true if the CPU uses the state.
    fn is_user(&self, cpu: CpuIndex) -> bool {
        let mpidr = self.logged.run.cpu(cpu).mpidr;
        mpidr.is_some_and(|mpidr| self.users.contains(&mpidr))
    }

    /// Returns the longest and the first sample of each figure.
    fn times(&self, metrics: &[Metric]) -> impl Iterator<Item = (Latency<'r>, LongestTime)> {
        self.suspends
            .latencies(self.logged, metrics)
            .filter(|latency| self.is_user(latency.figure.cpu))
            .map(|latency| (latency, self.longest_time(&latency)))
    }

    fn longest_time(&self, latency: &Latency<'r>) -> LongestTime {
        let origin = latency.origin(self.logged);
        LongestTime {
            ns: latency.ns(self.logged),
            us: latency.us(self.logged),
            cpu: self.label(latency.figure.cpu),
            origin: if self.is_named {
                format!("{origin}, in {}", self.logged.source.input)
            } else {
                origin
            },
        }
    }

    /// Returns the cells for the state, with their scenarios.
    fn cells(&self) -> impl Iterator<Item = (&'r Scenario, &'r Cell)> {
        self.logged
            .run
            .scenarios
            .iter()
            .flat_map(|scenario| scenario.cells.iter().map(move |cell| (scenario, cell)))
            .filter(|(scenario, cell)| state_of_cell(scenario, cell) == Some(self.power_state))
    }

    /// Returns the cells for the state on CPUs that use it.
    fn own_cells(&self) -> impl Iterator<Item = (&'r Scenario, &'r Cell)> {
        self.cells().filter(|(_, cell)| self.is_user(cell.cpu))
    }

    /// Returns the CPU with this MPIDR.
    fn cpu(&self, mpidr: Mpidr) -> Option<CpuIndex> {
        let run = &self.logged.run;
        run.cpu_indices()
            .find(|cpu| run.cpu(*cpu).mpidr == Some(mpidr))
    }

    fn label(&self, cpu: CpuIndex) -> String {
        self.logged.run.label(cpu).to_string()
    }

    /// Returns the first CPU with samples.
    fn suspended_cpu(&self) -> Option<String> {
        let mut cells = self.own_cells().filter(|(_, cell)| cell.valid() > 0);
        cells.next().map(|(_, cell)| self.label(cell.cpu))
    }
}

/// Returns the state that a cell is about.
fn state_of_cell(scenario: &Scenario, cell: &Cell) -> Option<u32> {
    if scenario.id.is_suite() {
        return scenario.conditions.as_ref()?.power_state;
    }
    if cell.power_state.is_some() {
        return cell.power_state;
    }
    if cell.skipped.is_some() && scenario.id.axis() == Some(Axis::PowerState) {
        return u32::try_from(cell.step.value?).ok();
    }
    None
}

/// Returns the reason why CPUs may take longer than in these runs; None if there is none.
fn gap(
    runs: &[StateRun<'_, '_>],
    metrics: &[Metric],
    reached: &ReachedState,
) -> Option<&'static str> {
    if matches!(reached, ReachedState::Other(..) | ReachedState::Prevented) {
        return Some("the requested state was not reached");
    }
    for state_run in runs {
        if state_run.logged.run.cpus.len() == 1 {
            return None;
        }
        for (latency, _) in state_run.times(metrics) {
            if includes_all_cpus(&latency) {
                return None;
            }
        }
    }
    Some("never measured while all CPUs were suspended together")
}

/// Returns true if all CPUs were suspended together when a figure was measured.
fn includes_all_cpus(latency: &Latency<'_>) -> bool {
    let scenario = latency.scenario;
    let has_helper = scenario.helper.is_some() || latency.figure.cell.helper.is_some();
    // In a step of such a sweep, only some CPUs suspend.
    let varies_cpus = scenario.id.axis() == Some(Axis::Cpus);
    is_parallel(scenario, &latency.figure) && !has_helper && !varies_cpus
}

/// Returns true if the CPUs suspended together when a figure was measured.
fn is_parallel(scenario: &Scenario, figure: &Figure<'_>) -> bool {
    if figure.key.is_of_step() {
        figure.key.step.cpus == ActiveCpus::All
    } else {
        scenario.id.is_parallel()
    }
}

/// Returns how the CPUs suspended when a figure was measured.
fn how(scenario: &Scenario, figure: &Figure<'_>) -> &'static str {
    match (figure.key.step.variant, is_parallel(scenario, figure)) {
        (Variant::OS_INITIATED, _) => "OS-initiated",
        (_, true) => "parallel",
        (_, false) => "serial",
    }
}

/// Returns the worst cases by CPU type and by how the CPUs suspended.
fn groups(runs: &[StateRun<'_, '_>]) -> Vec<MeasuredGroup> {
    let mut groups: BTreeMap<(String, &'static str), MeasuredGroup> = BTreeMap::new();
    let metrics = [ENTRY, EXIT].concat();
    for state_run in runs {
        for (latency, time) in state_run.times(&metrics) {
            let cpu_type = cpu_type(state_run, latency.figure.cpu);
            let how = how(latency.scenario, &latency.figure);
            let group = groups
                .entry((cpu_type.clone(), how))
                .or_insert_with(|| MeasuredGroup {
                    cpu_type,
                    how,
                    ..MeasuredGroup::default()
                });
            let group_time = match (latency.figure.key.metric, latency.is_cold) {
                (Metric::Powerdown, false) => &mut group.entry,
                (Metric::Powerdown, true) => &mut group.cold_entry,
                (Metric::Wakeup, false) => &mut group.exit,
                (Metric::Wakeup, true) => &mut group.cold_exit,
                _ => &mut group.wake,
            };
            keep_longer(group_time, time);
        }
    }
    groups.into_values().collect()
}

/// Returns a CPU's type, or its MIDR_EL1 if the type has no known name.
fn cpu_type(state_run: &StateRun<'_, '_>, cpu: CpuIndex) -> String {
    match state_run.logged.run.cpu(cpu).identity {
        Some(identity) => {
            type_of(identity.midr).unwrap_or_else(|| format!("MIDR {:#x}", identity.midr))
        }
        None => "unknown".to_owned(),
    }
}

/// Returns which of the users entered the state.
fn entered(runs: &[StateRun<'_, '_>], users: &[Mpidr]) -> Entered {
    let mut sampled: Vec<Mpidr> = Vec::new();
    for state_run in runs {
        for (_, cell) in state_run.own_cells() {
            if cell.valid() > 0
                && let Some(mpidr) = state_run.logged.run.cpu(cell.cpu).mpidr
            {
                sampled.push(mpidr);
            }
        }
    }
    if sampled.is_empty() {
        return never_entered(runs);
    }
    let missing: Vec<&Mpidr> = users
        .iter()
        .filter(|user| !sampled.contains(user))
        .collect();
    if missing.is_empty() {
        Entered::ByAll(users.len())
    } else {
        Entered::NotBy(missing_text(runs, &missing))
    }
}

/// Returns the labels of the CPUs that are in a log, or the MPIDRs if some are in none.
fn missing_text(runs: &[StateRun<'_, '_>], missing: &[&Mpidr]) -> String {
    for state_run in runs {
        let cpus = missing.iter().filter_map(|mpidr| state_run.cpu(**mpidr));
        let cpus: Vec<CpuIndex> = cpus.collect();
        if cpus.len() == missing.len() {
            return cpus_text(&state_run.logged.run, cpus);
        }
    }
    mpidrs_text(missing.iter().copied())
}

/// Lists the first few MPIDRs.
pub fn mpidrs_text<'m>(mpidrs: impl IntoIterator<Item = &'m Mpidr>) -> String {
    format!(
        "CPU {}",
        suite::findings::list_first_few(mpidrs.into_iter())
    )
}

/// Returns why no CPU entered the state.
fn never_entered(runs: &[StateRun<'_, '_>]) -> Entered {
    for state_run in runs {
        for (scenario, cell) in state_run.cells() {
            if let Some(skip) = cell.skipped {
                return skipped(state_run, &skip);
            }
            if !state_run.is_user(cell.cpu) {
                continue;
            }
            if let Some(loss) = cell.lost {
                return Entered::Never(
                    Some(state_run.label(cell.cpu)),
                    format!("it was lost: {loss}"),
                );
            }
            return match scenario.status {
                Status::Failed(Failure::StateRefused {
                    power_state,
                    error,
                    cpu,
                }) if power_state == state_run.power_state => Entered::Never(
                    Some(state_run.label(cpu)),
                    format!("CPU_SUSPEND returned {error}"),
                ),
                Status::Failed(failure) => {
                    let sentence =
                        failure.sentence(&state_run.logged.run.cpus, state_run.logged.run.clock());
                    let why = format!("no suspend counts; the scenario failed because {sentence}");
                    Entered::Never(Some(state_run.label(cell.cpu)), why)
                }
                Status::Passed | Status::Skipped(_) | Status::Crashed | Status::Unknown => {
                    Entered::Never(
                        Some(state_run.label(cell.cpu)),
                        "no suspend counts".to_owned(),
                    )
                }
            };
        }
    }
    Entered::NotTried("the logs do not contain it; select idle_states with only=".to_owned())
}

/// Returns why the state was not entered, for a cell that was skipped.
fn skipped(state_run: &StateRun<'_, '_>, skip: &Skip) -> Entered {
    match skip {
        Skip::NothingWoke {
            mpidr,
            power_state: tried,
        }
        | Skip::SgiDidNotWake {
            mpidr,
            power_state: tried,
        } if *tried == state_run.power_state => {
            let name = match state_run.cpu(*mpidr) {
                Some(cpu) => state_run.label(cpu),
                None => mpidr.to_string(),
            };
            Entered::Never(Some(name), skip.to_string())
        }
        Skip::OtherFormat(_) => Entered::Never(None, skip.to_string()),
        _ => Entered::NotTried(skip.to_string()),
    }
}

/// Returns which state the firmware's statistics counted.
fn reached(runs: &[StateRun<'_, '_>]) -> ReachedState {
    let mut is_counted = false;
    let mut is_asked = false;
    let mut has_stat = false;
    for state_run in runs {
        for (_, cell) in state_run.own_cells() {
            let Some(reached) = cell.reached else {
                continue;
            };
            if reached.state != Some(reached.due) {
                return ReachedState::Other(state_run.label(cell.cpu), reached.due, reached.state);
            }
            is_counted = true;
            is_asked |= reached.due == state_run.power_state;
        }
        if let Some(facts) = state_run.logged.run.facts {
            has_stat |= facts.stat;
        }
    }
    if is_asked {
        ReachedState::Asked
    } else if is_counted {
        ReachedState::Prevented
    } else if has_stat {
        ReachedState::Unknown("no PSCI_STAT values were read, or the levels are unknown")
    } else {
        ReachedState::Unknown("the firmware does not support PSCI_STAT")
    }
}
