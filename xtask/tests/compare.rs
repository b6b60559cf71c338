//! `cargo xtask report --baseline`: input, output and exit codes. Findings in the
//! published figures: `src/report/analysis/compare/tests.rs`.

#[path = "support/made_up_run.rs"]
mod made_up_run;
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use psci_bench::plan::Records;
use support::{outcome, xtask};

fn published(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/published");
    root.join(name).to_str().expect("UTF-8").to_owned()
}

/// Exit code, stdout and stderr.
fn report(arguments: &[&str]) -> (i32, String, String) {
    let output = xtask(&[&["report"], arguments].concat())
        .output()
        .expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (out, said) = (text(output.stdout), text(output.stderr));
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code().expect("not killed"), out, said)
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(&path, bytes).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }
}

#[test]
fn exit_codes() {
    let files = Files::new();
    let log = made_up_run::log(&made_up_run::run(), Records::Once);
    let good = files.write("good.log", log.as_bytes());
    let cut = files.write("cut.log", &log.as_bytes()[..log.len() / 2]);
    let twice = files.write("twice.log", log.repeat(2).as_bytes());
    let (old, new) = (published("juno/v2.9"), published("juno/v2.10"));

    assert_eq!(report(&[&good, "--baseline", &good]).0, 0);
    let (code, _, said) = report(&[&new, "--baseline", &old]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("regressions against") && said.contains("the greatest is Wakeup in"),
        "{said}"
    );
    // A tolerance of all but everything.
    assert_eq!(report(&[&new, "--baseline", &old, "--rtol", "99%"]).0, 0);
    assert_eq!(report(&[&old, "--baseline", &old, "--rtol", "0"]).0, 0);
    assert_eq!(report(&[&twice, "--baseline", &good]).0, 0);
    assert_eq!(
        report(&[&good, "--baseline", &twice, "--baseline-run", "2"]).0,
        0
    );
    // What can not be relied on comes first, on either side.
    let (code, _, said) = report(&[&cut, "--baseline", &good]);
    assert_eq!(code, 3, "{said}");
    let (code, _, said) = report(&[&good, "--baseline", &cut]);
    assert_eq!(
        (code, said.contains("cut.log (run 1): incomplete")),
        (3, true),
        "{said}"
    );

    let table = files.write("bad/test_x.csv", b"0,0,1\n0,1,x\n");
    for (arguments, what) in [
        (vec![good.as_str(), "--baseline", "no-such"], "no-such"),
        (vec![&good, "--baseline", &twice], "--baseline-run N"),
        (
            vec![&good, "--baseline", &twice, "--baseline-run", "3"],
            "there are 2 runs",
        ),
        (
            vec![&good, "--baseline", &good, "--rtol", "2"],
            "a share below 1",
        ),
        (
            vec![&good, "--baseline", &good, "--across", "oceans"],
            "methods, states, wakes, boards, scenarios or cpus",
        ),
        (
            vec![&good, "--baseline", &table],
            "line 2: \"x\" is no number",
        ),
        (vec![&good, "--rtol", "0.1"], "--baseline"),
        (
            vec![&good, "--baseline", &good, "--rows-are", "0x0"],
            "names 1 CPUs",
        ),
        (
            vec![&good, "--baseline", &good, "-o", &good],
            "this is the file",
        ),
        (
            vec![&published("juno"), "--baseline", &good],
            "it has the folders",
        ),
    ] {
        let (code, _, said) = report(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(what), "{arguments:?}: {said}");
    }
}

/// A run that has less than the baseline passes no gate, unless that is meant.
#[test]
fn what_is_missing_is_told_in_every_format() {
    let files = Files::new();
    let old = published("n1sdp/v2.9");
    let name = "test_rt_instr_cpu_susp_serial.csv";
    let table = fs::read_to_string(Path::new(&old).join(name)).expect("a table");
    let rows: Vec<&str> = table.lines().collect();
    let rows = rows[..rows.len() - 1].join("\n");
    let new = files.write(&format!("new/{name}"), rows.as_bytes());
    for format in ["text", "md", "rst", "html", "json"] {
        let (code, out, said) = report(&[&new, "--baseline", &old, "--format", format]);
        assert_eq!(code, 3, "{format}: {said}");
        for part in [
            "5 scenarios of the baseline not compared (--across scenarios",
            "3 figures of 1 CPU of the baseline not compared (--across cpus",
        ] {
            assert!(said.contains(part), "{said}");
            assert!(out.contains(part), "{format}: {out}");
        }
        for part in ["test_rt_instr_cpu_off_serial", "the run does not have it"] {
            assert!(out.contains(part), "{format}: {part}");
        }
        // JSON has CPUs by their places in a list of its own.
        match serde_json::from_str::<serde_json::Value>(&out) {
            Ok(json) => {
                let comparison = &json["comparisons"][0];
                let lone = comparison["scenarios"][0]["unpaired"][1][0].as_u64();
                let cpu = &comparison["baseline_cpus"][lone.expect("a CPU") as usize];
                assert_eq!((&cpu["cluster"], &cpu["core"]), (&1.into(), &1.into()));
            }
            Err(_) => assert!(out.contains("1.1"), "{format}"),
        }
    }
    let meant = ["--across", "scenarios,cpus"];
    let (code, out, said) = report(&[&[new.as_str(), "--baseline", &old][..], &meant].concat());
    assert_eq!(code, 0, "{said}");
    assert!(
        out.contains("CPU 1.1 of the baseline, as the run has no row of it"),
        "{out}"
    );
    // What the run has besides is no gap.
    assert_eq!(report(&[&old, "--baseline", &new]).0, 0);
}

