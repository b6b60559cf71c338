//! `cargo xtask report --baseline`: input, output and exit codes. Findings in the
//! published figures: `src/report/analysis/compare/tests.rs`.

use crate::report::log;
use crate::support::scratch::Scratch;
use serde_json::Value;

fn scratch() -> Scratch {
    Scratch::of_reports(log())
}

#[test]
fn exit_codes() {
    let scratch = scratch();
    let log = log();
    scratch.write("cut.log", &log[..log.len() / 2]);
    scratch.write("twice.log", &log.repeat(2));
    scratch.write("bad/test_x.csv", "0,0,1\n0,1,x\n");
    let juno = "published/juno/v2.10 --baseline published/juno/v2.9";
    let same = "published/juno/v2.9 --baseline published/juno/v2.9";
    let itself = "good.log --baseline good.log";
    let twice = "good.log --baseline twice.log --baseline";
    let across = "methods, states, wakes, boards, scenarios or cpus";
    scratch.assert_reports(&[
        (itself, 0, ""),
        (juno, 1, "regressions against"),
        (juno, 1, "the greatest is Wakeup in"),
        // A tolerance of all but everything.
        (&format!("{juno} --rtol 99%"), 0, ""),
        (&format!("{same} --rtol 0"), 0, ""),
        (&format!("{twice}-run 2"), 0, ""),
        // A figure that cannot be relied on comes first, on either side.
        ("cut.log --baseline good.log", 3, ""),
        ("good.log --baseline cut.log", 3, "(run 1): incomplete"),
        ("good.log --baseline twice.log", 2, "--baseline-run N"),
        (&format!("{same} --rows-are 1"), 2, "is no MPIDR"),
        (&format!("{twice}-run 3"), 2, "the baseline has 2 runs"),
        (&format!("{itself} --rtol 2"), 2, "a share below 1"),
        (&format!("{itself} --across oceans"), 2, across),
        ("good.log --baseline bad/test_x.csv", 2, "is no number"),
        ("good.log --rtol 0.1", 2, "--baseline"),
        (&format!("{itself} --rows-are 0x0"), 2, "names 1 CPUs"),
        (&format!("{itself} -o good.log"), 2, "this is the file"),
        (
            "published/juno --baseline good.log",
            2,
            "no table in this folder",
        ),
    ]);
}

/// A run that has less than the baseline passes no gate, unless that is meant.
#[test]
fn what_is_missing_is_told_in_every_format() {
    let scratch = scratch();
    let name = "test_rt_instr_cpu_susp_serial.csv";
    let table = scratch.read(&format!("published/n1sdp/v2.9/{name}"));
    let table = String::from_utf8(table).expect("UTF-8");
    let (rows, _) = table.trim_end().rsplit_once('\n').expect("rows");
    scratch.write(&format!("new/{name}"), rows);
    let new = format!("report new/{name} --baseline published/n1sdp/v2.9");
    for format in ["text", "md", "rst", "html", "json"] {
        let (code, out, said) = scratch.called(&format!("{new} --format {format}"));
        assert_eq!(code, 3, "{format}: {said}");
        for part in [
            "5 scenarios of the baseline not compared (--across scenarios",
            "3 figures of 1 CPU of the baseline not compared (--across cpus",
        ] {
            assert!(said.contains(part), "{said}");
            assert!(out.contains(part), "{format}: {out}");
        }
        assert!(out.contains("the run does not have it"), "{format}");
        // JSON has CPUs by their places in a list of its own.
        match serde_json::from_str::<Value>(&out) {
            Ok(json) => {
                let comparison = &json["comparisons"][0];
                let lone = comparison["scenarios"][0]["unpaired"][1][0].as_u64();
                let cpu = &comparison["baseline_cpus"][lone.expect("a CPU") as usize];
                assert_eq!((&cpu["cluster"], &cpu["core"]), (&1.into(), &1.into()));
            }
            Err(_) => assert!(out.contains("1.1"), "{format}"),
        }
    }
    let (code, out, said) = scratch.called(&format!("{new} --across scenarios,cpus"));
    assert_eq!(code, 0, "{said}");
    let lone = "CPU 1.1 of the baseline, as the run does not have it";
    assert!(out.contains(lone), "{out}");
    // A part that only the run has is no gap.
    let line = format!("published/n1sdp/v2.9 --baseline new/{name}");
    scratch.assert_reports(&[(&line, 0, "")]);
}

