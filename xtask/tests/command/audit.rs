//! Published pages: as tables, and what they print against themselves.

use std::fmt::Write as _;

use crate::report::{edited_log, log};
use crate::support::scratch::Scratch;

const DEEP: &str = "``CPU_SUSPEND`` latencies (µs) to deepest power level in parallel";
const SERIAL: &str = "``CPU_SUSPEND`` latencies (µs) to power level 0 in\n        serial";

/// Returns a grid table; cells of a row stand apart by commas.
fn grid(title: &str, rows: &[&str]) -> String {
    let rule = ["-"; 5].map(|it| it.repeat(20)).join("+");
    let mut text = format!(".. table:: {title}\n\n    +{rule}+\n");
    for row in ["Cluster,Core,Powerdown,Wakeup,Cache Flush"]
        .iter()
        .chain(rows)
    {
        let cells: Vec<String> = row.split(',').map(|it| format!("{it:^20}")).collect();
        let _ = writeln!(text, "    |{}|\n    +{rule}+", cells.join("|"));
    }
    text + "\n"
}

/// Returns a page of one scenario in two releases.
fn page(title: &str, new: &[&str], old: &[&str]) -> String {
    let tables = [("v9.10", new), ("v9.9", old)];
    let tables = tables.map(|it| grid(&format!("{title} ({})", it.0), it.1));
    format!("Title\n=====\n\n{}{}", tables[0], tables[1])
}

