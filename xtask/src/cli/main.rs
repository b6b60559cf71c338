//! The command line.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use psci_bench::plan::Plan;

use super::arguments::{Arguments, FuzzVerb, Verb};
use super::test;
use crate::build::{device_tree, mbed_tls, tf_a};
use crate::setup;
use crate::setup::progress::say;
use crate::setup::workspace::Workspace;
use crate::soak::{boot_fuzz, fuzz};

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
        Verb::Boards { name } => super::boards::run(name.as_deref()),
        Verb::Image(arguments) => super::image::run(&arguments),
        Verb::Fip { verb } => super::fip::verbs::run(verb),
        Verb::Qemu(arguments) => super::qemu::run(&arguments),
        Verb::Soak(arguments) => super::soak::run(&arguments),
        Verb::Lab(arguments) => super::lab::run(&arguments),
        Verb::Report(arguments) => super::report::run(&arguments),
        Verb::Fuzz {
            verb: Some(FuzzVerb::Boot(options)),
            ..
        } => boot_fuzz::run(
            &options,
            &*interruption()?,
            &mut crate::setup::stdout::Out::default(),
        ),
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
pub(super) fn plan(args: Option<&str>) -> Result<Plan> {
    let args = args.unwrap_or_default();
    device_tree::check_bootargs(args).context("--args")?;
    Plan::parse(args).map_err(|error| anyhow!("--args: {error}"))
}

/// What a Ctrl-C sets. While something is built, a first one ends what builds
/// it, and that ends this; the second one would have to come while QEMU runs.
pub(super) fn interruption() -> Result<Arc<AtomicBool>> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupt);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
    Ok(interrupt)
}

fn set_up() -> Result<u8> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::ALL)?;
    let source = tf_a::TF_A.fetch(&workspace)?;
    mbed_tls::MBED_TLS.fetch(&workspace)?;
    say("everything is there");
    say(&format!(
        "TF-A {} is in {}",
        tf_a::TF_A.version,
        source.display()
    ));
    Ok(0)
}
