//! The worst entry and exit latency of each idle state.
//!
//! A device tree's `idle-states` asks for worst cases. So each latency is the
//! maximum over all CPUs, all scenarios that suspend to the state, and all samples,
//! the cold first one included:
//!
//! * entry by Powerdown, which in parallel contains the queue for the firmware's
//!   locks, and for a last man the cluster's flush;
//! * exit by Wakeup and by Wake, its counterpart on the caller's side, which begins
//!   at the due wake-up. Wake does not count if the lead's SGI wakes the CPUs one
//!   after another: that is no latency of theirs.
//!
//! The scenario `idle_states`, which suspends to every state of the device tree,
//! counts like those of the suite, and has states that these do not have. The steps of
//! sweeps count for the states of the suite.

use std::cmp::Reverse;

use anyhow::{Context as _, Result, bail, ensure};
use itertools::Itertools as _;
use psci_bench::measure::{Metric, Waker};
use psci_bench::model::{How, Point, Scenario, Variant, WakeSource};
use psci_bench::plan::{ScenarioId, WakePattern};

use super::figure::{Figure, Origin, figures, has_figure};
use crate::report::log::LoggedRun;
use crate::report::log::grouped::grouped;

/// An idle state with its latencies.
#[derive(Clone, Debug)]
pub struct IdleState<'r> {
    pub power_state: u32,
    /// True for the state of a scenario that suspends to the deepest level.
    pub is_deepest: bool,
    pub timer: TimerInState,
    pub entry: Latency<'r>,
    pub exit: Latency<'r>,
}

/// An idle state's effect on the CPU's own timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerInState {
    Stops,
    WakesCpu,
    NotMeasured,
}

/// A worst case and its origin.
#[derive(Clone, Copy, Debug)]
pub struct Latency<'r> {
    pub ticks: u64,
    pub scenario: &'r Scenario,
    pub figure: Figure<'r>,
    /// True for the first sample of all, which no statistic has.
    pub is_cold: bool,
}

/// The scenarios that suspend to one state.
struct Suspends<'r> {
    power_state: u32,
    is_deepest: bool,
    /// The names that sweeps have for the state.
    variants: Vec<Variant>,
    scenarios: Vec<&'r Scenario>,
}

impl<'r> Suspends<'r> {
    /// Returns true for a point of the state.
    fn has(&self, scenario: &Scenario, point: &Point) -> bool {
        match is_sweep(scenario) {
            true => self.variants.contains(&point.variant),
            false => point.x == Some(self.power_state.into()),
        }
    }

    /// Returns the points of the state.
    fn points(&self, scenario: &'r Scenario) -> impl Iterator<Item = &'r Point> {
        let points = scenario.points.iter();
        points.filter(move |it| self.has(scenario, it))
    }
}

fn is_sweep(scenario: &Scenario) -> bool {
    matches!(
        scenario.id,
        ScenarioId::DirtySweep | ScenarioId::ContendSweep
    )
}

/// Returns the worst cases of each idle state, the shallowest state first.
pub fn worst_cases(run: &LoggedRun) -> Result<Vec<IdleState<'_>>> {
    let input = &run.source.input;
    ensure!(
        run.integrity.records.is_some(),
        "{input}: no records: what is in lines without a checksum is no worst case"
    );
    ensure!(
        run.is_complete(),
        "{input}: not all records came through, or the run did not reach its end: the worst \
         case may be in what is missing"
    );
    ensure!(
        run.run.clock().is_known(),
        "{input}: the counter's frequency is not known, and idle-states are in us"
    );
    idle_states(run)
}

