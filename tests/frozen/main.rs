//! Compares figures with those measured by the first version of the payload. The figures must not
//! change when the code is restructured. Each folder `tests/data/frozen/gcc-*` contains the figures
//! for one firmware. The rows of the parallel deepest-level scenario have been remeasured twice:
//! when awake CPUs stopped reading timestamps, and when the payload was no longer built for minimum
//! size, so that each CPU executes fewer instructions after its wake-up.
//!
//! Serial and CPU_OFF rows, and all rows for machines with one CPU, must match to the tick. In
//! parallel scenarios, QEMU runs the CPUs one after another, each until it yields. The number of
//! instructions from a wake-up to the spin loop therefore determines which CPU detects the start
//! first and which takes a lock first. If this number changes slightly, for example because the
//! compiler generates different code, a CPU may overtake three others in the queue. That CPU moves
//! up three places, and each of the others moves down one. Therefore, a column's sum may differ by
//! up to 1%, and its sorted figures by up to 20%.
//!
//! With 32 CPUs, even these limits are too strict: a CPU's turn ends partway through the queue, and
//! adding a single NOP changes half of the figures in a column. In this case, the only requirements
//! are that the same CPUs have rows and that the last men are in the same clusters as before.
//!
//! If there are no frozen figures for a firmware, each run is compared with a second run in the
//! same way. The [`invariants`] are checked in either case.
//!
//! The test writes the measured figures to `target/psci-bench/frozen`, using the same file names.
//! To freeze the figures for another firmware build, copy them to a new folder in
//! `tests/data/frozen`.

#[path = "../common/mod.rs"]
mod common;

mod firmware;
mod invariants;
mod machine;

use std::collections::BTreeMap;
use std::fs;

use boards::GicVersion;
use common::{Rows, rt_instr};
use firmware::FirmwareFingerprint;
use host::hex::hex;
use host::progress::note;
use host::side_by_side;
use machine::Machine;
use runner::build::firmware::toolchain;
use runner::qemu::Level;
use runner::qemu::prepare::prepare;
use sha2::{Digest, Sha256};

/// Figures in a parallel column may differ by at most 1/`FIGURE_PARTS` of their value.
const FIGURE_PARTS: u64 = 5;
/// The sum of a parallel column may differ by at most 1/`SUM_PARTS` of its value.
const SUM_PARTS: u64 = 100;

/// In parallel scenarios with more CPUs than this, only the last men are compared.
const CPUS_IN_ORDER: usize = 8;

/// Returns each column's figures, sorted.
fn sorted_columns(rows: &BTreeMap<[u64; 2], Vec<u64>>) -> Vec<Vec<u64>> {
    let width = rows.values().map(Vec::len).max().unwrap_or(0);
    let column = |index: usize| {
        let mut figures: Vec<u64> = rows.values().map(|row| row[index]).collect();
        figures.sort_unstable();
        figures
    };
    (0..width).map(column).collect()
}

/// Returns the cluster of each last man. A CPU is a last man if its cache flush (the third figure)
/// takes more than half as long as the longest flush.
fn last_men(rows: &BTreeMap<[u64; 2], Vec<u64>>) -> Vec<u64> {
    let flush = |row: &Vec<u64>| row.get(2).copied().unwrap_or(0);
    let longest = rows.values().map(flush).max().unwrap_or(0);
    let last = rows.iter().filter(|(_, row)| 2 * flush(row) > longest);
    last.map(|([cluster, _], _)| *cluster).collect()
}

/// Returns true if all figures in a column and their sum are within the limits.
fn is_near(before: &[u64], after: &[u64]) -> bool {
    let is_near = |old_figure: u64, new_figure: u64, parts: u64| {
        old_figure.abs_diff(new_figure) * parts <= old_figure
    };
    let mut pairs = before.iter().zip(after);
    pairs.all(|(old_figure, new_figure)| is_near(*old_figure, *new_figure, FIGURE_PARTS))
        && is_near(before.iter().sum(), after.iter().sum(), SUM_PARTS)
}

