//! The command line.

mod arguments;
mod boards;
mod files;
mod fip;
mod fip_build;
mod image;
mod lab;
mod overhead;
mod qemu;
mod report;
mod soak;

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use psci_bench::plan::Plan;

use self::arguments::{Arguments, FuzzVerb, Verb};
use crate::progress::say;
use crate::workspace::Workspace;
use crate::{apt_source, fuzz, setup, test, tree};

/// Exit code when input or use is bad, or something is not to be had.
const BAD: u8 = 2;

/// Runs the tool with `arguments`, the program's name first, and returns its
/// exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // A closed stdout is no reason to change what happened.
            let _ = error.print();
            return if error.use_stderr() { BAD } else { 0 };
        }
    };
    match run(parsed.verb) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error:#}"));
            BAD
        }
    }
}

fn run(verb: Verb) -> Result<u8> {
    match verb {
        Verb::Setup => set_up(),
        Verb::Boards { name } => boards::run(name.as_deref()),
        Verb::Image(arguments) => image::run(&arguments),
        Verb::Fip { verb } => fip::run(verb),
        Verb::Qemu(arguments) => qemu::run(&arguments),
        Verb::Soak(arguments) => soak::run(&arguments),
        Verb::Lab(arguments) => lab::run(&arguments),
        Verb::Report(arguments) => report::run(&arguments),
        Verb::Fuzz {
            verb: Some(FuzzVerb::Boot(options)),
            ..
        } => fuzz::boot::run(&options, &*interruption()?, &mut qemu::Out::default()),
        Verb::Fuzz {
            verb: None,
            targets,
            seconds,
            jobs,
        } => Ok(if fuzz::run(&targets, seconds, jobs)? {
            0
        } else {
            1
        }),
        Verb::Test { trees, kvm, filter } => {
            let passed = if trees {
                test::trees()
            } else if kvm {
                test::kvm()
            } else {
                test::run(&filter)
            };
            Ok(if passed? { 0 } else { 1 })
        }
    }
}

/// The plan that the boot arguments `args` make: the payload would refuse bad
/// ones, but only after it has been built and started.
fn plan(args: Option<&str>) -> Result<Plan> {
    let args = args.unwrap_or_default();
    tree::check_bootargs(args).context("--args")?;
    Plan::parse(args).map_err(|error| anyhow!("--args: {error}"))
}

/// What a Ctrl-C sets. While something is built, a first one ends what builds
/// it, and that ends this; the second one would have to come while QEMU runs.
fn interruption() -> Result<Arc<AtomicBool>> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupt);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
    Ok(interrupt)
}

fn set_up() -> Result<u8> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::ALL)?;
    let source = apt_source::TF_A.fetch(&workspace)?;
    apt_source::MBED_TLS.fetch(&workspace)?;
    say("everything is there");
    say(&format!(
        "TF-A {} is in {}",
        apt_source::TF_A.version,
        source.display()
    ));
    Ok(0)
}
