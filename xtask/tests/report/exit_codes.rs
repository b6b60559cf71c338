//! Exit codes and errors.

use std::fs;

use crate::formats::cut_tftf;
use crate::log;
use crate::support::{outcome, xtask};

fn run(arguments: &[&str]) -> (i32, String) {
    let arguments = [&["report"], arguments].concat();
    let (code, said) = outcome(&mut xtask(&arguments));
    assert!(!said.contains("panicked"), "{said}");
    (code, said)
}

#[test]
fn exit_codes() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let log = log();
    let good = file("good.log", log.as_bytes());
    let cut = file("cut.log", &log.as_bytes()[..log.len() / 2]);
    let empty = file("empty.log", b"");
    let garbage = file("garbage.log", &[0xfe; 4096]);
    let out = dir.path().join("out.json");
    let out = out.to_str().expect("UTF-8");

    assert_eq!(run(&[&good, "--format", "json", "-o", out]).0, 0);
    assert!(fs::read_to_string(out).is_ok_and(|json| json.contains("psci-bench-report")));
    let wrong = file("wrong.log", log.replace("PASS (", "PASS (1").as_bytes());
    let dropped = file("dropped.log", log.replace("PASS", "PSS").as_bytes());
    let tftf = file("tftf.log", cut_tftf().as_bytes());
    for (path, expected, what) in [
        (&cut, 3, "cut.log (run 1): incomplete: "),
        // A last line that suffered: the records have it all.
        (&wrong, 0, "contradicts the records"),
        (&dropped, 0, "the last line is damaged"),
        (&tftf, 3, "log until TFTF says that"),
    ] {
        let (code, said) = run(&[path]);
        assert_eq!(code, expected, "{path}: {said}");
        assert!(said.contains(what), "{what:?} is not in:\n{said}");
    }
    let folder = dir.path().to_str().expect("UTF-8");
    for (arguments, what) in [
        (vec![empty.as_str()], "empty.log: the log is empty"),
        (vec![&garbage], "it is binary"),
        (vec![&good, &empty], "empty.log"),
        (vec!["no-such.log"], "no-such.log"),
        (vec![folder], "no table in this folder"),
        (vec![&good, "--format", "pdf"], "the formats are text, "),
        (vec![&good, "-o", &good], "this is the file that LOG reads"),
        (vec![&good, "--format", "tfa-docs"], "by -o"),
        (
            vec![&good, "--format", "tfa-docs", "-o", &good],
            "no directory",
        ),
        (vec![&good, "--run", "2"], "there are 1 runs"),
        (vec![&good, &tftf, "--merge"], "cannot merge"),
        (
            vec![&good, &good, "--merge", "--format", "csv"],
            "--format csv has no place for --merge; these have: text, md, rst, json, html",
        ),
        (
            vec![&good, "--baseline", &good, "--format", "dt"],
            "no place for --baseline; these have: text, md, rst, json, html, junit, tfa-docs",
        ),
        (vec![&good, "--platform", "juno"], "these have: tfa-docs"),
        (
            vec![&good, "--log", out],
            "--log is for a run that is followed",
        ),
        (
            vec![&good, "--baud", "9600"],
            "--baud is for a run that is followed",
        ),
        (
            vec!["--serial", "-", "--log", "x.log", "-o", "./x.log"],
            "that -o ./x.log names as well",
        ),
        (vec![], "<LOG>"),
    ] {
        let (code, said) = run(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(what), "{what:?} is not in:\n{said}");
    }
    let (code, said) = run(&[&good, &good, "--merge", "-o", out]);
    assert_eq!(code, 0);
    assert!(said.contains("it is counted once"), "{said}");
    let both = run(&[&good, &cut, "--run", "1", "-o", out]);
    assert_eq!(both.0, 0, "{}", both.1);
}
