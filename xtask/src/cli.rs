//! The command line.

mod arguments;
mod fip;
mod image;
mod qemu;

use std::ffi::OsString;

use anyhow::Result;
use clap::Parser;

use self::arguments::{Arguments, Verb};
use crate::apt_source;
use crate::progress::say;
use crate::setup;
use crate::test;
use crate::workspace::Workspace;

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
            eprintln!("xtask: error: {error:#}");
            BAD
        }
    }
}

fn run(verb: Verb) -> Result<u8> {
    match verb {
        Verb::Setup => set_up(),
        Verb::Image(arguments) => image::run(&arguments),
        Verb::Fip { verb } => fip::run(verb),
        Verb::Qemu(arguments) => qemu::run(&arguments),
        Verb::Test { filter } => Ok(if test::run(&filter)? { 0 } else { 1 }),
    }
}

fn set_up() -> Result<u8> {
    let workspace = Workspace::find()?;
    setup::ensure(&workspace, &setup::ALL)?;
    let source = apt_source::fetch(&workspace)?;
    say("everything is there");
    say(&format!(
        "TF-A {} is in {}",
        apt_source::VERSION,
        source.display()
    ));
    Ok(0)
}
