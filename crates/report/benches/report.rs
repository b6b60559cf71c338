//! Time and memory of `psci-report report` for the log of a million samples.
//!
//! ```sh
//! cargo bench -p report --bench report                  # optimised, as by --release
//! cargo bench -p report --bench report --profile dev    # as `cargo xtask` builds it
//! cargo bench -p report --bench report -- json html     # other formats
//! ```
//!
//! Figures are printed and not judged: they are the machine's as much as the program's.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, thread};

use report::made_up_run;
use run::measure::{Instant as Moment, Summary};
use run::model::{ClosingLine, Row, Sample};
use run::plan::{Records, ScenarioId};
use run::record::Writer;

const CPUS: u16 = 8;
const SAMPLES: u64 = 1_000_000;

fn main() -> ExitCode {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("target/tmp is there");
    let [log, out] = ["large.log", "report"].map(|name| folder.path().join(name));
    let samples = write_log(&log).expect("there is room for the log");
    let megabytes = fs::metadata(&log).expect("just written").len() as f64 / 1e6;
    println!("{CPUS} CPUs, {samples} samples, {megabytes:.0} MB");
    let mut formats: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    if formats.is_empty() {
        formats.push("text".to_owned());
    }
    let mut is_good = true;
    for format in formats {
        let mut command = Command::new(env!("CARGO_BIN_EXE_psci-report"));
        command.arg("report").arg(&log).args(["--format", &format]);
        let begin = Instant::now();
        let child = command.arg("-o").arg(&out).spawn();
        let mut child = child.expect("it can be started");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = String::new();
        while child.try_wait().expect("it is ours").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            peak = line.map_or(peak, |line| line.trim().to_owned());
            thread::sleep(Duration::from_millis(2));
        }
        let seconds = begin.elapsed().as_secs_f64();
        let speed = megabytes / seconds;
        println!("{format:>8} {seconds:6.2} s, {speed:4.0} MB/s; peak memory {peak}");
        is_good &= child.wait().expect("it is ours").success();
    }
    ExitCode::from(u8::from(!is_good))
}

/// Text with the lines' ends of a UART.
struct Uart(BufWriter<File>);

impl fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let text = text.replace('\n', "\r\n");
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Writes the log, and returns the number of its samples: each CPU has as many in each
/// scenario.
fn write_log(path: &Path) -> Result<u64, fmt::Error> {
    let mut out = Uart(BufWriter::new(File::create(path).map_err(|_| fmt::Error)?));
    let rows = u64::from(CPUS) * ScenarioId::SUITE.len() as u64;
    let each = SAMPLES.div_ceil(rows);
    writeln!(out, "\npsci-bench 0.0.0\n  Board      : made up")?;
    let cpus: Vec<u16> = (0..CPUS).collect();
    let mut run = made_up_run::run();
    run.scenarios.clear();
    run.cpus = cpus.iter().map(|cpu| made_up_run::cpu(*cpu)).collect();
    run.head.as_mut().expect("a head").cpus = CPUS;
    let mut writer = Writer::new(Records::Once, run.id.unwrap_or_default());
    writer.machine(&mut out, &run)?;
    let mut end = made_up_run::end(&run);
    for id in ScenarioId::SUITE {
        let mut scenario = made_up_run::suspend(id, None, &cpus);
        scenario.rows.iter_mut().for_each(|row| fill(row, each));
        end.totals.add(std::slice::from_ref(&scenario));
        writer.scenario(&mut out, &[scenario])?;
    }
    writer.end(&mut out, &run, end)?;
    writeln!(out, "\n{}", ClosingLine::Ended(&end.totals))?;
    out.0.flush().map_err(|_| fmt::Error)?;
    Ok(each * rows)
}

/// Gives a row so many samples like its first, some ticks apart.
fn fill(row: &mut Row, samples: u64) {
    let first = row.samples.iter().next().expect("a sample").instants;
    let after = first.at(Moment::After).expect("each call returns");
    let sample = |place: u64| {
        let (mut instants, ticks) = (first, after + (place % 99) as i64);
        instants.base += 1_000_000 * place;
        instants.set(Moment::After, ticks);
        let place = place as u32;
        Sample { place, instants }
    };
    row.samples = (0..samples).map(sample).collect();
    for statistic in &mut row.statistics {
        let figure = |it: Sample| it.instants.metric(statistic.metric);
        let figures = row.samples.iter().filter_map(figure);
        statistic.summary = Summary::of(&mut figures.collect::<Vec<u64>>());
    }
    row.attempts.as_mut().expect("counts").valid = samples as u32;
}
