//! Phrases that findings of comparisons have in common.

use psci_bench::measure::Metric;

use super::change::Change;
use super::comparison::{ComparedTest, test_of};
use super::sides::Judge;
use crate::report::analysis::explain::{Basis, Side, basis};
use crate::report::model::{Run, Term, Test};
use crate::setup::plural::many;

/// A change in percent, as TF-A's tables have it.
pub(super) fn percent(change: f64) -> String {
    format!("{change:+.2} %")
}

/// The scenario's name, with its method where there are several.
pub(super) fn name(judge: &Judge<'_>, test: &ComparedTest) -> String {
    title(judge.new, judge.old, test)
}

/// The same, of two runs.
pub(in crate::report) fn title(new: &Run, old: &Run, test: &ComparedTest) -> String {
    let name = test_of(new, test, true).map_or(test.scenario.word(), Test::name);
    let several = |run: &Run| {
        let first = run.tests.first();
        first.is_some_and(|first| run.tests.iter().any(|it| it.method != first.method))
    };
    if several(new) || several(old) {
        format!("{name}, method {}", test.method)
    } else {
        name.to_owned()
    }
}

/// The rows of both sides that `changes` are of.
pub(super) fn rows(judge: &Judge<'_>, test: &ComparedTest, changes: &[&Change]) -> Vec<Basis> {
    let own = test_of(judge.new, test, true);
    let old = test_of(judge.old, test, false);
    let side = |side, run: &Run, test: Option<&Test>, cpu, metric: &Term<Metric>| {
        let basis = basis(side, run, test?, cpu, None);
        let metric = Some(metric.clone());
        Some(Basis { metric, ..basis })
    };
    let news = changes
        .iter()
        .map(|it| side(Side::Run, judge.new, own, it.cpu, &it.metric));
    let olds = changes
        .iter()
        .map(|it| side(Side::Baseline, judge.old, old, it.old_cpu, &it.metric));
    news.chain(olds).flatten().collect()
}

/// The range of `all`, which are in nanoseconds, or in ticks where no clock is
/// known.
pub(super) fn durations(judge: &Judge<'_>, all: &[u64]) -> String {
    let shown = |value: u64| match judge.new.clock().is_known() {
        true if value < 1000 => format!("{value} ns"),
        true => {
            let centi = value / 10 + u64::from(value % 10 >= 5);
            format!("{}.{:02} us", centi / 100, centi % 100)
        }
        false => many(usize::try_from(value).unwrap_or(usize::MAX), "tick"),
    };
    match (all.iter().min(), all.iter().max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {}", shown(*least), shown(*most))
        }
        (Some(only), _) => shown(*only),
        _ => String::new(),
    }
}
