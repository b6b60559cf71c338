//! Audits of idle states: planted lies in QEMU's tree and in the log of docs/samples, and patches
//! that git and dtc accept.

mod folders;
mod lies;
mod patches;

use std::path::Path;
use std::sync::LazyLock;

use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use idle_audit::audit::{DeclaredBy, DeclaredSource, IdleAudit, LISTED, RULES, RuleVerdict, audit};
use report::cli::example_files::default_tree;
use report::log::{LoggedRun, read_bytes};
use test_support::acpi_dump::acpi_dump;

use crate::acpi_tables::tables;
use crate::support::PROGRAM;
use crate::support::scratch::Scratch;

const BOARD: &str = "QEMU virt";
/// The default of `--margin`.
const MARGIN: f64 = 2.0;
/// A run on QEMU.
const SAMPLE: &str = include_str!("../../../../docs/samples/idle-states.log");

/// Returns the tree of the machine in the sample.
fn tree() -> Vec<u8> {
    default_tree("")
}

/// What happens to a property.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Us(u32),
    Present,
    Absent,
}

/// Edits a property of an idle state.
fn edit(tree: &mut DeviceTree, state: &str, property: &str, edit: Edit) {
    let value = match edit {
        Edit::Us(us) => us.to_be_bytes().to_vec(),
        Edit::Present => Vec::new(),
        Edit::Absent => {
            let removed = state_node(tree, state).remove_property(property);
            return assert!(removed.is_some(), "{state} has no {property}");
        }
    };
    let property = DeviceTreeProperty::new_unchecked(property, value);
    state_node(tree, state).add_property(property);
}

fn state_node<'t>(tree: &'t mut DeviceTree, state: &str) -> &'t mut DeviceTreeNode {
    let node = tree.find_node_mut(&format!("/cpus/idle-states/{state}"));
    node.expect("a state")
}

/// Returns QEMU's tree after an edit.
fn edited(edit: impl FnOnce(&mut DeviceTree)) -> Vec<u8> {
    let mut tree = DeviceTree::from_fdt(&Fdt::new(&tree()).expect("a tree"));
    edit(&mut tree);
    tree.to_dtb()
}

fn source(blob: &[u8]) -> DeclaredSource {
    DeclaredSource::of_tree("board.dtb", DeclaredBy::Tree, blob).expect("states")
}

/// Returns the run in the sample.
fn sample() -> LoggedRun {
    static RUN: LazyLock<LoggedRun> = LazyLock::new(|| {
        let runs = read_bytes("idle-states.log", SAMPLE.as_bytes());
        runs.expect("a run").remove(0)
    });
    RUN.clone()
}

/// Returns the verdicts that call for a change, as `state rule CPU verdict: reason`.
fn wrong(audit: &IdleAudit) -> Vec<String> {
    let wrong = audit
        .judgements()
        .filter(|(_, judgement)| judgement.verdict.calls_for_change());
    let lines = wrong.map(|(state, judgement)| {
        let cpu = judgement.cpu.as_deref().unwrap_or("-");
        let (name, verdict) = (&state.declared.name, judgement.verdict.word());
        format!(
            "{name} {} {cpu} {verdict}: {}",
            judgement.rule, judgement.reason
        )
    });
    lines.collect()
}

#[test]
fn unchanged_tree_has_nothing_wrong() {
    for runs in [&[][..], &[sample()], &[sample(), sample()]] {
        let found = audit(&source(&tree()), BOARD, runs, MARGIN).expect("an audit");
        assert_eq!(wrong(&found), Vec::<String>::new());
        // All that remains is what depends on energy.
        let open = found.count(RuleVerdict::CannotTell);
        assert_eq!(open, if runs.is_empty() { 0 } else { 4 });
        assert_eq!(found.count(RuleVerdict::NotMeasured), 0);
        assert!(found.states.iter().all(|state| state.changes.is_empty()));
    }
}

