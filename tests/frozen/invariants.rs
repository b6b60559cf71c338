//! Rules that all figures measured with the instruction clock must satisfy, regardless of the
//! firmware.
//!
//! The suite's lead is CPU 0.0. In a serial scenario, the lead suspends while all other CPUs are
//! off, and stays on while the others power down. Therefore, the other CPUs in its cluster are
//! never the last man there, and the CPUs in other clusters always are.

use std::collections::{BTreeMap, BTreeSet};

use crate::CPUS_IN_ORDER;
use crate::common::{Rows, rt_instr};

/// A scenario's rows, by cluster and core.
type Scenario = BTreeMap<[u64; 2], Vec<u64>>;

const LEAD: [u64; 2] = [0, 0];
/// The index of the cache flush column.
const FLUSH: usize = 2;
/// The minimum ratio of the cluster flush time to the core flush time.
const FLUSH_FACTOR: u64 = 10;

/// A CPU's role in a serial scenario.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Part {
    Lead,
    /// A CPU whose cluster stays on.
    MateOfLead,
    /// A CPU that takes its cluster down with it.
    LastMan,
}

fn part(place: [u64; 2]) -> Part {
    match place {
        LEAD => Part::Lead,
        [0, _] => Part::MateOfLead,
        _ => Part::LastMan,
    }
}

/// Returns true if all CPUs with the same role have the same row.
fn has_one_row_per_part(rows: &Scenario) -> bool {
    let mut row_of_part = BTreeMap::new();
    rows.iter()
        .all(|(place, row)| row_of_part.entry(part(*place)).or_insert(row) == &row)
}

fn has_one_row(rows: &Scenario) -> bool {
    rows.values().collect::<BTreeSet<_>>().len() == 1
}

/// A rule and whether it is satisfied.
type Check = (&'static str, bool);

/// The suspend and CPU_OFF scenarios' rows.
struct Suite<'r> {
    deep: &'r Scenario,
    deep_parallel: &'r Scenario,
    core: &'r Scenario,
    core_parallel: &'r Scenario,
    off: &'r Scenario,
}

impl Suite<'_> {
    fn core_flush(&self) -> u64 {
        self.core[&LEAD][FLUSH]
    }

    fn cluster_flush(&self) -> u64 {
        self.deep[&LEAD][FLUSH]
    }

    fn check_serial(&self) -> Vec<Check> {
        let flush = |place: [u64; 2]| match part(place) {
            Part::MateOfLead => self.core_flush(),
            Part::Lead | Part::LastMan => self.cluster_flush(),
        };
        let mut deep = self.deep.iter();
        vec![
            (
                "deep, serial: CPUs with the same role have equal rows",
                has_one_row_per_part(self.deep),
            ),
            ("core, serial: all rows are equal", has_one_row(self.core)),
            (
                "CPU_OFF: CPUs with the same role have equal rows",
                has_one_row_per_part(self.off),
            ),
            (
                "CPU_OFF: the lead's row equals its deep suspend row",
                self.off[&LEAD] == self.deep[&LEAD],
            ),
            (
                "a cluster flush takes longer than a core flush",
                self.cluster_flush() > FLUSH_FACTOR * self.core_flush(),
            ),
            (
                "deep, serial: last men flush their cluster's caches",
                deep.all(|(place, row)| row[FLUSH] == flush(*place)),
            ),
        ]
    }

    fn check_one_cpu(&self) -> Check {
        let is_serial = self.deep_parallel == self.deep && self.core_parallel == self.core;
        ("parallel rows equal serial rows", is_serial)
    }

    fn check_parallel(&self) -> Vec<Check> {
        let sorted_flushes = |cluster: u64| {
            let mut flushes = Vec::new();
            for ([own_cluster, _], row) in self.deep_parallel {
                if *own_cluster == cluster {
                    flushes.push(row[FLUSH]);
                }
            }
            flushes.sort_unstable();
            flushes
        };
        let has_one_last_man = |cluster: u64| {
            let found = sorted_flushes(cluster);
            let mut expected = vec![self.core_flush(); found.len() - 1];
            expected.push(self.cluster_flush());
            found == expected
        };
        let mut clusters = self.deep_parallel.keys().map(|[cluster, _]| *cluster);
        let mut core = self.core_parallel.values();
        vec![
            (
                "deep, parallel: one last man per cluster",
                clusters.all(has_one_last_man),
            ),
            (
                "core, parallel: only core flushes",
                core.all(|row| row[FLUSH] == self.core_flush()),
            ),
        ]
    }
}

/// Lists the rules that `all` violates.
pub fn broken(all: &Rows) -> Vec<String> {
    let scenario = |name: &str| &all[&format!("test_rt_instr_{name}")];
    let suite = Suite {
        deep: scenario("susp_deep_serial"),
        deep_parallel: scenario("susp_deep_parallel"),
        core: scenario("cpu_susp_serial"),
        core_parallel: scenario("cpu_susp_parallel"),
        off: scenario("cpu_off_serial"),
    };
    let version = scenario("psci_version_parallel");
    let mut checks = suite.check_serial();
    if suite.deep.len() == 1 {
        checks.push(suite.check_one_cpu());
    }
    if suite.deep.len() <= CPUS_IN_ORDER {
        checks.extend(suite.check_parallel());
        checks.push(("PSCI_VERSION: all rows are equal", has_one_row(version)));
    }
    let broken = checks.iter().filter(|(_, is_met)| !is_met);
    broken
        .map(|(invariant, _)| format!("violated: {invariant}"))
        .collect()
}

#[test]
fn invariants_hold_of_all_frozen_figures() {
    for frozen in crate::firmware::read_all() {
        for machine in crate::machine::Machine::all() {
            let rows = rt_instr(&frozen.lines(&machine));
            assert_eq!(broken(&rows), [""; 0], "{frozen:?}, {machine:?}");
        }
    }
}

#[test]
fn each_changed_figure_in_a_serial_row_breaks_an_invariant() {
    let frozen = crate::firmware::read_all();
    let machines = crate::machine::Machine::all();
    let machine = machines
        .iter()
        .find(|machine| machine.cpus == 8)
        .expect("8 CPUs");
    let sound = rt_instr(&frozen[0].lines(machine));
    for (name, rows) in sound.iter().filter(|(name, _)| name.ends_with("_serial")) {
        for (place, row) in rows {
            for column in 0..row.len() {
                let mut moved = sound.clone();
                moved
                    .get_mut(name)
                    .expect("the test")
                    .get_mut(place)
                    .expect("the row")[column] += 16;
                assert_ne!(broken(&moved), [""; 0], "{name}, CPU {place:?}, {column}");
            }
        }
    }
}
