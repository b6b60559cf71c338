use crate::plan::{ActiveCpus, ScenarioId, Variant};
use std::string::String;
use std::vec::Vec;

use hardware::board::CpuIndex;
use hardware::spec::pmf::Stamp;
use hardware::spec::stat::Reached;

use super::overruns::OVERRUNS;
use super::reached::REACHED;
use super::resolution::RESOLUTION;
use super::secure_interrupt::SECURE_INTERRUPT;
use super::wake_source::WAKE_SOURCE;
use super::*;
use crate::measure::{Instant, Metric, Reason};
use crate::model::*;
use crate::testing::synthetic::{self, good};

const DOWN: Instant = Instant::Stamp(Stamp::EnterHwLowPwr);

fn of_kind(run: &Run, scenario: &Scenario, verbosity: Verbosity, kind: FindingKind) -> Vec<String> {
    let found = findings_of(&Subject {
        run,
        scenario,
        verbosity,
    })
    .into_iter();
    let found = found.filter(|finding| finding.kind == kind);
    found.map(|finding| finding.sentence).collect()
}

fn only(run: &Run, scenario: &Scenario, verbosity: Verbosity, kind: FindingKind) -> String {
    let mut found = of_kind(run, scenario, verbosity, kind);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// A table of figures, without records and therefore without timestamps.
fn table(cpus: u16, figures: impl Fn(u16) -> [u64; 3], id: ScenarioId) -> (Run, Scenario) {
    let cell = |cpu: u16| {
        let mut cell = Cell::new(cpu.into(), CellStep::default());
        let metrics = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
        for (metric, figure) in metrics.into_iter().zip(figures(cpu)) {
            cell.set_figure(metric, Some(figure).filter(|ticks| *ticks > 0));
        }
        cell
    };
    let scenario = Scenario {
        conditions: None,
        cells: (0..cpus).map(cell).collect(),
        ..good(&synthetic::run(1), id)
    };
    let run = Run {
        cpus: synthetic::run(cpus).cpus,
        scenarios: [scenario.clone()].into(),
        ..Run::default()
    };
    (run, scenario)
}

/// In synthetic runs, CPU 3 in each cluster of four is the last man.
#[test]
fn the_last_man_by_timestamps() {
    let run = synthetic::run(4);
    let scenario = good(&run, ScenarioId::SUSPEND_DEEP_PARALLEL);
    let short = "Last man down in cluster 0, by ENTER_HW_LOW_PWR: CPU 0.3, cache flush 79.62 us; \
                 the others' 4.42 us.";
    let last_man_text =
        |scenario: &Scenario, verbosity| of_kind(&run, scenario, verbosity, LAST_MAN);
    assert_eq!(last_man_text(&scenario, Verbosity::Short), [short]);
    let cost = " This flush took 75.20 us longer than the others' median.";
    assert_eq!(
        last_man_text(&scenario, Verbosity::Full),
        [[short, cost].concat()]
    );

    // At level 0, no CPU flushes on behalf of its cluster.
    let shallow = good(&run, ScenarioId::CPU_SUSPEND_PARALLEL);
    assert!(last_man_text(&shallow, Verbosity::Full).is_empty());

    let mut all = findings_of(&Subject {
        run: &run,
        scenario: &scenario,
        verbosity: Verbosity::Full,
    })
    .into_iter();
    let finding = all
        .find(|finding| finding.kind == LAST_MAN)
        .expect("a finding");
    assert!(finding.cpus.iter().eq(CpuIndex::all(4)));
    assert_eq!(finding.evidence, Evidence::Stamps);
}

#[test]
fn a_last_man_that_is_not_known() {
    let run = synthetic::run(8);
    let parallel = good(&run, ScenarioId::SUSPEND_DEEP_PARALLEL);
    let [mut no_stamps, mut no_row, mut none] = [0; 3].map(|_| parallel.clone());
    no_stamps.cells[5].shown = None;
    no_row.cells.remove(5);
    none.cells.iter_mut().for_each(|cell| cell.shown = None);
    for (scenario, others, why) in [
        (no_stamps, 1, "a CPU in cluster 1 has no timestamps"),
        (no_row, 1, "a CPU in cluster 1 has no row"),
        (none, 0, "there are no timestamps"),
    ] {
        let found = |verbosity, kind| of_kind(&run, &scenario, verbosity, kind);
        let known =
            [Verbosity::Short, Verbosity::Full].map(|verbosity| found(verbosity, LAST_MAN).len());
        assert_eq!(known, [others; 2], "{why}");
        assert!(found(Verbosity::Short, FindingKind::NOT_TOLD).is_empty());
        let sentence = std::format!(
            "Last man down: unknown, because {why}; flush times alone do not identify it."
        );
        assert_eq!(found(Verbosity::Full, FindingKind::NOT_TOLD), [sentence]);
    }
}

#[test]
fn states_that_were_reached() {
    let run = synthetic::run_with(4, |facts| facts.stat = true);
    let mut scenario = good(&run, ScenarioId::SUSPEND_DEEP_SERIAL);
    let reached = |scenario: &Scenario| of_kind(&run, scenario, Verbosity::Short, REACHED);
    let unknown = "Reached: unknown, because no valid round read PSCI_STAT, or the states' levels \
                   are unknown.";
    assert_eq!(reached(&scenario), [unknown]);
    scenario.cells[3] = synthetic::with_a_lost_cpu(scenario.clone()).cells[3].clone();
    let lost = "Reached: unknown, because a lost CPU may be on.";
    assert_eq!(reached(&scenario), [lost]);

    let due = 0x0102_0022;
    let reach = |state, times, residency_us| {
        Some(Reached {
            state,
            due,
            times,
            residency_us,
            most_us: Some(1000),
        })
    };
    scenario.cells[0].reached = reach(Some(due), 1, 900);
    scenario.cells[1].reached = reach(Some(2), 1, 900);
    assert_eq!(
        reached(&scenario),
        [
            "Reached, by PSCI_STAT_COUNT: 0x00000002 (CPU 0.1), 0x01020022 (CPU 0.0).",
            "Warning: CPU 0.1 should have reached 0x01020022, but reached 0x00000002."
        ]
    );
    scenario.cells[0].reached = reach(None, 0, 900);
    scenario.cells[1].reached = reach(Some(due), 2, 900);
    scenario.cells[2].reached = reach(Some(due), 1, 5000);
    assert_eq!(
        reached(&scenario)[1..],
        [
            "Warning: CPU 0.0 should have reached 0x01020022, but reached no state \
             with a PSCI_STAT_COUNT.",
            "Warning: PSCI_STAT_COUNT rose by 2 during one suspend of CPU 0.1.",
            "Warning: PSCI_STAT_RESIDENCY rose by 5000 us during a suspend of CPU 0.2 that took \
             at most 1000 us."
        ]
    );
    scenario.cells.truncate(1);
    let none = "Reached, by PSCI_STAT_COUNT: no CPU reached any of the states.";
    assert_eq!(reached(&scenario)[0], none);
}

/// Returns a scenario in which the CPUs have these Powerdown times.
fn queue(powerdown: &[u64]) -> Scenario {
    let run = synthetic::run(u16::try_from(powerdown.len()).expect("a small board"));
    let mut scenario = good(&run, ScenarioId::CPU_SUSPEND_PARALLEL);
    for (row, ticks) in scenario.cells.iter_mut().zip(powerdown) {
        row.set_figure(Metric::Powerdown, Some(*ticks));
        if let Some(shown) = &mut row.shown {
            // The highest index goes down first.
            shown.set(DOWN, 1_000_000 - i64::from(u16::from(row.cpu)));
        }
    }
    scenario
}

#[test]
fn lock_queues() {
    let run = synthetic::run(4);
    let short_text = |scenario: &Scenario| only(&run, scenario, Verbosity::Short, LOCK_QUEUE);
    let even = queue(&[4000, 3000, 2010, 1000]);
    let sentence = "Lock queue: powerdown grows by 15.98 us with each position in \
                    ENTER_HW_LOW_PWR order (4 CPUs, R2 99 %).";
    assert_eq!(short_text(&even), sentence);
    let more = " The CPUs go down one after another; all figures are within 112 ns of the line. In \
                this order: CPU 0.3, 0.2, 0.1, 0.0.";
    let full = only(&run, &even, Verbosity::Full, LOCK_QUEUE);
    assert_eq!(full, [sentence, more].concat());
    // CPU 2 is second, so its flush is part of the Powerdown of all CPUs after it.
    let mut flushed = queue(&[24_000, 23_000, 22_000, 1000]);
    flushed.cells[2].set_figure(Metric::CacheFlush, Some(20_276));
    let found = [
        queue(&[4000, 3000, 500, 1000]),
        queue(&[1000, 3000, 1000, 3000]),
        flushed,
    ];
    let expected = "\
Lock queue: powerdown grows with the position in ENTER_HW_LOW_PWR order, though not evenly: \
by 18.40 us on average (4 CPUs, R2 80 %).
No visible lock queue: powerdown does not grow with the position in ENTER_HW_LOW_PWR order (4 CPUs, R2 20 %).
Lock queue: powerdown grows by 16.00 us with each position in ENTER_HW_LOW_PWR order (4 CPUs, \
R2 100 %), without the longer cache flush of CPU 0.2, for which later CPUs wait.";
    assert_eq!(
        found.map(|finding| short_text(&finding)).join("\n"),
        expected
    );
    assert!(of_kind(&run, &queue(&[1, 2]), Verbosity::Full, LOCK_QUEUE).is_empty());
}

#[test]
fn wake_ups_that_waited() {
    let run = synthetic::run(4);
    let mut scenario = good(&run, ScenarioId::CPU_SUSPEND_PARALLEL);
    let waited_text = |scenario: &Scenario, verbosity| of_kind(&run, scenario, verbosity, WAITED);
    // A wake-up that takes three times the minimum does not count as delayed.
    scenario.cells[1].set_figure(Metric::Wakeup, Some(3 * 1_625));
    assert!(waited_text(&scenario, Verbosity::Full).is_empty());
    scenario.cells[2].set_figure(Metric::Wakeup, Some(9_000));
    let sentence =
        "Wake-ups that waited: CPU 0.2 (144.00 us); the others took 26.00 us to 78.00 us.";
    for verbosity in [Verbosity::Short, Verbosity::Full] {
        assert_eq!(waited_text(&scenario, verbosity), [sentence]);
    }
}

#[test]
fn figures_of_few_ticks() {
    let run = synthetic::run(4);
    let scenario = good(&run, ScenarioId::PSCI_VERSION_PARALLEL);
    let short = "Resolution: Latency is 3 to 5 ticks of 16.00 ns; one tick is 33 % of the \
                 minimum.";
    let found = |verbosity| only(&run, &scenario, verbosity, RESOLUTION);
    assert_eq!(found(Verbosity::Short), short);
    let why = " Measure many calls in a loop to get the cost of one.";
    assert_eq!(found(Verbosity::Full), [short, why].concat());
    assert_eq!(tick_ns(&run), Some(16));

    // In a run without records, figures are multiples of the tick.
    let figures = |cpu| {
        let cpu = u64::from(cpu);
        [50 + cpu, 90 + cpu, 4 + cpu % 2].map(|ticks| 20 * ticks)
    };
    let (run, scenario) = table(4, figures, ScenarioId::CPU_SUSPEND_SERIAL);
    assert_eq!(tick_ns(&run), Some(20));
    assert_eq!(
        only(&run, &scenario, Verbosity::Full, RESOLUTION),
        "Resolution: Cache Flush is 4 to 5 ticks of 20 ns, inferred from the figures; one tick is \
         25 % of the minimum. This counter is too coarse for times this short."
    );
    let (few, _) = table(1, figures, ScenarioId::CPU_SUSPEND_SERIAL);
    assert_eq!(tick_ns(&few), None);
}

#[test]
fn more_than_one_lost_cpu() {
    let run = synthetic::run(8);
    let scenario = good(&run, ScenarioId::SUSPEND_DEEP_PARALLEL);
    let mut scenario = synthetic::with_a_lost_cpu(scenario);
    scenario.cells[5].lost = scenario.cells[3].lost;
    assert_eq!(
        only(&run, &scenario, Verbosity::Short, LOST),
        "CPU 0.3 (MPIDR 0x3) was lost: CPU_ON returned SUCCESS, but the CPU did not arrive in time; also lost: CPU 1.1. \
         A lost CPU may be on and keep its cluster on, so the others do not flush the cluster."
    );
}

#[test]
fn wake_sources() {
    use WakeSource::{Frame, Helper};
    let run = synthetic::run(4);
    let found = [
        (ScenarioId::CPU_SUSPEND_PARALLEL, Frame, None, None),
        (ScenarioId::CPU_SUSPEND_PARALLEL, Helper, Some(2), None),
        (ScenarioId::CPU_SUSPEND_SERIAL, Helper, None, Some(1)),
        (ScenarioId::CPU_OFF_SERIAL, Frame, None, None),
        (ScenarioId::CPU_OFF_SERIAL, Helper, None, Some(1)),
        (ScenarioId::CPU_OFF_SERIAL, Helper, None, None),
        (ScenarioId::named("contend_sweep"), Helper, None, None),
    ]
    .map(|(id, source, helper, lead_helper)| {
        let mut scenario = good(&run, id);
        scenario.helper = helper.map(CpuIndex::new);
        scenario.cells[0].helper = lead_helper.map(CpuIndex::new);
        scenario.conditions.as_mut().expect("there").wake_source = source;
        of_kind(&run, &scenario, Verbosity::Short, WAKE_SOURCE).concat()
    });
    let suite = "The CPUs' own timers stop in this state:";
    let expected = std::format!(
        "\
{suite} the timer frame wakes the lead, which wakes the others by SGI.
{suite} CPU 0.2 stays awake and wakes the others by SGI; its cluster stays on.
{suite} the lead wakes every other CPU by SGI; CPU 0.1 stays awake and wakes the lead.
{suite} the timer frame wakes the lead; CPU_ON turns on the others.
{suite} CPU 0.1 stays awake and wakes the lead by SGI; CPU_ON turns on the others.

In states that stop the CPUs' own timers: the lead wakes every other CPU by SGI."
    );
    assert_eq!(found.join("\n"), expected);
}

#[test]
fn expiries_that_were_missed() {
    let run = synthetic::run(4);
    let cell = |cpu, cpu_count, valid_count, overrun_count| {
        let step = CellStep {
            cpus: cpu_count,
            ..CellStep::with_variant(Variant::new("mixed"))
        };
        let mut cell = Cell::new(CpuIndex::new(cpu), step);
        cell.counts = Some(Counts {
            valid: valid_count,
            rejected: [(Reason::Overrun, overrun_count)].into(),
            first: None,
        });
        cell
    };
    let mut scenario = good(&run, ScenarioId::named("timer_latency"));
    scenario.cells = [
        cell(0, ActiveCpus::Alone, 90, 10),
        cell(1, ActiveCpus::Alone, 80, 20),
        cell(2, ActiveCpus::All, 70, 30),
    ]
    .into();
    let sentence = "Overruns: CPU 0.2 missed 30 of 100 expiries (all CPUs at once, mixed); min, \
                    median and max exclude them.";
    let found = only(&run, &scenario, Verbosity::Short, OVERRUNS);
    assert_eq!(found, sentence);
}

#[test]
fn a_secure_interrupt_is_named_with_its_cpu() {
    let run = synthetic::run(4);
    let mut scenario = good(&run, ScenarioId::SUSPEND_DEEP_SERIAL);
    assert!(of_kind(&run, &scenario, Verbosity::Short, SECURE_INTERRUPT).is_empty());
    let conditions = scenario.conditions.as_mut().expect("measured");
    conditions.secure_interrupt = Some(CpuIndex::new(1));
    let sentence = "A secure interrupt is pending at CPU 0.1 (ISR_EL1.F) and hides all others, and \
                    the firmware does not take it. Each WFI and each suspend on this CPU returns \
                    immediately.";
    let found = only(&run, &scenario, Verbosity::Short, SECURE_INTERRUPT);
    assert_eq!(found, sentence);
}
