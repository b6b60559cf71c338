//! Tests comparisons that are used as a CI gate: refusals, gaps and warnings.

use std::slice;

use anyhow::Result;
use hardware::board::CpuIndex;
use hardware::spec::pmf::ReadError;
use suite::measure::Metric;
use suite::model::{Evidence, FindingKind};
use suite::plan::Method;

use super::support::{compared, found, sentences, try_compare, with_rows};
use crate::analysis::compare::pmf_cost::callers_times;
use crate::analysis::compare::{CHANGED, Comparison, Options, compare};
use crate::analysis::edits::{self, RunEdit, edited};
use crate::analysis::findings::{CONDITIONS, PMF_COST, basis_text};
use crate::analysis::synthetic::{set_summary, suite};
use crate::export::{Report, by_name};
use crate::log::LoggedRun;

/// Edits to the baseline, each with the option that allows it and the error without that option.
const REFUSED: &[(RunEdit, &str, &str)] = &[
    (edits::nothing, "", ""),
    (
        edits::warm,
        "methods",
        "the method is tftf, but warm in the baseline; --across methods",
    ),
    (
        edits::state,
        "states",
        "power_state is 0x00000002, but 0x00000007 in the baseline; --across states",
    ),
    (
        edits::pattern,
        "wakes",
        "wake-up pattern is chain, but staggered in the baseline; --across wakes",
    ),
    (
        edits::wake_source,
        "wakes",
        "the wake-up source is timer, but helper in the baseline; --across wakes",
    ),
    (
        edits::helper,
        "",
        "helper 0.3 in the baseline; --across wakes",
    ),
    (
        edits::board,
        "boards",
        "is \"QEMU virt\" in a.log, but \"Juno\" in the baseline a.log; --across boards",
    ),
    (
        edits::callers_figures,
        "",
        "the source of the figures is PMF, but the caller in the baseline",
    ),
    (
        edits::lost_row,
        "",
        "4 rows, but 3 in the baseline: comparing by rank",
    ),
    (edits::no_clock, "", "known counter frequency"),
    (edits::no_scenarios, "", "nothing in a.log can be compared"),
    (
        edits::equal_mpidrs,
        "",
        "no CPUs in common (matched by MPIDR)",
    ),
];

#[test]
fn another_question_is_refused_unless_an_option_passes_over_it() {
    for (edit, across, expected) in REFUSED {
        let refusals_of = |differences| match try_compare(&suite(), &edited(*edit), differences) {
            Ok(comparison) => {
                let refusals = comparison.refused.iter();
                refusals.map(|refusal| refusal.why.as_str()).collect()
            }
            Err(error) => format!("{error:#}"),
        };
        let text: String = refusals_of("");
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.is_empty(), expected.is_empty(), "{text}");
        assert!(
            across.is_empty() || refusals_of(across).is_empty(),
            "{expected}"
        );
    }
    // The option does not permit a different number of rows.
    let comparison = try_compare(&suite(), &edited(edits::helper), "wakes").expect("the others");
    assert!(
        comparison.refused[0]
            .why
            .starts_with("4 rows, but 3 in the baseline")
    );
}

/// A log from before the argument existed has no value.
#[test]
fn suspends_with_other_shortest_sleeps_are_refused() {
    let with_sleep = |sleep| {
        let mut logged = suite();
        logged.run.plan.as_mut().expect("a plan").sleep = sleep;
        logged
    };
    let refused = |new, old, across| {
        let sides = [new, old].map(with_sleep);
        let comparison = try_compare(&sides[0], &sides[1], across).expect("comparable");
        let refused = comparison.refused.iter();
        refused
            .map(|refusal| refusal.why.clone())
            .collect::<Vec<_>>()
    };
    let why = "sleep= is 0, but 10000 in the baseline; --across wakes ignores this";
    let suspends = refused(Some(0), Some(10_000), "");
    assert!(!suspends.is_empty() && suspends.iter().all(|found| found == why));
    // PSCI_VERSION does not sleep.
    assert!(suspends.len() < suite().run.scenarios.len(), "{suspends:?}");
    for (new, across) in [(Some(0), "wakes"), (None, ""), (Some(10_000), "")] {
        assert!(refused(new, Some(10_000), across).is_empty());
    }
}

