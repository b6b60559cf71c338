//! Nothing that is there is passed over in silence.

use std::fs;
use std::os::unix::fs::symlink;

use crate::{BAD_JUNIT, cell, junit, log, report};

/// Jobs far below are found, and links that lead nowhere are named.
#[test]
fn whatever_is_there_is_looked_at() {
    let dir = tempfile::tempdir().expect("a directory");
    let (set, other) = (dir.path().join("set"), dir.path().join("other"));
    let junit = junit(log());
    let good = [("uart.log", log()), ("junit.xml", &junit)];
    let bad = [("uart.log", log()), ("junit.xml", BAD_JUNIT)];
    let qemu = |name| ["labgrid", "qemu", name];
    cell(&set, qemu("ok"), &good);
    cell(&other, qemu("bad"), &bad);
    cell(&set.join(".cell-a1b2c3"), qemu("bad"), &bad);
    assert_eq!(report(&set, &[]).0, 0);
    // A lab twice is one.
    let (code, out, said) = report(&set, &[set.to_str().expect("UTF-8")]);
    assert!(code == 0 && out.starts_with(&report(&set, &[]).1), "{out}");
    assert!(said.contains("named more than once"), "{said}");

    let deep = cell(&set.join("1/2/3/4/5"), qemu("bad"), &bad);
    let (code, out, said) = report(&set, &[]);
    let why = "1/2/3/4/5/labgrid-qemu-bad: failed: the job failed: bad";
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains(why) && out.contains("the job failed: bad"),
        "{said}"
    );
    fs::remove_dir_all(deep).expect("removed");

    symlink("nowhere", set.join("gone")).expect("made");
    let (code, out, said) = report(&set, &[]);
    assert_eq!(code, 3, "{said}");
    let why = "SET/gone: not looked at";
    assert!(said.contains(why) && out.contains(why), "{said}");
    fs::remove_file(set.join("gone")).expect("removed");
    assert_eq!(report(&set, &[]).0, 0);
}
