//! Measures the time and memory that `psci-report report` needs for a log with a million samples
//! and for a log with 2,500 runs.
//!
//! ```sh
//! cargo bench -p report --bench report                  # optimized, as with --release
//! cargo bench -p report --bench report --profile dev    # as `cargo xtask` builds it
//! cargo bench -p report --bench report -- json html     # other formats
//! ```
//!
//! The benchmark prints the results but sets no limits, because the results depend on the machine
//! as much as on the program.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, thread};

use report::synthetic_run;
use suite::measure::{Instant as Moment, Summary};
use suite::model::{Cell, ClosingLine, Sample, Verdict};
use suite::plan::{Records, ScenarioId};
use suite::record::Writer;

const CPUS: u16 = 8;
const SAMPLES: u64 = 1_000_000;
const RUNS: usize = 2_500;

/// Clock ticks per second in `/proc/PID/stat`.
const TICKS: f64 = 100.0;

fn main() -> ExitCode {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("target/tmp exists");
    let [large, many, out] =
        ["large.log", "many.log", "report"].map(|name| folder.path().join(name));
    let samples = write_log(&large).expect("enough space for the log");
    let run = synthetic_run::log(&synthetic_run::run(), Records::Once);
    fs::write(&many, run.repeat(RUNS)).expect("enough space for the log");
    let arguments = env::args().skip(1);
    let mut formats: Vec<String> = arguments.filter(|word| word != "--bench").collect();
    if formats.is_empty() {
        formats.push("text".to_owned());
    }
    println!("{CPUS} CPUs, {samples} samples");
    let mut is_good = formats.iter().all(|format| report(&large, format, &out));
    println!("{RUNS} runs");
    is_good &= formats.iter().all(|format| report(&many, format, &out));
    ExitCode::from(u8::from(!is_good))
}

/// Runs `psci-report report` on a log and prints the time and memory it used. Returns false if the
/// command fails.
fn report(log: &Path, format: &str, out: &Path) -> bool {
    let megabytes = fs::metadata(log).expect("just written").len() as f64 / 1e6;
    let mut command = Command::new(env!("CARGO_BIN_EXE_psci-report"));
    command.arg("report").arg(log).args(["--format", format]);
    let begin = Instant::now();
    command.arg("-o").arg(out);
    let mut child = command.spawn().expect("the program can be started");
    let process = Path::new("/proc").join(child.id().to_string());
    let (mut peak, mut cpu) = (String::new(), 0.0);
    while child.try_wait().expect("it is ours").is_none() {
        // The `/proc` files of a process disappear when it exits.
        if let Ok(text) = fs::read_to_string(process.join("status")) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            peak = line.map_or(peak, |line| line.trim().to_owned());
        }
        if let Ok(text) = fs::read_to_string(process.join("stat")) {
            cpu = cpu_seconds(&text).unwrap_or(cpu);
        }
        thread::sleep(Duration::from_millis(2));
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{format:>8} {megabytes:.0} MB: {seconds:.2} s, CPU {cpu:.2} s, peak memory {peak}");
    child.wait().expect("it is ours").success()
}

/// Parses a `/proc/PID/stat` file and returns the sum of user and system time, in seconds.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(str::parse::<f64>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((user + system) / TICKS)
}

/// A writer that turns LF into CRLF, as on a UART.
struct LogWriter(BufWriter<File>);

impl fmt::Write for LogWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let lines = text.replace('\n', "\r\n");
        self.0.write_all(lines.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Writes the log and returns the number of samples in it. Every CPU has the same number of samples
/// in every scenario.
fn write_log(path: &Path) -> Result<u64, fmt::Error> {
    let mut out = LogWriter(BufWriter::new(File::create(path).map_err(|_| fmt::Error)?));
    let rows = u64::from(CPUS) * ScenarioId::SUITE.len() as u64;
    let samples_per_row = SAMPLES.div_ceil(rows);
    writeln!(out, "\npsci-bench 0.0.0\n  Board      : made up")?;
    let cpus: Vec<u16> = (0..CPUS).collect();
    let mut run = synthetic_run::run();
    run.scenarios.clear();
    run.cpus = cpus.iter().map(|cpu| synthetic_run::cpu(*cpu)).collect();
    run.head.as_mut().expect("a head").cpus = CPUS;
    let mut writer = Writer::new(Records::Once, run.id.expect("the synthetic run has an ID"));
    writer.write_machine(&mut out, &run)?;
    let mut end = synthetic_run::end(&run);
    for id in ScenarioId::SUITE {
        let mut scenario = synthetic_run::suspend(id, None, &cpus);
        let is_parallel = id.is_parallel();
        for cell in &mut scenario.cells {
            fill(cell, samples_per_row, is_parallel);
        }
        end.totals.add(std::slice::from_ref(&scenario));
        writer.write_scenario(&mut out, &[scenario])?;
    }
    end.verdict = Verdict::from_totals(&end.totals);
    writer.write_end(&mut out, &run, end)?;
    writeln!(out, "\n{}", ClosingLine::Ended(&end.totals))?;
    out.0.flush().map_err(|_| fmt::Error)?;
    Ok(samples_per_row * rows)
}

/// Fills a row with `samples` copies of its first sample, each differing from it by a few ticks.
fn fill(cell: &mut Cell, samples: u64, is_parallel: bool) {
    let first = cell.samples.iter().next().expect("a sample").instants;
    let after = first.at(Moment::After).expect("each call returns");
    let sample = |index: u64| {
        let mut instants = first;
        instants.base += 1_000_000 * index;
        instants.set(Moment::After, after + (index % 99) as i64);
        Sample {
            index: index as u32,
            instants,
        }
    };
    cell.samples = (0..samples).map(sample).collect();
    for series in &mut cell.series {
        let samples = cell.samples.iter();
        let mut figures: Vec<u64> = samples
            .filter_map(|sample| sample.instants.metric(series.metric))
            .collect();
        series.summary = Summary::compute(&mut figures);
    }
    cell.counts.as_mut().expect("counts").valid = samples as u32;
    cell.choose_figures(is_parallel);
}