#[test]
fn differences_that_are_passed_over_are_named() {
    let mut old = edited(edits::board);
    for edit in [edits::warm as RunEdit, edits::iterations, edits::firmware] {
        edit(&mut old);
    }
    let mut new = edited(edits::firmware);
    new.firmware[0].version = Some("v2.2".into());
    let comparison = try_compare(&new, &old, "boards,methods").expect("comparable");
    let expected = [
        "According to lines without a checksum, the firmware changed from v2.1.1(release):x to \
         v2.2.",
        "Other differences: the board changed from Juno to QEMU virt; the requested number of \
         samples changed from 7 to 2.",
        "Suspend to deepest power level on all cores in sequence, method tftf: the method changed \
         from warm to tftf. This difference is ignored as requested, but it may explain changes.",
    ];
    assert_eq!(sentences(&comparison, CONDITIONS), expected);
    let first = found(
        &comparison,
        CONDITIONS,
        &["According to lines without a checksum"],
    );
    assert_eq!(first.finding.evidence, Evidence::Lines);
}

/// Edits to the baseline, and the difference that is listed.
const NOTED: &[(RunEdit, &str)] = &[
    (edits::board, "the board changed from Juno to QEMU virt"),
    (edits::payload, "the payload changed from 9.9.9 to 0.1.0"),
    (
        edits::clock,
        "the counter frequency in Hz changed from 1000000 to 62500000",
    ),
    (edits::two_cpus, "the number of CPUs changed from 2 to 4"),
    (edits::level, "the exception level changed from 1 to 2"),
    (
        edits::iterations,
        "the requested number of samples changed from 7 to 2",
    ),
    (
        edits::pattern,
        "the wake-up pattern changed from staggered to chain",
    ),
];

#[test]
fn each_difference_that_is_not_refused_is_listed() {
    for (edit, expected) in NOTED {
        let comparison = try_compare(&suite(), &edited(*edit), "boards,wakes").expect(expected);
        let sentence = format!("Other differences: {expected}.");
        let listed = sentences(&comparison, CONDITIONS);
        assert!(listed.contains(&sentence.as_str()), "{listed:?}");
    }
    assert!(sentences(&compared(&suite(), &suite()), CONDITIONS).is_empty());
}

/// Data that the baseline has but the run lacks.
struct Gap {
    /// The edit to the run.
    new: RunEdit,
    /// The edit to the baseline.
    old: RunEdit,
    /// The clauses about gaps.
    gaps: &'static [&'static str],
    /// The options that allow the gaps.
    across: &'static str,
    /// The sentence about rows, up to the list of scenarios.
    lone: &'static str,
}

const GAPS: &[Gap] = &[
    Gap {
        new: edits::nothing,
        old: edits::nothing,
        gaps: &[],
        across: "",
        lone: "",
    },
    Gap {
        new: edits::three_scenarios,
        old: edits::nothing,
        gaps: &["3 scenarios in the baseline"],
        across: "scenarios",
        lone: "",
    },
    Gap {
        new: edits::nothing,
        old: edits::three_scenarios,
        gaps: &[],
        across: "",
        lone: "",
    },
    Gap {
        new: edits::no_rows,
        old: edits::nothing,
        gaps: &["1 scenario in the baseline"],
        across: "scenarios",
        lone: "",
    },
    Gap {
        new: edits::nothing,
        old: edits::warm_too,
        gaps: &["1 scenario in the baseline"],
        across: "scenarios",
        lone: "",
    },
    Gap {
        new: edits::two_cpus,
        old: edits::nothing,
        gaps: &["3 scenarios", "18 figures for 2 CPUs in the baseline"],
        across: "scenarios,cpus",
        lone: "Not compared: Powerdown, Wakeup, Cache Flush for CPU 0.2, 0.3, which only the",
    },
    Gap {
        new: edits::nothing,
        old: edits::two_cpus,
        gaps: &["3 scenarios"],
        across: "scenarios",
        lone: "Not compared: CPU 0.2, 0.3, which only the run has",
    },
    Gap {
        new: edits::no_powerdown,
        old: edits::nothing,
        gaps: &["1 figure for 1 CPU"],
        across: "cpus",
        lone: "Not compared: Powerdown for CPU 0.3, which only the baseline has",
    },
];

