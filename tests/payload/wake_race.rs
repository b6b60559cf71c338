//! Interrupts that arrive while a CPU suspends, under real firmware with the instruction clock.

use std::collections::BTreeMap;

use hardware::board::Mpidr;
use report::export::{self, Report};
use report::log::read_bytes;
use suite::measure::Metric;
use suite::model::Verdict;
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use crate::common::{self, Log, spec};

/// The first and the last offset of each outcome on each CPU, in ticks.
type Intervals = BTreeMap<(Mpidr, Variant), (u64, u64)>;

fn intervals(log: &Log) -> Intervals {
    let mut intervals = BTreeMap::new();
    for (mpidr, cell) in log.cells(ScenarioId::named("wake_race")) {
        if let (Some(first), Some(last)) = (cell.step.value, cell.figure(Metric::LastOffset)) {
            intervals.insert((mpidr, cell.step.variant), (first, last));
        }
    }
    intervals
}

/// On correct firmware, the three intervals follow each other without a gap, and no CPU is lost.
#[test]
fn each_border_is_found_on_every_machine() {
    for (options, cpus) in [
        ("--smp 16 --gic 3 --variant coherency=sw", 16),
        ("--smp 8 --gic 2 --el 1", 8),
        ("--smp 5", 5),
    ] {
        let spec = spec(&format!("--icount {options}"), "only=wake_race");
        let all = intervals(&common::expect_pass(&spec));
        assert_eq!(all.len(), 6 * cpus, "{options}: {all:?}");
        for cpu in (0..cpus as u64).map(Mpidr::new) {
            for variants in [
                [
                    Variant::new("core_returned"),
                    Variant::new("core_woken"),
                    Variant::new("core_slept"),
                ],
                [
                    Variant::new("deepest_returned"),
                    Variant::new("deepest_woken"),
                    Variant::new("deepest_slept"),
                ],
            ] {
                let mut next = 0;
                for (first, last) in variants.map(|variant| all[&(cpu, variant)]) {
                    assert_eq!(first, next, "{options} {cpu}");
                    next = last + 1;
                }
            }
        }
    }
}

/// QEMU runs the CPUs in turn, and the setting of a timer may end a CPU's turn. The CPU's call then
/// comes later than planned, but each outcome lies at the offset at which the interrupt fell due.
#[test]
fn outcomes_lie_at_true_offsets_if_all_cpus_suspend_at_once() {
    let options = "--smp 16 --gic 3 --icount --variant coherency=sw";
    let log = common::expect_pass(&spec(options, "only=wake_race neighbors=all offsets=8"));
    let all = intervals(&log);
    for cpu in (0..16).map(Mpidr::new) {
        // A short interval may lie between two offsets.
        let mut own = Vec::new();
        for variant in [
            Variant::new("core_returned"),
            Variant::new("core_woken"),
            Variant::new("core_slept"),
        ] {
            own.extend(all.get(&(cpu, variant)).copied());
        }
        assert!(own.len() >= 2, "{cpu}: {own:?}");
        let (earliest, _) = own[0];
        assert_eq!(earliest, 0, "{cpu}: {own:?}");
        let is_before =
            |(_, last_tick): &(u64, u64), (first_tick, _): &(u64, u64)| last_tick < first_tick;
        assert!(own.is_sorted_by(is_before), "{cpu}: {own:?}");
    }
}

/// The CPU is down when PMF says so in a suspend that nothing disturbs, and two runs are identical.
#[test]
fn the_last_border_is_the_end_of_the_powerdown() {
    let args = "only=cpu_susp_serial,wake_race iterations=3";
    let runs = [(); 2].map(|()| common::expect_pass(&spec("--smp 3 --icount", args)));
    let [first, second] = runs.each_ref().map(intervals);
    assert_eq!(first, second);
    let powerdown = runs[0].metric(ScenarioId::CPU_SUSPEND_SERIAL, Metric::Powerdown);
    for cpu in (0..3).map(Mpidr::new) {
        let down = first[&(cpu, Variant::new("core_slept"))].0;
        // ENTER_PSCI follows the call by less than 100 instructions.
        let before = down - powerdown[&cpu].median;
        assert!(before < 100, "{cpu}: {down} {before}");
    }
}

