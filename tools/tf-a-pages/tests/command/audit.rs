//! `psci-tf-a-pages audit`: the changes printed on pages.

use report::synthetic_run;
use report::synthetic_run::{edited_log, passed_log};

use crate::support::rst_page::{grid_table, page_of_two_releases};
use crate::support::scratch::Scratch;
use crate::support::{PROGRAM, scratch_of_reports};

const DEEP: &str = "``CPU_SUSPEND`` latencies (µs) to deepest power level in parallel";
const SERIAL: &str = "``CPU_SUSPEND`` latencies (µs) to power level 0 in\n        serial";

const NEW: [&str; 2] = ["0,0,110.0 (+10.00%),20.0,5.0", "0,1,200.0,20.0,5.0"];
const OLD: [&str; 2] = ["0,0,100.0,20.0,5.0", "0,1,200.0,20.0,5.0"];

/// A page and the counts and findings expected for it.
struct Audited {
    title: &'static str,
    new: [&'static str; 2],
    old: [&'static str; 2],
    counts: &'static str,
    says: &'static str,
}

const AUDITED: &[Audited] = &[
    Audited {
        title: SERIAL,
        new: [
            "0,1,220.0 (+120.00%),20.0,5.0",
            "0,0,100.0 (-50.00%),20.0,5.0",
        ],
        old: OLD,
        counts: "0 right, 2 wrong, 0",
        says: "2 printed changes match the row at the same position in the previous table",
    },
    Audited {
        title: SERIAL,
        new: [
            "0,0,110.0 (+37.50%),20.0,5.0",
            "0,1,300.0 (+20.00%),20.0,5.0",
        ],
        old: [
            "0,0,100.0 (+25.00%),20.0,5.0",
            "0,1,200.0 (-20.00%),20.0,5.0",
        ],
        counts: "0 right, 2 wrong, 0",
        says: "2 of 2 figures with a change in both v9.10 and v9.9 imply the same old \
               figure",
    },
    Audited {
        title: SERIAL,
        new: ["0,0,110.0 (+10.00%),31.0,5.0", "0,1,200.0,20.0,5.4"],
        old: OLD,
        counts: "1 right, 0 wrong, 0",
        says: "1 change of at least 10.00 % not printed: cpu_susp_serial CPU 0.0 Wakeup \
               +55.00 %",
    },
    Audited {
        title: DEEP,
        new: ["0,0,201.0,22.0 (+10.00%),5.0", "0,1,100.0,20.0,5.0"],
        old: OLD,
        counts: "1 right, 0 wrong, 0",
        says: "the same figures, but on different CPUs",
    },
    Audited {
        title: DEEP,
        new: [
            "0,0,300.0 (+50.00%),20.0,5.0",
            "0,1,150.0 (+50.00%),20.0,5.0",
        ],
        old: OLD,
        counts: "2 right, 0 wrong, 0",
        says: "",
    },
    Audited {
        title: SERIAL,
        new: [
            "0,0,110.0 (+10.00%),20.0,5.0",
            "0,0,100.0 (-50.00%),20.0,5.0",
        ],
        old: ["0,0,100.0,20.0,5.0", "0,0,200.0,20.0,5.0"],
        counts: "0 right, 0 wrong, 2",
        says: "several rows have the same label",
    },
    Audited {
        title: SERIAL,
        new: ["0,0,160.0 (+60.00%),20.0,5.0", "0,0,300.0,20.0,5.0"],
        old: ["0,0,300.0,20.0,5.0", "0,0,100.0,20.0,5.0"],
        counts: "0 right, 0 wrong, 1",
        says: "several rows have the same label",
    },
    Audited {
        title: SERIAL,
        new: [
            "0,0,110.0 (+10.00%),20.0,5.0",
            "0,0,400.0 (+100.00%),20.0,5.0",
        ],
        old: ["0,0,100.0,20.0,5.0", "0,1,200.0,20.0,5.0"],
        counts: "2 right, 0 wrong, 0",
        says: "2 printed changes match the row at the same position in the previous table, which \
               may belong",
    },
    Audited {
        title: SERIAL,
        new: ["0,0,110.0 (+10.00%),20.0,5.0", "0,1,200.0,20.0,5.0"],
        old: OLD,
        counts: "1 right, 0 wrong, 0",
        says: "",
    },
];

#[test]
fn changes_are_compared_with_the_tables_beside_them() {
    for audited in AUDITED {
        let Audited { counts, says, .. } = audited;
        let scratch = Scratch::new(PROGRAM);
        let page = page_of_two_releases(audited.title, &audited.new, &audited.old);
        scratch.write("page.rst", &page);
        let (code, text, last) = scratch.called("audit page.rst");
        let is_wrong = !counts.contains("0 wrong");
        assert_eq!(code, i32::from(is_wrong), "{page}: {last}");
        assert!(last.contains(counts), "{page}: {last}");
        assert!(text.contains(says), "{page}: {text}");
    }
}

/// A string on a page, its replacement, and the resulting error.
const DAMAGE: &[(&str, &str, &str)] = &[
    (
        "5.0",
        " 5.0",
        "page.rst:10:111: expected the table's border in column",
    ),
    (
        "5.0 ",
        "5.0",
        "page.rst:10:109: expected the table's border in column",
    ),
    (
        "   |        20.0",
        "            20.0",
        "page.rst:10:68: merged cells",
    ),
    (
        "    +--------------------+-",
        "    +                    +-",
        "page.rst:7:6: merged cells",
    ),
    (
        "v9.9",
        "v9_9",
        "page.rst:15:1: this table's release is unknown",
    ),
    (" Wakeup ", "Latency ", "page.rst:4:1: the columns are"),
    ("level 0", "level 2", "page.rst:4:1: the title does not say"),
    (
        "110.0 (+10.00%)",
        "(+10.00%)      ",
        r#"page.rst:10:50: "(+10.00%)" is not a valid latency"#,
    ),
    (
        "110.0 (+10.00%)",
        "110.0 (+10.00 )",
        r#""110.0 (+10.00 )" is not a valid latency"#,
    ),
    (
        "(µs)",
        "(min)",
        "page.rst:4:1: neither the title nor the columns' names specify a unit",
    ),
    ("serial", "line", "page.rst:4:1: the title does not say"),
    (
        "v9.10",
        "v9.9",
        "page.rst:15:1: a second table for the same scenario",
    ),
    (
        "|         0          |",
        "|         x          |",
        "is not a valid cluster or core number",
    ),
];

/// Like [`DAMAGE`], but for a page that includes a CSV file.
const CSV_DAMAGE: &[(&str, &str, &str)] = &[
    (
        "a.csv",
        "a.csv",
        r#"page.rst:1:1: data/a.csv:1:14: "8 (x)" is not a valid latency"#,
    ),
    (
        "a.csv",
        "b.csv",
        "page.rst:2:1: :file:: data/b.csv: No such file",
    ),
    (
        ":file: data/a.csv",
        ":header: a",
        "page.rst:1:1: this table of latencies has no readable figures",
    ),
];

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let whole = page_of_two_releases(SERIAL, &NEW, &OLD);
    let csv = format!(".. csv-table:: {DEEP} (v9)\n    :file: data/a.csv\n").replace("µs", "ns");
    let last = whole.trim_end().rfind('\n').expect("a line");
    let cut = "page.rst:23:5: the table has no bottom border";
    let none = "page.rst:1:1: no table of PSCI latencies";
    let lone = format!(".. table:: {DEEP} (v9)\n\n    +\n");
    let mut cases = vec![
        (lone, "page.rst:3:1: expected a table border"),
        (whole[..last].to_owned(), cut),
        ("Title\n".to_owned(), none),
    ];
    for (page, damage) in [(&whole, DAMAGE), (&csv, CSV_DAMAGE)] {
        let damaged = damage.iter().map(|(old_text, new_text, expected_text)| {
            (page.replacen(old_text, new_text, 1), *expected_text)
        });
        cases.extend(damaged);
    }
    for (text, expected) in cases {
        let scratch = Scratch::new(PROGRAM);
        scratch.write("data/a.csv", "\"0\",\"0\",\"7\",\"8 (x)\",\"9\"\n");
        scratch.write("page.rst", &text);
        scratch.refuses("audit page.rst", expected);
    }
}

#[test]
fn pages_are_counted_and_their_figures_named() {
    let scratch = Scratch::new(PROGRAM);
    let (new, old) = ("0,0,110.0,20.0,5.0", "0,0,100.0,20.0,5.0");
    scratch.write("new.rst", &page_of_two_releases(SERIAL, &[new], &[old]));
    scratch.write("old.rst", &grid_table(&format!("{SERIAL} (v9.9)"), &[old]));
    scratch.write(
        "one.rst",
        &grid_table(
            &format!("{SERIAL} (v9.9)"),
            &["0,0,110.0 (+10.00%),20.0,5.0"],
        ),
    );
    // Figures in nanoseconds under a title that says microseconds.
    let [new, old] = [new, old].map(|page| page.replace(".0", "000.0"));
    scratch.write("ns.rst", &page_of_two_releases(SERIAL, &[&new], &[&old]));
    let name = |folder: &str| format!("data/juno/{folder}/test_rt_instr_cpu_susp_serial.csv");
    scratch.write(&name("current"), "0,0,110000 (+10.00%),20000,5000\n");
    scratch.write(&name("previous"), "0,0,100000,20000,5000\n");
    let table = |folder: &str| {
        let title = format!("Latencies (ns) ({folder} release)");
        format!(".. csv-table:: {title}\n    :file: {}\n\n", name(folder))
    };
    scratch.write("csv.rst", &(table("previous") + &table("current")));
    scratch.assert_outcomes(&[
        ("audit csv.rst new.rst", 0, "1 printed change: 1 right"),
        ("audit csv.rst --format json -o out.json", 0, "1 right"),
        (
            "audit a.rst --format junit",
            2,
            "expected one of text, md, rst, json, html",
        ),
        (
            "audit csv.rst data/juno/current/test.csv",
            2,
            "data/juno/current/test.csv: only published pages can be audited",
        ),
        ("audit old.rst", 0, "0 printed changes: 0"),
        ("audit one.rst", 3, "1 not checked"),
    ]);
    let json = String::from_utf8(scratch.read("out.json")).expect("UTF-8");
    assert!(json.contains("\"judged\": \"right\""), "{json}");
    let (_, text, _) = scratch.called("audit ns.rst");
    assert!(text.contains("the figures are in nanoseconds"), "{text}");
}

/// Only the parts that contain figures are regenerated. The rest of a page is up to the publisher.
#[test]
fn page_keeps_what_is_not_between_its_marks() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write_tf_a("tf-a");
    for (name, percent) in [("a.log", 110), ("b.log", 150), ("c.log", 190)] {
        let slower = edited_log(|run| {
            synthetic_run::change_first_figures(run, |ticks| ticks * percent / 100);
        });
        scratch.write(name, &slower);
    }
    let docs = "--platform qemu tf-a";
    let name = "tf-a/docs/perf/psci-performance-qemu.rst";
    let page = |options: &str, code, part| {
        scratch.assert_outcomes(&[(options, code, part)]);
        String::from_utf8(scratch.read(name)).expect("UTF-8")
    };
    let has = |page: &str, parts: &[&str]| {
        let lacks = parts.iter().find(|part| !page.contains(**part));
        assert_eq!(lacks, None, "{page}");
    };
    let first = page(
        &format!("publish good.log {docs}"),
        0,
        "add the page to the toctree",
    );
    has(
        &first,
        &["PSCI latencies of QEMU virt\n===========================\n"],
    );
    assert!(!first.contains("previous release"), "{first}");
    let edited = first.replace("Results\n-------\n", "Results\n-------\n\nMy prose.\n");
    scratch.write(name, &edited);
    // If there are several logs, the typical run (b.log in this case) is published.
    let several = format!("publish a.log c.log b.log {docs}");
    let second = page(&several, 0, "psci-performance-qemu.rst: ");
    has(&second, &["My prose.", "(previous release)"]);
    has(&second, &["What matters most:", "+50.00 %"]);
    let audit = format!("audit {name}");
    page(&audit, 0, " right, 0 wrong, 0 ambiguous");
    let baselines = "--previous b.log --previous good.log --previous a.log";
    let third = page(&format!("publish c.log {docs} {baselines}"), 1, "");
    has(&third, &["+72.73 %"]);
    scratch.write(name, &first.replace(".. psci-bench: end results\n", ""));
    let refusal = "this page was not generated by psci-bench";
    scratch.refuses(&format!("publish good.log {docs}"), refusal);
}

/// Pages up to v2.8 have one column for the CPU, and print no changes.
#[test]
fn page_of_the_old_layout_is_audited() {
    let scratch = Scratch::new(PROGRAM);
    let page = "\
``CPU_SUSPEND`` to deepest power level on all CPUs in sequence
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

+------+---------------------+--------------------+--------------------------+
| CPU  | ``PSCI_ENTRY`` (us) | ``PSCI_EXIT`` (us) | ``CFLUSH_OVERHEAD`` (us) |
+======+=====================+====================+==========================+
| 0    | 114                 | 20                 | 94                       |
+------+---------------------+--------------------+--------------------------+
| 1    | 115                 | 21                 | 95                       |
+------+---------------------+--------------------+--------------------------+
";
    scratch.write("v2.8/psci-performance-juno.rst", page);
    let line = "audit v2.8/psci-performance-juno.rst --format json -o out.json";
    scratch.assert_outcomes(&[(line, 0, "0 printed changes: 0")]);
    let json = String::from_utf8(scratch.read("out.json")).expect("UTF-8");
    assert!(json.contains("\"ns\": 114000"), "{json}");
}
