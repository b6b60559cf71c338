//! Whether a scenario was asked the same on both sides.

use psci_bench::plan::ScenarioId;

use super::comparison::Across;
use crate::report::model::{Run, Test};
use crate::setup::plural::many;

/// What of the plan makes another question of `timer_latency`, and its unit.
/// How long it was looked at does not: more samples are of the same one.
pub(in crate::report) const OF_TIMERS: [(&str, &str); 2] =
    [("period", "us"), ("footprint", "bytes")];

/// Whether a test of the run and one of the baseline may be compared.
///
/// # Errors
/// Why not.
pub(super) fn is_one(
    (new, test): (&Run, &Test),
    (old, found): (&Run, &Test),
    across: &[Across],
) -> Result<(), String> {
    if found.method != test.method && !across.contains(&Across::Methods) {
        return Err(format!(
            "the baseline has it by method {}, and the run by {}: --across methods compares them \
             all the same",
            found.method, test.method
        ));
    }
    if let (Some(a), Some(b)) = (test.power_state, found.power_state)
        && a != b
        && !across.contains(&Across::States)
    {
        return Err(format!(
            "power_state is {a:#010x}, and {b:#010x} in the baseline: --across states compares \
             them all the same"
        ));
    }
    if let (Some(a), Some(b)) = (&new.plan.wake, &old.plan.wake)
        && a != b
        && test.is_parallel()
        && !test.scenario.is(ScenarioId::PsciVersionParallel)
        && !across.contains(&Across::Wakes)
    {
        return Err(format!(
            "the wake-up pattern is {a}, and {b} in the baseline: {}",
            of_wakes(test, found)
        ));
    }
    let wakers = [found, test].map(|test| (test.wake_source, test.helper));
    if wakers[0] != wakers[1] && !across.contains(&Across::Wakes) {
        return Err(format!(
            "the CPUs are woken by: {}, and {} in the baseline: {}",
            waker(new, test),
            waker(old, found),
            of_wakes(test, found)
        ));
    }
    if let (Some(a), Some(b)) = (test.pmf, found.pmf)
        && a != b
    {
        let by = |pmf: bool| if pmf { "by PMF" } else { "by the caller" };
        return Err(format!(
            "it was measured {}, and {} in the baseline",
            by(a),
            by(b)
        ));
    }
    if test.scenario.is(ScenarioId::TimerLatency) {
        for (key, unit) in OF_TIMERS {
            if let (Some(a), Some(b)) = (new.plan.other(key), old.plan.other(key))
                && a != b
            {
                return Err(format!("{key}= is {a} {unit}, and {b} in the baseline"));
            }
        }
    }
    match batches(test, found) {
        Some((a, b)) if a != b => Err(format!(
            "a sample is of {}, and of {b} in the baseline (batch=)",
            many(a as usize, "operation")
        )),
        _ => Ok(()),
    }
}

/// Says whether `--across wakes` compares the two: parallel tests only if they
/// have as many rows.
fn of_wakes(test: &Test, found: &Test) -> String {
    let count = |test: &Test| {
        let rows = test.rows.iter();
        rows.filter(|row| !row.figures.is_empty()).count()
    };
    match (count(test), count(found)) {
        (rows, before) if test.is_parallel() && rows != before => {
            format!("no option compares them, as they have {rows} rows against {before}")
        }
        _ => "--across wakes compares them all the same".to_owned(),
    }
}

/// Names the source of the wake-ups, and the CPU that stayed awake in a parallel scenario.
pub(in crate::report) fn waker(run: &Run, test: &Test) -> String {
    let helper = test.helper.map(|cpu| format!(" {}", run.label(cpu)));
    format!("{}{}", test.wake_source.word(), helper.unwrap_or_default())
}

/// Operations in a sample of the first point that both have.
fn batches(new: &Test, old: &Test) -> Option<(u32, u32)> {
    new.points.iter().find_map(|point| {
        let mut same = old.points.iter().filter(|it| it.kind() == point.kind());
        Some((point.per, same.next()?.per))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::analysis::compare::change::Outcome;
    use crate::report::analysis::compare::compare::compare;
    use crate::report::analysis::compare::comparison::Options;
    use crate::report::analysis::explain::Kind;
    use crate::report::log::read_bytes;
    use crate::report::model::{Plan, Term};

    const POINTS: &[u8] = include_bytes!("../../../../tests/data/report/qemu-points.log");

    /// A run of loops alone.
    fn run() -> Run {
        let mut run = read_bytes("a.log", POINTS).expect("a run").remove(0);
        run.tests.truncate(1);
        run
    }

    fn refusal(new: &Run, old: &Run) -> String {
        let refused = compare(std::slice::from_ref(new), old, &Options::default());
        refused.expect_err("another question").to_string()
    }

    #[test]
    fn another_batch_is_another_question() {
        let mut other = run();
        for point in &mut other.tests[0].points {
            point.per *= 2;
        }
        let said = refusal(&run(), &other);
        let expected = "a sample is of 256 operations, and of 512 in the baseline";
        assert!(said.contains(expected), "{said}");
        // One point alone: it is the baseline's, and the run's, alone.
        let mut one = run();
        let last = one.tests[0].points.last_mut().expect("a point");
        last.per *= 2;
        let compared = compare(&[run()], &one, &Options::default()).expect("the others");
        assert_eq!(compared[0].tests[0].lone_points, (1, 1));
    }

    #[test]
    fn timers_by_period_and_footprint() {
        let with = |period: &str, footprint: &str, duration: &str| {
            let mut run = run();
            run.tests[0].scenario = Term::Known(ScenarioId::TimerLatency);
            let keys = [
                ("period", period),
                ("footprint", footprint),
                ("duration", duration),
            ];
            run.plan = Plan {
                others: keys
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .to_vec(),
                ..run.plan
            };
            run
        };
        let (one, long) = (with("1000", "4096", "1"), with("1000", "4096", "60"));
        assert!(compare(std::slice::from_ref(&one), &long, &Options::default()).is_ok());
        let said = refusal(&one, &with("100", "4096", "1"));
        assert!(
            said.contains("period= is 1000 us, and 100 in the baseline"),
            "{said}"
        );
        let said = refusal(&one, &with("1000", "8192", "1"));
        assert!(
            said.contains("footprint= is 4096 bytes, and 8192 in"),
            "{said}"
        );
        // Other scenarios do not ask for it.
        let mut loops = [one, with("100", "4096", "1")];
        for run in &mut loops {
            run.tests[0].scenario = Term::Known(ScenarioId::NullCall);
        }
        assert!(compare(&loops[..1], &loops[1], &Options::default()).is_ok());
    }

    #[test]
    fn single_samples_have_no_noise() {
        let mut single = run();
        let [first, ..] = single.tests[0].points.as_mut_slice() else {
            panic!("it has points");
        };
        let median = first.summary.median / 2;
        first.summary = psci_bench::measure::Summary::of(&mut [median]);
        let compared = compare(&[run()], &single, &Options::default()).expect("one board");
        assert_eq!(compared[0].tests[0].points[0].outcome, Outcome::Worse);
        let found = |kind, part: &str| {
            let mut all = compared[0].findings.iter();
            let own = all.find(|it| it.kind == kind && it.sentence.contains(part));
            own.unwrap_or_else(|| panic!("no {part:?} in {:#?}", compared[0].findings))
        };
        found(Kind::NotTold, "1 of ");
        found(Kind::NotTold, "weighed against no noise");
        let changed = found(Kind::Changed, "take more");
        assert_eq!(
            changed.confidence,
            crate::report::analysis::explain::Confidence::Figures
        );
    }
}
