//! Published figures and pages in TF-A's documentation, which Sphinx must build without warnings.

use std::fs;
use std::path::Path;

use report::synthetic_run::passed_log;

use crate::support::scratch_of_reports;
use crate::support::sphinx::{build_pages, built_page};

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

#[test]
fn sphinx_builds_published_pages_without_a_warning() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write_tf_a("source");
    let docs = "publish published/juno/v2.13 --previous published/juno/v2.12 --platform juno \
        --no-page source";
    scratch.assert_outcomes(&[(docs, 1, "")]);
    let page_of = "publish good.log --platform qemu source";
    scratch.assert_outcomes(&[(page_of, 0, "add the page to the toctree")]);
    let methodology = "Runtime Instrumentation Methodology";
    let text = format!("{methodology}\n{}\n", "=".repeat(methodology.len()));
    scratch.write("source/methodology.rst", &text);
    let figures = page(&scratch.path("source/docs/perf/data/juno"));
    scratch.write("source/figures.rst", &figures);
    let index = "Pages\n=====\n\n.. toctree::\n\n   figures\n   methodology\n   \
        docs/perf/psci-performance-qemu\n";
    scratch.write("source/index.rst", index);
    build_pages(&scratch);
    assert!(built_page(&scratch, "figures").contains("180600 (+78.88%)"));
}
