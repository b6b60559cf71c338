//! Audits of trees that are malformed in every way: mutations of trees with idle states.

use std::path::Path;

use idle_audit::audit::{self, DeclaredBy, DeclaredSource, Judgement};
use idle_audit::export::{DtsSource, IdleFormat, IdleReport};
use test_support::mutations::Mutations;
use test_support::tree_text::{accepted, trees};

/// The total size of the mutated trees, in bytes.
const BYTES: usize = 1 << 22;

#[test]
fn audit_survives_mutated_trees() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("idle-audit.input");
    let mutations = Mutations::read(&data.join("seeds"), &data.join("dictionary"));
    mutations.run(check, BYTES, &kept);
}

fn check(data: &[u8]) {
    for tree in trees(data) {
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
    let audited = |source: &DeclaredSource| {
        let found = audit::audit(source, "", &[], 2.0);
        found.expect("without runs there is nothing to refuse")
    };
    let before = audited(&source);
    for (state, old) in source.declared.states.iter_mut().zip(&before.states) {
        old.changes.iter().for_each(|change| change.apply(state));
    }
    let after = audited(&source);
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
    let report = IdleReport {
        audits: vec![before],
        dts: Some(DtsSource {
            name: "tree.dts".to_owned(),
            text: text.to_owned(),
        }),
        ..IdleReport::default()
    };
    for format in IdleFormat::all() {
        // A format may refuse the report, but its error must have a message.
        accepted(format.write(&report, &mut Vec::new()));
    }
}
