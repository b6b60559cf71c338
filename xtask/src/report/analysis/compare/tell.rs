//! Changes -> findings.

use psci_bench::measure::Metric;

use super::change::{Change, Outcome};
use super::comparison::{Across, ComparedTest, Judged, Options, test_of};
use super::flush;
use super::pair::Keyed;
pub(super) use super::sentences::{durations, name, percent, rows};
use super::sides::Judge;
use crate::report::analysis::explain::{Confidence, Finding, Kind, Side};
use crate::report::model::{Run, Term, Test, heading};
use crate::setup::plural::many;

pub(super) fn findings(
    judge: &Judge<'_>,
    tests: &[ComparedTest],
    options: &Options,
) -> Vec<Finding> {
    let mut all = conditions(judge, tests, options);
    all.extend(told(judge, tests));
    all.extend(flush::of_cluster(judge, tests));
    for test in tests {
        all.extend(reordered(judge, test));
        all.extend(changed(judge, test));
        all.extend(moved(judge, test));
        all.extend(left_of_moved(judge, test));
        all.extend(unchanged(judge, test));
        all.extend(super::tell_points::findings(judge, test));
    }
    let has_records = |side| {
        let run = if side == Side::Run {
            judge.new
        } else {
            judge.old
        };
        run.integrity.records.is_some()
    };
    let all = all.into_iter().map(|it| it.with_doubts(has_records));
    all.collect()
}

