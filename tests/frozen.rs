//! The figures of the first edition, which no change of the code's structure may
//! move. The files in `tests/data/frozen/figures` are never made anew. One column was taken
//! anew: Wakeup of the deepest level in parallel, which had contained the payload's own reads
//! of timestamps by CPUs that were awake.
//!
//! Serial and CPU_OFF rows, and all rows of one CPU, are equal to the tick. In
//! parallel scenarios QEMU runs one CPU after another, each until it yields: the
//! number of instructions from a wake-up to the spin loop decides which CPU sees the
//! start first, and takes a lock first. A few instructions more or less there, by
//! another outlining of the compiler, let one CPU pass three others in the queue:
//! it gains the three steps that each of them loses one of. So each column's sum is
//! within 1 %, and its figures, sorted, are within a fifth.
//!
//! With 32 CPUs that is too little: a turn ends in the middle of the queue, and one
//! NOP moves half of a column. There the same CPUs have rows, and the same clusters
//! one last man each.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use common::{Rows, rt_instr};
use xtask::board::Gic;
use xtask::qemu::Level;
use xtask::qemu::run_spec::RunSpec;
use xtask::setup::workspace::Workspace;

/// Figures of a parallel column may differ by one part in this many.
const FIGURE_PARTS: u64 = 5;
/// The sum of a parallel column may differ by one part in this many.
const SUM_PARTS: u64 = 100;

/// Parallel scenarios of more CPUs than this are compared by their last men.
const CPUS_IN_ORDER: usize = 8;

/// The figures of each column, sorted.
fn sorted_columns(rows: &BTreeMap<[u64; 2], Vec<u64>>) -> Vec<Vec<u64>> {
    let width = rows.values().map(Vec::len).max().unwrap_or(0);
    let column = |place: usize| {
        let mut figures: Vec<u64> = rows.values().map(|row| row[place]).collect();
        figures.sort_unstable();
        figures
    };
    (0..width).map(column).collect()
}

/// Returns the clusters of the last men, whose cache flush, the third figure, is more
/// than half of the longest.
fn last_men(rows: &BTreeMap<[u64; 2], Vec<u64>>) -> Vec<u64> {
    let flush = |row: &Vec<u64>| row.get(2).copied().unwrap_or(0);
    let longest = rows.values().map(flush).max().unwrap_or(0);
    let last = rows.iter().filter(|(_, row)| 2 * flush(row) > longest);
    last.map(|([cluster, _], _)| *cluster).collect()
}

/// Returns true if all of a column's figures and their sum are near enough.
fn is_near(before: &[u64], after: &[u64]) -> bool {
    let near = |before: u64, after: u64, parts: u64| before.abs_diff(after) * parts <= before;
    let mut pairs = before.iter().zip(after);
    pairs.all(|(before, after)| near(*before, *after, FIGURE_PARTS))
        && near(before.iter().sum(), after.iter().sum(), SUM_PARTS)
}

/// Lists how `found` differs from `frozen` by more than is allowed.
fn differences(frozen: &Rows, found: &Rows) -> Vec<String> {
    let mut list = Vec::new();
    if !frozen.keys().eq(found.keys()) {
        list.push(format!(
            "tests: {:?}, not {:?}",
            found.keys(),
            frozen.keys()
        ));
    }
    for (test, rows) in frozen {
        let Some(now) = found.get(test) else { continue };
        if !rows.keys().eq(now.keys()) {
            list.push(format!("{test}: rows {:?}", now.keys()));
        } else if !test.ends_with("_parallel") || rows.len() == 1 {
            let differs = rows.iter().filter(|(place, row)| now[*place] != **row);
            list.extend(differs.map(|(place, row)| {
                format!("{test}, CPU {place:?}: {:?}, not {row:?}", now[place])
            }));
        } else if rows.len() > CPUS_IN_ORDER {
            let (before, after) = (last_men(rows), last_men(now));
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

/// Runs what a file's name says, such as `gic3-el2-smp8`.
fn run(name: &str) -> Rows {
    let number = |prefix: &str| -> u32 {
        let word = name.split('-').find_map(|word| word.strip_prefix(prefix));
        word.expect("the word").parse().expect("a number")
    };
    let gic = match number("gic") {
        2 => Gic::V2,
        _ => Gic::V3,
    };
    let log = common::pass(&RunSpec {
        smp: Some(number("smp")),
        gic: Some(gic),
        level: match number("el") {
            1 => Level::El1,
            _ => Level::El2,
        },
        icount: true,
        args: Some("iterations=5".into()),
        timeout: Duration::from_secs(600),
        ..RunSpec::default()
    });
    rt_instr(&log.text)
}

#[test]
fn no_figure_of_the_first_edition_moves() {
    let workspace = Workspace::find().expect("the workspace");
    let folder = workspace.root.join("tests/data/frozen/figures");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 14, "1, 4, 8 and 32 CPUs; GICv2 has 8 at most");
    let mut list = Vec::new();
    for file in files {
        let name = file.file_stem().and_then(|name| name.to_str());
        let name = name.expect("a name");
        let frozen = rt_instr(&fs::read_to_string(&file).expect("the file"));
        let found = differences(&frozen, &run(name));
        list.extend(found.into_iter().map(|it| format!("{name}: {it}")));
    }
    assert!(list.is_empty(), "{}", list.join("\n"));
}
