//! `cargo xtask qemu`.

use std::time::Duration;

use anyhow::{Result, bail};

use super::arguments::{QemuArguments, RunArguments};
use super::main::plan;
use super::report::FAILED;
use super::{files, overhead};
use crate::board;
use crate::board::firmware_kind::Firmware;
use crate::build::flash;
use crate::build::payload::Tree;
use crate::qemu::run_spec::{Payload, RunSpec};
use crate::qemu::{Level, diagnosis, kvm_host, run, timeout};
use crate::report::log::{Input, read};
use crate::report::model::Run;
use crate::setup::progress::say;
use crate::setup::read_file;
use crate::setup::stdout::Out;
use crate::setup::workspace::Workspace;

pub(super) fn run(arguments: &QemuArguments) -> Result<u8> {
    if arguments.overhead {
        return overhead::on_qemu(arguments);
    }
    if let Some(log) = &arguments.log {
        files::writable(("--log", log))?;
        files::apart(("--log", log), ("--dtb", arguments.run.dtb.as_deref()))?;
        files::apart(("--log", log), ("--image", arguments.run.image.as_deref()))?;
    }
    let spec = RunSpec {
        log: arguments.log.clone(),
        ..spec(&arguments.run)?
    };
    let interrupt = super::main::interruption()?;
    let result = run::run(&spec, &interrupt, &mut Out::default())?;
    let (word, seconds) = (result.word(), result.elapsed.as_secs_f64());
    let mut end = format!("{word} after {seconds:.1} s");
    if let Some(diagnosis) = &result.diagnosis {
        end = format!("{end}: {diagnosis}");
    }
    if let Some(reason) = diagnosis::full_reason(&result.log) {
        end = format!("{end}: {reason}");
    }
    say(&end);
    for position in &result.positions {
        say(position);
    }
    let code = result.exit_code();
    if arguments.deny_skipped && code == 0 {
        let name = "the UART".to_owned();
        let from = result.log.as_slice();
        let runs = read([Input { name, from }])?;
        if let Some(denied) = runs.last().and_then(Run::denied) {
            say(&denied);
            return Ok(FAILED);
        }
    }
    Ok(code)
}

/// The run that is asked for; its UART goes to no file.
pub(super) fn spec(arguments: &RunArguments) -> Result<RunSpec> {
    if arguments.firmware != Firmware::TfA {
        let name = arguments.firmware.name();
        for (option, given) in [
            ("--variant", arguments.variant.is_some()),
            ("--fault", arguments.fault.is_some()),
            (
                "--tf-a",
                arguments.tf_a.is_some() && !arguments.firmware.is_tf_a(),
            ),
        ] {
            if given {
                bail!(
                    "{option} is about TF-A as it is built for --firmware tf-a, and this is --firmware {name}"
                );
            }
        }
    }
    if arguments.firmware == Firmware::Kvm && arguments.el == Some(2) {
        bail!("--el 2: a guest of KVM is entered at EL1");
    }
    let plan = plan(arguments.args.as_deref())?;
    let of_kvm = arguments.firmware == Firmware::Kvm;
    let cpus = arguments.smp.or(of_kvm.then_some(kvm_host::CPUS));
    let timeout = match (arguments.timeout, cpus) {
        (Some(seconds), _) => Duration::from_secs(seconds),
        (None, Some(cpus)) if of_kvm => kvm_host::timeout(timeout::timeout(cpus, &plan)),
        (None, Some(cpus)) => timeout::timeout(cpus, &plan),
        (None, None) => {
            let board = board::load(&Workspace::find()?, &arguments.board)?;
            timeout::timeout(board.default_cpus()?, &plan)
        }
    };
    Ok(RunSpec {
        board: arguments.board.clone(),
        smp: arguments.smp,
        gic: arguments.gic,
        level: if arguments.el == Some(1) {
            Level::El1
        } else {
            Level::El2
        },
        cpu: arguments.cpu.clone(),
        firmware: arguments.firmware,
        variant: arguments.variant.unwrap_or_default(),
        fault: arguments.fault.clone(),
        tf_a: arguments.tf_a.clone(),
        icount: arguments.icount,
        args: arguments.args.clone(),
        tree: match &arguments.dtb {
            Some(path) => Tree::File(path.clone()),
            None => Tree::Board,
        },
        states: arguments.states,
        payload: match &arguments.image {
            Some(path) => Payload::Image(read_file::read("--image", path, flash::IMAGE_MAX)?),
            None => Payload::Build,
        },
        timeout,
        log: None,
    })
}
