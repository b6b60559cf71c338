//! `psci-report publish`: published figures are never lost by mistake.

use std::fs;
use std::process::Command;

use report::made_up_run;

use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, scratch_of_reports};
use crate::support::{outcome, psci_report};
use report::made_up_run::{edited_log, passed_log};

const OFF: &str = "test_rt_instr_cpu_off_serial.csv";

/// In the TF-A v2.15 files for N1SDP, different CPUs have the same label.
#[test]
fn run_with_own_labels_takes_the_place_of_rows_whose_labels_repeat() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write_tf_a("tf-a");
    let rows = |labels: [&str; 4]| {
        let figures = [
            "1660,9320,300",
            "13660,15980,180",
            "13940,16720,140",
            "14220,17080,140",
        ];
        let rows = labels.iter().zip(figures);
        rows.map(|(label, figures)| format!("{label},{figures}\n"))
            .collect::<String>()
    };
    let repeated = rows(["0,0", "1,0", "0,0", "1,0"]);
    let there = format!("tf-a/docs/perf/data/n1sdp/current/{OFF}");
    scratch.write(&there, &repeated);
    let own = rows(["0,0", "0,1", "1,0", "1,1"]).replace("1660,", "1760,");
    scratch.write(&format!("n1sdp/{OFF}"), &own);
    let three: Vec<&str> = own.lines().take(3).collect();
    scratch.write(&format!("three/n1sdp/{OFF}"), &three.join("\n"));
    let docs = "--platform n1sdp --no-page tf-a";
    let lost = "3 rows, but 4 in the baseline: comparing by rank requires the same number";
    scratch.refuses(&format!("publish three/n1sdp {docs}"), lost);
    scratch.assert_outcomes(&[(&format!("publish n1sdp {docs}"), 0, "--row-cpus MPIDR,...")]);
    let read = |name: &str| {
        String::from_utf8(scratch.read(name))
            .expect("UTF-8")
            .replace('"', "")
    };
    assert_eq!(read(&there), own.replace("1760,", "1760 (+6.02%),"));
    assert_eq!(read(&there.replace("current", "previous")), repeated);
}

#[test]
fn cut_baseline_takes_no_file_from_previous() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write_tf_a("tf-a");
    let docs = "--platform juno --no-page tf-a --previous";
    let new = "published/juno/v2.10";
    scratch.assert_outcomes(&[(&format!("publish {new} {docs} published/juno/v2.9"), 1, "")]);
    let published = scratch.path("published/juno/v2.9");
    let files = fs::read_dir(published).expect("a folder");
    for entry in files {
        let file = entry.expect("a file");
        if file.file_name().to_string_lossy().contains("deep") {
            continue;
        }
        let name = format!("cut/juno/{}", file.file_name().display());
        scratch.write(&name, &fs::read(file.path()).expect("a file"));
    }
    let lost = "the baseline has no figure for this file";
    scratch.refuses(&format!("publish {new} {docs} cut/juno"), lost);
}

#[test]
fn failed_write_names_its_path_and_leaves_no_folder() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write_tf_a("tf-a");
    let mut shell = Command::new("sh");
    // The limit leaves no space for even a single byte. The program ignores SIGXFSZ, so a write
    // returns an error instead of killing it.
    let line = "trap '' XFSZ; ulimit -f 0; \
        $X publish good.log --platform qemu --no-page tf-a";
    shell.args(["-c", line]).current_dir(scratch.path(""));
    let (code, stderr) = outcome(shell.env("X", psci_report(&[]).get_program()));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("tf-a/docs/perf/data/qemu/"), "{stderr}");
    assert!(!scratch.path("tf-a/docs").exists());
}

#[test]
fn folder_that_is_not_a_tf_a_source_tree_is_refused() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write("empty/Makefile", "");
    for (tree, why) in [
        ("typo/tf-a", "it has no Makefile"),
        ("published", "it has no Makefile"),
        (
            "empty",
            "its Makefile does not set VERSION_MAJOR and VERSION_MINOR",
        ),
    ] {
        let stderr = scratch.refused(&format!("publish good.log --platform qemu {tree}"));
        let expected = format!(
            "{tree}: not a TF-A source tree: {why}; pass TF-A's source tree after the logs\n"
        );
        assert!(stderr.ends_with(&expected), "{stderr}");
    }
    assert!(!scratch.path("typo").exists());
}

/// If a board has no board file, its tables do not identify it, so any platform is accepted.
#[test]
fn new_folder_for_figures_of_an_unknown_board_is_named() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write_tf_a("tf-a");
    scratch.write(&format!("mine/{OFF}"), "0,0,1660,9320,300\n");
    let note = "tf-a/docs/perf/data/nine: this folder is new, and mine does not identify its board";
    // Publishes one platform in a source tree, and then a second platform twice.
    for (platform, is_noted) in [("mine", false), ("nine", true), ("nine", false)] {
        let docs = format!("--platform {platform} --no-page tf-a");
        let stderr = scratch.ours(&format!("publish mine {docs}"));
        assert_eq!(stderr.contains(note), is_noted, "{stderr}");
    }
}

#[test]
fn page_keeps_its_line_ends_and_names_the_release_before() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write_tf_a("tf-a");
    let slower = edited_log(|run| {
        made_up_run::change_first_figures(run, |ticks| ticks * 2);
    });
    scratch.write(
        "slower.log",
        &slower.replace("v2.12.1(release)", "v2.13.0(release)"),
    );
    let docs = "--platform qemu tf-a";
    let name = "tf-a/docs/perf/psci-performance-qemu.rst";
    let page = || String::from_utf8(scratch.read(name)).expect("UTF-8");
    scratch.assert_outcomes(&[(&format!("publish good.log {docs}"), 0, "")]);
    assert!(!page().contains(":Previous release:"));
    scratch.write(name, &page().replace('\n', "\r\n"));
    // Only the page shows which firmware the existing figures were measured on.
    for _ in 0..2 {
        scratch.assert_outcomes(&[(&format!("publish slower.log {docs}"), 0, "")]);
        let page = page();
        assert_eq!(page.matches('\n').count(), page.matches("\r\n").count());
        let fields: Vec<&str> = page.lines().filter(|line| line.starts_with(":")).collect();
        let has = |field: &str, version: &str| {
            fields
                .iter()
                .any(|line| line.starts_with(field) && line.contains(version))
        };
        assert!(
            has(":Firmware:", "v2.13.0") && has(":Previous release:", "v2.12.1"),
            "{page}"
        );
    }
    let baseline = format!("publish good.log {docs} --previous slower.log");
    scratch.assert_outcomes(&[(&baseline, 0, "")]);
    assert!(page().contains(":Previous release: BL"), "{}", page());
}
