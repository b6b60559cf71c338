//! Reports as pages of TF-A's documentation: Sphinx builds them without a
//! warning.

#[path = "support/made_up_run.rs"]
mod made_up_run;
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use psci_bench::plan::Records;
use support::xtask;
use xtask::setup;
use xtask::setup::workspace::Workspace;

/// A page that takes the data files in as TF-A's documentation does.
fn page(data: &Path) -> String {
    let mut page = "Figures\n=======\n".to_owned();
    for which in ["current", "previous"] {
        let mut names: Vec<String> = fs::read_dir(data.join(which))
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("a file")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        names.sort();
        assert_eq!(names.len(), 6, "{names:?}");
        page.push_str(&format!("\n{which}\n{}\n", "-".repeat(which.len())));
        for name in names {
            let header = if name.contains("version") {
                "Cluster, Core, Latency"
            } else {
                "Cluster, Core, Powerdown, Wakeup, Cache Flush"
            };
            page.push_str(&format!(
                "\n.. csv-table:: {name} (ns)\n   :header: {header}\n   :file: \
                 docs/perf/data/juno/{which}/{name}\n"
            ));
        }
    }
    page
}

/// Cells whose names, boards and messages are markup, if they are not escaped.
fn names_that_look_like_markup(dir: &Path) -> String {
    let lab = dir.join("lab");
    let log = "NOTICE:  Booting trusted firmware test framework\r\n  Board      : *a_ |b| `c\r\n\
        > Executing 'CPU suspend on all cores in sequence'\r\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n\
        \x20 TEST COMPLETE            Passed\r\nNOTICE:  Exiting tests.\r\n";
    let junit = "<testsuite><testcase name='x_'><failure message='|*_ `y`__ ::'/></testcase>\
        <testcase name='::&#10;- z'><error/></testcase></testsuite>";
    for firmware in ["fw_", "_a_b_", "__init__", "-", "+x"] {
        let cell = lab.join(format!("cell{firmware}"));
        fs::create_dir_all(cell.join("results")).expect("made");
        let mark = format!(
            "{{\"schema\": \"psci-bench-lab-cell\", \"version\": 1, \"engine\": \"labgrid\", \
             \"board\": \"b_\", \"firmware\": \"{firmware}\"}}"
        );
        fs::write(cell.join("cell.json"), mark).expect("written");
        fs::write(cell.join("results/uart.log"), log).expect("written");
        fs::write(cell.join("results/junit.xml"), junit).expect("written");
    }
    let half = lab.join("cell-/results/junit.xml");
    fs::write(half, &junit[..junit.len() - 3]).expect("written");
    lab.to_str().expect("UTF-8").to_owned()
}

#[test]
fn sphinx_builds_every_page_without_a_warning() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &setup::PAGES).expect("Sphinx");
    let sphinx = setup::sphinx_build(&workspace).expect("it was installed");
    let dir = tempfile::tempdir().expect("a directory");
    let source = dir.path().join("source");
    fs::create_dir(&source).expect("made");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let named = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let published = |version: &str| named(&root.join("published/juno").join(version));
    let log = dir.path().join("run.log");
    let text = made_up_run::log(&made_up_run::run(), Records::Once);
    fs::write(&log, text).expect("written");
    let log = named(&log);
    let (old, new) = (published("v2.12"), published("v2.13"));

    let report = |arguments: &[&str], expected: i32| {
        let output = xtask(&[&["report"], arguments].concat())
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{said}");
    };
    let to = |name: &str| named(&source.join(name));
    report(&[&log, "--format", "rst", "-o", &to("run.rst")], 0);
    report(
        &[
            &log,
            &log,
            "--merge",
            "--format",
            "rst",
            "-o",
            &to("merged.rst"),
        ],
        0,
    );
    report(
        &[
            &new,
            "--baseline",
            &old,
            "--format",
            "rst",
            "-o",
            &to("juno.rst"),
        ],
        1,
    );
    let same = [&log, "--baseline", &log, "--format", "rst"];
    report(&[&same[..], &["-o", &to("same.rst")]].concat(), 0);
    let lab = names_that_look_like_markup(dir.path());
    let side = ["--matrix", &log, &lab, "--format", "rst"];
    report(&[&side[..], &["-o", &to("matrix.rst")]].concat(), 3);
    let docs = ["--format", "tfa-docs", "--platform", "juno", "-o"];
    report(
        &[
            &[new.as_str(), "--baseline", &old][..],
            &docs,
            &[&named(&source)],
        ]
        .concat(),
        1,
    );
    fs::write(
        source.join("figures.rst"),
        page(&source.join("docs/perf/data/juno")),
    )
    .expect("written");
    let index = "Pages\n=====\n\n.. toctree::\n\n   run\n   merged\n   juno\n   same\n   matrix\n   figures\n";
    fs::write(source.join("index.rst"), index).expect("written");
    fs::write(
        source.join("conf.py"),
        "project = 'Reports'\nhtml_theme = 'basic'\n",
    )
    .expect("written");

    let output = Command::new(sphinx)
        .args(["-W", "--keep-going", "-q", "-b", "html"])
        .args([&source, &dir.path().join("html")])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let html = |name: &str| fs::read_to_string(dir.path().join("html").join(name)).expect("a page");
    assert!(html("figures.html").contains("180600 (+78.88%)"));
    assert!(
        html("juno.html").contains("CPUs that are not last man now pay a cluster-size cache flush")
    );
    let matrix = html("matrix.html");
    for text in [">fw_<", ">__init__<", ">-<", ">*a_ |b| `c<", "|*_ `y`__ ::"] {
        assert!(matrix.contains(text), "{text}");
    }
    assert!(html("run.html").contains("test_rt_instr_susp_deep_parallel"));
}
