//! Rows that are skipped.

use super::{Fake, run, run_with};
use crate::board::Cpu;
use crate::plan::{Method, Plan};
use crate::psci::Error;
use crate::report::{Row, Skip, Status};
use crate::round::Who;
use crate::sample::End;
use crate::scenario::{Bench, Wakers};
use crate::stats::Summary;
use crate::verdict::Verdict;

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
        outcome.code = Error::NotSupported.code();
    });
    let (text, _) = run(&mut fake, only, 1);
    assert!(text.contains("status=skipped why=not-supported function=0xc4000001 "));
}

#[test]
fn a_skipped_row_lacks_no_samples() {
    let mut fake = Fake::new(2);
    let (plan, cpus) = (Plan::default(), [Cpu::default(); 2]);
    let mut rows = [0, 1].map(|cpu| Row {
        expected: true,
        valid: plan.iterations,
        ..Row::new(cpu)
    });
    rows[1].valid = 0;
    let wakers = Wakers::try_out(&mut fake, &cpus, &mut [], &[]);
    let mut status = |skipped| {
        rows[1].skipped = skipped;
        let bench = Bench {
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
            outcomes: &mut [],
            firsts: &mut [],
            kept: &mut [],
            column: &mut [],
            rows: &mut rows,
            attempts: 0,
            trials: 0,
            sleep: 0,
            longest_sleep: 0,
            quiet: 0,
            off_sleep: 0,
            skew: Summary::default(),
        };
        bench.status()
    };
    assert!(matches!(status(None), Status::Failed(_)));
    assert_eq!(status(Some(Skip::NoGic)), Status::Passed);
}
