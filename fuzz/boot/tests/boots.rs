//! Boots a few mutants of each class. None of them may produce a finding.

use std::process::Command;

#[test]
fn mutants_end_with_a_last_line_and_the_figures_of_the_unmutated_run() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boot-fuzz"));
    command.args(["--trees", "15", "--blocks", "8"]);
    let output = command.output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{errors}");
    assert!(said.contains("\nfindings: 0, in "), "{said}");
    let counts = said
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let counts: Vec<u32> = counts.filter_map(|count| count.parse().ok()).collect();
    assert_eq!(counts.iter().sum::<u32>(), 23, "{said}");
    // Only passing runs are compared with the unmutated run, so at least one must pass.
    assert!(counts[0] > 0, "{said}");
}
