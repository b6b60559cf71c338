//! Time and memory of `cargo xtask report` for a large log.
//!
//! ```sh
//! cargo bench -p xtask --bench report                  # optimised, as by --release
//! cargo bench -p xtask --bench report --profile dev    # as `cargo xtask` builds it
//! cargo bench -p xtask --bench report -- --cpus 8 --samples 1000000 text json
//! ```
//!
//! It writes the log that 512 CPUs leave of a million samples (`samples=all`),
//! record by record as the payload does, and has each format made of it by a
//! process of its own, which says how long it took, for how long of that it had
//! a processor, and what the most memory was that it had (`VmHWM` of Linux).
//! Figures are printed and not judged: they are the machine's as much as the
//! program's. `--keep FILE` leaves the log there.

use std::env;
use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::{Parser, value_parser};
use psci_bench::measure::Summary;
use psci_bench::model::{Cpu, Instant as Moment, Row, Run, Sample, Scenario};
use psci_bench::plan::{Plan, Records, ScenarioId};
use psci_bench::record::Writer;

#[path = "../tests/support/made_up_run.rs"]
#[allow(dead_code, reason = "other programs use the rest")]
mod made_up_run;

/// With this as its first argument the program is one that makes a report.
const CHILD: &str = "--make-report";

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
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == CHILD) {
        return make_report(arguments);
    }
    bench(&Options::parse())
}

/// Makes one report in this process, and says what it took.
fn make_report(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let begin = Instant::now();
    let all = ["xtask".into(), "report".into()].into_iter();
    let code = xtask::cli::main(all.chain(arguments));
    let seconds = begin.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.map_or("not told", str::trim);
    let busy = processor_time().map_or("not told".to_owned(), |it| format!("{it:.2} s"));
    println!("{seconds:8.2} s, of a processor {busy}; peak memory {peak}");
    ExitCode::from(code)
}

/// Seconds that a processor was busy for this process, in its code and for it
/// in the kernel: on a machine that has other work the better figure.
fn processor_time() -> Option<f64> {
    /// Ticks a second, of all ports of Linux to user space.
    const USER_HZ: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_ascii_whitespace().skip(11).take(2);
    let ticks: Result<Vec<u32>, _> = times.map(str::parse).collect();
    Some(f64::from(ticks.ok()?.iter().sum::<u32>()) / USER_HZ)
}

fn bench(options: &Options) -> ExitCode {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("target/tmp is there");
    let log = match &options.keep {
        Some(path) => path.clone(),
        None => folder.path().join("large.log"),
    };
    let samples = write_log(&log, options).expect("there is room for the log");
    let size = fs::metadata(&log).expect("just written").len();
    println!(
        "{} CPUs, {samples} samples, {:.1} MB of log",
        options.cpus,
        size as f64 / 1e6
    );
    let own = env::current_exe().expect("Linux tells");
    let mut failed = false;
    for format in &options.formats {
        print!("{format:>8}");
        std::io::stdout().flush().expect("stdout is there");
        let status = Command::new(&own)
            .arg(CHILD)
            .arg(&log)
            .args(["--format", format, "-o"])
            .arg(folder.path().join("report"))
            .status()
            .expect("it can be started");
        failed |= !status.success();
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