#[test]
fn page_describes_each_rule() {
    let page = include_str!("../../README.md");
    for rule in RULES.iter().chain([&LISTED]) {
        let row = format!("\n| `{}` | ", rule.name);
        assert!(page.contains(&row), "{}", rule.name);
    }
    for verdict in RuleVerdict::ALL {
        let row = format!("\n| {} | ", verdict.word());
        assert!(page.contains(&row), "{row}");
    }
}

/// Returns a folder with the sample, QEMU's tree and a tree in which a latency is too small.
fn scratch() -> Scratch {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("idle.log", SAMPLE);
    scratch.write("good.dtb", &tree());
    let lie = |tree: &mut DeviceTree| edit(tree, "core-off", "exit-latency-us", Edit::Us(10));
    scratch.write("lie.dtb", &edited(lie));
    scratch
}

#[test]
fn exit_code_is_one_only_if_a_promise_is_broken() {
    let scratch = scratch();
    let large = |tree: &mut DeviceTree| {
        edit(tree, "core-off", "exit-latency-us", Edit::Us(60));
        edit(tree, "core-off", "min-residency-us", Edit::Us(145));
    };
    scratch.write("large.dtb", &edited(large));
    let large = "audit-idle idle.log --tree large.dtb";
    scratch.write("cut.log", &SAMPLE[..SAMPLE.len() * 9 / 10]);
    scratch.assert_outcomes(&[
        ("audit-idle idle.log", 0, "24 right, 4 cannot be told"),
        ("audit-idle idle.log --board qemu", 0, "24 right"),
        ("audit-idle --board qemu", 0, "no contradictions"),
        ("audit-idle --tree good.dtb", 0, "no contradictions"),
        (
            "audit-idle --tree good.dtb --tree lie.dtb",
            0,
            "no contradictions",
        ),
        ("audit-idle idle.log --tree lie.dtb", 1, "1 too small"),
        (large, 0, "1 too large"),
        (&format!("{large} --margin 6"), 0, "24 right"),
        ("audit-idle cut.log --tree lie.dtb", 3, "incomplete"),
    ]);
    // A text names CPU and state, and all formats contain the verdict.
    for format in ["text", "md", "rst", "html", "json"] {
        let line = format!("audit-idle idle.log --tree lie.dtb --format {format}");
        let (_, text, _) = scratch.called(&line);
        for part in ["core-off", "too small by 8.0", "CPU 0.0"] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
    }
    let (_, text, _) = scratch.called("audit-idle idle.log --tree lie.dtb");
    let sentence = "core-off (0x00010002), exit-latency-us, CPU 0.0: too small by";
    assert!(text.contains(sentence), "{text}");
}

/// Wrong commands, and part of each message.
const REFUSED: &[(&str, &str)] = &[
    ("audit-idle", "required"),
    ("audit-idle empty.log", "no run"),
    ("audit-idle --tree none.dtb", "none.dtb: has no idle state"),
    (
        "audit-idle --tree idle.log",
        "idle.log: not a compiled device tree",
    ),
    (
        "audit-idle --tree shared.dtb",
        "/cpus/idle-states/core-off and /cpus/idle-states/cluster-off, both used by CPU 0x0, \
         share power_state 0x00010002",
    ),
    (
        "audit-idle idle.log --tree unlike.dtb",
        "the log is from another board or firmware",
    ),
    (
        "audit-idle idle.log --tree renamed.dtb",
        "idle.log: is a log of QEMU virt, but renamed.dtb is for Another board",
    ),
    (
        "audit-idle idle.log --tree good.dtb --board juno",
        "idle.log: is a log of QEMU virt, but good.dtb is for Arm Juno",
    ),
    (
        "audit-idle idle.log --tree few.dtb",
        "idle.log: CPU 0x7 is not in few.dtb",
    ),
    (
        "audit-idle guest.log --board qemu",
        "guest.log: no scenario suspended a CPU",
    ),
    (
        "audit-idle --board juno",
        "the board file of juno: declares no latencies",
    ),
    (
        "audit-idle idle.log --tree good.dtb --tree lie.dtb",
        "only one tree",
    ),
    ("audit-idle idle.log --margin 0.5", "expected a factor"),
    (
        "audit-idle idle.log --tree good.dtb --format patch",
        "specify it with --dts",
    ),
    ("audit-idle idle.log --format dts", "use --tree"),
    (
        "audit-idle idle.log --format csv",
        "expected one of text, md, rst, json, html, dts, patch, dt",
    ),
    ("audit-idle --tree good.dtb -o good.dtb", "good.dtb"),
];

