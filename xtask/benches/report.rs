//! Time and memory of `cargo xtask report` for a large log.
//!
//! ```sh
//! cargo bench -p xtask --bench report                  # optimised, as by --release
//! cargo bench -p xtask --bench report --profile dev    # as `cargo xtask` builds it
//! cargo bench -p xtask --bench report -- --cpus 8 --samples 1000000 text json
//! ```
//!
//! It writes the log that 512 CPUs leave of a million samples (`samples=all`), and has
//! `cargo xtask` make each format of it. The most memory is that of the last look, which is
//! some milliseconds before the end. Figures are printed and not judged: they are the machine's
//! as much as the program's. `--keep FILE` leaves the log there.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Parser, value_parser};
use psci_bench::measure::Summary;
use psci_bench::model::{Cpu, Instant as Moment, Row, Run, Sample, Scenario};
use psci_bench::plan::{Plan, Records, ScenarioId};
use psci_bench::record::Writer;

#[path = "../tests/support/made_up_run.rs"]
#[allow(dead_code, reason = "other programs use the rest")]
mod made_up_run;

/// Measures the reports of a large log.
#[derive(Parser)]
struct Options {
    #[arg(long, default_value_t = 512, value_parser = value_parser!(u64).range(1..))]
    cpus: u64,
    #[arg(long, default_value_t = 1_000_000, value_parser = value_parser!(u64).range(1..))]
    samples: u64,
    #[arg(default_values = ["text", "csv", "json", "html"])]
    formats: Vec<String>,
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Cargo's own.
    #[arg(long = "bench", hide = true)]
    _bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("target/tmp is there");
    let log = options
        .keep
        .clone()
        .unwrap_or_else(|| folder.path().join("large.log"));
    let samples = write_log(&log, &options).expect("there is room for the log");
    let size = fs::metadata(&log).expect("just written").len() as f64 / 1e6;
    println!(
        "{} CPUs, {samples} samples, {size:.1} MB of log",
        options.cpus
    );
    let mut failed = false;
    for format in &options.formats {
        let begin = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .arg("report")
            .arg(&log)
            .args(["--format", format, "-o"]);
        let child = command.arg(folder.path().join("report")).spawn();
        let mut child = child.expect("it can be started");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = String::new();
        let end = loop {
            if let Some(end) = child.try_wait().expect("it is ours") {
                break end;
            }
            let said = fs::read_to_string(&status).unwrap_or_default();
            let line = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            peak = line.map_or(peak, |line| line.trim().to_owned());
            thread::sleep(Duration::from_millis(5));
        };
        let seconds = begin.elapsed().as_secs_f64();
        println!("{format:>8}{seconds:8.2} s; peak memory {peak}");
        failed |= !end.success();
    }
    ExitCode::from(u8::from(failed))
}

/// A writer of text over one of bytes, with the lines' ends of a UART.
struct Uart(BufWriter<File>);

impl fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let text = text.replace('\n', "\r\n");
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Writes the log, and returns the number of its samples: each CPU has as many in
/// each scenario.
fn write_log(path: &Path, options: &Options) -> Result<u64, fmt::Error> {
    let file = File::create(path).map_err(|_| fmt::Error)?;
    let mut out = Uart(BufWriter::with_capacity(1 << 20, file));
    let tests = ScenarioId::SUITE;
    let each = options.samples.div_ceil(options.cpus * tests.len() as u64);
    let samples = each * options.cpus * tests.len() as u64;
    writeln!(out, "\npsci-bench 0.0.0\n  Board      : made up")?;
    let cpus = u16::try_from(options.cpus).map_err(|_| fmt::Error)?;
    let mut run = Run {
        cpus: (0..cpus).map(cpu).collect(),
        plan: Plan::parse("samples=all").ok(),
        scenarios: Vec::new(),
        ..made_up_run::run()
    };
    let mut writer = Writer::new(Records::Once);
    writer.machine(&mut out, &run)?;
    let mut end = made_up_run::end(&run);
    for id in tests {
        let scenario = scenario(id, cpus, each);
        end.totals.add(std::slice::from_ref(&scenario));
        writer.scenario(&mut out, &[scenario])?;
    }
    end.verdict = psci_bench::model::Verdict::Pass;
    run.end = Some(end);
    writer.end(&mut out, &run, end)?;
    writeln!(out, "\n{}", made_up_run::last_line(&end))?;
    out.0.flush().map_err(|_| fmt::Error)?;
    Ok(samples)
}

/// Returns a CPU in a cluster of four.
fn cpu(index: u16) -> Cpu {
    let (cluster, core) = (index / 4, index % 4);
    let affinity = u64::from(cluster);
    Cpu {
        mpidr: Some((affinity >> 8) << 16 | (affinity & 0xff) << 8 | u64::from(core)),
        cluster,
        core,
        ..Cpu::default()
    }
}

/// Returns a scenario with `samples` samples of each CPU.
fn scenario(id: ScenarioId, cpus: u16, samples: u64) -> Scenario {
    let all: Vec<u16> = (0..cpus).collect();
    let mut scenario = made_up_run::suspend(id, None, &all);
    for row in &mut scenario.rows {
        let Some(sample) = row.samples.first().copied() else {
            continue;
        };
        row.samples = (0..samples).map(|place| moved(sample, place)).collect();
        summarize(row);
    }
    scenario
}

/// Returns a sample like another one, at its place and some ticks apart.
fn moved(mut sample: Sample, place: u64) -> Sample {
    sample.place = place as u32;
    let after = sample.instants.at(Moment::After).unwrap_or(0);
    let moment = after + (place % 99) as i64;
    sample.instants.set(Moment::After, moment);
    sample
}

fn summarize(row: &mut Row) {
    for statistic in &mut row.statistics {
        let samples = row.samples.iter();
        let figures = samples.filter_map(|it| it.instants.figure(statistic.metric));
        statistic.summary = Summary::of(&mut figures.collect::<Vec<u64>>());
    }
    if let Some(attempts) = &mut row.attempts {
        attempts.valid = row.samples.len() as u32;
    }
}
