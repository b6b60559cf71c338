//! Device trees supplied by the user, which the tool checks and modifies.

use crate::input::{accepted, trees};
use boards::device_tree::machine;
use device_tree::adapt;
use hardware::board::Board;
use report::analysis::idle_audit::{self, DeclaredBy, DeclaredSource, Judgement};
use report::export::{self, DtsSource, Report, ReportPart};
use runner::build::image::Emergency;

const BOOTARGS: &str = "iterations=3 only=cpu_off_serial";

/// Checks one input.
pub fn check(data: &[u8]) {
    for tree in trees(data) {
        check_tree(&tree);
        check_idle_states(&tree, &String::from_utf8_lossy(data));
    }
}

/// The suggested values must correct everything that values can correct. `text` stands in for the
/// tree's source.
fn check_idle_states(blob: &[u8], text: &str) {
    let source = DeclaredSource::of_any_tree("tree", DeclaredBy::Tree, blob);
    let Some(Some(mut source)) = accepted(source) else {
        return;
    };
    let audit = |source: &DeclaredSource| {
        let found = idle_audit::audit(source, "", &[], 2.0);
        found.expect("without runs there is nothing to refuse")
    };
    let before = audit(&source);
    for (state, audited) in source.declared.states.iter_mut().zip(&before.states) {
        audited
            .changes
            .iter()
            .for_each(|change| change.apply(state));
    }
    let after = audit(&source);
    // Without measurements there is no value for a missing property.
    let calls_for_change = |judgement: &Judgement| {
        judgement.verdict.calls_for_change()
            && !judgement.is_uncorrectable()
            && judgement.rule != "required"
    };
    let rest = after
        .judgements()
        .find(|(_, judgement)| calls_for_change(judgement));
    assert!(rest.is_none(), "{rest:?}");
    let report = Report {
        idle_audits: vec![before],
        dts: Some(DtsSource {
            name: "tree.dts".to_owned(),
            text: text.to_owned(),
        }),
        ..Report::default()
    };
    for format in export::able(ReportPart::IdleAudits) {
        accepted(format.write(&report, &mut Vec::new()));
    }
}

fn check_tree(blob: &[u8]) {
    let kept = match adapt(blob, None, None) {
        Ok(kept) => kept,
        Err(error) => {
            assert!(!format!("{error:#}").is_empty());
            assert!(adapt(blob, Some(BOOTARGS), None).is_err());
            assert!(machine(blob).is_err());
            let _ = Emergency::of_tree(blob);
            return;
        }
    };
    assert!(blob.starts_with(&kept));
    let emergency = Emergency::of_tree(&kept);
    assert!(emergency.uart.is_some() && emergency.conduit.is_some());
    let Some(changed) = accepted(adapt(blob, Some(BOOTARGS), None)) else {
        return;
    };
    assert_eq!(emergency, Emergency::of_tree(&changed));
    assert_eq!(describe(&kept), describe(&changed));
    // The machine derived from a tree must not depend on the boot arguments.
    match (machine(&kept), machine(&changed)) {
        (Ok(kept), Ok(changed)) => {
            assert_eq!(kept, changed);
            let (gic, cpus) = changed;
            assert!(gic.is_none_or(|gic| matches!(gic.number(), 2 | 3)) && cpus > 0);
        }
        (Err(kept), Err(changed)) => {
            assert_eq!(format!("{kept:#}"), format!("{changed:#}"));
        }
        (kept, changed) => panic!("{kept:?} against {changed:?}"),
    }
}

/// Returns everything that the payload reads from a tree, except the boot arguments.
fn describe(blob: &[u8]) -> String {
    let board = Board::read(blob).expect("the tree was accepted");
    let firmware = (board.model, board.uart, board.conduit, &board.idle_states);
    let timers = (&board.timers, &board.timer_frame);
    let devices = (&board.gic, timers, &board.watchdog);
    let memory = (&board.memory, &board.reserved);
    let cpus = board.cpus(false);
    format!("{firmware:?} {devices:?} {memory:?} {cpus:?}")
}
