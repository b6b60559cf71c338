//! Firmware that can start the EFI application.

use std::sync::atomic::AtomicBool;

use efi::loaders::EfiLoader;
use follow::RunWatcher;
use follow::stream::MachineEnding;
use report::log::read_bytes;
use runner::qemu::prepare::prepare_with;
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::RunSpec;
use runner::setup::workspace::Workspace;
use suite::model::Verdict;

/// Runs the application, which `loader` starts.
fn run(loader: EfiLoader, options: &str, args: &str) -> RunResult {
    let mut spec = RunSpec::parse(options).expect("run options");
    spec.args = Some(args.to_owned());
    spec.firmware = loader.firmware();
    spec.payload = loader
        .bl33(&Workspace::find().expect("the workspace"))
        .expect("BL33");
    let prepared = prepare_with(&spec, loader.as_static()).expect("a run");
    let interrupt = AtomicBool::new(false);
    prepared
        .run(&interrupt, &mut RunWatcher::default())
        .expect("a result")
}

/// Output from the firmware and the application before the run is not part of the run.
#[test]
fn each_firmware_with_efi_gives_one_passed_run() {
    for (loader, options, states) in [
        (EfiLoader::Edk2, "--smp 4 --gic 2", "core=0x1 deepest=0x2"),
        (
            EfiLoader::Edk2Acpi,
            "--smp 4 --el 1",
            "core=0x1 deepest=0x2",
        ),
        (
            EfiLoader::UBoot,
            "--smp 4",
            "core=0x10002 deepest=0x2010222",
        ),
    ] {
        let result = run(loader, options, &format!("iterations=1 warmup=0 {states}"));
        assert_eq!(result.verdict, Verdict::Pass, "{}", result.text());
        let runs = read_bytes("the UART", &result.log).expect("runs");
        let lacks: Vec<_> = runs.iter().map(|logged| logged.lacks()).collect();
        assert_eq!(lacks, [Vec::<String>::new()], "{}", result.text());
    }
}

/// The application returns to the EFI shell, which waits for input, so the tool must stop the
/// machine.
#[test]
fn bad_input_ends_the_machine() {
    let result = run(EfiLoader::UBoot, "--smp 1", "iteratons=1");
    let end = (result.verdict, result.ending);
    assert_eq!(
        end,
        (Verdict::BadInput, MachineEnding::Parked),
        "{}",
        result.text()
    );
}