/// Adds the trees and logs that are refused.
fn write_refused(scratch: &Scratch) {
    scratch.write(
        "none.dtb",
        &crate::support::tree_with(boards::GicVersion::V3, ""),
    );
    let shared = edited(|tree| {
        let other = "arm,psci-suspend-param";
        edit(tree, "cluster-off", other, Edit::Us(0x1_0002));
    });
    scratch.write("shared.dtb", &shared);
    let unlike = edited(|tree| {
        let states = ["core-standby", "core-off", "cluster-off", "system-off"];
        for (state, number) in states.into_iter().zip(0x4000_0001..) {
            edit(tree, state, "arm,psci-suspend-param", Edit::Us(number));
        }
    });
    scratch.write("unlike.dtb", &unlike);
    let renamed = edited(|tree| {
        let model = DeviceTreeProperty::new_unchecked("model", b"Another board\0".to_vec());
        tree.root.add_property(model);
    });
    scratch.write("renamed.dtb", &renamed);
    let few = edited(|tree| {
        let cpus = tree.find_node_mut("/cpus").expect("CPUs");
        cpus.remove_child("cpu@7").expect("a CPU");
    });
    scratch.write("few.dtb", &few);
    scratch.write(
        "fitness.log",
        include_str!("../../../../docs/samples/fitness.log"),
    );
    scratch.write(
        "guest.log",
        include_str!("../../../../docs/samples/kvm-guest-gicv3.log"),
    );
    scratch.write("empty.log", "nothing\n");
}

#[test]
fn wrong_use_is_refused_by_name() {
    let scratch = scratch();
    write_refused(&scratch);
    for (line, words) in REFUSED {
        scratch.refuses(line, words);
    }
    // The name of the board file says that it is the same board.
    let line = "audit-idle idle.log --tree renamed.dtb --board qemu";
    scratch.assert_outcomes(&[(line, 0, "24 right")]);
}

/// The states are those of Morello's firmware, which saves energy sooner than it wakes up.
#[test]
fn acpi_tables_are_audited_without_a_console() {
    let scratch = Scratch::new(PROGRAM);
    let asl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/acpi/morello.asl");
    scratch.write("dsdt.asl", &std::fs::read(asl).expect("a source"));
    scratch.theirs("iasl dsdt.asl");
    let dsdt = scratch.read("dsdt.aml");
    for (number, table) in tables().iter().chain([&dsdt]).enumerate() {
        // The console is not needed.
        if !table.starts_with(b"SPCR") {
            scratch.write(&format!("acpi/{number}"), table);
        }
    }
    let (code, text, stderr) = scratch.called("audit-idle --acpi acpi");
    assert_eq!(code, 1, "{stderr}");
    for part in [
        "LPI3-Core (0x00010000), residency-covers-latency: min-residency-us 150 is less than 350",
        "LPI3-Core+LPI2-Cluster (0x01010000), residency-covers-latency: min-residency-us 700 is \
         less than 950",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    let all = [tables(), vec![dsdt]].concat();
    scratch.write("dump.txt", acpi_dump(&all).as_bytes());
    let (_, text_of_dump, _) = scratch.called("audit-idle --acpi dump.txt");
    assert_eq!(text_of_dump, text.replace("acpi", "dump.txt"));
    scratch.refuses("audit-idle --acpi acpi --format dts", "use --tree");
}
