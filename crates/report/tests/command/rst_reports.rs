//! Reports in reStructuredText, which Sphinx must build without warnings.

use report::synthetic_run::{edited_log, passed_log};

use crate::support::scratch_of_reports;
use crate::support::sphinx::{build_pages, built_page};

/// The log of a board whose name would be treated as markup if it were not escaped.
const NAME_LIKE_MARKUP: &str = "NOTICE:  Booting trusted firmware test framework\r\n\
    \x20 Board      : *a_ |b| `c\r\n> Executing 'CPU suspend on all cores in sequence'\r\n\
    <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n\
    \x20 TEST COMPLETE            Passed\r\nNOTICE:  Exiting tests.\r\n";

#[test]
fn sphinx_builds_every_report_without_a_warning() {
    let scratch = scratch_of_reports(passed_log());
    scratch.write("markup.log", NAME_LIKE_MARKUP);
    let other = edited_log(|run| run.head.as_mut().expect("a head").model = "Other".into());
    scratch.write("other.log", &other);
    let mut index = "Pages\n=====\n\n.. toctree::\n\n".to_owned();
    scratch.write("source/index.rst", "");
    for (name, words, expected) in [
        (
            "juno",
            "compare published/juno/v2.12 published/juno/v2.13",
            1,
        ),
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
    build_pages(&scratch);
    let flush = "now pay for flushing the whole cluster";
    assert!(built_page(&scratch, "juno").contains(flush));
    assert!(built_page(&scratch, "boards").contains(">*a_ |b| `c<"));
}