pub(super) fn idle_states(run: &LoggedRun) -> Result<Vec<IdleState<'_>>> {
    let all = suspends(run);
    for scenario in run.run.scenarios.iter().filter(|it| is_sweep(it)) {
        let is_unknown = |it: &&Point| {
            let is_suspend = matches!(it.variant, Variant::Deepest | Variant::Core);
            is_suspend && !all.iter().any(|state| state.has(scenario, it))
        };
        if let Some(point) = scenario.points.iter().find(is_unknown) {
            let (input, id, variant) = (&run.source.input, scenario.id, point.variant.word());
            bail!(
                "{input}: {id} does not name the power_state of its steps {variant}, and no \
                 scenario of the suite does: measure both in one run"
            );
        }
    }
    all.iter().try_for_each(|it| check_all_cpus(run, it))?;
    ensure!(
        !all.is_empty(),
        "{}: no scenario has suspended a CPU: there is nothing for idle-states",
        run.source.input
    );
    all.iter().map(|it| idle_state(run, it)).collect()
}

fn idle_state<'r>(run: &LoggedRun, of: &Suspends<'r>) -> Result<IdleState<'r>> {
    let what = format!("power_state {:#010x}", of.power_state);
    let entry = worst(run, of, &["powerdown"]).with_context(|| {
        format!(
            "{what}: it was not measured how long entering it takes: that needs the firmware's \
             timestamps (ENABLE_RUNTIME_INSTRUMENTATION=1, ENABLE_PMF=1)"
        )
    })?;
    let exit = worst(run, of, &["wakeup", "wake"]);
    let exit =
        exit.with_context(|| format!("{what}: it was not measured how long leaving it takes"))?;
    Ok(IdleState {
        power_state: of.power_state,
        is_deepest: of.is_deepest,
        timer: timer_in_state(run, of),
        entry,
        exit,
    })
}

/// Refuses a state that was not measured on every CPU.
fn check_all_cpus(run: &LoggedRun, of: &Suspends<'_>) -> Result<()> {
    let cpus = 0..u16::try_from(run.run.cpus.len()).unwrap_or(u16::MAX);
    // A sweep has steps of fewer CPUs.
    let scenarios = of.scenarios.iter().filter(|it| !is_sweep(it));
    for (scenario, cpu) in scenarios.cartesian_product(cpus) {
        // A helper is measured while another CPU is the helper.
        let same = |it: &&&Scenario| (it.id, it.method) == (scenario.id, scenario.method);
        let is_measured = of.scenarios.iter().filter(same).any(|it| {
            it.row(cpu).is_some_and(|row| has_figure(it, row))
                || of.points(it).any(|point| point.cpu == cpu)
        });
        ensure!(
            is_measured,
            "{}: {} has no sample of CPU {}, which may be the worst case",
            run.source.input,
            scenario.id,
            run.run.label(cpu)
        );
    }
    Ok(())
}

/// Returns the states that scenarios suspend to.
fn suspends(run: &LoggedRun) -> Vec<Suspends<'_>> {
    use ScenarioId::{
        CpuSuspendParallel, CpuSuspendSerial, SuspendDeepParallel, SuspendDeepSerial,
    };
    let of_ids = |ids: [ScenarioId; 2]| {
        let scenarios = run.run.scenarios.iter();
        let scenarios = scenarios.filter(move |it| ids.contains(&it.id) && !it.rows.is_empty());
        scenarios.filter_map(|it| Some((it.conditions.as_ref()?.power_state?, it)))
    };
    let deepest = || of_ids([SuspendDeepParallel, SuspendDeepSerial]);
    let of_core = of_ids([CpuSuspendParallel, CpuSuspendSerial]);
    let scenarios = run.run.scenarios.iter();
    let all_states = scenarios.filter(|it| it.id == ScenarioId::IdleStates);
    let of_points = all_states.flat_map(|it| {
        let states = it.points.iter().filter_map(|it| it.x);
        let states = states.filter_map(|x| u32::try_from(x).ok()).unique();
        states.map(move |state| (state, it))
    });
    // Only the suite's scenarios say whether a state is of more than a core.
    let states: Vec<u32> = deepest().map(|it| it.0).collect();
    let cores: Vec<u32> = of_core.clone().map(|it| it.0).collect();
    let all = grouped(deepest().chain(of_core).chain(of_points)).into_iter();
    let all = all.map(|(power_state, scenarios)| {
        let is_of = [&states, &cores].map(|it| it.contains(&power_state));
        let variants = [Variant::Deepest, Variant::Core].into_iter().zip(is_of);
        let variants = variants.filter(|it| it.1).map(|it| it.0).collect();
        let mut state = Suspends {
            power_state,
            is_deepest: is_of == [true, false],
            variants,
            scenarios,
        };
        let sweeps = run.run.scenarios.iter().filter(|it| is_sweep(it));
        let own: Vec<&Scenario> = sweeps
            .filter(|it| state.points(it).next().is_some())
            .collect();
        state.scenarios.extend(own);
        state
    });
    all.sorted_by_key(|it| (it.is_deepest, it.power_state))
        .collect()
}

