//! The files named in example commands, for the tests that run these commands.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use boards::StateFormat;
use boards::device_tree::{Choices, build};
use suite::measure::{Metric, Summary};
use suite::model::{Run, Samples, Series};
use suite::plan::ScenarioId;
use suite::testing::synthetic;

use crate::synthetic_run;

/// A run under KVM, from docs/samples.
const SAMPLE: &str = include_str!("../../../../docs/samples/kvm-guest-gicv3.log");
/// A run with `only=fitness`, from docs/samples.
const FITNESS: &str = include_str!("../../../../docs/samples/fitness.log");
/// A run with `only=idle_states`, from docs/samples.
const IDLE: &str = include_str!("../../../../docs/samples/idle-states.log");
/// The logs named in examples. All logs are copies of the sample, so a comparison finds no changes.
const LOGS: [&str; 9] = [
    "run.log",
    "first.log",
    "hw.log",
    "sw.log",
    "v2.12.log",
    "v2.13.log",
    "monday.log",
    "tuesday.log",
    "/dev/ttyUSB0",
];

/// The figures of the run in juno.log that TF-A publishes, by file name.
const TABLES: [(&str, &str); 2] = [
    (
        "test_rt_instr_cpu_susp_serial.csv",
        "0,0,64000,800,32000\n0,1,65600,800,32800\n1,0,67200,800,33600\n1,1,68800,800,34400\n",
    ),
    (
        "test_rt_instr_psci_version_parallel.csv",
        "0,0,96000\n0,1,97600\n1,0,99200\n1,1,100800\n",
    ),
];

/// A page that shows the tables.
const PAGE: &str = "\
PSCI latencies of Arm Juno
==========================

.. csv-table:: CPU suspend on all cores in sequence (ns) (current release)
   :header: Cluster, Core, Powerdown, Wakeup, Cache Flush
   :file: data/juno/current/test_rt_instr_cpu_susp_serial.csv

.. csv-table:: PSCI version call on all cores in parallel (ns) (current release)
   :header: Cluster, Core, Latency
   :file: data/juno/current/test_rt_instr_psci_version_parallel.csv
";

/// Adds a figure that the caller measures.
fn add_wake(run: &mut Run) {
    for cell in run
        .scenarios
        .iter_mut()
        .flat_map(|scenario| &mut scenario.cells)
    {
        let summary = Summary::compute(&mut [1250; 10]);
        cell.series.push(Series {
            shown: Some(summary.median),
            ..Series::with_summary(Metric::Wake, summary)
        });
        cell.series.sort_by_key(|series| series.metric);
    }
}

/// Turns a run into one on firmware without PMF.
fn remove_pmf(run: &mut Run) {
    synthetic::remove_pmf(run);
    for scenario in &mut run.scenarios {
        if let Some(conditions) = &mut scenario.conditions {
            conditions.pmf = false;
        }
        for cell in &mut scenario.cells {
            cell.series.retain(|series| series.metric == Metric::Wake);
            cell.samples = Samples::default();
        }
    }
}

/// Creates a `work` folder in `parent` with all the files named in the report verbs' examples.
/// Regular files in `work` stand in for devices.
pub fn make_example_files(parent: &Path) {
    let work = parent.join("work");
    for folder in ["docs/perf", "dev"] {
        fs::create_dir_all(work.join(folder)).expect("made");
    }
    let write = |name: &str, text: &str| {
        fs::write(work.join(name.trim_start_matches('/')), text).expect("written");
    };
    for name in LOGS {
        write(name, SAMPLE);
    }
    write("fitness.log", FITNESS);
    write("idle.log", IDLE);
    fs::write(work.join("board.dtb"), default_tree("")).expect("written");
    // The sample in docs/samples was recorded in a guest, which has no PMF, so these logs are made
    // up.
    let juno = synthetic_run::edited_log(|run| {
        run.head.as_mut().expect("a head").model = "Arm Juno".to_owned();
        // Published tables cannot show that a CPU lacks a row because it woke the others.
        let deep = ScenarioId::SUSPEND_DEEP_PARALLEL;
        run.scenarios.retain(|scenario| scenario.id != deep);
    });
    for name in ["juno.log", "old.log", "new.log"] {
        write(name, &juno);
    }
    let n1sdp = synthetic_run::edited_log(|run| {
        run.head.as_mut().expect("a head").model = "Arm N1SDP".to_owned()
    });
    write("n1sdp.log", &n1sdp);
    write("pmf.log", &synthetic_run::edited_log(add_wake));
    write(
        "plain.log",
        &synthetic_run::edited_log(|run| {
            add_wake(run);
            remove_pmf(run);
        }),
    );
    // TF-A's published figures, and the page that shows them.
    let data = work.join("docs/perf/data/juno/current");
    fs::create_dir_all(&data).expect("made");
    for (name, table) in TABLES {
        fs::write(data.join(name), table).expect("written");
    }
    let page = "psci-performance-juno.rst";
    for path in [work.join("docs/perf").join(page), work.join(page)] {
        fs::write(path, PAGE).expect("written");
    }
    symlink("docs/perf/data", work.join("data")).expect("made");
    for release in ["v2.12", "v2.13"] {
        let folder = work.join(release);
        fs::create_dir(&folder).expect("made");
        fs::copy(work.join(page), folder.join("juno.rst")).expect("copied");
        symlink("../docs/perf/data", folder.join("data")).expect("made");
    }
}

/// Returns the device tree that `cargo xtask qemu` builds by default, for 8 CPUs, with these boot
/// arguments. It is the tree of the machine in docs/samples/idle-states.log.
pub fn default_tree(bootargs: &str) -> Vec<u8> {
    let board = boards::load("qemu").expect("a board");
    let firmware = board.firmware(&board.default_firmware).expect("a firmware");
    let choices = Choices {
        cpus: 8,
        gic: board.default_gic(),
        conduit: board.psci.conduit,
        cpu_off: true,
        idle_states: &firmware.idle_states(StateFormat::Original),
    };
    build(&board, &choices, bootargs).expect("a tree")
}
