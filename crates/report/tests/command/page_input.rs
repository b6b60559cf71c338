//! Published pages as input.

use crate::support::PROGRAM;
use crate::support::rst_page::{grid_table, page_of_two_releases};
use crate::support::scratch::Scratch;

const SERIAL: &str = "``CPU_SUSPEND`` latencies (µs) to power level 0 in\n        serial";

#[test]
fn pages_are_tables() {
    let scratch = Scratch::new(PROGRAM);
    let (new, old) = ("0,0,110.0,20.0,5.0", "0,0,100.0,20.0,5.0");
    scratch.write("new.rst", &page_of_two_releases(SERIAL, &[new], &[old]));
    scratch.write("old.rst", &grid_table(&format!("{SERIAL} (v9.9)"), &[old]));
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
    for name in ["new.rst", "ns.rst", "csv.rst"] {
        let (code, stderr) = scratch.outcome(&format!("compare old.rst {name}"));
        assert!(
            code == 1 && stderr.contains("Powerdown"),
            "{name}: {stderr}"
        );
        assert!(stderr.contains("+10.00 %"), "{name}: {stderr}");
    }
    // What is not a page of latencies is refused.
    scratch.write("page.rst", "Title\n");
    let none = "page.rst:1:1: no table of PSCI latencies";
    scratch.refuses("report page.rst --format csv -o out.csv", none);
}
