//! `wake_race` on the fake machine, whose CPU_SUSPEND returns if the interrupt is due within 60
//! ticks after the call.

use hardware::spec::counter_value::ticks_between;
use hardware::spec::pmf::{Stamp, Stamps};

use super::*;

/// Returns the first and last offset with this outcome on a CPU, and the number of suspends.
fn interval(ran: &Ran, cpu: u16, variant: Variant) -> Option<(u64, u64, u32)> {
    let key = (CpuIndex::from(cpu), variant);
    let cell = ran
        .cells()
        .find(|cell| (cell.cpu, cell.step.variant) == key)?;
    Some((
        cell.step.value?,
        cell.figure(Metric::LastOffset)?,
        cell.valid(),
    ))
}

#[test]
fn borders_are_found_to_within_a_tick() {
    let ran = run(Fake::new(5), "only=wake_race offsets=8");
    assert_eq!(ran.counts(), [1, 0, 0]);
    // CPU 4 is alone in its cluster, so it flushes the cluster's caches.
    for (cpu, returned, woken, slept, flush) in [
        (
            1,
            Variant::new("core_returned"),
            Variant::new("core_woken"),
            Variant::new("core_slept"),
            CORE_FLUSH,
        ),
        (
            4,
            Variant::new("deepest_returned"),
            Variant::new("deepest_woken"),
            Variant::new("deepest_slept"),
            CLUSTER_FLUSH,
        ),
    ] {
        let down = 110 + flush;
        let [returned, woken, slept] = [returned, woken, slept].map(|variant| {
            interval(&ran, cpu, variant).unwrap_or_else(|| panic!("{cpu} {variant:?}"))
        });
        assert_eq!((returned.0, returned.1), (0, 59));
        assert_eq!((woken.0, woken.1), (60, down - 1));
        assert_eq!(slept.0, down);
        assert!(slept.1 > down && slept.2 > 1);
    }
    // On correct firmware, no wake-up is abandoned or lost.
    for variant in [Variant::new("core_abandoned"), Variant::new("deepest_lost")] {
        assert_eq!(interval(&ran, 1, variant), None);
    }
}

/// An SGI wakes a CPU whose interrupt is lost, so the other offsets are measured as well.
#[test]
fn lost_wake_ups_are_an_interval() {
    let fake = Fake::new(3).with(|_, cpu, outcome| {
        if cpu.index() == 2 && (100..200).contains(&offset(outcome)) {
            outcome.end = ActionEnd::WokenByFallback;
            set_due(outcome, outcome.stamp(Stamp::ExitHwLowPwr));
        }
    });
    let ran = run(fake, "only=wake_race offsets=64 repeats=2");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let lost = interval(&ran, 2, Variant::new("core_lost")).expect("lost wake-ups");
    assert_eq!((lost.0, lost.1), (100, 199));
    assert!(lost.2 >= 4 && lost.2.is_multiple_of(2));
    assert_eq!(interval(&ran, 1, Variant::new("core_lost")), None);
    assert!(interval(&ran, 2, Variant::new("core_slept")).is_some());
    // Each round has a CPU that wakes the one that is measured.
    let has_helper =
        |round: &Round| round.wake_up.race.is_none() || round.wake_up.waker.helper().is_some();
    assert!(ran.fake.requested_rounds.iter().all(has_helper));
}

/// Returns the ticks from the call to the instant at which the interrupt falls due.
fn offset(outcome: &Outcome) -> u64 {
    ticks_between(outcome.before, outcome.due())
}

/// An emulator may run other CPUs between the setting of the timer and the call. The interrupt is
/// then already pending when the CPU makes its call.
#[test]
fn a_call_that_is_delayed_is_not_an_outcome_at_the_scheduled_offset() {
    let fake = Fake::new(3).with(|_, cpu, outcome| {
        if cpu.index() == 2 && (200..300).contains(&offset(outcome)) {
            (outcome.end, outcome.code) = (ActionEnd::Returned, Some(0));
            outcome.before = outcome.due().map(|due_ticks| due_ticks + 1_000);
            outcome.returned_at = outcome.due().map(|due_ticks| due_ticks + 1_090);
            outcome.stamps = Ok(Stamps::default());
        }
    });
    let ran = run(fake, "only=wake_race");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let [returned, woken] = [Variant::new("core_returned"), Variant::new("core_woken")]
        .map(|variant| interval(&ran, 2, variant).expect("an interval"));
    assert_eq!((returned.0, returned.1, woken.0), (0, 59, 60));
    let cell = ran
        .cell(2.into(), Variant::new("core_returned"), Some(0))
        .expect("a cell");
    // The fake CPU makes its call 20 ticks after its timer is set, and the call takes 90 ticks.
    let longest = cell.summary(Metric::Wake).map(|summary| summary.max);
    assert_eq!(longest, Some(90));
}

