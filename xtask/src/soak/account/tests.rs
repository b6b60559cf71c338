//! Accounts of logs that were written for it.

use super::*;
use crate::soak::records::tests::log;

const HEAD: [&str; 4] = [
    "facts lead=1",
    "plan iterations=5 warmup=2",
    "cpu i=0 mpidr=0x0 cluster=0 core=0",
    "cpu i=1 mpidr=0x1 cluster=0 core=1",
];

fn account(bodies: &[&str]) -> Account {
    let all: Vec<&str> = HEAD.iter().chain(bodies).copied().collect();
    Account::of(&log(&all))
}

#[test]
fn parallel_by_rows() {
    let good = [
        "test t=1 by=tftf asked=5 attempts=8",
        "row t=1 by=tftf mpidr=0x0 valid=5 rejected=1",
        "x t=1 by=tftf mpidr=0x0 early_wake=1",
        "row t=1 by=tftf mpidr=0x1 valid=5 rejected=1",
        "x t=1 by=tftf mpidr=0x1 abandoned=1",
    ];
    let sound = account(&good);
    assert_eq!((sound.suspends.attempts(), sound.unexplained()), (12, 0));
    assert_eq!(sound.suspends.rejected["early-wake"], 1);
    assert_eq!(sound.others, Calls::default());
    assert_eq!(sound.records, Found::All);

    // A reason less, and a round more.
    let mut bad = good;
    bad[2] = "first t=1 by=tftf mpidr=0x0 reason=early-wake";
    assert_eq!(account(&bad).unexplained(), 1);
    bad = good;
    bad[0] = "test t=1 by=tftf asked=5 attempts=9";
    assert_eq!(account(&bad).suspends.unexplained, 2);
    // A CPU whose row is skipped has a part in none.
    bad[3] = "row t=1 by=tftf mpidr=0x1 skipped=no-gic valid=0 rejected=0";
    bad[4] = "x t=1 by=tftf mpidr=0x1 ";
    assert_eq!(account(&bad).suspends.unexplained, 1);
    bad[3] = good[3];
    // Who is lost has no part in rounds any more.
    bad[4] = "lost t=1 by=tftf mpidr=0x1 step=finish cause=timeout";
    let lost = account(&bad);
    assert_eq!((lost.lost, lost.suspends.unexplained), (1, 2));
}

#[test]
fn in_sequence_by_all_rows_together() {
    let rows = [
        "row t=2 by=warm mpidr=0x0 valid=5 rejected=1",
        "x t=2 by=warm mpidr=0x0 stale=1",
    ];
    for (attempts, other, unexplained) in [
        (15, "row t=2 by=warm mpidr=0x1 valid=5 rejected=0", 0),
        (16, "row t=2 by=warm mpidr=0x1 valid=5 rejected=0", 1),
        // No trial of it was good.
        (8, "row t=2 by=warm mpidr=0x1 valid=0 rejected=0", 0),
        (9, "row t=2 by=warm mpidr=0x1 valid=0 rejected=0", 1),
    ] {
        let test = format!("test t=2 by=warm asked=5 attempts={attempts}");
        let mut bodies = vec![test.as_str(), other];
        bodies.extend(rows);
        let account = account(&bodies);
        assert_eq!(account.suspends.unexplained, unexplained, "{attempts}");
    }
    // Lost in its first or second warm-up.
    for (attempts, unexplained) in [(9, 0), (10, 0), (11, 1)] {
        let test = format!("test t=2 by=warm asked=5 attempts={attempts}");
        let mut bodies = vec![
            test.as_str(),
            "row t=2 by=warm mpidr=0x1 valid=0 rejected=0",
            "lost t=2 by=warm mpidr=0x1 step=finish cause=timeout",
        ];
        bodies.extend(rows);
        let account = account(&bodies);
        assert_eq!(account.unexplained(), unexplained, "{attempts}");
    }
}

#[test]
fn off_until_a_cpu_has_its_samples() {
    let off = |attempts: u32, lead: &str, other: &str| {
        let test = format!("test t=5 by=tftf asked=5 attempts={attempts}");
        let lead = format!("row t=5 by=tftf mpidr=0x1 {lead}");
        let other = format!("row t=5 by=tftf mpidr=0x0 {other}");
        account(&[&test, &lead, &other])
    };
    // The lead suspends, the other one is turned off.
    let sound = off(8, "valid=5 rejected=0", "valid=5 rejected=0");
    assert_eq!((sound.suspends.samples, sound.others.samples), (5, 5));
    assert_eq!(sound.unexplained(), 0);
    let short = off(8, "valid=5 rejected=0", "valid=4 rejected=0");
    assert_eq!(
        (short.others.unexplained, short.suspends.unexplained),
        (2, 0)
    );
    // There is no state for the lead.
    let without = off(7, "valid=0 rejected=0", "valid=5 rejected=0");
    assert_eq!((without.suspends.attempts(), without.unexplained()), (0, 0));
}