#[test]
fn changes_are_compared_with_the_tables_beside_them() {
    let old = ["0,0,100.0,20.0,5.0", "0,1,200.0,20.0,5.0"];
    for (title, new, old, counts, said) in [
        (
            SERIAL,
            ["0,0,110.0 (+10.00%),20.0,5.0", "0,1,200.0,20.0,5.0"],
            old,
            "1 right, 0 wrong, 0",
            "",
        ),
        // Each row beside that of another CPU.
        (
            SERIAL,
            [
                "0,1,220.0 (+120.00%),20.0,5.0",
                "0,0,100.0 (-50.00%),20.0,5.0",
            ],
            old,
            "0 right, 2 wrong, 0",
            "2 printed changes of the row at the same place of the former table",
        ),
        // Both releases against a third one, of 80 and 250 us.
        (
            SERIAL,
            [
                "0,0,110.0 (+37.50%),20.0,5.0",
                "0,1,300.0 (+20.00%),20.0,5.0",
            ],
            [
                "0,0,100.0 (+25.00%),20.0,5.0",
                "0,1,200.0 (-20.00%),20.0,5.0",
            ],
            "0 right, 2 wrong, 0",
            "2 of 2 figures with a change in both 9.10 and 9.9 imply the same old figure",
        ),
        (
            SERIAL,
            ["0,0,110.0 (+10.00%),31.0,5.0", "0,1,200.0,20.0,5.4"],
            old,
            "1 right, 0 wrong, 0",
            "1 change of at least 10.00 %, the least that is printed, printed nowhere: \
             cpu_susp_serial CPU 0.0 Wakeup +55.00 %",
        ),
        // In parallel by size: the CPUs have changed places in the lock queue.
        (
            DEEP,
            ["0,0,201.0,22.0 (+10.00%),5.0", "0,1,100.0,20.0,5.0"],
            old,
            "1 right, 0 wrong, 0",
            "the same figures in another order of CPUs (by size within 0.5 %)",
        ),
        (
            DEEP,
            [
                "0,0,300.0 (+50.00%),20.0,5.0",
                "0,1,150.0 (+50.00%),20.0,5.0",
            ],
            old,
            "2 right, 0 wrong, 0",
            "",
        ),
        (
            SERIAL,
            [
                "0,0,110.0 (+10.00%),20.0,5.0",
                "0,0,100.0 (-50.00%),20.0,5.0",
            ],
            ["0,0,100.0,20.0,5.0", "0,0,200.0,20.0,5.0"],
            "0 right, 0 wrong, 2",
            "labels repeat",
        ),
    ] {
        let scratch = Scratch::empty();
        scratch.write("page.rst", &page(title, &new, &old));
        let (code, text, last) = scratch.called("report --audit page.rst");
        assert_eq!(
            code,
            i32::from(!counts.contains("0 wrong")),
            "{counts}: {last}"
        );
        assert!(
            last.contains(counts) && text.contains(said),
            "{said}: {text}{last}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let whole = page(
        SERIAL,
        &["0,0,110.0 (+10.00%),20.0,5.0"],
        &["0,0,100.0,20.0,5.0"],
    );
    let edited = |from: &str, to: &str| whole.replacen(from, to, 1);
    let last = whole.trim_end().rfind('\n').expect("a line");
    let csv = format!(".. csv-table:: {DEEP} (v9)\n    :file: data/a.csv\n").replace("µs", "ns");
    let files = [("data/a.csv", "\"0\",\"0\",\"7\",\"8 (x)\",\"9\"\n")];
    for (text, said) in [
        (
            "Title\n=====\n".to_owned(),
            "page.rst:1:1: no table of PSCI's latencies",
        ),
        (
            whole[..last].to_owned(),
            "page.rst:19:5: the table ends without its lower border",
        ),
        (edited("  5.0", " 5.0"), "the table's border is elsewhere"),
        (
            edited("   |        20.0", "            20.0"),
            "page.rst:10:68: merged cells",
        ),
        (
            edited("110.0 (+10.00%)", "(+10.00%)      "),
            "page.rst:10:50: \"(+10.00%)\" is no figure",
        ),
        (
            edited("110.0 (+10.00%)", "110.0 (+10.00 )"),
            "\"110.0 (+10.00 )\" is no figure",
        ),
        (
            edited("(µs)", "(min)"),
            "page.rst:4:1: the title names no unit",
        ),
        (
            edited("power level 0 in\n        serial", "level 0"),
            "page.rst:4:1: the title does not say",
        ),
        (
            edited("v9.10", "v9.9"),
            "page.rst:13:1: another table of the same scenario",
        ),
        (
            edited("|         0          |", "|         x          |"),
            "is no number of a cluster or core",
        ),
        (
            csv.replace("a.csv", "b.csv"),
            "page.rst:2:1: :file:: data/b.csv: No such file",
        ),
        (
            csv.clone(),
            "page.rst:1:1: data/a.csv:1:14: \"8 (x)\" is no figure",
        ),
        (
            csv.replace(":file: data/a.csv", ":header: a"),
            "page.rst:1:1: this table of latencies has no figures",
        ),
    ] {
        let scratch = Scratch::empty();
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch.write("page.rst", &text);
        scratch.refuses("report --audit page.rst", said);
        scratch.refuses("report page.rst --format csv -o out.csv", said);
    }
}

#[test]
fn pages_are_tables() {
    let scratch = Scratch::empty();
    let (new, old) = (["0,0,110.0,20.0,5.0"], ["0,0,100.0,20.0,5.0"]);
    scratch.write("new.rst", &page(SERIAL, &new, &old));
    scratch.write("old.rst", &grid(&format!("{SERIAL} (v9.9)"), &old));
    // Nanoseconds below a title that says microseconds.
    let ns = ["0,0,110000.0,20000.0,5000.0"];
    scratch.write(
        "ns.rst",
        &page(SERIAL, &ns, &["0,0,100000.0,20000.0,5000.0"]),
    );
    for folder in ["current", "previous"] {
        let figures = match folder {
            "current" => "0,0,110000 (+10.00%),20000,5000\n",
            _ => "0,0,100000,20000,5000\n",
        };
        let name = format!("data/juno/{folder}/test_rt_instr_cpu_susp_serial.csv");
        scratch.write(&name, figures);
    }
    let file = |folder: &str| {
        let title = format!(".. csv-table:: Latencies (ns) ({folder} release)\n");
        title + &format!("    :file: data/juno/{folder}/test_rt_instr_cpu_susp_serial.csv\n\n")
    };
    scratch.write("csv.rst", &(file("previous") + &file("current")));
    for name in ["new.rst", "ns.rst", "csv.rst"] {
        let (code, said) = scratch.outcome(&format!("report {name} --baseline old.rst"));
        assert!(code == 1 && said.contains("Powerdown"), "{name}: {said}");
        assert!(said.contains("+10.00 %"), "{name}: {said}");
    }
    scratch.assert_reports(&[
        (
            "--audit csv.rst new.rst",
            0,
            "1 printed change on 2 pages: 1 right",
        ),
        ("--audit csv.rst --format json -o out.json", 0, "1 right"),
        (
            "--audit csv.rst --format junit",
            2,
            "has no place for --audit",
        ),
        ("--audit old.rst", 0, "0 printed changes on 1 page"),
        (
            "--audit --baseline old.rst new.rst",
            2,
            "cannot be used with",
        ),
    ]);
    let json = String::from_utf8(scratch.read("out.json")).expect("UTF-8");
    assert!(json.contains("\"judged\": \"right\""), "{json}");
    let (_, text, _) = scratch.called("report --audit ns.rst");
    assert!(text.contains("the figures are nanoseconds"), "{text}");
}

/// What has figures is written anew; all else on a page is the publisher's.
#[test]
fn page_keeps_what_is_not_between_its_marks() {
    let scratch = Scratch::of_reports(log());
    let slower = |percent| {
        edited_log(|run| {
            for row in run.scenarios.iter_mut().flat_map(|it| &mut it.rows) {
                let figures = &mut row.figures;
                let all = [
                    &mut figures.powerdown,
                    &mut figures.wakeup,
                    &mut figures.cache_flush,
                ];
                all.into_iter()
                    .flatten()
                    .for_each(|it| *it = *it * percent / 100);
            }
        })
    };
    for (name, percent) in [("a.log", 110), ("b.log", 150), ("c.log", 190)] {
        scratch.write(name, &slower(percent));
    }
    let docs = "--format tfa-docs --platform qemu --page -o tf-a";
    let name = "tf-a/docs/perf/psci-performance-qemu.rst";
    scratch.assert_reports(&[(&format!("good.log {docs}"), 0, "add it to the toctree")]);
    let page = || String::from_utf8(scratch.read(name)).expect("UTF-8");
    let first = page();
    assert!(
        first.contains("PSCI latencies of QEMU virt\n===========================\n"),
        "{first}"
    );
    assert!(!first.contains("previous release"), "{first}");
    scratch.write(
        name,
        &first.replace("Results\n-------\n", "Results\n-------\n\nMy prose.\n"),
    );
    // Of several logs the typical run: b.log's figures.
    scratch.assert_reports(&[(&format!("a.log c.log b.log {docs}"), 0, "of this run now")]);
    let second = page();
    assert!(
        second.contains("My prose.") && second.contains("(previous release)"),
        "{second}"
    );
    assert!(
        second.contains("What matters most:") && second.contains("+50.00 %"),
        "{second}"
    );
    let files = scratch.files();
    scratch.assert_reports(&[
        (
            &format!("--audit {name}"),
            0,
            " right, 0 wrong, 0 ambiguous",
        ),
        (
            &format!("c.log {docs} --baseline b.log --baseline good.log --baseline a.log"),
            1,
            "",
        ),
    ]);
    assert!(page().contains("+72.73 %"), "{}", page());
    assert!(scratch.files() != files);
    scratch.write(name, &first.replace(".. psci-bench: end results\n", ""));
    scratch.refuses(
        &format!("report good.log {docs}"),
        "this page is not of psci-bench",
    );
    scratch.refuses("report good.log --page", "has no place for --page");
}
