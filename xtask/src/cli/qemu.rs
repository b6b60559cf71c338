//! `cargo xtask qemu`.

use std::fs::File;
use std::io::{self, Write, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use psci_bench::verdict::Verdict;

use super::arguments::QemuArguments;
use crate::payload::{self, Tree};
use crate::progress::say;
use crate::qemu::Level;
use crate::run::{self, Payload, RunSpec};

/// stdout, and a file where one is wished.
struct Tee {
    file: Option<File>,
}

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The file is what is kept, so it comes first.
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        stdout().write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stdout().flush()
    }
}

pub(super) fn run(arguments: &QemuArguments) -> Result<u8> {
    let file = match &arguments.log {
        Some(path) => Some(File::create(path).with_context(|| path.display().to_string())?),
        None => None,
    };
    let spec = RunSpec {
        smp: arguments.smp,
        gic: arguments.gic,
        level: if arguments.el == 1 {
            Level::El1
        } else {
            Level::El2
        },
        cpu: arguments.cpu.clone(),
        firmware: arguments.firmware,
        variant: arguments.variant,
        tf_a: arguments.tf_a.clone(),
        icount: arguments.icount,
        args: arguments.args.clone(),
        tree: match &arguments.dtb {
            Some(path) => Tree::File(path.clone()),
            None => Tree::Board,
        },
        payload: match &arguments.image {
            Some(path) => Payload::Image(payload::read(path)?),
            None => Payload::Build,
        },
        timeout: Duration::from_secs(arguments.timeout),
        ..RunSpec::default()
    };
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupt);
    // While something is built, a first signal ends what builds it, and that
    // ends this; the second one would have to come while QEMU runs.
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
    let result = run::run(&spec, &interrupt, &mut Tee { file })?;
    let word = match result.verdict {
        Verdict::Pass => "PASS",
        Verdict::Fail => "FAIL",
        Verdict::BadInput => "bad input",
        Verdict::Incomplete => "INCOMPLETE",
    };
    let mut end = format!("{word} after {:.1} s", result.elapsed.as_secs_f64());
    if let Some(diagnosis) = &result.diagnosis {
        end = format!("{end}: {diagnosis}");
    }
    say(&end);
    Ok(result.exit_code())
}
