//! `psci-tf-a-pages publish`: published figures are never lost by mistake.

use std::fs;
use std::process::Command;

use report::analysis::compare::{Change, ChangeOutcome, ComparedScenario, Options, compare};
use report::log::tables;
use report::synthetic_run;
use report::synthetic_run::{TFTF_LOG, edited_log, passed_log};

use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, scratch_of_reports};
use crate::support::{outcome, tf_a_pages};

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
    let (code, stderr) = outcome(shell.env("X", tf_a_pages(&[]).get_program()));
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
        synthetic_run::change_first_figures(run, |ticks| ticks * 2);
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

/// The tables contain the same changes that a comparison reports.
#[test]
fn figures_and_changes_are_written_as_in_tf_as_documentation() {
    let scratch = Scratch::with_published_tables(PROGRAM);
    scratch.write_tf_a("tf-a");
    let (old, new) = ("published/juno/v2.9", "published/juno/v2.10");
    let data = "tf-a/docs/perf/data/juno";
    let docs = format!("publish {new} --platform juno --no-page tf-a --previous");
    let read = |folder: &str| {
        let name = format!("{data}/{folder}/test_rt_instr_cpu_susp_parallel.csv");
        String::from_utf8(scratch.read(&name)).expect("UTF-8")
    };
    scratch.assert_outcomes(&[(&format!("{docs} {old}"), 1, "")]);
    let current = read("current");
    // The CPUs arrive in a different order, so no change is shown for Powerdown.
    let row = "\"0\",\"0\",\"801040\",\"18660 (+22.60%)\",\"8220\"\n";
    assert!(current.contains(row), "{current}");
    let [before, after] = [old, new].map(|name| {
        let mut logged = tables::read(&scratch.path(name)).expect("tables");
        logged.source.input = name.to_owned();
        logged
    });
    let compared = compare(&[after], &before, &Options::default()).expect("one board");
    let changes = compared[0]
        .scenarios
        .iter()
        .flat_map(ComparedScenario::changes);
    let is_judged =
        |change: &&Change| matches!(change.outcome, ChangeOutcome::Better | ChangeOutcome::Worse);
    let judged = changes.filter(is_judged).count();
    let files = scratch
        .files()
        .into_iter()
        .filter(|file| file.0.starts_with(scratch.path(&format!("{data}/current"))))
        .map(|file| String::from_utf8(file.1).expect("UTF-8"));
    let shown: usize = files.map(|file| file.matches("%)").count()).sum();
    assert_eq!(shown, judged);
    assert!(read("previous").starts_with("\"0\",\"0\",\"662340\",\"15220\",\"8080\"\n"));

    // Publishing the same figures again changes nothing.
    for (line, expected) in [
        (format!("{docs} {old}"), 1),
        (format!("{docs} {data}/current"), 0),
    ] {
        scratch.assert_outcomes(&[(&line, expected, "")]);
        assert_eq!(read("current"), current);
    }
}

/// Rows with identical labels cannot be attributed to CPUs.
#[test]
fn tables_with_equal_labels_show_changes_by_rank() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write_tf_a("tf-a");
    let name = "test_rt_instr_cpu_off_serial.csv";
    let rows = [
        "0,0,3000,9000,400",
        "1,0,5000,8000,300",
        "0,0,2000,7000,200",
        "1,0,4000,6000,100",
    ];
    // The new release has the same figures in a different order, except that one is higher.
    let turned = [rows[2], rows[3], rows[0], "1,0,5500,8000,300"];
    for (folder, rows) in [("old", rows), ("new", turned)] {
        scratch.write(&format!("n1sdp/{folder}/{name}"), &rows.join("\n"));
    }
    let docs = "--platform n1sdp --no-page tf-a";
    let order = "in test_rt_instr_cpu_off_serial, figures are compared by rank, not by CPU";
    scratch.assert_outcomes(&[
        (
            &format!("publish n1sdp/old {docs}"),
            0,
            "current now has the figures from n1sdp/old",
        ),
        (&format!("publish n1sdp/new {docs}"), 0, order),
    ]);
    let read = || {
        let path = format!("tf-a/docs/perf/data/n1sdp/current/{name}");
        String::from_utf8(scratch.read(&path))
            .expect("UTF-8")
            .replace('"', "")
    };
    let again = [turned[2], turned[1], turned[0], turned[3]].join("\n");
    scratch.write(&format!("n1sdp/again/{name}"), &again);
    let nothing = "current already has these figures; nothing was changed";
    scratch.assert_outcomes(&[(&format!("publish n1sdp/again {docs}"), 0, nothing)]);
    let expected = turned.join("\n").replace("5500", "5500 (+10.00%)") + "\n";
    assert_eq!(read(), expected);
    let bytes = scratch.read(&format!("tf-a/docs/perf/data/n1sdp/previous/{name}"));
    let previous = String::from_utf8(bytes).expect("UTF-8").replace('"', "");
    assert_eq!(previous, rows.join("\n") + "\n");
    let (code, stderr) = scratch.outcome(&format!("publish n1sdp/new --previous n1sdp/old {docs}"));
    assert_eq!((code, read()), (1, expected), "{stderr}");
}

