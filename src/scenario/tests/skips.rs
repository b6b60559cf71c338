//! Rows that are skipped.

use smccc::psci::error::NOT_SUPPORTED;

use super::{Fake, run, run_with};
use crate::board::Cpu;
use crate::measure::{Action, End, Outcome, Summary, Who};
use crate::model::{Row, Skip, Status, Verdict};
use crate::plan::{Method, Plan};
use crate::scenario::bench::Bench;
use crate::scenario::wakers::Wakers;
use crate::spec::stat::Ladder;

#[test]
fn all_rows_skipped_skips_the_scenario() {
    // A lead alone has nothing to measure of CPU_OFF but its own suspend.
    let only = "only=cpu_off_serial iterations=2";
    let (text, verdict) = run_with(&mut Fake::new(1), only, 1, &[]);
    assert_eq!(verdict, Verdict::Fail, "nothing measured is no success");
    let said = "(0 passed, 1 skipped, 0 failed; 0 samples, 0 not counted, 0 rows skipped, ";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("  Skipped: the board names no idle state "));
    // No more does a firmware without CPU_SUSPEND.
    let mut fake = Fake::new(1).with(|_, _, outcome| {
        outcome.end = End::Returned;
        outcome.code = NOT_SUPPORTED;
    });
    let (text, _) = run(&mut fake, only, 1);
    assert!(text.contains("status=skipped why=not-supported function=0xc4000001 "));
}

/// Two CPUs' rows, of which the second is skipped for that reason, and what
/// `measure` makes of them: its result, and each row's samples.
fn with_rows<T>(
    skipped: Option<Skip>,
    measure: impl FnOnce(&mut Bench<'_, Fake>) -> T,
) -> (T, [u32; 2]) {
    let mut fake = Fake::new(2);
    let (plan, cpus) = (Plan::default(), [Cpu::default(); 2]);
    let mut rows = [0, 1].map(|cpu| Row {
        expected: true,
        ..Row::new(cpu)
    });
    rows[1].skipped = skipped;
    let wakers = Wakers::try_out(&mut fake, &cpus, &mut [], &[]);
    let room = 2 * plan.iterations as usize;
    let [outcomes, firsts, kept] = &mut [2, 2, room].map(|n| std::vec![Outcome::default(); n]);
    let mut bench = Bench {
        machine: &mut fake,
        plan: &plan,
        cpus: &cpus,
        method: Method::Tftf,
        pmf: true,
        wakers: &wakers,
        timers_stop: false,
        helper: None,
        all: Who::All,
        dirty: 0,
        osi: None,
        outcomes,
        firsts,
        kept,
        column: &mut std::vec![0; room],
        rows: &mut rows,
        attempts: 0,
        trials: 0,
        sleep: 0,
        longest_sleep: 0,
        quiet: 0,
        off_sleep: 0,
        skew: Summary::default(),
    };
    let made = measure(&mut bench);
    (made, rows.map(|row| row.valid))
}

#[test]
fn a_skipped_row_lacks_no_samples() {
    let status = |bench: &mut Bench<'_, Fake>| {
        bench.rows[0].valid = bench.plan.iterations;
        bench.status()
    };
    let (lacking, _) = with_rows(None, status);
    assert!(matches!(lacking, Status::Failed(_)));
    assert_eq!(with_rows(Some(Skip::NoGic), status).0, Status::Passed);
}

#[test]
fn a_skipped_row_is_not_measured() {
    let action = Action::Suspend {
        power_state: 0x0001_0002,
        powerdown: true,
    };
    let measure = |bench: &mut Bench<'_, Fake>| {
        let measured = bench.measure_serial(action, &Ladder::default());
        measured.is_ok() && bench.machine.asked.iter().all(|it| it.who == Who::Only(0))
    };
    let alone = with_rows(Some(Skip::NoGic), measure);
    assert_eq!(alone, (true, [20, 0]));
    assert_eq!(with_rows(None, measure), (false, [20, 20]));
}