/// If the SGI comes while the CPU is on its way down, it is unknown what its own interrupt did.
#[test]
fn suspends_that_the_sgi_disturbs_are_counted_and_the_others_make_a_map() {
    let fake = Fake::new(3).with(|_, cpu, outcome| {
        if cpu.index() == 2 && (100..200).contains(&offset(outcome)) {
            outcome.end = ActionEnd::WokenByFallback;
            set_due(
                outcome,
                outcome.before.map(|ticks_before| ticks_before + 50),
            );
        }
    });
    let ran = run(fake, "only=wake_race offsets=64");
    assert_eq!(ran.counts(), [1, 0, 0]);
    assert!(ran.rejected(Reason::Overlap) > 0);
    assert_eq!(interval(&ran, 2, Variant::new("core_lost")), None);
    let [undisturbed, disturbed] = [1, 2].map(|cpu| {
        let (first, ..) = interval(&ran, cpu, Variant::new("core_slept"))?;
        Some(first)
    });
    assert_eq!(disturbed, undisturbed);
}

/// Without PMF, it is unknown when the CPU was down.
#[test]
fn without_pmf_there_are_two_outcomes() {
    let ran = run(Fake::without_pmf(2), "only=wake_race");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let variants = [Variant::new("core_returned"), Variant::new("core_slept")];
    let [returned, slept] =
        variants.map(|variant| interval(&ran, 1, variant).expect("an interval"));
    assert_eq!((returned.1, slept.0), (59, 60));
    assert_eq!(interval(&ran, 1, Variant::new("core_woken")), None);
}

#[test]
fn refused_suspend_is_no_outcome() {
    let fake = Fake::new(2).with(|_, _, outcome| {
        (outcome.end, outcome.code) = (ActionEnd::Returned, Some(-3));
    });
    let ran = run(fake, "only=wake_race");
    assert!(matches!(
        ran.failure(),
        Some(Failure::TooFewSamples { valid: 0, .. })
    ));
    assert!(ran.rejected(Reason::Refused) > 0);
}

/// The other CPU suspends in the same round, and is neither the helper nor lost.
#[test]
fn another_cpu_suspends_beside_the_one_that_is_measured() {
    let ran = run(Fake::new(5), "only=wake_race neighbors=near,far,all");
    assert_eq!(ran.counts(), [1, 0, 0]);
    let races = ran.fake.requested_rounds.iter().filter_map(|round| {
        let participants = match round.participants {
            Participants::Pair(one, other) => (one, Some(other)),
            _ => (round.wake_up.race?.cpu, None),
        };
        assert_eq!(participants.0, round.wake_up.race?.cpu);
        assert_ne!(participants.1, round.wake_up.waker.helper());
        Some((participants.0.index(), participants.1.map(CpuIndex::index)))
    });
    let mut pairs: Vec<_> = races.collect();
    pairs.sort_unstable();
    pairs.dedup();
    // CPU 0 is the lead and the helper, except in its own map, where CPU 4 is the helper. CPU 4 is
    // alone in its cluster.
    let near = [(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, Some(1))];
    let far = [(1, Some(4)), (2, Some(4)), (3, Some(4)), (4, Some(1))];
    let mut expected: Vec<_> = (0..5)
        .map(|cpu| (cpu, None))
        .chain(near)
        .chain(far)
        .collect();
    expected.sort_unstable();
    assert_eq!(pairs, expected);
    let maps = ran.cells().map(|cell| (cell.cpu.index(), cell.step.cpus));
    for (cpu, active_cpus, is_there) in [
        (0, ActiveCpus::Near, true),
        (0, ActiveCpus::Far, false),
        (4, ActiveCpus::Near, false),
        (4, ActiveCpus::Far, true),
        (4, ActiveCpus::All, true),
        (4, ActiveCpus::Alone, false),
    ] {
        assert_eq!(
            maps.clone().any(|map| map == (cpu, active_cpus)),
            is_there,
            "{cpu} {active_cpus:?}"
        );
    }
}

#[test]
fn a_map_without_a_second_cluster_is_skipped() {
    let ran = run(Fake::new(4), "only=wake_race neighbors=far");
    assert_eq!(ran.statuses(), [Status::Skipped(Skip::NoNeighbor)]);
}