#[test]
fn outside_the_suite_sweeps_alone_suspend() {
    // Loops and looks at timers have attempts that are no suspends.
    let points = account(&[
        "test t=7 by=warm tag=null_call asked=1024 attempts=4096",
        "point t=7 mpidr=0x0 how=alone var=psci_version metric=ticks per=512 n=2",
        "test t=13 by=warm tag=timer_latency asked=1000 attempts=4000",
        "point t=13 mpidr=0x0 how=all var=idle metric=handler per=1 n=99 lost=3",
    ]);
    assert_eq!(
        (&points.suspends, &points.others),
        (&Calls::default(), &Calls::default())
    );
    assert_eq!(points.unexplained(), 0);

    let line = "psci-bench: PASS (1 passed, 0 skipped, 0 failed; 10 samples, 1 not counted, \
                0 CPUs lost)\r\n";
    let mut sweep = log(&[
        "test t=14 by=tftf tag=dirty_sweep asked=5 attempts=24",
        "point t=14 mpidr=0x0 how=alone var=deepest x=0 metric=call per=1 n=5 lost=1",
        "point t=14 mpidr=0x0 how=alone var=deepest x=0 metric=wake per=1 n=5 lost=1",
        "point t=14 mpidr=0x0 how=alone var=deepest x=0 metric=count per=1 n=1",
        "point t=14 mpidr=0x0 how=alone var=deepest x=4096 metric=call per=1 n=5",
        "point t=14 mpidr=0x1 how=alone var=off x=0 metric=turn_on per=1 n=4 lost=1",
    ]);
    sweep.extend(line.bytes());
    let sweep = Account::of(&sweep);
    assert_eq!(
        (sweep.suspends.samples, sweep.suspends.attempts()),
        (10, 11)
    );
    assert_eq!((sweep.others.samples, sweep.others.attempts()), (4, 5));
    assert_eq!(sweep.unexplained(), 0);
}

#[test]
fn plans_without_suspends() {
    let has = |args: &str| has_suspends(&Plan::parse(args).expect("good words"));
    for args in [
        "",
        "only=idle_states",
        "only=micro,dirty_sweep",
        "only=cpu_off_serial",
    ] {
        assert!(has(args), "{args}");
    }
    for args in [
        "only=micro",
        "only=timer_latency",
        "only=psci_version_parallel",
        "only=help",
    ] {
        assert!(!has(args), "{args}");
    }
}

#[test]
fn the_last_line_and_damage() {
    let line = "psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 955 samples, 9 not counted, \
                2 CPUs lost)\r\n";
    let closing = Closing::of(line.as_bytes());
    let counts = Closing {
        samples: 955,
        rejected: 9,
        lost: 2,
    };
    assert_eq!(closing, Some(counts));
    assert_eq!(Closing::of(b"psci-bench: INCOMPLETE: 1 2 3 4 5 6\n"), None);
    // An earlier version's line had no rows that were skipped.
    let new = line.replace("2 CPUs", "7 rows skipped, 2 CPUs");
    assert_eq!(Closing::of(new.as_bytes()), closing);
    let alone = Account::of(line.as_bytes());
    assert_eq!((alone.unexplained(), alone.lost), (9, 2));
    assert_eq!(alone.records, Found::None);

    // Numbers beyond any count.
    let most = u64::MAX;
    let absurd = log(&[
        "facts lead=1",
        &format!("plan iterations=5 warmup={most}"),
        &format!("test t=2 by=tftf asked={most} attempts={most}"),
        &format!("row t=2 by=tftf mpidr=0x0 valid={most} rejected={most}"),
        &format!("x t=2 by=tftf mpidr=0x0 stale={most} early_wake={most}"),
        &format!("row t=2 by=tftf mpidr=0x1 valid={most} rejected=1"),
    ]);
    let counted = Account::of(&absurd);
    assert_eq!((counted.suspends.attempts(), counted.unexplained()), (1, 1));
    let absurd = line.replace("955", &most.to_string());
    assert_eq!(Closing::of(absurd.as_bytes()), None);

    // A row that no copy has: nothing is said of the rounds.
    let text = log(&[
        "plan iterations=5 warmup=2",
        "test t=1 by=tftf asked=5 attempts=9",
        "row t=1 by=tftf mpidr=0x0 valid=5 rejected=0",
        "row t=1 by=tftf mpidr=0x1 valid=5 rejected=0",
    ]);
    let text = String::from_utf8_lossy(&text).replace("mpidr=0x1", "mpidr=0x2");
    let damaged = Account::of(text.as_bytes());
    assert_eq!(damaged.records, Found::Some);
    assert_eq!((damaged.suspends.attempts(), damaged.unexplained()), (5, 0));
}