#[test]
fn every_format_tells_it() {
    let scratch = scratch();
    let called = |baseline: &str, format: &str| {
        let new = "report published/juno/v2.13 --baseline published/juno";
        scratch.called(&format!("{new}/{baseline} --format {format}"))
    };
    let told = "CPUs that are not last man now pay a cluster-size cache flush";
    for format in ["text", "md", "rst", "json"] {
        let (code, out, said) = called("v2.12", format);
        assert_eq!(code, 1, "{said}");
        assert!(out.contains(told), "{format}: {out}");
    }
    let (_, out, _) = called("v2.12", "json");
    let json: Value = serde_json::from_str(&out).expect("JSON");
    let comparison = &json["comparisons"][0];
    assert_eq!(comparison["keyed"], "labels");
    let regressions = comparison["regressions"].as_u64();
    assert!(regressions.is_some_and(|count| count > 20));
    let finding = comparison["findings"].as_array().expect("findings").iter();
    let mut flush = finding.filter(|it| it["kind"] == "flush-of-cluster");
    let basis = &flush.next().expect("it is found")["basis"];
    let parts = basis.as_array().into_iter().flatten();
    let cpus = parts.filter_map(|it| it["cpus"][0].as_array());
    assert!(cpus.map(Vec::len).sum::<usize>() > 3, "{basis}");
    // What a CI server shows is what the exit code says.
    let (code, out, _) = called("v2.12", "junit");
    assert_eq!(code, 1);
    let failed = "<failure type=\"regression\" message=\"Powerdown of CPU ";
    assert!(out.contains(failed) && out.contains("ns after "), "{out}");
    let (_, out, _) = called("v2.13", "junit");
    let compared = out.contains("figures compared");
    assert!(compared && !out.contains("<failure"), "{out}");
    let (_, out, _) = called("v2.12", "text");
    let row = "1     1  Cache Flush    4.42   77.12  +1644.80 %  worse";
    assert!(out.contains(row), "{out}");
    // A report in the folder would be read as a table of it.
    let (code, _, said) = scratch.called("report published/juno/v2.13 -o published/juno/v2.13/new");
    assert!(code == 2 && said.contains("in the folder of LOG"), "{said}");
}

/// The tables as TF-A's documentation has them, with changes of CPUs against
/// themselves; and these files as a baseline in turn.
#[test]
fn tfa_docs() {
    let scratch = scratch();
    let (old, new) = ("published/juno/v2.9", "published/juno/v2.10");
    let data = "tf-a/docs/perf/data/juno";
    let docs = format!("{new} --format tfa-docs --platform juno -o tf-a --baseline");
    let read = |which: &str| {
        let name = format!("{data}/{which}/test_rt_instr_cpu_susp_parallel.csv");
        String::from_utf8(scratch.read(&name)).expect("UTF-8")
    };
    scratch.assert_reports(&[(&format!("{docs} {old}"), 1, "")]);
    let current = read("current");
    let row = "\"0\",\"0\",\"801040 (+20.94%)\",\"18660 (+22.60%)\",\"8220\"\n";
    assert!(current.contains(row), "{current}");
    assert!(read("previous").starts_with("\"0\",\"0\",\"662340\",\"15220\",\"8080\"\n"));

    // Either folder, one file, or the platform's, which means current; and the same again
    // changes nothing.
    let file = format!("{data}/current/test_rt_instr_cpu_susp_serial.csv --baseline {new}");
    for (line, expected) in [
        (format!("{old} --baseline {data}/previous"), 0),
        (format!("{new} --baseline {data} --rtol 0"), 0),
        (file, 3),
        (format!("{docs} {old}"), 1),
        (format!("{docs} {data}/current"), 0),
    ] {
        scratch.assert_reports(&[(&line, expected, "")]);
        assert_eq!(read("current"), current);
    }
}
