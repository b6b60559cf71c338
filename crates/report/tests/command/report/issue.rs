//! The Markdown report on a run in which checks failed: the text of an issue.

use super::{edited, read, written};
use crate::support::assert_report;

const FITNESS: &str = include_str!("../../../../../docs/samples/fitness.log");

#[test]
fn failed_checks_are_an_issue_and_nothing_more() {
    let report = read(FITNESS);
    assert_report("issue.md", &written(&report, "md"));
    // With a run in which no check failed, it is an ordinary report.
    let mut mixed = read(FITNESS);
    mixed.runs.extend(edited(|_| {}).runs);
    assert!(written(&mixed, "md").starts_with("# PSCI latencies"));
}