/// A CPU that suspends at the same time takes the same locks. Two stalls of a CPU that holds them,
/// of 100 us and 200 us, differ by 6,250 ticks for the CPU beside it, and for no other CPU. QEMU
/// runs the CPUs in turn, so the CPU that waits may notice the release as late as its next turn.
#[test]
fn a_stall_with_locks_held_delays_the_cpu_beside_it() {
    let victim = Mpidr::new(1);
    let neighbor = Mpidr::new(3);
    let seeded_log = |us: u32| {
        let options = format!("--smp 4 --icount --fault stall-locked,cpu={victim},arg={us}");
        let log = common::expect_pass(&spec(&options, "only=wake_race neighbors=alone,near"));
        let cells = log.cells(ScenarioId::named("wake_race"));
        let returned =
            cells.filter(|(_, cell)| cell.step.variant == Variant::new("deepest_returned"));
        let longest = returned.filter_map(|(mpidr, cell)| {
            Some(((mpidr, cell.step.cpus), cell.summary(Metric::Wake)?.max))
        });
        longest.collect::<BTreeMap<_, _>>()
    };
    let long = seeded_log(200);
    let short = seeded_log(100);
    assert_eq!(long.len(), 2 * 4);
    for (key, ticks) in &long {
        let (expected, a_turn): (u64, u64) = if *key == (neighbor, ActiveCpus::Near) {
            (6_250, 1_000)
        } else {
            (0, 2)
        };
        let more = ticks - short[key];
        assert!(expected.abs_diff(more) <= a_turn, "{key:?}: {more}");
    }
}

/// A firmware that loses an interrupt on the way down: the map names the window, and all other
/// offsets and CPUs are measured.
#[test]
fn a_window_that_loses_wake_ups_is_named() {
    let victim = Mpidr::new(2);
    let other = Mpidr::new(1);
    let options = format!("--smp 4 --icount --fault wake-lost,cpu={victim}");
    let ran = common::expect_verdict(&spec(&options, "only=wake_race"), Verdict::Pass);
    let all = intervals(&ran.log());
    let (first, last) = all[&(victim, Variant::new("core_lost"))];
    let (_, last_returned) = all[&(victim, Variant::new("core_returned"))];
    assert_eq!(last_returned + 1, first);
    let (first_slept, _) = all[&(victim, Variant::new("core_slept"))];
    assert_eq!(last + 1, first_slept);
    assert!(!all.contains_key(&(victim, Variant::new("core_woken"))));
    assert!(!all.contains_key(&(other, Variant::new("core_lost"))));
    // The window ends when the CPU waits, shortly after PMF's last timestamp.
    let (others_first_woken, others_last_woken) = all[&(other, Variant::new("core_woken"))];
    let (others_first_slept, _) = all[&(other, Variant::new("core_slept"))];
    assert!(first.abs_diff(others_first_woken) < 100);
    assert!(last > others_last_woken && last < others_first_slept + 500);
    // The other CPUs have equal maps.
    let page = page(&ran.result.log);
    for words in [
        "core state, CPU 0.0, 0.1, 0.3<",
        "core state, CPU 0.2<",
        "woken only by an SGI",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

fn page(log: &[u8]) -> String {
    let report: Report = read_bytes("a.log", log).expect("a run").into();
    let mut page = Vec::new();
    let format = export::by_name("html").expect("a format");
    format.write(&report, &mut page).expect("a page");
    String::from_utf8(page).expect("UTF-8")
}

#[test]
fn an_abandoned_powerdown_is_an_outcome() {
    let victim = Mpidr::new(1);
    let fault = format!("suspend-abandoned-2.13,cpu={victim},skip=40,count=10");
    let options = format!("--smp 3 --icount --fault {fault}");
    let all = intervals(&common::expect_pass(&spec(&options, "only=wake_race")));
    assert!(
        all.contains_key(&(victim, Variant::new("core_abandoned"))),
        "{all:?}"
    );
    assert!(
        all.contains_key(&(victim, Variant::new("core_slept"))),
        "{all:?}"
    );
}