#[test]
fn parts_of_the_baseline_that_are_not_compared_are_named() {
    for Gap {
        new,
        old,
        gaps,
        across,
        lone,
    } in GAPS
    {
        let new = edited(*new);
        let old = edited(*old);
        let comparison = compared(&new, &old);
        let lacks = comparison.lacks();
        let mut pairs = lacks.iter().zip(*gaps);
        let are_same = lacks.len() == gaps.len()
            && pairs.all(|(missing_text, gap)| missing_text.starts_with(gap));
        assert!(are_same, "{lacks:?}");
        let allowed = try_compare(&new, &old, across).expect("the gaps are allowed");
        assert!(allowed.is_complete(), "{gaps:?}");
        let text = comparison.lone_rows(&new.run).join("");
        assert!(text.starts_with(lone), "{text}");
        assert_eq!(text.is_empty(), lone.is_empty());
        assert_eq!(comparison.regressions().count(), 0);
    }
    let lone = compared(&edited(edits::two_cpus), &suite()).lone_rows(&suite().run);
    let tags = "in test_rt_instr_susp_deep_serial, test_rt_instr_cpu_susp_serial, \
                test_rt_instr_cpu_off_serial.";
    assert!(lone[0].ends_with(tags), "{lone:?}");
    let lack = "the run does not have this scenario";
    for (new, old, why) in [
        (
            edits::three_scenarios as RunEdit,
            edits::nothing as RunEdit,
            lack.to_owned(),
        ),
        (
            edits::nothing,
            edits::warm_too,
            format!("{lack} with this method"),
        ),
    ] {
        assert_eq!(compared(&edited(new), &edited(old)).refused[0].why, why);
    }
    // A name that matches none of the run's CPUs.
    let named =
        with_rows(&suite(), &edited(edits::no_mpidrs), "0.0,0.1,0.2,9.9").expect("comparable");
    let lone = named.lone_rows(&suite().run).join(" ");
    assert!(
        lone.contains("Cache Flush for CPU 9.9, which only the baseline has")
            && !named.is_complete()
    );
}

#[test]
fn figures_of_lines_are_marked_and_said_once() {
    let mut new = edited(edits::line);
    new.integrity.records = None;
    let comparison = compared(&new, &suite());
    let mut changes = comparison.scenarios[1].by_cpu.iter();
    assert!(changes.all(|change| change.new.is_doubtful && !change.old.is_doubtful));
    assert_eq!(sentences(&comparison, CHANGED).len(), 1);
    let part = "Only figures are available for the run";
    found(&comparison, FindingKind::NOT_TOLD, &[part]);
}

#[test]
fn methods_are_named_if_there_are_several() {
    let old = edited(edits::warm_too);
    let mut new = old.clone();
    for cell in &mut new.run.scenarios[6].cells {
        let figure = cell.figure(Metric::Powerdown);
        cell.set_figure(Metric::Powerdown, figure.map(|ticks| ticks * 2));
    }
    let comparison = compared(&new, &old);
    let name = "Suspend to deepest power level on all cores in sequence, method warm: Powerdown";
    let changed = found(&comparison, CHANGED, &[name]);
    let text = basis_text((&new.run, &old.run), &changed.basis);
    assert!(text.contains("in test_rt_instr_susp_deep_serial, method warm: CPU 0.0"));
}