/// Returns the greatest sample of some figures; of equal ones the first.
fn worst<'r>(run: &LoggedRun, of: &Suspends<'r>, words: &[&str]) -> Option<Latency<'r>> {
    let scenarios = of.scenarios.iter();
    let all = scenarios.flat_map(|scenario| {
        figures(run, scenario)
            .into_iter()
            .map(move |it| (*scenario, it))
    });
    let all = all.filter(|(scenario, figure)| {
        let is_own = match figure.origin {
            Origin::Row(_) => {
                figure.key.metric() != Some(Metric::Wake) || wakes_itself(run, scenario)
            }
            Origin::Point(point) => of.has(scenario, point),
        };
        is_own && words.contains(&figure.key.word())
    });
    let all = all.flat_map(|(scenario, figure)| {
        let most = figure
            .summary
            .map(|it| it.max / u64::from(figure.key.per()));
        let cold = match (figure.origin, figure.key.metric()) {
            (Origin::Row(row), Some(metric)) => row.cold(metric),
            _ => None,
        };
        let each = [(most, false), (cold, true)].into_iter();
        each.filter_map(move |(ticks, is_cold)| {
            Some(Latency {
                ticks: ticks?,
                scenario,
                figure,
                is_cold,
            })
        })
    });
    // Of equal ones `min_by_key` returns the first, `max_by_key` the last.
    all.min_by_key(|it| Reverse(it.ticks))
}

fn wake_source(scenario: &Scenario) -> WakeSource {
    let conditions = scenario.conditions.as_ref();
    conditions.map_or_else(WakeSource::default, |it| it.wake_source)
}

/// Returns true if each CPU of a scenario has its own timer wake it, instead of the
/// lead's SGI.
fn wakes_itself(run: &LoggedRun, scenario: &Scenario) -> bool {
    let plan = run.run.plan.as_ref();
    let pattern = plan.map(|plan| plan.wake_by(scenario.method));
    let is_own = pattern.is_some_and(|it| it != WakePattern::Chain);
    // No SGI wakes one CPU alone, whatever the pattern.
    (is_own || !scenario.id.is_parallel()) && wake_source(scenario) == WakeSource::OwnTimers
}

/// Returns the state's effect on the timer, by the interrupts that woke CPUs.
fn timer_in_state(run: &LoggedRun, of: &Suspends<'_>) -> TimerInState {
    // Each point has its wake-up source.
    let is_of_points = |it: &&Scenario| !it.points.is_empty();
    let (of_points, suite): (Vec<&Scenario>, Vec<&Scenario>) =
        of.scenarios.iter().copied().partition(is_of_points);
    let points = || of_points.iter().flat_map(|it| of.points(it));
    let stops = suite
        .iter()
        .any(|it| wake_source(it) != WakeSource::OwnTimers)
        || points().any(|it| it.waker != Waker::OwnTimers);
    let wakes = suite.iter().any(|it| wakes_itself(run, it))
        || points().any(|it| it.how == How::Alone && it.figures.n > 0);
    match stops {
        true => TimerInState::Stops,
        false if wakes && run.run.facts.is_some() => TimerInState::WakesCpu,
        false => TimerInState::NotMeasured,
    }
}
