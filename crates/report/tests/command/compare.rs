//! `psci-report compare`: input, output and exit codes.
//! The findings for published figures are tested in
//! `crates/report/src/analysis/compare/tests/published.rs`.

use report::synthetic_run::passed_log;
use serde_json::Value;

use crate::support::scratch::{Scratch, files};
use crate::support::scratch_of_reports;

fn scratch() -> Scratch {
    scratch_of_reports(passed_log())
}

#[test]
fn exit_codes() {
    let scratch = scratch();
    let log = passed_log();
    scratch.write("cut.log", &log[..log.len() / 2]);
    scratch.write("twice.log", &log.repeat(2));
    scratch.write("bad/test_x.csv", "0,0,1\n0,1,x\n");
    let name = "test_rt_instr_cpu_susp_serial.csv";
    let table = scratch.read(&format!("published/juno/v2.9/{name}"));
    scratch.write(&format!("own/{name}"), &table);
    scratch.write(&format!("narrow/{name}"), "0,0,1\n");
    let other = format!("compare own/{name} good.log");
    let juno = "compare published/juno/v2.9 published/juno/v2.10";
    let same = "compare published/juno/v2.9 published/juno/v2.9";
    let itself = "compare good.log good.log";
    let twice = "compare twice.log good.log --old";
    let across = "expected one of methods, states, wakes, boards, clocks";
    let fraction = "a fraction below 1";
    let unknown = format!("but \"not known\" in the baseline own/{name}; --across boards");
    scratch.assert_outcomes(&[
        (itself, 0, ""),
        (juno, 1, "regressions against"),
        (juno, 1, "the largest is Wakeup in"),
        // A tolerance that accepts almost any change.
        (&format!("{juno} --tolerance 99%"), 0, ""),
        (&format!("{same} --tolerance 0"), 0, ""),
        (&format!("{twice}-run 2"), 0, ""),
        // If the figures on either side are unreliable, the exit code shows this rather than a
        // regression.
        ("compare good.log cut.log", 3, ""),
        ("compare cut.log good.log", 3, "(run 1): incomplete"),
        ("compare twice.log good.log", 2, "--old-run N"),
        (&format!("{same} --row-cpus 1"), 2, "is neither an MPIDR"),
        (&format!("{twice}-run 3"), 2, "the baseline has 2 runs"),
        (&format!("{itself} --tolerance 2"), 2, fraction),
        (&format!("{itself} --tolerance -1"), 2, fraction),
        (&format!("{itself} --tolerance=-1e-9"), 2, fraction),
        (&format!("{itself} --tolerance NaN"), 2, fraction),
        (&format!("{itself} --tolerance inf"), 2, fraction),
        // A different or unknown board.
        (
            "compare published/juno/v2.9 good.log",
            2,
            "is \"QEMU virt\" in good.log, but \"platform juno\" in the baseline \
             published/juno/v2.9; --across boards",
        ),
        (
            "compare published/juno/v2.9 published/n1sdp/v2.9",
            2,
            "is \"platform n1sdp\" in published/n1sdp/v2.9",
        ),
        (&other, 2, &unknown),
        (&format!("{other} --across boards"), 3, "not compared"),
        (&format!("report narrow/{name}"), 2, "but no latency"),
        (&format!("{itself} --across oceans"), 2, across),
        ("compare bad/test_x.csv good.log", 2, "a valid latency"),
        ("compare good.log", 2, "<NEW>..."),
        (&format!("{itself} --row-cpus 0x0"), 2, "lists 1 CPU, but"),
        (&format!("{itself} -o good.log"), 2, "the input file"),
        ("compare good.log published/juno", 2, "contains no tables"),
    ]);
}

/// Compares the Juno figures for v2.13 with those for another release.
fn juno(scratch: &Scratch, baseline: &str, format: &str) -> (i32, String, String) {
    let new = "published/juno/v2.13";
    scratch.called(&format!(
        "compare published/juno/{baseline} {new} --format {format}"
    ))
}

#[test]
fn json_has_changes_and_what_findings_rest_on() {
    let (_, out, _) = juno(&scratch(), "v2.12", "json");
    let json: Value = serde_json::from_str(&out).expect("JSON");
    let comparison = &json["comparisons"][0];
    assert_eq!(comparison["keyed"], "labels");
    let scenarios = comparison["scenarios"].as_array().expect("scenarios");
    let is_sorted =
        |scenario: &&Value| scenario["judged"] == "order" && scenario["by_cpu"][0].is_object();
    let sorted = scenarios.iter().find(is_sorted).expect("a parallel one");
    let [cpu, order] = ["by_cpu", "by_order"].map(|list| &sorted[list][0]["outcome"]);
    assert!(cpu.is_null() && order.is_string(), "{sorted}");
    let regressions = comparison["regressions"].as_u64();
    assert!(regressions.is_some_and(|count| count > 20));
    let finding = comparison["findings"].as_array().expect("findings").iter();
    let mut flush = finding.filter(|finding| finding["kind"] == "flush-of-cluster");
    let basis = &flush.next().expect("it is found")["basis"];
    let parts = basis.as_array().into_iter().flatten();
    let cpus = |key| parts.clone().filter_map(move |part| part[key].as_array());
    for key in ["cpus", "baseline_cpus"] {
        assert!(cpus(key).map(Vec::len).sum::<usize>() > 3, "{basis}");
    }
}

