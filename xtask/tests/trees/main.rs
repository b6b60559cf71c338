//! Reads third-party device trees with the payload's own parser.
//!
//! Each tree yields either a board or an error of a known class. The files in this folder list the
//! expected result for each tree.

#[path = "../support.rs"]
mod support;

mod described;
mod linux;
mod raspi4b;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use described::{USABLE, describe, judge};
use expect_test::expect_file;
use hardware::devices::uart::AnyUart;
use runner::build::tf_a::TF_A;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

/// Returns the folder that holds the expected output and the fixtures.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees")
}

fn workspace() -> Workspace {
    Workspace::find().expect("the repository")
}

/// Runs `command`, which must succeed, and returns its stdout.
fn output(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    output.stdout
}

/// Compiles a source file with dtc and returns the tree.
fn compile(source: &Path) -> Vec<u8> {
    // `-q` hides style warnings.
    let options = ["-q", "-I", "dts", "-O", "dtb"];
    output(Command::new("dtc").args(options).arg(source))
}

/// Returns the files in `folder` whose names end in `.dts`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut sources: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "dts"));
    sources.sort();
    sources
}

/// Our own fixtures, each of which contains something hard to parse.
#[test]
fn each_fixture_has_the_board_that_is_written_beside_it() {
    setup::ensure(&workspace(), &[Need::Dtc]).expect("dtc");
    let sources = sources(&here().join("fixtures"));
    assert!(sources.len() >= 7, "{sources:?}");
    for source in sources {
        let blob = compile(&source);
        judge(&source.display().to_string(), &blob).expect("a known class");
        let described = describe(&blob).replace(&AnyUart.to_string(), "(any UART)");
        expect_file![source.with_extension("txt")].assert_eq(&described);
    }
}

/// A machine, additional arguments, and the class of the tree. On secure machines, QEMU leaves PSCI
/// to the firmware. The SBSA tree contains only CPUs and memory.
const MACHINES: &[(&str, &str, &str)] = &[
    ("virt,gic-version=2", "-smp 1", "usable"),
    ("virt,gic-version=3", "-smp 1", "usable"),
    ("virt,gic-version=3", "-smp 512", "usable"),
    (
        "virt,gic-version=3",
        "-smp 8,sockets=2,clusters=2,cores=1,threads=2",
        "usable",
    ),
    ("virt,gic-version=3,virtualization=on", "-smp 2", "usable"),
    ("virt,gic-version=3,secure=on", "-smp 2", "PSCI: no node"),
    ("sbsa-ref", "-global pci-device.romfile=", "PSCI: no node"),
    ("xlnx-versal-virt", "-kernel KERNEL", "usable"),
];

#[test]
fn trees_of_qemu() {
    setup::ensure(&workspace(), &[Need::Qemu]).expect("QEMU");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (tree, kernel) = (dir.path().join("tree"), dir.path().join("kernel"));
    fs::write(&kernel, [0; 4096]).expect("written");
    for (machine, arguments, expected) in MACHINES {
        let arguments = arguments.replace("KERNEL", &kernel.display().to_string());
        let mut qemu = Command::new("timeout");
        qemu.args("20 qemu-system-aarch64 -nodefaults -display none".split(' '));
        // Some machines support only some CPU models.
        if machine.starts_with("virt") {
            qemu.args(["-cpu", "max"]);
        }
        qemu.args(["-M", &format!("{machine},dumpdtb={}", tree.display())]);
        output(qemu.args(arguments.split(' ')));
        let blob = fs::read(&tree).expect("a tree");
        fs::remove_file(&tree).expect("removed");
        let class = judge(machine, &blob).map(|judgement| judgement.class);
        assert_eq!(class.expect("read or rejected"), *expected, "{machine}");
    }
}

/// The preprocessor options that the TF-A build uses to find headers, and its definitions for Total
/// Compute.
const OPTIONS: &str = "-E -P -undef -x assembler-with-cpp -D__DTS__ -Iinclude -Ifdts \
    -Iplat/arm/board/tc/include -Iinclude/plat/arm/common -Iinclude/plat/arm/common/aarch64 \
    -Iinclude/lib/cpus/aarch64 -Iinclude/arch/aarch64 -DTARGET_FLAVOUR_FVP=1 -DTARGET_VERSION=13 \
    -DTC_DPU_USE_SCMI_CLK=1 -DTC_SCMI_PD_CTRL_EN=1";

/// TF-A passes these trees to BL33.
#[test]
fn trees_of_tf_a() {
    let workspace = workspace();
    let needs = [Need::Dtc, Need::CrossCompiler, Need::DpkgSource];
    setup::ensure(&workspace, &needs).expect("dtc and a preprocessor");
    let source = TF_A.fetch(&workspace).expect("the TF-A source");
    let work = tempfile::tempdir().expect("a temporary directory");
    let mut text = format!("# {} {}\n", TF_A.package, TF_A.version);
    for path in sources(&source.join("fdts")) {
        let stem = path.file_stem().and_then(|name| name.to_str());
        let name = stem.expect("a name");
        // Skip 32-bit boards, and trees that firmware stages pass to each other.
        if name.starts_with("stm32mp1") || name.ends_with("-fw-config") {
            continue;
        }
        let plain = work.path().join(name);
        let platform = name.strip_prefix("tc").unwrap_or("0");
        let mut preprocess = Command::new("aarch64-linux-gnu-gcc");
        preprocess.args(OPTIONS.split_whitespace());
        preprocess.arg(format!("-DTARGET_PLATFORM={platform}"));
        preprocess.arg(&path).arg("-o").arg(&plain);
        output(preprocess.current_dir(&source));
        let judged = judge(name, &compile(&plain)).expect("a known class");
        text += &match judged.class == USABLE {
            true => format!("{name}: {USABLE}, {:08x}\n", judged.digest),
            false => format!("{name}: {}\n", judged.class),
        };
    }
    expect_file![here().join("tf-a.txt")].assert_eq(&text);
}