/// Lists the differences between `measured` and `frozen` that are larger than allowed.
fn differences(frozen: &Rows, measured: &Rows) -> Vec<String> {
    let mut list = Vec::new();
    if !frozen.keys().eq(measured.keys()) {
        list.push(format!(
            "tests: {:?}, not {:?}",
            measured.keys(),
            frozen.keys()
        ));
    }
    for (test, rows) in frozen {
        let Some(now) = measured.get(test) else {
            continue;
        };
        if !rows.keys().eq(now.keys()) {
            list.push(format!("{test}: rows {:?}", now.keys()));
        } else if !test.ends_with("_parallel") || rows.len() == 1 {
            let differs = rows.iter().filter(|(cpu, row)| now[*cpu] != **row);
            list.extend(
                differs
                    .map(|(cpu, row)| format!("{test}, CPU {cpu:?}: {:?}, not {row:?}", now[cpu])),
            );
        } else if rows.len() > CPUS_IN_ORDER {
            let before = last_men(rows);
            let after = last_men(now);
            if test.contains("deep") && before != after {
                list.push(format!("{test}: last men in {after:?}, not {before:?}"));
            }
        } else {
            for (before, after) in sorted_columns(rows).iter().zip(sorted_columns(now)) {
                if !is_near(before, &after) {
                    list.push(format!("{test}: {after:?}, not {before:?}"));
                }
            }
        }
    }
    list
}

/// Returns the firmware used by runs on this host.
fn firmware_here() -> FirmwareFingerprint {
    let bl31 = [GicVersion::V2, GicVersion::V3].map(|gic| {
        let machines = Machine::all();
        let machine = machines.iter().find(|machine| machine.gic == gic);
        let prepared = prepare(&machine.expect("a machine").spec()).expect("prepared");
        let file = prepared.bl31().expect("TF-A").with_extension("bin");
        hex(&Sha256::digest(fs::read(file).expect("BL31")))
    });
    let toolchain = toolchain().expect("the compiler's version");
    FirmwareFingerprint { toolchain, bl31 }
}

/// Runs `machine` and returns its `RT_INSTR` lines.
fn run(machine: &Machine) -> String {
    let text = common::expect_pass(&machine.spec()).text;
    let lines = text.lines().filter(|line| line.starts_with("<RT_INSTR:"));
    lines.map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn figures_of_the_first_edition_stay() {
    let found_in = common::workspace().state().join("frozen");
    fs::create_dir_all(&found_in).expect("the folder");
    let firmware = firmware_here();
    firmware::write(&found_in, &firmware);
    let all = firmware::read_all();
    let frozen = firmware::find(&all, &firmware);
    if frozen.is_none() {
        note(&format!(
            "there are no frozen figures for firmware built by {}: checking the figures against \
             the invariants and against a second run",
            firmware.toolchain[0]
        ));
    }
    let differences_of = |machine: Machine| {
        let lines = run(&machine);
        fs::write(found_in.join(machine.file()), &lines).expect("written");
        let found = rt_instr(&lines);
        let expected = match frozen {
            Some(frozen) => frozen.lines(&machine),
            None => run(&machine),
        };
        let mut wrong = differences(&rt_instr(&expected), &found);
        wrong.extend(invariants::broken(&found));
        let with_file = |difference: String| format!("{}: {difference}", machine.file());
        wrong.into_iter().map(with_file).collect::<Vec<_>>()
    };
    // With the instruction clock, QEMU uses a single host CPU.
    let (el1, el2): (Vec<_>, Vec<_>) = Machine::all()
        .into_iter()
        .partition(|machine| machine.level == Level::El1);
    let all_wrong = |machines: Vec<Machine>| -> Vec<String> {
        machines.into_iter().flat_map(differences_of).collect()
    };
    let both = side_by_side(|| Ok(all_wrong(el1)), || Ok(all_wrong(el2)));
    let (at_el1, at_el2) = both.expect("neither step returns an error");
    let list = [at_el1, at_el2].concat();
    assert!(
        list.is_empty(),
        "{}\nThe measured figures are in {}; they were compared with {frozen:?}",
        list.join("\n"),
        found_in.display()
    );
}