#[test]
fn every_format_has_findings_and_gaps() {
    let scratch = scratch();
    let compare = |baseline: &str, format: &str| juno(&scratch, baseline, format);
    let flush = "CPUs other than the last man now pay for flushing the whole cluster";
    let gaps = [
        "5 scenarios in the baseline not compared (--allow-missing scenarios",
        "3 figures for 1 CPU in the baseline not compared (--allow-missing cpus",
        "the run does not have this scenario",
    ];
    let name = "test_rt_instr_cpu_susp_serial.csv";
    let bytes = scratch.read(&format!("published/n1sdp/v2.9/{name}"));
    let table = String::from_utf8(bytes).expect("UTF-8");
    let (rows, _) = table.trim_end().rsplit_once('\n').expect("rows");
    scratch.write(&format!("n1sdp/{name}"), rows);
    let less = format!("compare published/n1sdp/v2.9 n1sdp/{name}");
    for format in ["text --full", "md", "rst --full", "html", "json"] {
        let (code, out, stderr) = compare("v2.12", format);
        assert_eq!(code, 1, "{stderr}");
        assert!(out.contains(flush), "{format}: {out}");
        let (code, out, stderr) = scratch.called(&format!("{less} --format {format}"));
        assert_eq!(code, 3, "{format}: {stderr}");
        for part in gaps {
            assert!(out.contains(part), "{format}: {out}");
        }
    }
    let lone = "CPU 1.1, which only the baseline has";
    let (_, out, _) = scratch.called(&format!("{less} --full"));
    assert!(out.contains(lone), "{out}");
    // Parts that exist only in the run do not count as gaps.
    let more = format!("compare n1sdp/{name} published/n1sdp/v2.9");
    let passed = format!("{less} --allow-missing scenarios,cpus");
    scratch.assert_outcomes(&[(&passed, 0, ""), (&more, 0, "")]);
    // The JUnit file must contain the reason for the exit code, so that CI servers show it.
    let (code, out, _) = compare("v2.12", "junit");
    assert_eq!(code, 1);
    let failed = "<failure type=\"regression\" message=\"Powerdown on CPU ";
    assert!(
        out.contains(failed) && out.contains(" ns, previously "),
        "{out}"
    );
    let (_, out, _) = compare("v2.13", "junit");
    let compared = out.contains("figures compared");
    assert!(compared && !out.contains("<failure"), "{out}");
    let (_, out, _) = compare("v2.12", "text --full");
    let row = "1     1  Cache Flush    4.42   77.12  +1644.80 %  worse";
    assert!(out.contains(row), "{out}");
    let (_, unjudged) = out.split_once("by CPU, not judged").expect("a table");
    let heading = unjudged.lines().nth(1).expect("a heading");
    assert!(heading.ends_with("Change"), "{heading}");
    // A report written to the folder would later be read as one of its tables.
    let (code, _, stderr) =
        scratch.called("report published/juno/v2.13 -o published/juno/v2.13/new");
    assert!(
        code == 2 && stderr.contains("in the input folder for LOG"),
        "{stderr}"
    );
}

#[test]
fn colors_are_in_a_pipe_on_request_and_never_in_a_file() {
    let scratch = scratch();
    let (_, plain, _) = juno(&scratch, "v2.12", "text");
    let (_, colored, stderr) = juno(&scratch, "v2.12", "text --color always");
    let red = "\x1b[31m";
    assert!(colored.contains(&format!("{red}50 worse, ")), "{colored}");
    assert!(stderr.contains(red), "{stderr}");
    let mut stripped = colored;
    for code in [red, "\x1b[32m", "\x1b[33m", "\x1b[0m"] {
        stripped = stripped.replace(code, "");
    }
    assert_eq!(stripped, plain);
    juno(&scratch, "v2.12", "text --color always -o file");
    assert_eq!(scratch.read("file"), plain.as_bytes());
}

