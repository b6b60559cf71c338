//! Nothing that is there is passed over in silence.

use std::fs;
use std::os::unix::fs::symlink;

use crate::{BAD_JUNIT, QEMU, cell, junit, report};

/// What is below, behind a link, or called otherwise is found.
#[test]
fn whatever_is_there_is_looked_at() {
    let dir = tempfile::tempdir().expect("a directory");
    let (set, other) = (dir.path().join("set"), dir.path().join("other"));
    let junit = junit(QEMU);
    let good = [("uart.log", QEMU), ("junit.xml", &junit)];
    let bad = [("uart.log", QEMU), ("junit.xml", BAD_JUNIT)];
    let qemu = |name| ["labgrid", "qemu", name];
    let ok = cell(&set, qemu("ok"), &good);
    cell(&other, qemu("bad"), &bad);
    cell(&set.join(".cell-a1b2c3"), qemu("bad"), &bad);
    assert_eq!(report(&set, &[]).0, 0);
    // A lab twice is one.
    let (code, out, said) = report(&set, &[set.to_str().expect("UTF-8")]);
    assert!(code == 0 && out.starts_with(&report(&set, &[]).1), "{out}");
    assert!(said.contains("named more than once"), "{said}");

    type Change<'c> = &'c dyn Fn();
    let deep = || drop(cell(&set.join("1/2/3/4/5"), qemu("bad"), &bad));
    let within = || drop(cell(&ok, qemu("bad"), &bad));
    let link = || symlink(other.join("labgrid-qemu-bad"), set.join("bad")).expect("made");
    let results = other.join("labgrid-qemu-bad/results");
    let linked = || symlink(&results, ok.join("results/more")).expect("made");
    let far = || {
        let dir = ok.join("results/1/2/3/4/5");
        fs::create_dir_all(&dir).expect("made");
        fs::write(dir.join("junit.xml"), BAD_JUNIT).expect("written");
    };
    let upper = || fs::write(ok.join("results/junit2.XML"), BAD_JUNIT).expect("written");
    let gone = || symlink("nowhere", set.join("gone")).expect("made");
    let lost = || {
        let dir = set.join("lost/results");
        fs::create_dir_all(&dir).expect("made");
        fs::write(dir.join("junit.xml"), BAD_JUNIT).expect("written");
    };
    let changes: [(&str, Change, i32, &str); 8] = [
        (
            "1",
            &deep,
            1,
            "1/2/3/4/5/labgrid-qemu-bad: failed: the job failed: bad",
        ),
        (
            "labgrid-qemu-ok/labgrid-qemu-bad",
            &within,
            1,
            "failed: the job failed: bad",
        ),
        ("bad", &link, 1, "SET/bad: failed: the job failed: bad"),
        (
            "labgrid-qemu-ok/results/more",
            &linked,
            1,
            "failed: the job failed: bad",
        ),
        (
            "labgrid-qemu-ok/results/1",
            &far,
            1,
            "failed: the job failed: bad",
        ),
        (
            "labgrid-qemu-ok/results/junit2.XML",
            &upper,
            1,
            "failed: the job failed: bad",
        ),
        ("gone", &gone, 3, "SET/gone: not looked at"),
        (
            "lost",
            &lost,
            3,
            "SET/lost/results: results, and no cell.json",
        ),
    ];
    for (name, change, expected, why) in changes {
        change();
        let (code, out, said) = report(&set, &[]);
        assert_eq!(code, expected, "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
        let shown = if expected == 1 {
            "the job failed: bad"
        } else {
            why
        };
        assert!(out.contains(shown), "{name}: {out}");
        let path = set.join(name);
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path).expect("removed");
        } else {
            fs::remove_file(path).expect("removed");
        }
    }
    assert_eq!(report(&set, &[]).0, 0);
}
