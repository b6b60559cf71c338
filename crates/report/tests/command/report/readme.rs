//! The README's picture and excerpt, and the log that they are from.

use expect_test::expect_file;

use super::{read, try_written, written};

const LOG: &str = include_str!("../../../../../docs/samples/six-tables.log");
const README: &str = include_str!("../../../../../README.md");

#[test]
fn picture_is_drawn_from_the_sample() {
    let picture = written(&read(LOG), "svg");
    expect_file!["../../../../../docs/samples/six-tables.svg"].assert_eq(&picture);
    assert!(README.contains("(docs/samples/six-tables.svg)"));
    let version = include_str!("../../../../../docs/samples/fitness.log");
    let error = try_written(&read(version), "svg").expect_err("no suspend");
    assert!(error.to_string().contains("--format html"), "{error}");
}

/// Left out lines are marked with an ellipsis.
#[test]
fn excerpt_is_from_the_sample() {
    let (_, rest) = README.split_once("```text\n").expect("an excerpt");
    let (excerpt, _) = rest.split_once("\n```").expect("its end");
    let mut lines = LOG.lines();
    let mut is_gap = true;
    for line in excerpt.lines() {
        if line == "..." {
            is_gap = true;
        } else if is_gap && !line.is_empty() {
            is_gap = false;
            assert!(lines.any(|found| found == line), "not in the log: {line}");
        } else if !is_gap {
            assert_eq!(lines.next(), Some(line));
        }
    }
    let verdict = "psci-bench: PASS (6 passed";
    assert!(excerpt.contains(verdict), "{excerpt}");
}