#[test]
fn publish_refuses_before_it_writes() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write_tf_a("out.d");
    let name = "test_rt_instr_cpu_off_serial.csv";
    for (name, text) in [
        ("tftf.log", TFTF_LOG.to_owned()),
        (
            "empty.log",
            passed_log().replace("<RT_INSTR", "").replace("@PB", ""),
        ),
        (name, "1,1,1,2,3\n".to_owned()),
    ] {
        scratch.write(name, &text);
    }
    let docs = "--no-page out.d --platform";
    let refusal = |rows: &[(&str, &str)]| {
        for (words, part) in rows {
            let (log, platform) = words.split_once(' ').expect("the log and the platform");
            scratch.refuses(&format!("publish {log} {docs} {platform}"), part);
        }
    };
    refusal(&[
        ("good.log juno", "from the \"QEMU virt\" board, whose name"),
        ("published/juno/v2.9 n1sdp", "from the \"juno\" board"),
        ("empty.log qemu", "no figures to publish"),
    ]);
    assert!(!scratch.path("out.d/docs").exists());
    let unknown = "all figures are from lines without a checksum and are not verified";
    scratch.assert_outcomes(&[
        (&format!("publish published/juno/v2.9 {docs} juno"), 0, ""),
        (&format!("publish tftf.log {docs} tc4"), 0, unknown),
        (
            &format!("publish good.log {docs} poplar --across boards"),
            0,
            "current now has the figures from good.log",
        ),
    ]);
    // The run has fewer figures than the existing tables.
    scratch.write("out.d/docs/perf/data/tc4/current/test_later.csv", "0,0,1\n");
    let part = format!("{name} juno");
    refusal(&[
        (
            "good.log tc4 --across boards",
            "test_later.csv: the run has no figure for this file",
        ),
        (&part, "the run has no figure for this file"),
        ("tftf.log juno", "the run has no figure for"),
    ]);
    scratch.write(
        &format!("out.d/docs/perf/data/rpi4/current/{name}"),
        "1,1,1,2,3\n0,0,1,2,3\n",
    );
    refusal(&[(
        &format!("{name} rpi4"),
        "the run has no figure for CPU 0.0 in this file",
    )]);
}

#[test]
fn logs_are_followed_by_a_source_tree() {
    let scratch = scratch_of_reports(passed_log());
    scratch.assert_outcomes(&[
        ("publish good.log --platform x", 2, "only one path"),
        (
            "publish good.log --platform x good.log",
            2,
            "not a directory; pass TF-A's source tree after the logs",
        ),
        ("publish good.log tree", 2, "--platform <NAME>"),
        (
            "publish good.log --platform x --row-cpus 0x0 tree",
            2,
            "add --previous",
        ),
    ]);
    assert!(!scratch.path("tree").exists());
}

/// A log without figures is never published.
#[test]
fn log_without_figures_is_refused_or_incomplete() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write_tf_a("tf-a");
    let frame = "NOTICE:  Booting trusted firmware test framework\n";
    let exit = "NOTICE:  Exiting tests.\n";
    let begin = "> Executing 'CPU suspend on all cores in sequence'\n";
    let last = passed_log().lines().last().expect("a last line").to_owned();
    for (name, text) in [
        ("frame", format!("{frame}{exit}")),
        ("last", last),
        ("verdict", format!("{frame}{begin}{exit}")),
        ("empty", String::new()),
    ] {
        scratch.write(name, &text);
        let (code, stderr) = scratch.outcome(&format!("publish {name} --platform x tf-a"));
        assert_eq!(code, 2, "{name}: {stderr}");
        assert!(!scratch.path("tf-a/docs").exists(), "{name}");
    }
}