/// If another CPU stays awake, the scenario is still paired with that of the same method.
#[test]
fn scenario_with_another_helper_is_paired_by_method() {
    let mut old = suite();
    let mut warm = old.run.scenarios[0].clone();
    warm.method = Method::Warm;
    old.run.scenarios.insert(0, warm);
    let mut new = suite();
    new.run.scenarios[0].helper = Some(CpuIndex::new(3));
    let comparison = try_compare(&new, &old, "wakes,scenarios").expect("comparable");
    assert_eq!(comparison.refused.len(), 1, "{:?}", comparison.refused);
    assert_eq!(comparison.refused[0].method, Method::Warm);
}

/// Compares as the command `compare` does.
fn try_compare_by_verb(new: &LoggedRun, old: &LoggedRun) -> Result<Comparison> {
    let options = Options {
        shows_pmf_cost: true,
        ..Options::default()
    };
    Ok(compare(slice::from_ref(new), old, &options)?.remove(0))
}

/// Returns a run with PMF, and one without it whose wake-ups take half as long.
fn with_and_without_pmf() -> (LoggedRun, LoggedRun) {
    let mut new = suite();
    for cell in new
        .run
        .scenarios
        .iter_mut()
        .flat_map(|scenario| &mut scenario.cells)
    {
        set_summary(cell, Metric::Wake, 500, &[500, 500]);
    }
    let mut old = callers_times(&new);
    let facts = old.run.facts.as_mut().expect("a record");
    facts.pmf = Err(ReadError::NotImplemented);
    for cell in old
        .run
        .scenarios
        .iter_mut()
        .flat_map(|scenario| &mut scenario.cells)
    {
        set_summary(cell, Metric::Wake, 250, &[250, 250]);
    }
    (new, old)
}

/// Neither a slower run nor one whose scenarios are not compared passes as unchanged.
#[test]
fn difference_is_the_cost_of_pmf_if_only_the_run_has_it() {
    let (new, mut old) = with_and_without_pmf();
    edits::iterations(&mut old);
    let comparison = try_compare_by_verb(&new, &old).expect("comparable");
    assert!(comparison.is_pmf_cost);
    assert_eq!(comparison.regressions().count(), 0);
    found(
        &comparison,
        PMF_COST,
        &["PMF adds ", " (+100.0 %) to Wake."],
    );
    // Differences in the conditions are named as well.
    found(&comparison, CONDITIONS, &["requested number of samples"]);
    assert!(comparison.lacks()[0].contains("scenarios in the baseline not compared"));
    let queue = comparison
        .refused
        .iter()
        .find(|refusal| refusal.id.is_parallel());
    assert!(queue.is_some_and(|refusal| refusal.in_baseline));
    // No format presents it as a regression.
    let mut report: Report = vec![new.clone()].into();
    report.comparisons = vec![comparison];
    for (format, wanted, unwanted) in [
        ("text", "PMF adds ", "worse"),
        ("junit", "figures compared", "<failure"),
        ("json", "\"pmf_cost\": true", "\"worse\""),
    ] {
        let mut page = Vec::new();
        let exporter = by_name(format).expect("a format");
        exporter.write(&report, &mut page).expect("written");
        let text = String::from_utf8(page).expect("text");
        assert!(text.contains(wanted) && !text.contains(unwanted), "{text}");
    }
}

#[test]
fn difference_is_not_the_cost_of_pmf_if_the_firmware_differs_otherwise() {
    let (mut new, mut old) = with_and_without_pmf();
    edits::firmware(&mut new);
    edits::firmware(&mut old);
    let same = try_compare_by_verb(&new, &old).expect("the same firmware");
    assert!(same.is_pmf_cost);
    let mut other = old.clone();
    other.firmware[0].version = Some("v2.1.0(release):x".into());
    let refusal = try_compare_by_verb(&new, &other).expect_err("other firmware");
    assert!(
        refusal
            .to_string()
            .contains("The cost of PMF is not shown either, because the firmware is"),
        "{refusal}"
    );
    // Firmware that has lost PMF is not comparable, and `publish` never shows the cost.
    try_compare_by_verb(&old, &new).expect_err("without PMF");
    let error = try_compare(&new, &old, "").expect_err("not asked for");
    assert!(!error.to_string().contains("cost of PMF"), "{error}");
}
