//! Runs the payload as a guest at EL1 under KVM, on a Linux host that QEMU emulates
//! ([`guest::kvm_host`]). The guest runs in Debian's QEMU, and in a VMM that uses kvmtool's
//! memory layout. If KVM cannot emulate an instruction, it kills the guest. KVM delivers
//! interrupts through list registers, and returns to the caller after a power-down.
//!
//! Because the host is emulated, the tests compare figures with each other but never check absolute
//! durations. Each machine runs for a minute, so these tests run only if asked for:
//! `cargo test --package guest -- --ignored --test-threads=1`.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use boards::GicVersion;
use follow::RunWatcher;
use follow::stream::{self, MachineEnding, TimeLimits};
use guest::kvm_host::{self, KvmHost};
use guest::loader::LinuxWithKvm;
use hardware::board::{IntId, Mpidr};
use hardware::image::Conduit;
use hardware::spec::counter::TimerName;
use runner::build::firmware_kind::FirmwareKind;
use runner::build::image::Emergency;
use runner::qemu::machine_process::MachineProcess;
use runner::qemu::run_spec::RunSpec;
use runner::qemu::{self, QemuMachine};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use suite::measure::{Counter, Metric};
use suite::model::Verdict;
use suite::plan::{ScenarioId, Variant};

/// Allows for a busy host, which takes ten times as long as an idle one.
const TIMEOUT: Duration = Duration::from_secs(420);
/// Boot arguments that select everything that a guest can measure, with few samples. KVM accepts
/// any power_state. A scenario passes even if one sample in ten is late.
const ARGS: &str = "only=suite,micro,timer_latency iterations=10 warmup=1 \
                    deepest=0x01010022 core=0x00010000 loops=1024 batch=64 \
                    period=100000 stress=idle,write footprint=1M";
/// The scenarios that cause exits to the hypervisor, each with the variant to compare with the
/// empty loop.
const EXITS: [(ScenarioId, Variant); 3] = [
    (ScenarioId::named("null_call"), Variant::new("psci_version")),
    (ScenarioId::named("self_sgi"), Variant::new("sgi")),
    (ScenarioId::named("sysreg_trap"), Variant::new("pmselr")),
];
const EMPTY: (ScenarioId, Variant) = (ScenarioId::named("empty"), Variant::LOOP);
/// A host CPU without FEAT_VHE, on which KVM switches to EL2 and back on every exit.
const WITHOUT_VHE: &str = "cortex-a57";
/// The address of kvmtool's first UART since 2021.
const UART: u64 = 0x100_0000;
/// The address of kvmtool's first UART before 2021: the PC I/O port, which is in the first page.
const UART_BEFORE: u64 = 0x3f8;

/// Runs a guest with two CPUs on a Linux host with this GIC and CPU model.
fn guest(
    gic: GicVersion,
    cpu: &str,
    vmm: &[String],
    files: &[(&str, &[u8])],
) -> crate::common::Log {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Qemu]).expect("QEMU");
    let linux = KvmHost::ready(&workspace).expect("a Linux with KVM");
    let board = boards::load("qemu").expect("the board");
    let spec = RunSpec {
        firmware: FirmwareKind::Builtin,
        ..RunSpec::default()
    };
    let machine = QemuMachine {
        recipe: board.qemu.as_ref().expect("a recipe"),
        cpu,
        cpus: kvm_host::CPUS,
        gic,
        spec: &spec,
        loader: &LinuxWithKvm,
    };
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = dir.path().join("initramfs");
    let initramfs = linux.initramfs(vmm, files).expect("an initial file system");
    fs::write(&file, initramfs).expect("written");
    let mut line = machine.command_line();
    line.boot = Some(("-initrd", file));
    let mut command = qemu::command(&line.arguments());
    command.args(linux.arguments());
    let limits = TimeLimits {
        timeout: TIMEOUT,
        linger: kvm_host::LINGER,
    };
    let never = AtomicBool::new(false);
    let mut watcher = RunWatcher::default();
    let outcome = MachineProcess::start(&mut command)
        .and_then(|machine| machine.follow(limits, &never, &mut watcher, &mut || {}))
        .expect("QEMU runs");
    let text = String::from_utf8_lossy(&outcome.log).replace("\r\n", "\n");
    let seen = format!("{vmm:?}\n{}\n{text}", outcome.stderr);
    let mut lines = text.lines();
    let is_kvm = |line: &str| line.trim_end().ends_with(" mode initialized successfully");
    assert!(
        lines.any(|line| line.starts_with("kvm-host: ") && is_kvm(line)),
        "{seen}"
    );
    assert_eq!(
        stream::find_verdict(&outcome.log),
        Some(Verdict::Pass),
        "{seen}"
    );
    // The guest turned itself off instead of being killed.
    assert_eq!(
        kvm_host::find_exit(&text),
        Some("with exit code 0"),
        "{seen}"
    );
    assert_eq!(
        outcome.ending,
        MachineEnding::Exited { success: true },
        "{seen}"
    );
    let name = format!("kvm-gicv{}-{}.log", gic.number(), &vmm[0].replace('/', "_"));
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(kept, &outcome.log).expect("written");
    crate::common::Log::new(&outcome.log)
}

/// Returns the payload without a tree, because the VMM provides one.
fn bare() -> Vec<u8> {
    let workspace = Workspace::find().expect("the workspace");
    runner::build::payload::image(&workspace, None, Emergency::default(), 8).expect("an image")
}

