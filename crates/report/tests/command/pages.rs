//! Reports as pages in the TF-A documentation, which Sphinx must build without warnings.

use std::fs;
use std::path::Path;
use std::process::Command;

use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use crate::support::scratch_of_reports;
use report::made_up_run::{edited_log, passed_log};

/// Returns a page that includes the data files in the same way as the TF-A documentation.
fn page(data: &Path) -> String {
    let mut page = "Figures\n=======\n".to_owned();
    for which in ["current", "previous"] {
        let files = fs::read_dir(data.join(which)).expect("a folder");
        let mut names: Vec<String> = files
            .map(|entry| entry.expect("a file").file_name())
            .map(|path| path.into_string().expect("UTF-8"))
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

/// The log of a board whose name would be treated as markup if it were not escaped.
const NAME_LIKE_MARKUP: &str = "NOTICE:  Booting trusted firmware test framework\r\n\
    \x20 Board      : *a_ |b| `c\r\n> Executing 'CPU suspend on all cores in sequence'\r\n\
    <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n\
    \x20 TEST COMPLETE            Passed\r\nNOTICE:  Exiting tests.\r\n";

#[test]
fn sphinx_builds_every_page_without_a_warning() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::PythonVenv, Need::Sphinx]).expect("Sphinx");
    let programs = Need::Sphinx.programs(&workspace).expect("it was installed");
    let sphinx = programs.join("sphinx-build");
    let scratch = scratch_of_reports(passed_log());
    let source = scratch.path("source");
    scratch.write_tf_a("source");
    scratch.write("markup.log", NAME_LIKE_MARKUP);
    let compared = "compare published/juno/v2.12 published/juno/v2.13";
    let docs = "publish published/juno/v2.13 --previous published/juno/v2.12 --platform juno \
        --no-page source";
    scratch.assert_outcomes(&[(docs, 1, "")]);
    let page_of = "publish good.log --platform qemu source";
    scratch.assert_outcomes(&[(page_of, 0, "add the page to the toctree")]);
    let methodology = "Runtime Instrumentation Methodology";
    let text = format!("{methodology}\n{}\n", "=".repeat(methodology.len()));
    scratch.write("source/methodology.rst", &text);
    let figures = page(&source.join("docs/perf/data/juno"));
    scratch.write("source/figures.rst", &figures);
    let mut index = "Pages\n=====\n\n.. toctree::\n\n   figures\n   methodology\n   docs/perf/psci-performance-qemu\n".to_owned();
    let other = edited_log(|run| run.head.as_mut().expect("a head").model = "Other".into());
    scratch.write("other.log", &other);
    for (name, words, expected) in [
        ("juno", compared, 1),
        ("same", "compare good.log good.log good.log", 0),
        ("boards", "history good.log markup.log", 0),
        (
            "history",
            "history published/juno/v2.12 published/juno/v2.13",
            0,
        ),
    ] {
        let line = format!("{words} --format rst -o source/{name}.rst");
        scratch.assert_outcomes(&[(&line, expected, "")]);
        index += &format!("   {name}\n");
    }
    scratch.write("source/index.rst", &index);
    // As in the TF-A configuration, a title that occurs twice produces a duplicate label.
    let conf = "project = 'Reports'\nhtml_theme = 'basic'\n\
        extensions = ['sphinx.ext.autosectionlabel']\nautosectionlabel_maxdepth = 1\n";
    scratch.write("source/conf.py", conf);

    let output = Command::new(sphinx)
        .args(["-n", "-W", "--keep-going", "-q", "-b", "html"])
        .args([&source, &scratch.path("html")])
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let html = |name: &str| {
        let page = scratch.read(&format!("html/{name}"));
        String::from_utf8(page).expect("UTF-8")
    };
    assert!(html("figures.html").contains("180600 (+78.88%)"));
    assert!(html("juno.html").contains("now pay for flushing the whole cluster"));
    assert!(html("boards.html").contains(">*a_ |b| `c<"));
}
