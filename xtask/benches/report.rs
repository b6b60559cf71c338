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

use psci_bench::plan::ScenarioId;
use psci_bench::record::line::{FORMAT, Recorder, Type};

/// With this as its first argument the program is one that makes a report.
const CHILD: &str = "--make-report";

/// Formats that are made unless others are named.
const FORMATS: [&str; 4] = ["text", "csv", "json", "html"];

/// The options.
struct Options {
    cpus: u64,
    samples: u64,
    formats: Vec<String>,
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == CHILD) {
        return make_report(arguments.collect());
    }
    match options(env::args().skip(1)) {
        Ok(options) => bench(&options),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        cpus: 512,
        samples: 1_000_000,
        formats: Vec::new(),
        keep: None,
    };
    while let Some(argument) = arguments.next() {
        let number = match argument.as_str() {
            // Cargo's own.
            "--bench" => continue,
            "--keep" => {
                let path = arguments.next().ok_or("--keep: which file?")?;
                options.keep = Some(path.into());
                continue;
            }
            "--cpus" => &mut options.cpus,
            "--samples" => &mut options.samples,
            format if !format.starts_with('-') => {
                options.formats.push(argument);
                continue;
            }
            _ => return Err(format!("{argument}: not known")),
        };
        let value = arguments.next().unwrap_or_default();
        *number = match value.parse() {
            Ok(value @ 1..) => value,
            _ => return Err(format!("{argument} {value}: a number from 1")),
        };
    }
    if options.formats.is_empty() {
        options.formats = FORMATS.map(str::to_owned).to_vec();
    }
    Ok(options)
}

/// Makes one report in this process, and says what it took.
fn make_report(arguments: Vec<OsString>) -> ExitCode {
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
        for part in text.split_inclusive('\n') {
            let (line, end) = match part.strip_suffix('\n') {
                Some(line) => (line, "\r\n"),
                None => (part, ""),
            };
            let all = [line, end].map(str::as_bytes).concat();
            self.0.write_all(&all).map_err(|_| fmt::Error)?;
        }
        Ok(())
    }
}

/// Writes the log, and gives the number of its samples: each CPU has as many
/// in each scenario.
fn write_log(path: &Path, options: &Options) -> Result<u64, fmt::Error> {
    let file = File::create(path).map_err(|_| fmt::Error)?;
    let mut out = Uart(BufWriter::with_capacity(1 << 20, file));
    let tests = ScenarioId::SUITE;
    let each = options.samples.div_ceil(options.cpus * tests.len() as u64);
    writeln!(out, "\npsci-bench 0.0.0\n  Board      : made up")?;
    for _ in 0..2 {
        let mut to = Recorder::new(&mut out);
        head(&mut to, options, each);
        for (place, test) in (1..).zip(tests) {
            to.begin(Type::Test, &format_args!("t={place} by=tftf "));
            to.word("tag", test.tag());
            to.word("status", "passed");
            to.number("pmf", 1);
            to.numbers("asked attempts sleep trials", &[each, each, 312_500, 1]);
            to.finish();
            for cpu in 0..options.cpus {
                row(&mut to, place, cpu, each);
            }
        }
        to.end()?;
        writeln!(out)?;
    }
    let samples = each * options.cpus * tests.len() as u64;
    writeln!(
        out,
        "psci-bench: PASS ({} passed, 0 skipped, 0 failed; {samples} samples, 0 not counted, 0 rows skipped, 0 CPUs lost)",
        tests.len()
    )?;
    out.0.flush().map_err(|_| fmt::Error)?;
    Ok(samples)
}

/// Clusters of four.
fn mpidr(cpu: u64) -> u64 {
    let cluster = cpu / 4;
    let core = cpu % 4;
    (cluster >> 8) << 16 | (cluster & 0xff) << 8 | core
}

fn head(to: &mut Recorder<'_>, options: &Options, each: u64) {
    let tests = ScenarioId::SUITE.len() as u64;
    to.begin(Type::Run, &"");
    to.number("format", FORMAT.into());
    to.word("version", "0.0.0");
    to.numbers("cpus tests", &[options.cpus, tests]);
    to.word("labels", "cpu-map");
    to.word("model", "made up");
    to.finish();
    to.begin(Type::Facts, &"");
    to.numbers("hz el gic lead stat", &[62_500_000, 2, 3, 0, 0]);
    to.word("counter", "CNTPCT");
    to.hex("pmf", 0xc700_0020);
    to.finish();
    to.begin(Type::Plan, &"");
    to.numbers("iterations warmup scenarios", &[each, 2, tests]);
    to.word("methods", "tftf");
    to.word("samples", "all");
    to.finish();
    for cpu in 0..options.cpus {
        to.begin(Type::Cpu, &format_args!("i={cpu} "));
        to.hex("mpidr", mpidr(cpu));
        to.numbers("cluster core thread", &[cpu / 4, cpu % 4, 0]);
        to.finish();
    }
}

/// A CPU's records in one scenario.
fn row(to: &mut Recorder<'_>, test: u64, cpu: u64, samples: u64) {
    let key = format!("t={test} by=tftf mpidr={:#x} ", mpidr(cpu));
    let down = 900 + cpu * 17;
    let figures = [("powerdown", down), ("wakeup", 1_625), ("cflush", 276)];
    to.begin(Type::Row, &key);
    for (metric, figure) in figures {
        to.number(metric, figure);
    }
    to.numbers("valid rejected", &[samples, 0]);
    to.finish();
    for (metric, median) in figures {
        to.begin(Type::Summary, &format_args!("{key}metric={metric} "));
        let statistics = [samples, median - 9, median, median + 99, 5];
        to.numbers("n min med max mad", &statistics);
        to.finish();
    }
    to.begin(Type::Event, &key);
    instants(to, down);
    for place in 0..samples {
        to.begin(Type::Sample, &format_args!("{key}k={place} "));
        instants(to, down + place % 99);
    }
}

fn instants(to: &mut Recorder<'_>, down: u64) {
    to.numbers(
        "base before s0 s4",
        &[7_000_000_000, 4, 24, 24 + down - 316],
    );
    to.numbers(
        "s5 s2 s3 s1",
        &[24 + down - 40, 24 + down, 313_100, 314_725],
    );
    to.numbers("due after", &[312_500, 315_400]);
    to.finish();
}
