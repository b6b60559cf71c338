//! `psci-report compare`: input, output and exit codes. `publish` compares figures in the same way.
//! The findings for published figures are tested in
//! `crates/report/src/analysis/compare/tests/published.rs`.

use serde_json::Value;

use crate::report::formats::TFTF;
use crate::support::scratch::Scratch;
use crate::support::scratch_of_reports;
use report::made_up_run::passed_log;

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
    let across = "expected one of methods, states, wakes, boards";
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
    for format in ["text", "md", "rst", "html", "json"] {
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
    let (_, out, _) = scratch.called(&less);
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
    let (_, out, _) = compare("v2.12", "text");
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

/// Writes the tables in the format used in the TF-A documentation, with the same changes that other
/// formats report, then uses these files as a baseline.
#[test]
fn publish() {
    let scratch = scratch();
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
    let (_, out, _) = scratch.called(&format!("compare {old} {new}"));
    let is_judged = |line: &&str| line.ends_with("  worse") || line.ends_with("  better");
    let files = scratch
        .files()
        .into_iter()
        .filter(|file| file.0.starts_with(scratch.path(&format!("{data}/current"))))
        .map(|file| String::from_utf8(file.1).expect("UTF-8"));
    let shown: usize = files.map(|file| file.matches("%)").count()).sum();
    assert_eq!(shown, out.lines().filter(is_judged).count(), "{out}");
    assert!(read("previous").starts_with("\"0\",\"0\",\"662340\",\"15220\",\"8080\"\n"));

    // A path may refer to either folder, a single file, or the platform folder. For the platform
    // folder, `current` is used. Publishing the same figures again changes nothing.
    let file = format!("compare {new} {data}/current/test_rt_instr_cpu_susp_serial.csv");
    for (line, expected) in [
        (format!("compare {data}/previous {old}"), 0),
        (format!("compare {data} {new} --tolerance 0"), 0),
        (file, 3),
        (format!("{docs} {old}"), 1),
        (format!("{docs} {data}/current"), 0),
    ] {
        scratch.assert_outcomes(&[(&line, expected, "")]);
        assert_eq!(read("current"), current);
    }
}

/// Rows with identical labels cannot be attributed to CPUs.
#[test]
fn tables_with_equal_labels() {
    let scratch = scratch();
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
    let both = "compare n1sdp/old n1sdp/new";
    let order = "in test_rt_instr_cpu_off_serial, figures are compared by rank, not by CPU";
    scratch.assert_outcomes(&[
        (
            &format!("publish n1sdp/old {docs}"),
            0,
            "current now has the figures from n1sdp/old",
        ),
        (&format!("publish n1sdp/new {docs}"), 0, order),
        (
            both,
            1,
            "1 regression against n1sdp/old; the largest is Powerdown",
        ),
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
    let (code, out, stderr) = scratch.called(&format!("{both} --row-cpus 0x0,0x1,0x2,0x3"));
    let is_named = !out.contains("Thread") && !out.contains("--row-cpus");
    assert!(code == 1 && is_named, "{stderr}{out}");
}

#[test]
fn publish_refuses_before_it_writes() {
    let scratch = scratch();
    scratch.write_tf_a("out.d");
    let name = "test_rt_instr_cpu_off_serial.csv";
    for (name, text) in [
        ("tftf.log", TFTF.to_owned()),
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
