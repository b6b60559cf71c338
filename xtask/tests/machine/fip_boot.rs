//! Replaces BL33 in a FIP created by the TF-A build. With trusted boot enabled, the result boots
//! only if it has a valid certificate.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use boards::GicVersion;
use follow::RunWatcher;
use follow::stream::{self, MachineEnding};
use host::process;
use runner::build::firmware::{
    self, FipBuild, FirmwareBuild, FirmwareVariant, NT_FW_KEY, Platform,
};
use runner::build::flash::{self, FIP_BASE};
use runner::build::tf_a::TfA;
use runner::qemu::loader::FirmwareLoader;
use runner::qemu::machine_process::{MachineProcess, MachineResult};
use runner::qemu::run_spec::RunSpec;
use runner::qemu::{self, QemuMachine};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use suite::model::Verdict;

use crate::support::{outcome, xtask};

const CPUS: u32 = 4;
/// The payload's boot arguments.
const ARGS: &str = "iterations=3 only=cpu_susp_serial";

/// Returns a TF-A build that includes a FIP.
fn built() -> FirmwareBuild {
    let workspace = Workspace::find().expect("the workspace");
    let tf_a = TfA::locate(&workspace, None).expect("TF-A");
    let overlay = Platform::overlay(
        &workspace,
        "qemu",
        GicVersion::V3,
        FirmwareVariant::default(),
    );
    let platform = Platform {
        fip: FipBuild::Trusted,
        files: [overlay.files.clone(), vec!["fip.bin".into()]].concat(),
        ..overlay
    };
    firmware::build(&workspace, &tf_a, &platform).expect("firmware")
}

/// Returns the exit code of `cargo xtask` when run with the arguments in `line`, and with `args` as
/// the value of `--args`.
fn exit_code(line: &str, args: Option<&str>) -> i32 {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if let Some(args) = args {
        words.extend(["--args", args]);
    }
    let (code, _) = outcome(&mut xtask(&words));
    code
}

/// Discards the UART output and sets a flag when the output contains `what`.
struct Until<'u> {
    what: &'u str,
    said: String,
    flag: Arc<AtomicBool>,
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.said.push_str(&String::from_utf8_lossy(bytes));
        if self.said.contains(self.what) {
            self.flag.store(true, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts BL1 from `firmware` with the FIP in `fip`, and waits for `until` in the UART output.
fn boot(firmware: &FirmwareBuild, fip: &str, until: &str) -> MachineResult {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Qemu]).expect("QEMU");
    let board = boards::load("qemu").expect("the board");
    let recipe = board.qemu.as_ref().expect("a recipe");
    let machine = QemuMachine {
        recipe,
        cpu: &recipe.cpu,
        cpus: CPUS,
        gic: GicVersion::V3,
        spec: &RunSpec::default(),
        loader: &FirmwareLoader,
    };
    let bl1 = firmware.read("bl1").expect("BL1");
    let package = fs::read(fip).expect("a FIP");
    let flash = flash::assemble_flash(&bl1, &package, FIP_BASE).expect("they fit");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("flash.bin");
    fs::write(&path, flash).expect("written");
    let mut line = machine.command_line();
    line.boot = Some(("-bios", path));
    let mut command = qemu::command(&line.arguments());
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut out = Until {
        what: until,
        said: String::new(),
        flag: Arc::clone(&interrupt),
    };
    let time = Duration::from_secs(120);
    let mut watcher = RunWatcher::with_output(&mut out);
    let machine = MachineProcess::start(&mut command).expect("QEMU starts");
    let result = machine.follow(time, &interrupt, &mut watcher, &mut || {});
    result.expect("QEMU runs")
}

/// Tests `fip pack` with and without the key for the old certificates. The command uses the
/// released payload.
#[test]
fn in_a_fip_with_certificates() {
    let firmware = built();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let [payload, image] = ["payload.bin", "image.bin"].map(path);
    assert_eq!(exit_code(&format!("payload -o {payload}"), None), 0);
    let make_image = format!("image --smp {CPUS} -o {image}");
    assert_eq!(exit_code(&make_image, Some(ARGS)), 0);
    let base = firmware.dir.join("fip.bin").display().to_string();
    let new = path("new.bin");
    let build = |key: &str| {
        let given = format!("--board qemu --base {base} --payload {payload} --smp {CPUS}");
        exit_code(&format!("fip pack {given} {key} -o {new}"), Some(ARGS))
    };
    // Without the key, or with a different key, nothing is written.
    assert_eq!(build(""), 2);
    let other = path("other.pem");
    let mut openssl = Command::new("openssl");
    process::output(openssl.args(["genrsa", "-out", &other, "2048"])).expect("a key");
    assert_eq!(build(&format!("--nt-fw-key {other}")), 2);
    assert!(!Path::new(&new).exists());
    // With the key, the new FIP boots.
    let key = firmware.dir.join(NT_FW_KEY);
    assert_eq!(build(&format!("--nt-fw-key {}", key.display())), 0);
    let passed = boot(&firmware, &new, "no such words");
    let passed_log = String::from_utf8_lossy(&passed.log);
    assert_eq!(
        stream::find_verdict(&passed.log),
        Some(Verdict::Pass),
        "{passed_log}"
    );
    assert_eq!(
        passed.ending,
        MachineEnding::Exited { success: true },
        "{passed_log}"
    );
    // If BL33 is forcibly replaced but the old certificate is kept, the FIP does not boot. This
    // shows that the firmware really checks the certificate.
    let replace_bl33 = format!("fip update {base} --nt-fw {image} --force --out {new}");
    assert_eq!(exit_code(&replace_bl33, None), 0);
    let refusal = "BL2: Failed to load image id 5";
    let refused = boot(&firmware, &new, refusal);
    let log = String::from_utf8_lossy(&refused.log);
    assert_eq!(refused.ending, MachineEnding::Interrupted, "{log}");
    assert!(log.contains(refusal) && !log.contains("BL31:"), "{log}");
}