#[test]
fn every_format_tells_it() {
    let (old, new) = (published("juno/v2.12"), published("juno/v2.13"));
    let told = "CPUs that are not last man now pay a cluster-size cache flush";
    for format in ["text", "md", "rst", "json"] {
        let (code, out, said) = report(&[&new, "--baseline", &old, "--format", format]);
        assert_eq!(code, 1, "{said}");
        assert!(out.contains(told), "{format}: {out}");
    }
    let (_, out, _) = report(&[&new, "--baseline", &old, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let comparison = &json["comparisons"][0];
    assert_eq!(comparison["keyed"], "labels");
    assert!(
        comparison["regressions"]
            .as_u64()
            .is_some_and(|count| count > 20)
    );
    let finding = comparison["findings"].as_array().expect("findings").iter();
    let mut flush = finding.filter(|it| it["kind"] == "flush-of-cluster");
    let basis = &flush.next().expect("it is found")["basis"];
    let cpus = basis
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| &it["cpus"][0]);
    let cpus: usize = cpus.filter_map(|it| it.as_array()).map(Vec::len).sum();
    assert!(cpus > 3, "{basis}");
    let explained = &json["runs"][0]["scenarios"][2]["explained"];
    assert!(explained.to_string().contains("lock-queue"), "{explained}");
    // What a CI server shows is what the exit code says.
    let (code, out, _) = report(&[&new, "--baseline", &old, "--format", "junit"]);
    assert_eq!(code, 1);
    let failed = "<failure type=\"regression\" message=\"Powerdown of CPU ";
    assert!(out.contains(failed) && out.contains("ns after "), "{out}");
    let (_, out, _) = report(&[&new, "--baseline", &new, "--format", "junit"]);
    assert!(
        out.contains("figures were compared") && !out.contains("<failure"),
        "{out}"
    );
    let (_, out, _) = report(&[&new, "--baseline", &old]);
    let row = "1     1  Cache Flush    4.42   77.12  +1644.80 %  worse";
    assert!(out.contains(row), "{out}");
}

/// The tables as TF-A's documentation has them, with changes of CPUs against
/// themselves; and these files as a baseline in turn.
#[test]
fn tfa_docs() {
    let files = Files::new();
    let root = files.path("tf-a");
    let root = root.to_str().expect("UTF-8");
    let (old, new) = (published("juno/v2.9"), published("juno/v2.10"));
    let docs = ["--format", "tfa-docs", "--platform", "juno", "-o", root];
    let (code, _, said) = report(&[&[new.as_str(), "--baseline", &old][..], &docs].concat());
    assert_eq!(code, 1, "{said}");
    let data = files.path("tf-a/docs/perf/data/juno");
    let read = |which: &str| {
        let path = data.join(which).join("test_rt_instr_cpu_susp_parallel.csv");
        fs::read_to_string(path).expect("a table")
    };
    let current = read("current");
    for line in [
        "\"0\",\"0\",\"801040 (+20.94%)\",\"18660 (+22.60%)\",\"8220\"\n",
        "\"1\",\"0\",\"105900 (-72.51%)\",\"20300 (+28.97%)\",\"7580 (-3.81%)\"\n",
        "\"1\",\"1\",\"383580 (+261.32%)\",",
    ] {
        assert!(current.contains(line), "{current}");
    }
    assert!(read("previous").starts_with("\"0\",\"0\",\"662340\",\"15220\",\"8080\"\n"));

    // Either folder, one file, or the platform's, which means current.
    let place = |name: &str| data.join(name).to_str().expect("UTF-8").to_owned();
    assert_eq!(report(&[&old, "--baseline", &place("previous")]).0, 0);
    assert_eq!(
        report(&[&new, "--baseline", &place("current"), "--rtol", "0"]).0,
        0
    );
    assert_eq!(
        report(&[&new, "--baseline", &place(""), "--rtol", "0"]).0,
        0
    );
    let file = place("current/test_rt_instr_cpu_susp_serial.csv");
    let one = [&file, "--baseline", &new, "--format", "rst"];
    let (code, out, said) = report(&one);
    assert_eq!(code, 3, "{said}");
    let (code, _, said) = report(&[&one[..], &["--across", "scenarios"]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(
        out.contains(".. table:: CPU suspend on all cores in sequence (us)"),
        "{out}"
    );

    // The same again changes nothing, neither of this nor of itself.
    let again = report(&[&[new.as_str(), "--baseline", &old][..], &docs].concat());
    assert_eq!((again.0, read("current")), (1, current.clone()));
    let own = place("current");
    let again = report(&[&[new.as_str(), "--baseline", &own][..], &docs].concat());
    assert_eq!((again.0, read("current")), (0, current));
    assert_eq!(fs::read_dir(&data).expect("a folder").count(), 2);
}

#[test]
fn rows_of_equal_labels() {
    let files = Files::new();
    let rows = b"\"0\",\"0\",\"80\"\n\"0\",\"0\",\"240 (+9.09%)\"\n\"1\",\"0\",\"280\"\n\"1\",\"0\",\"260\"\n";
    let old = files.write("current/test_rt_instr_psci_version_parallel.csv", rows);
    let new = published("n1sdp/v2.9");
    let (code, out, said) = report(&[&new, "--baseline", &old]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("sorted, as labels are ambiguous"), "{out}");
    let (code, out, said) = report(&[&new, "--baseline", &old, "--rows-are", "0.0,0.1,1.0,1.1"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.contains("Rows        by cluster and core"), "{out}");
    let (code, said) = outcome(&mut xtask(&[
        "report",
        &new,
        "--baseline",
        &old,
        "--rows-are",
        "1",
    ]));
    assert_eq!((code, said.contains("is no MPIDR")), (2, true), "{said}");
}
