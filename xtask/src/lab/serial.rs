//! A run on a board by its UART: from a serial port or from stdin, until the last
//! line, for a bounded time, or until the user ends it. The bytes are kept in each case.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serial2::SerialPort;

use crate::qemu::stream::{Ending, Tee, chunks, closing, listen};
use crate::setup::progress::{Progress, say};

/// The time between two looks at the end while a port is silent.
const PATIENCE: Duration = Duration::from_millis(200);

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
    let over = Arc::new(AtomicBool::new(false));
    let from: Box<dyn Read + Send> = if device == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let mut port = SerialPort::open(device, baud)
            .with_context(|| format!("--serial {name}: cannot open it at {baud} baud"))?;
        port.set_read_timeout(PATIENCE)
            .with_context(|| format!("--serial {name}"))?;
        Box::new(Patient {
            port,
            over: Arc::clone(&over),
        })
    };
    let file =
        log.map(|path| File::create(path).with_context(|| format!("--log {}", path.display())));
    let started = Instant::now();
    let mut watch = Watch {
        progress: Progress::start(&format!("following {name}")),
        line: Vec::new(),
        far: Far::default(),
    };
    let mut all = Vec::new();
    // The thread of stdin may wait for ever, and ends with the process.
    let (bytes, _) = chunks(from);
    let mut out = Tee {
        file: file.transpose()?,
        out: &mut watch,
    };
    let ending = listen(
        &bytes,
        &mut all,
        (started, timeout.into()),
        interrupt,
        &mut out,
    );
    over.store(true, Ordering::Relaxed);
    Ok(Followed {
        ending: ending?,
        log: all,
        elapsed: started.elapsed(),
    })
}

/// A port that is silent for a while has not ended.
struct Patient {
    port: SerialPort,
    /// True if no thread listens any more.
    over: Arc<AtomicBool>,
}

impl Read for Patient {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.port.read(room) {
                Err(error) => match error.kind() {
                    ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
                done => return done,
            }
            if self.over.load(Ordering::Relaxed) {
                return Ok(0);
            }
        }
    }
}

/// The longest line that is looked at.
const LINE_MAX: usize = 256;

/// Looks at the lines of a log as they come, and shows how far it is.
struct Watch {
    progress: Progress,
    line: Vec<u8>,
    far: Far,
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
            let line = String::from_utf8_lossy(&self.line);
            if let Some(said) = self.far.line(&line) {
                if self.progress.is_shown() {
                    self.progress.detail(&said);
                } else {
                    say(&said);
                }
            }
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The progress of a run.
#[derive(Debug, Default)]
struct Far {
    /// The number of all scenarios by the header; 0 without one.
    of: u32,
    begun: u32,
}

impl Far {
    /// Returns the progress after `line` if that is new.
    fn line(&mut self, line: &str) -> Option<String> {
        let line = line.trim_end();
        if let Some(plan) = line.trim_start().strip_prefix("Plan ") {
            let plan = plan.trim_start().strip_prefix(": ")?;
            let scenarios: u32 = plan.split_once(" scenario")?.0.parse().ok()?;
            let methods = plan.split_once("method ").map_or("", |it| it.1);
            let both = methods.contains("tftf") && methods.contains("warm");
            self.of = scenarios.saturating_mul(if both { 2 } else { 1 });
            return None;
        }
        let name = match line.strip_prefix("> Executing '") {
            Some(rest) => rest.trim_end_matches('\''),
            None if line.ends_with(", CPUs kept on between samples") => line,
            None => return None,
        };
        let done = self.begun;
        self.begun += 1;
        Some(match u64::from(done.min(self.of)) * 100 {
            _ if self.of == 0 => format!("{done} done, {name}"),
            all => format!("{} %, {name}", all / u64::from(self.of)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far() {
        let mut far = Far::default();
        let mut after = |line: &str| far.line(line).unwrap_or_default();
        let warm = "A test, CPUs kept on between samples";
        let begins = "> Executing '";
        let of_4 = "  Plan       : 2 scenarios, 9 samples a CPU";
        assert_eq!(after(&format!("{begins}A'")), "0 done, A");
        assert_eq!(after(&format!("{of_4}; method tftf, warm, all wake")), "");
        assert_eq!(after(&format!("{begins}B'")), "25 %, B");
        assert_eq!(after("<RT_INSTR:x\t0\t0\t1/>"), "");
        assert_eq!(after(warm), format!("50 %, {warm}"));
        assert_eq!(after("@PB 0001 {\"cpu\":1}"), "");
    }
}
