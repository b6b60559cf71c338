//! A run beside a baseline: the same CPU with itself, and, where CPUs go down
//! together, the same place in the order of arrival.
//!
//! ```text
//! change ──── the change of a figure; comparison: all of them, and what was asked
//! pair ────── which rows are of one CPU
//! sides ───── both runs, and what a change has to exceed
//! noise ───── what a figure's interval is
//! points ──── points -> changes
//! judge ───── rows -> changes
//! lacks ───── what of the baseline is compared with nothing
//! question ── whether a scenario was asked the same on both sides
//! sentences ─ what findings have in common
//! flush ───── who flushes a cluster-size cache, then and now
//! tell ────── changes -> findings; tell_points, those of points
//! ```

use anyhow::{Result, bail, ensure};

use super::comparison::{Across, Comparison, Options, Refused};
use super::pair::{Pairs, RowIs};
use super::sides::Judge;
use crate::report::model::{Run, Test};

/// Compares the runs with `baseline`.
///
/// # Errors
/// Where nothing can be compared: other boards, no CPU in common, a clock that
/// only one side has, no scenario that both have and that is the same.
pub fn compare(runs: &[Run], baseline: &Run, options: &Options) -> Result<Vec<Comparison>> {
    let mut baseline = baseline.clone();
    super::pair::name_rows(&mut baseline, &options.rows_are)?;
    let runs = runs.iter().enumerate();
    runs.map(|(place, run)| one(place, run, &baseline, options))
        .collect()
}

fn one(place: usize, new: &Run, old: &Run, options: &Options) -> Result<Comparison> {
    let names = (&new.source.input, &old.source.input);
    if let (Some(a), Some(b)) = (&new.model, &old.model) {
        ensure!(
            a == b || options.across.contains(&Across::Boards),
            "{} is of the board {a:?}, and the baseline {} of {b:?}: --across boards compares \
             them all the same",
            names.0,
            names.1
        );
    }
    ensure!(
        new.clock().is_known() == old.clock().is_known(),
        "of {} and the baseline {} only one has a counter whose frequency is known: ticks and \
         nanoseconds can not be compared",
        names.0,
        names.1
    );
    let by_mpidr = options
        .rows_are
        .iter()
        .any(|it| matches!(it, RowIs::Mpidr(_)));
    ensure!(
        !by_mpidr || new.cpus.iter().all(|cpu| cpu.mpidr.is_some()),
        "--rows-are names MPIDRs, and {} has none: name labels, such as 0.1",
        names.0
    );
    let pairs = Pairs::of(new, old)?;
    let named = super::pair::with_labels(new, old, &pairs);
    let old = &named;
    let judge = Judge::new(new, old, &pairs, options.tolerance_ppm);
    let (mut tests, mut refused) = (Vec::new(), Vec::new());
    // Those of the baseline that a test of the run is compared with, or was to
    // be.
    let (mut met, mut missed): (Vec<&Test>, Vec<(usize, &Test)>) = (Vec::new(), Vec::new());
    for test in &new.tests {
        let before = in_baseline(test, old);
        let compared = before.ok_or_else(|| "the baseline does not have it".to_owned());
        let compared = compared.and_then(|before| {
            super::question::is_one((new, test), (old, before), &options.across)?;
            judge.compare(test, before)
        });
        match compared {
            Ok(compared) => {
                tests.push(compared);
                met.extend(before);
            }
            Err(why) => {
                missed.extend(before.map(|before| (refused.len(), before)));
                refused.push(Refused {
                    scenario: test.scenario.clone(),
                    method: test.method.clone(),
                    why,
                    in_baseline: false,
                });
            }
        }
    }
    super::lacks::scenarios(new, old, &met, &missed, &mut refused);
    if tests.is_empty() {
        let why: Vec<String> = refused
            .iter()
            .map(|it| format!("{}: {}", it.scenario.word(), it.why))
            .collect();
        bail!(
            "nothing of {} can be compared with the baseline {}: {}",
            names.0,
            names.1,
            if why.is_empty() {
                "it has no scenario".to_owned()
            } else {
                why.join("; ")
            }
        );
    }
    let findings = super::tell::findings(&judge, &tests, options);
    Ok(Comparison {
        run: place,
        baseline: old.clone(),
        tolerance_ppm: options.tolerance_ppm,
        keyed: pairs.keyed,
        tests,
        refused,
        across: options.across.clone(),
        findings,
    })
}

/// The test of `old` that `test` stands beside: by the same method, if there is
/// one.
pub(super) fn in_baseline<'r>(test: &Test, old: &'r Run) -> Option<&'r Test> {
    let same = |it: &&Test| it.scenario == test.scenario;
    let mut own = old.tests.iter().filter(same);
    let own = own.find(|it| it.is_same(test));
    let by_method = |it: &&Test| same(it) && it.method == test.method;
    let by_method = own.or_else(|| old.tests.iter().find(by_method));
    by_method.or_else(|| old.tests.iter().find(same))
}
