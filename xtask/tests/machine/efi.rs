//! Firmware that can start the EFI application.

use follow::stream::MachineEnding;
use report::log::read_bytes;
use runner::qemu::run_spec::RunSpec;
use suite::model::Verdict;

use crate::support::run;

/// Output from the firmware and the application before the run is not part of the run.
#[test]
fn each_firmware_with_efi_gives_one_passed_run() {
    for (options, states) in [
        ("--firmware efi --gic 2", "core=0x1 deepest=0x2"),
        ("--firmware efi-acpi --el 1", "core=0x1 deepest=0x2"),
        ("--firmware u-boot", "core=0x10002 deepest=0x2010222"),
    ] {
        let result = run(&RunSpec {
            args: Some(format!("iterations=1 warmup=0 {states}")),
            ..RunSpec::parse(&format!("{options} --smp 4")).expect("run options")
        });
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
    let spec = RunSpec {
        args: Some("iteratons=1".to_owned()),
        ..RunSpec::parse("--firmware u-boot --smp 1").expect("run options")
    };
    let result = run(&spec);
    let end = (result.verdict, result.ending);
    assert_eq!(
        end,
        (Verdict::BadInput, MachineEnding::Parked),
        "{}",
        result.text()
    );
}
