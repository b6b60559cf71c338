//! A run on a board by its UART: from a serial port or from stdin, until the last
//! line, for a bounded time, or until the user ends it. The bytes are kept in each case.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use psci_bench::plan::WARM_TITLE;
use regex::Regex;
use serial2::SerialPort;

use crate::qemu::stream::{Ending, Tee, chunks, closing, listen};
use crate::qemu::timeout::TIMEOUT_MAX;
use crate::setup::progress::{Progress, say};

/// The bytes of a run, and its end.
#[derive(Clone, Debug)]
pub struct Followed {
    pub log: Vec<u8>,
    /// The end; None if the other side closed it.
    pub ending: Option<Ending>,
    pub elapsed: Duration,
}

impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, seconds) = (self.log.len(), self.elapsed.as_secs_f64());
        let ended = closing(&self.log).is_some();
        let how = match self.ending {
            Some(Ending::TimedOut) => "the time is up (--timeout)",
            Some(Ending::Interrupted) => "interrupted",
            _ if ended => "the run has ended",
            _ => "the UART was closed before the run's last line",
        };
        write!(f, "{how}: {bytes} bytes in {seconds:.1} s")
    }
}

/// Follows the port `device`, or stdin for `-`, for `timeout` at most: at `baud`, with 8 data
/// bits, no parity, one stop bit and no flow control. Everything is written to `log` as it
/// comes.
pub fn follow(
    device: &Path,
    baud: u32,
    timeout: Duration,
    interrupt: &AtomicBool,
    log: Option<&Path>,
) -> Result<Followed> {
    let name = device.display();
    let from: Box<dyn Read + Send> = if device == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let mut port = SerialPort::open(device, baud)
            .with_context(|| format!("--serial {name}: cannot open it at {baud} baud"))?;
        // A port that is silent has not ended: `listen` has the deadline.
        port.set_read_timeout(Duration::from_secs(TIMEOUT_MAX))
            .with_context(|| format!("--serial {name}"))?;
        Box::new(port)
    };
    let named = |path: &Path| format!("--log {}", path.display());
    let create = |path| File::create(path).with_context(|| named(path));
    let file = log.map(create).transpose()?;
    let started = Instant::now();
    let mut watch = Watch {
        progress: Progress::start(&format!("following {name}")),
        line: Vec::new(),
        scenarios: 0,
        begun: 0,
    };
    let mut all = Vec::new();
    // The reading thread may wait for ever, and ends with the process.
    let (bytes, _) = chunks(from);
    let out = &mut watch;
    let mut out = Tee { file, out };
    let times = (started, timeout.into());
    let ending = listen(&bytes, &mut all, times, interrupt, &mut out)?;
    Ok(Followed {
        ending,
        log: all,
        elapsed: started.elapsed(),
    })
}

/// The longest line that is looked at.
const LINE_MAX: usize = 256;

/// Shows the progress of the run that prints the lines written to this value.
struct Watch {
    progress: Progress,
    line: Vec<u8>,
    /// The number of all scenarios by the header; 0 without one.
    scenarios: u32,
    begun: u32,
}

impl Write for Watch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            if !matches!(byte, b'\r' | b'\n') {
                if self.line.len() < LINE_MAX {
                    self.line.push(*byte);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            match self.advance(&String::from_utf8_lossy(&line)) {
                Some(said) if self.progress.is_shown() => self.progress.detail(&said),
                Some(said) => say(&said),
                None => {}
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Watch {
    /// Returns the progress after `line` if `line` begins a scenario.
    fn advance(&mut self, line: &str) -> Option<String> {
        const HEADER: &str = r"^ *Plan +: (\d+) scenario(.*method tftf.*method warm)?";
        static PLAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(HEADER).expect("a pattern"));
        if let Some(plan) = PLAN.captures(line) {
            let methods = 1 + u32::from(plan.get(2).is_some());
            self.scenarios = plan[1].parse::<u32>().ok()?.saturating_mul(methods);
            return None;
        }
        let line = line.trim_end();
        let name = match line.strip_prefix("> Executing '") {
            Some(rest) => rest.trim_end_matches('\''),
            None if line.ends_with(WARM_TITLE) => line,
            None => return None,
        };
        let (done, all) = (u64::from(self.begun), u64::from(self.scenarios));
        self.begun += 1;
        Some(match (done.min(all) * 100).checked_div(all) {
            Some(percent) => format!("{percent} %, {name}"),
            None => format!("{done} done, {name}"),
        })
    }
}