/// Checks the facts recorded for a guest, and that all scenarios available to it were measured. PMU
/// scenarios are available only if there is a PMU.
fn assert_guest(log: &crate::common::Log, gic: GicVersion, has_pmu: bool, device_tree: &str) {
    let facts = log.facts();
    assert_eq!(log.machine(), (1, Conduit::Hvc, gic.number()));
    let timer = (facts.counter, facts.timer, facts.timer_intid);
    let intid = IntId::new(27);
    assert_eq!(timer, (Counter::Virtual, TimerName::Cntv, intid));
    assert!(log.text.contains(device_tree), "{}", log.text);
    assert_eq!(log.run.cpus.len(), 2);
    // Each CPU powered down and woke up, both in parallel and serially.
    for id in &ScenarioId::SUITE[..4] {
        let samples = log.metric(*id, Metric::Wake);
        assert_eq!(samples.len(), 2, "{id:?}: {samples:?}");
        let mut summaries = samples.values();
        let has_samples = summaries.all(|summary| summary.n >= 3);
        assert!(has_samples, "{id:?}: {samples:?}");
    }
    assert_exits_cost(log, has_pmu);
}

/// Checks that, on each CPU, the shortest sample with an exit is longer than the shortest sample
/// without one.
fn assert_exits_cost(log: &crate::common::Log, has_pmu: bool) {
    for cpu in [0, 1].map(Mpidr::new) {
        let least_time = |(scenario, variant), metric| {
            let summary = log.alone(scenario, variant, metric, cpu)?;
            Some(summary.min)
        };
        for exit in EXITS {
            let (_, variant) = exit;
            let is_run = has_pmu || variant != Variant::new("pmselr");
            for (metric, is_recorded) in [(Metric::Time, true), (Metric::Cycles, has_pmu)] {
                let nothing = least_time(EMPTY, metric);
                let cost = least_time(exit, metric);
                let is_there = is_recorded && is_run;
                let seen = format!("{exit:?} {metric:?} on CPU {cpu}\n{}", log.text);
                assert_eq!(cost.is_some(), is_there, "{seen}");
                assert!(!is_there || cost > nothing, "{seen}");
            }
        }
    }
    let skipped = log.text.contains("the CPU has no performance monitors");
    assert_ne!(skipped, has_pmu, "{}", log.text);
}

/// Checks that LPIs were measured if there is an ITS.
fn assert_has_lpis(log: &crate::common::Log, has_its: bool) {
    let lead = Mpidr::new(0);
    let samples = log.alone(
        ScenarioId::named("lpi"),
        Variant::new("lpi"),
        Metric::Time,
        lead,
    );
    assert_eq!(samples.is_some(), has_its, "{}", log.text);
    let is_skipped = log
        .text
        .contains("Skipped: the device tree has no usable ITS");
    assert_ne!(is_skipped, has_its, "{}", log.text);
}

fn in_qemu(gic: GicVersion, cpu: &str) {
    let vmm = kvm_host::qemu_command(gic, 2, Some(ARGS));
    let log = guest(gic, cpu, &vmm, &[(kvm_host::IMAGE, &bare())]);
    let device_tree = "Image at 0x40200000, device tree at 0x44000000 (X0)";
    assert_guest(&log, gic, true, device_tree);
    assert_has_lpis(&log, gic == GicVersion::V3);
}

fn in_kvmtools_layout(gic: GicVersion, uart: u64) {
    let tree = kvmtools_tree(gic, uart);
    let files = [(kvm_host::IMAGE, &*bare()), ("tree", &*tree)];
    // The VMM's arguments in kvm-host: image, tree, number of CPUs, GIC version, UART address, and
    // memory size in MiB.
    let line = format!("/init vmm /payload /tree 2 {} {uart:#x} 128", gic.number());
    let vmm: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let log = guest(gic, kvm_host::CPU, &vmm, &files);
    let device_tree = "Image at 0x80000000, device tree at 0x87e00000 (X0)";
    assert_guest(&log, gic, false, device_tree);
    assert_has_lpis(&log, false);
}

/// Returns the tree that kvmtool generates, with this GIC and the UART at this address.
fn kvmtools_tree(gic: GicVersion, uart: u64) -> Vec<u8> {
    let workspace = Workspace::find().expect("the workspace");
    let source = workspace.root.join("tests/data/kvmtool.dts");
    let (compatible, base, size) = match gic {
        GicVersion::V2 => ("arm,cortex-a15-gic", "3ffd0000", "20000"),
        GicVersion::V3 => ("arm,gic-v3", "3ffb0000", "40000"),
    };
    let mut text = fs::read_to_string(source).expect("a device tree's source");
    for (name, value) in [
        ("GIC_COMPATIBLE", compatible),
        ("SECOND_BASE", base),
        ("SECOND_SIZE", size),
        ("UART_BASE", &format!("{uart:x}")),
        ("USER_WORDS", ARGS),
    ] {
        text = text.replace(name, value);
    }
    crate::common::compile(&text)
}

macro_rules! guests {
    ($($name:ident: $run:expr;)*) => {
        $(#[test]
        #[ignore = "boots Linux and a guest, takes a minute"]
        fn $name() {
            $run;
        })*
    };
}

guests! {
    qemu_with_a_gicv3: in_qemu(GicVersion::V3, kvm_host::CPU);
    qemu_with_a_gicv2_and_a_host_without_vhe: in_qemu(GicVersion::V2, WITHOUT_VHE);
    kvmtools_layout_with_a_gicv3: in_kvmtools_layout(GicVersion::V3, UART);
    kvmtools_layout_with_a_gicv2_and_its_uart_of_before_2021:
        in_kvmtools_layout(GicVersion::V2, UART_BEFORE);
}
