//! A comparison as a gate: refusals, gaps, and marks.

use run::model::{Confidence, Kind};

use super::support::{compared, found, sentences, try_compare, with_rows};
use crate::analysis::compare::basis_text;
use crate::analysis::made_up::{cells, edit, edited, suite};

/// Edits of the baseline, the option that passes over them, and the refusal.
const REFUSED: &str = "
    nothing||
    warm|methods|the method is tftf, and warm in the baseline: --across methods
    state|states|power_state is 0x00000002, and 0x00000007 in the baseline: --across states
    pattern|wakes|wake-up pattern is chain, and staggered in the baseline: --across wakes
    source|wakes|the wake-up source is timer, and helper in the baseline: --across wakes
    helper||helper 0.3 in the baseline: --across wakes
    board|boards|of a.log is \"QEMU virt\", and that of the baseline a.log \"Juno\": --across boards
    caller||the source of the figures is PMF, and the caller in the baseline
    lost row||4 rows against 3: figures that are compared by
    no clock||frequency is known
    no scenarios||nothing of a.log can be compared
    MPIDRs||no CPU in common, by MPIDR";

#[test]
fn another_question_is_refused_unless_an_option_passes_over_it() {
    for row in cells(REFUSED) {
        let [what, across, expected] = row[..] else {
            panic!("{row:?}")
        };
        let refused = |across| match try_compare(&suite(), &edited(what), across) {
            Ok(it) => it.refused.iter().map(|it| it.why.clone()).collect(),
            Err(error) => format!("{error:#}"),
        };
        let text: String = refused("");
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.is_empty(), expected.is_empty(), "{text}");
        assert!(across.is_empty() || refused(across).is_empty(), "{what}");
    }
    // The option does not make the numbers of rows equal.
    let refused = try_compare(&suite(), &edited("helper"), "wakes").expect("the others");
    assert!(refused.refused[0].why.starts_with("4 rows against 3"));
}

#[test]
fn differences_that_are_passed_over_are_named() {
    let mut old = edited("board");
    for what in ["warm", "iterations", "firmware"] {
        edit(&mut old, what);
    }
    let mut new = edited("firmware");
    new.firmware[0].version = Some("v2.2".into());
    let comparison = try_compare(&new, &old, "boards,methods").expect("comparable");
    let expected = [
        "By its own lines, which have no checksum, the firmware is v2.2, and was \
         v2.1.1(release):x.",
        "Besides figures: the board is QEMU virt, and was Juno; the count of samples asked for is 2, \
         and was 7.",
        "Suspend to deepest power level on all cores in sequence, method tftf: the method is tftf, \
         and was warm, which is passed over as was asked for: it may have made a change.",
    ];
    assert_eq!(sentences(&comparison, Kind::Conditions), expected);
    let first = found(&comparison, Kind::Conditions, &["By its own lines"]);
    assert_eq!(first.finding.confidence, Confidence::Lines);
}

/// Edits of the run and of the baseline, clauses on gaps, the options that pass over
/// them, and the sentence on rows up to its scenarios.
const GAPS: &str = "
    nothing|nothing|||
    three scenarios|nothing|3 scenarios of the baseline|scenarios|
    nothing|three scenarios|||
    no rows|nothing|1 scenario of the baseline|scenarios|
    nothing|warm, too|1 scenario of the baseline|scenarios|
    two CPUs|nothing|3 scenarios; 18 figures of 2 CPUs of the baseline|scenarios,cpus\
        |Not compared: Powerdown, Wakeup, Cache Flush of CPU 0.2, 0.3 of the baseline, as
    nothing|two CPUs|3 scenarios|scenarios\
        |Not compared: CPU 0.2, 0.3 of the run, as the baseline has no row of it
    no powerdown|nothing|1 figure of 1 CPU|cpus\
        |Not compared: Powerdown of CPU 0.3 of the baseline, as the run does not have it";

#[test]
fn parts_of_the_baseline_that_are_not_compared_are_named() {
    for row in cells(GAPS) {
        let [new, old, gaps, across, lone] = row[..] else {
            panic!("{row:?}")
        };
        let (new, old) = (edited(new), edited(old));
        let comparison = compared(&new, &old);
        let lacks = comparison.lacks();
        let gaps: Vec<&str> = gaps.split("; ").filter(|it| !it.is_empty()).collect();
        let mut pairs = lacks.iter().zip(&gaps);
        let are_same = pairs.all(|it| it.0.starts_with(it.1)) && lacks.len() == gaps.len();
        assert!(are_same, "{lacks:?}");
        let passed = try_compare(&new, &old, across);
        assert!(passed.is_ok_and(|it| it.is_complete()), "{row:?}");
        let text = comparison.lone_rows(&new.run).join("");
        assert!(text.starts_with(lone), "{text}");
        assert_eq!(text.is_empty(), lone.is_empty());
        assert_eq!(comparison.regressions().count(), 0);
    }
    let lone = compared(&edited("two CPUs"), &suite()).lone_rows(&suite().run);
    let tags = "in test_rt_instr_susp_deep_serial, test_rt_instr_cpu_susp_serial, \
                test_rt_instr_cpu_off_serial.";
    assert!(lone[0].ends_with(tags), "{lone:?}");
    let lack = "the run does not have it";
    for (new, old, why) in [
        ("three scenarios", "nothing", lack.to_owned()),
        ("nothing", "warm, too", format!("{lack} by this method")),
    ] {
        assert_eq!(compared(&edited(new), &edited(old)).refused[0].why, why);
    }
    // A name that no CPU of the run has.
    let named = with_rows(&suite(), &edited("no MPIDR"), "0.0,0.1,0.2,9.9").expect("comparable");
    let lone = named.lone_rows(&suite().run).join(" ");
    assert!(lone.contains("Cache Flush of CPU 9.9 of the baseline") && !named.is_complete());
}

#[test]
fn figures_of_lines_are_marked_and_said_once() {
    let mut new = edited("line");
    new.integrity.records = None;
    let comparison = compared(&new, &suite());
    let mut changes = comparison.scenarios[1].by_cpu.iter();
    assert!(changes.all(|it| it.new.is_doubtful && !it.old.is_doubtful));
    assert_eq!(sentences(&comparison, Kind::Changed).len(), 1);
    let part = "Of the run there are figures alone";
    found(&comparison, Kind::NotTold, &[part]);
}

#[test]
fn methods_are_named_if_there_are_several() {
    let old = edited("warm, too");
    let mut new = old.clone();
    for row in &mut new.run.scenarios[6].rows {
        row.figures.powerdown = row.figures.powerdown.map(|it| it * 2);
    }
    let comparison = compared(&new, &old);
    let name = "Suspend to deepest power level on all cores in sequence, method warm: Powerdown";
    let changed = found(&comparison, Kind::Changed, &[name]);
    let text = basis_text((&new.run, &old.run), &changed.basis);
    assert!(text.contains("in test_rt_instr_susp_deep_serial, method warm: CPU 0.0"));
}