/// What differs besides figures, and what one side does not tell.
fn conditions(judge: &Judge<'_>, tests: &[ComparedTest], options: &Options) -> Vec<Finding> {
    let (new, old) = (judge.new, judge.old);
    let mut all = Vec::new();
    let mut say = |kind, confidence, sentence| {
        all.push(Finding {
            kind,
            sentence,
            basis: Vec::new(),
            confidence,
        });
    };
    if judge.pairs.keyed == Keyed::Ambiguous {
        say(
            Kind::NotTold,
            Confidence::Unknown,
            "Which row is which CPU can not be told, as several have the same cluster and core: \
             all is compared sorted. --rows-are MPIDR,... names them in their order."
                .to_owned(),
        );
    }
    let both = |what: &str, of: &dyn Fn(&Run) -> Option<String>| -> Option<String> {
        let (now, then) = (of(new)?, of(old)?);
        (now != then).then(|| format!("{what} is {now}, and was {then}"))
    };
    // No record has it: a digit may have been lost on the way.
    let firmware = both("the firmware", &|run| {
        run.firmware_version().map(str::to_owned)
    });
    if let Some(firmware) = firmware {
        let sentence = format!("By its own lines, which have no checksum, {firmware}.");
        say(Kind::Conditions, Confidence::Lines, sentence);
    }
    let differences: Vec<String> = [
        both("the payload", &|run| run.version.clone()),
        both("the exception level", &|run| {
            run.facts.el.map(|el| el.to_string())
        }),
        both("the counter's frequency in Hz", &|run| {
            run.facts.hz.map(|hz| hz.to_string())
        }),
        both("the number of CPUs", &|run| {
            Some(run.cpus.len().to_string())
        }),
        both("the count of samples asked for", &|run| {
            run.plan.iterations.map(|it| it.to_string())
        }),
        both("the wake-up pattern", &|run| {
            run.plan.wake.as_ref().map(|it| it.word().to_owned())
        }),
        both("the board", &|run| run.model.clone()),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !differences.is_empty() {
        let sentence = format!("Besides figures: {}.", differences.join("; "));
        let have_records = [new, old].iter().all(|it| it.integrity.records.is_some());
        let confidence = if have_records {
            Confidence::Counts
        } else {
            Confidence::Lines
        };
        say(Kind::Conditions, confidence, sentence);
    }
    for test in tests {
        let was = test_of(old, test, false).map(|it| &it.method);
        if let Some(was) = was.filter(|was| **was != test.method) {
            let sentence = format!(
                "{}: method {} is compared with {was}, as was asked for: a change may be the \
                 method's.",
                name(judge, test),
                test.method
            );
            say(Kind::Conditions, Confidence::Counts, sentence);
        }
    }
    if options.across.contains(&Across::Boards) && new.model != old.model {
        let sentence =
            "Two boards are compared, as was asked for: no change is the firmware's alone.";
        say(Kind::Conditions, Confidence::Counts, sentence.to_owned());
    }
    let silent: Vec<&str> = [("the run", new), ("the baseline", old)]
        .into_iter()
        .filter(|it| it.1.integrity.records.is_none())
        .map(|it| it.0)
        .collect();
    if !silent.is_empty() {
        let sentence = format!(
            "Of {} there are figures alone: power_state, wake-up pattern, the count of samples \
             and how they spread can not be told, so that no change is weighed against noise.",
            silent.join(" and ")
        );
        say(Kind::NotTold, Confidence::Unknown, sentence);
    }
    all
}

/// Whether a change is none to speak of.
fn is_quiet(change: &Change) -> bool {
    !matches!(change.outcome, Outcome::Better | Outcome::Worse)
}

/// The greatest change in either direction, in percent.
fn within(changes: &[&Change]) -> f64 {
    let all = changes.iter().filter_map(|it| it.percent());
    all.map(f64::abs).fold(0.0, f64::max)
}

/// Powerdown that only other CPUs have: the lock was taken in another order.
fn reordered(judge: &Judge<'_>, test: &ComparedTest) -> Option<Finding> {
    let powerdown = |it: &&Change| it.metric.is(Metric::Powerdown);
    let order: Vec<&Change> = test.by_order.iter().filter(powerdown).collect();
    let cpus: Vec<&Change> = test.by_cpu.iter().filter(powerdown).collect();
    let quiet = |it: &&Change| matches!(it.outcome, Outcome::Same | Outcome::Noise);
    if order.is_empty() || !order.iter().all(|it| is_quiet(it)) || cpus.iter().all(quiet) {
        return None;
    }
    let labels = |run: &Run, of: fn(&Change) -> usize| -> Vec<String> {
        order.iter().map(|it| run.label(of(it))).collect()
    };
    let (then, now) = (
        labels(judge.old, |it| it.old_cpu),
        labels(judge.new, |it| it.cpu),
    );
    // In the same order it is the flushes that are at other places.
    if then == now {
        return None;
    }
    let seems = |it: &&&Change| it.percent().is_some();
    let by = |a: &&&Change, b: &&&Change| {
        a.percent()
            .unwrap_or(0.0)
            .total_cmp(&b.percent().unwrap_or(0.0))
    };
    let (least, most) = (
        cpus.iter().filter(seems).min_by(by)?,
        cpus.iter().filter(seems).max_by(by)?,
    );
    let told = |it: &Change| {
        format!(
            "{} (CPU {})",
            percent(it.percent().unwrap_or(0.0)),
            judge.new.label(it.cpu)
        )
    };
    let still: Vec<&Change> = order.iter().filter(|it| quiet(it)).copied().collect();
    // Of many the tables tell.
    let orders = match order.len() {
        17.. => String::new(),
        _ => format!(", then {}, now {}", then.join(", "), now.join(", ")),
    };
    Some(Finding {
        kind: Kind::Reordered,
        sentence: format!(
            "{}: Powerdown is unchanged by order of arrival (sorted, {} of {} within {:.2} %). By \
             CPU it seems to change by {} to {}: these are other CPUs' places, as the lock was \
             taken in another order{orders}.",
            name(judge, test),
            still.len(),
            many(order.len(), "place"),
            within(&still),
            told(least),
            told(most),
        ),
        basis: rows(judge, test, &order),
        confidence: confidence(&order),
    })
}

fn confidence(changes: &[&Change]) -> Confidence {
    let has = |it: &&Change| it.new.interval.is_some() && it.old.interval.is_some();
    if changes.iter().all(has) {
        Confidence::Intervals
    } else {
        Confidence::Figures
    }
}

/// What moved, one finding for each figure and direction.
fn changed(judge: &Judge<'_>, test: &ComparedTest) -> Vec<Finding> {
    let mut all = Vec::new();
    for metric in metrics(test) {
        let own: Vec<&Change> = test
            .changes()
            .iter()
            .filter(|it| it.metric == *metric)
            .collect();
        for (outcome, what) in [(Outcome::Worse, "more"), (Outcome::Better, "less")] {
            let moved: Vec<&Change> = own
                .iter()
                .filter(|it| it.outcome == outcome)
                .copied()
                .collect();
            if moved.is_empty() {
                continue;
            }
            let delta = |it: &&Change| u64::try_from(it.delta().unsigned_abs()).unwrap_or(u64::MAX);
            let deltas: Vec<u64> = moved.iter().map(delta).collect();
            let mut sentence = format!(
                "{}: {} takes {what} in {} of {}, by {}{}",
                name(judge, test),
                heading(metric),
                moved.len(),
                many(own.len(), "row"),
                durations(judge, &deltas),
                shares(&moved),
            );
            match test.judged {
                Judged::Cpu => {
                    let labels: Vec<String> =
                        moved.iter().map(|it| judge.new.label(it.cpu)).collect();
                    if labels.len() <= 16 && moved.len() < own.len() {
                        sentence.push_str(&format!(" (CPU {})", labels.join(", ")));
                    }
                }
                Judged::Order => {
                    let places = moved
                        .iter()
                        .filter_map(|it| Some((it.place? + 1).to_string()));
                    let places: Vec<String> = places.collect();
                    let all = moved.len() == own.len() || places.len() > 16;
                    sentence.push_str(" by order of size");
                    if !all {
                        sentence.push_str(&format!(" (place {})", places.join(", ")));
                    }
                }
            }
            sentence.push('.');
            all.push(Finding {
                kind: Kind::Changed,
                sentence,
                basis: rows(judge, test, &moved),
                confidence: confidence(&moved),
            });
        }
    }
    all
}

/// The range of changes in percent, in parentheses; from zero there is none.
fn shares(changes: &[&Change]) -> String {
    let mut all: Vec<f64> = changes.iter().filter_map(|it| it.percent()).collect();
    all.sort_by(f64::total_cmp);
    match all.as_slice() {
        [] => " (from zero)".to_owned(),
        [only] => format!(" ({})", percent(*only)),
        [first, .., last] => format!(" ({} to {})", percent(*first), percent(*last)),
    }
}

fn metrics(test: &ComparedTest) -> Vec<&Term<Metric>> {
    let mut all: Vec<&Term<Metric>> = Vec::new();
    for change in test.changes() {
        if !all.contains(&&change.metric) {
            all.push(&change.metric);
        }
    }
    all
}

/// Places whose figures moved with a flush.
fn moved(judge: &Judge<'_>, test: &ComparedTest) -> Option<Finding> {
    let all = test
        .by_order
        .iter()
        .filter(|it| it.outcome == Outcome::Moved);
    let all: Vec<&Change> = all.collect();
    let places: Vec<String> = all
        .iter()
        .filter_map(|it| Some((it.place? + 1).to_string()))
        .collect();
    (!all.is_empty()).then(|| Finding {
        kind: Kind::Reordered,
        sentence: format!(
            "{}: place {} differs ({}) as the cache flushes up to it in the queue do, and by no \
             more than tolerance or noise besides: all flushes together take as long as before, \
             but are at other places.",
            name(judge, test),
            places.join(", "),
            shares(&all).trim_matches([' ', '(', ')'])
        ),
        basis: rows(judge, test, &all),
        confidence: Confidence::Figures,
    })
}

/// Places whose figures moved with a flush, and by more than that.
fn left_of_moved(judge: &Judge<'_>, test: &ComparedTest) -> Vec<Finding> {
    let all = test
        .by_order
        .iter()
        .filter_map(|it| Some((it, it.by_flushes?)));
    let signed = |value: i128| {
        let size = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
        let sign = if value < 0 { "-" } else { "+" };
        format!("{sign}{}", durations(judge, &[size]))
    };
    let findings = all.map(|(it, by_flushes)| {
        let seen = i128::from(it.new.figure) - i128::from(it.old.figure);
        Finding {
            kind: Kind::Reordered,
            sentence: format!(
                "{}: place {} of Powerdown: cache flushes that came to other places in the queue \
                 make {} of it, {} is seen, and {} is left: that is judged.",
                name(judge, test),
                it.place.unwrap_or(0) + 1,
                signed(by_flushes.into()),
                signed(seen),
                signed(it.delta()),
            ),
            basis: rows(judge, test, &[it]),
            confidence: Confidence::Figures,
        }
    });
    findings.collect()
}

/// Figures that did not move at all.
fn unchanged(judge: &Judge<'_>, test: &ComparedTest) -> Option<Finding> {
    let of = |metric: &Term<Metric>| -> Vec<&Change> {
        test.changes()
            .iter()
            .filter(|it| it.metric == *metric)
            .collect()
    };
    let still = |it: &&Change| matches!(it.outcome, Outcome::Same | Outcome::Noise);
    let metrics = metrics(test)
        .into_iter()
        .filter(|it| of(it).iter().all(still));
    let metrics: Vec<&Term<Metric>> = metrics.collect();
    let all: Vec<&Change> = metrics.iter().flat_map(|it| of(it)).collect();
    if all.is_empty() {
        return None;
    }
    let names: Vec<&str> = metrics.iter().map(|it| heading(it)).collect();
    let noise = all.iter().filter(|it| it.outcome == Outcome::Noise).count();
    let noise = match noise {
        0 => String::new(),
        _ => format!(
            ", {} by no more than noise or a tick",
            many(noise, "figure")
        ),
    };
    Some(Finding {
        kind: Kind::Unchanged,
        sentence: format!(
            "{}: {} unchanged (within {:.2} %{noise}).",
            name(judge, test),
            names.join(", "),
            within(&all)
        ),
        basis: rows(judge, test, &all),
        confidence: confidence(&all),
    })
}

/// Says which figures that count were weighed against no noise, and which
/// against that of their CPUs, where both sides have records.
pub(super) fn told(judge: &Judge<'_>, tests: &[ComparedTest]) -> Vec<Finding> {
    let runs = [judge.new, judge.old];
    if runs.iter().any(|run| run.integrity.records.is_none()) {
        return Vec::new();
    }
    let mut all = Vec::new();
    let has = |it: &&Change| it.new.interval.is_some() && it.old.interval.is_some();
    let bare: Vec<(&ComparedTest, Vec<&Change>)> = tests
        .iter()
        .map(|test| (test, test.changes().iter().filter(|it| !has(it)).collect()))
        .filter(|it: &(_, Vec<&Change>)| !it.1.is_empty())
        .collect();
    if !bare.is_empty() {
        let each = bare.iter().map(|(test, changes)| {
            let of = changes.len();
            format!(
                "{of} of {} in {}",
                test.changes().len(),
                test.scenario.word()
            )
        });
        all.push(Finding {
            kind: Kind::NotTold,
            sentence: format!(
                "Figures that were weighed against no noise, as one side does not tell how their \
                 samples spread: {}.",
                each.collect::<Vec<_>>().join(", ")
            ),
            basis: bare
                .iter()
                .flat_map(|it| rows(judge, it.0, &it.1))
                .collect(),
            confidence: Confidence::Unknown,
        });
    }
    let by_round = |test: &&ComparedTest| {
        let whole = |run: &Run, own| {
            let found = test_of(run, test, own);
            let rows = found.into_iter().flat_map(|it| &it.rows);
            rows.clone().count() > 0 && rows.clone().all(|row| !row.samples.is_empty())
        };
        let found = test_of(judge.new, test, true);
        found.is_some_and(Test::is_parallel)
            && test.changes().iter().any(|it| has(&it))
            && !(whole(judge.new, true) && whole(judge.old, false))
    };
    let tags = tests.iter().filter(by_round).map(|it| it.scenario.word());
    let mut tags: Vec<&str> = tags.collect();
    tags.dedup();
    if !tags.is_empty() {
        all.push(Finding {
            kind: Kind::NotTold,
            sentence: format!(
                "In {} one round of each side is compared, and a change is noise where the \
                 medians of these CPUs may be the same, wherever they came in the queue: \
                 samples=all on both sides tells how each place spreads.",
                tags.join(", ")
            ),
            basis: Vec::new(),
            confidence: Confidence::Unknown,
        });
    }
    all
}