/// A reader who sees only the first screen sees the result, and one who wants all figures gets them.
#[test]
fn result_comes_first_and_fits_a_screen() {
    let scratch = scratch();
    let (_, out, _) = juno(&scratch, "v2.12", "text");
    let result = "50 worse, 36 better, 10 unchanged of 96 figures";
    let table = "susp_deep_parallel     Powerdown    worse 6/6   384.98  481.14  +24.98\n";
    assert!(out.contains(result) && out.contains(table), "{out}");
    // Sentences are wrapped on a terminal.
    let rows = || out.lines().filter(|line| !line.starts_with("  "));
    assert!(rows().all(|line| line.chars().count() <= 80), "{out}");
    assert!(out.lines().count() < 36, "{out}");
    let unchanged = "1   Wakeup";
    assert!(!out.contains(unchanged), "{out}");
    for (format, parts) in [
        (
            "md",
            ["**50 worse", "| Powerdown", "<details>", "+1644.80 %"],
        ),
        (
            "html",
            ["headline bad\">50 worse", "worse 6/6", "<svg", "folded\">"],
        ),
    ] {
        let (_, out, _) = juno(&scratch, "v2.12", format);
        let places = parts.map(|part| out.find(part).unwrap_or_else(|| panic!("{part}: {out}")));
        assert!(places.is_sorted(), "{format}: {places:?}");
    }
    let rows_of = |format: &str| {
        let (_, out, _) = juno(&scratch, "v2.12", format);
        out.matches("| same").count()
    };
    // The table of figures has a word, not a row for each CPU.
    assert_eq!((rows_of("md"), rows_of("md --full")), (0, 10));
    let (_, out, _) = juno(&scratch, "v2.13", "text");
    assert!(out.contains("0 worse, 0 better, 96 unchanged"), "{out}");
}

/// Equal figures say nothing about runs that failed, or that the logs do not contain completely.
#[test]
fn runs_that_failed_or_are_incomplete_are_named_with_the_result() {
    let scratch = scratch();
    let log = passed_log();
    scratch.write("cut.log", &log[..log.len() / 2]);
    for (line, parts) in [
        (
            "compare cut.log good.log",
            ["; incomplete", "warning: the baseline: "],
        ),
        (
            "compare good.log cut.log",
            ["; incomplete", "warning: the run: "],
        ),
    ] {
        let (code, out, stderr) = scratch.called(line);
        assert_eq!(code, 3, "{stderr}");
        for part in parts {
            assert!(out.contains(part), "{line}: {part}: {out}");
        }
    }
    let (_, out, _) = scratch.called("compare cut.log good.log --format json");
    let json: Value = serde_json::from_str(&out).expect("JSON");
    let lacks = json["comparisons"][0]["baseline_lacks"].as_array();
    assert!(lacks.is_some_and(|lacks| !lacks.is_empty()), "{out}");
    let (_, out, _) = scratch.called("compare cut.log good.log --format junit");
    assert!(out.contains("<error type=\"incomplete\""), "{out}");
    let (_, out, _) = scratch.called("report cut.log");
    assert!(
        out.contains("\nINCOMPLETE log: ") || out.contains("incomplete"),
        "{out}"
    );
}

#[test]
fn escape_sequences_in_a_name_do_not_reach_the_terminal() {
    let scratch = scratch();
    let name = "a\u{1b}[31mb.log";
    scratch.write(name, passed_log());
    for line in [
        format!("compare {name} good.log"),
        format!("report {name} --format csv"),
        format!("report absent{name}"),
    ] {
        let (_, out, stderr) = scratch.called(&line);
        let all = out + &stderr;
        assert!(
            all.contains("a.[31mb.log") && !all.contains('\u{1b}'),
            "{all}"
        );
    }
}

/// A path may refer to the folder of a release, a single file, or the platform folder, whose
/// `current` folder is used.
#[test]
fn tables_in_tf_as_documentation_are_read() {
    let scratch = scratch();
    let data = "docs/perf/data/juno";
    for (release, folder) in [("v2.9", "previous"), ("v2.10", "current")] {
        let tables = scratch.path(&format!("published/juno/{release}"));
        for (path, table) in files(&tables) {
            let name = path.file_name().expect("a name").display();
            scratch.write(&format!("{data}/{folder}/{name}"), &table);
        }
    }
    let (old, new) = ("published/juno/v2.9", "published/juno/v2.10");
    let file = format!("compare {new} {data}/current/test_rt_instr_cpu_susp_serial.csv");
    for (line, expected) in [
        (format!("compare {data}/previous {old}"), 0),
        (format!("compare {data} {new} --tolerance 0"), 0),
        (file, 3),
    ] {
        scratch.assert_outcomes(&[(&line, expected, "")]);
    }
}

/// Rows with identical labels cannot be attributed to CPUs.
#[test]
fn tables_with_equal_labels_are_compared_by_rank() {
    let scratch = scratch();
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
    let both = "compare n1sdp/old n1sdp/new";
    scratch.assert_outcomes(&[(
        both,
        1,
        "1 regression against n1sdp/old; the largest is Powerdown",
    )]);
    let (code, out, stderr) = scratch.called(&format!("{both} --row-cpus 0x0,0x1,0x2,0x3"));
    let is_named = !out.contains("Thread") && !out.contains("--row-cpus");
    assert!(code == 1 && is_named, "{stderr}{out}");
}
