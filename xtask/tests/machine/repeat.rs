//! `qemu --repeat`: several runs of one prepared machine.

use std::fs;

use crate::support::PROGRAM;
use crate::support::scratch::Scratch;

#[test]
fn runs_that_pass_leave_only_the_summary() {
    let scratch = Scratch::new(PROGRAM);
    let (code, out, stderr) =
        scratch.called("qemu --repeat 2 --keep logs --icount --smp 2 --args iterations=1");
    assert_eq!(code, 0, "{stderr}");
    let is_passed = |number: u32| out.contains(&format!("run {number}: PASS after "));
    assert!(is_passed(1) && is_passed(2) && !is_passed(3), "{out}");
    assert!(out.contains("2 runs: 2 PASS, 0 FAIL"), "{out}");
    let kept: Vec<_> = fs::read_dir(scratch.path("logs"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(kept, ["summary.txt"]);
    let summary = String::from_utf8(scratch.read("logs/summary.txt")).expect("UTF-8");
    assert_eq!(summary, out);
}
