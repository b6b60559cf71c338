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

/// The source of the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// The port's device file; `-` is stdin.
    pub device: &'s Path,
    /// The speed in baud; 8 data bits, no parity, one stop bit, no flow control.
    pub baud: u32,
}

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

/// Follows `source` for `timeout` at most. Everything is written to `log` as
/// it comes.
pub fn follow(
    source: &Source<'_>,
    timeout: Duration,
    interrupt: &AtomicBool,
    log: Option<&Path>,
) -> Result<Followed> {
    let name = source.device.display();
    let over = Arc::new(AtomicBool::new(false));
    let from: Box<dyn Read + Send> = if source.device == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let mut port = SerialPort::open(source.device, source.baud)
            .with_context(|| format!("--serial {name}: cannot open it at {} baud", source.baud))?;
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
    let mut watch = Watch::new(&format!("following {name}"));
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

impl Watch {
    fn new(what: &str) -> Self {
        Self {
            progress: Progress::start(what),
            line: Vec::new(),
            far: Far::default(),
        }
    }
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
    /// The number of all scenarios by the header.
    of: Option<u32>,
    begun: u32,
    done: u32,
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
            self.of = scenarios.checked_mul(if both { 2 } else { 1 });
            return None;
        }
        let warm = ", CPUs kept on between samples";
        let name = line
            .strip_prefix("> Executing '")
            .map(|rest| rest.trim_end_matches('\''))
            .or_else(|| line.strip_suffix(warm).map(|_| line));
        if let Some(name) = name {
            self.begun += 1;
            self.done = self.begun - 1;
            return Some(self.told(name));
        }
        None
    }

    fn told(&self, what: &str) -> String {
        match self.of.filter(|of| *of > 0) {
            Some(of) => {
                let percent = u64::from(self.done.min(of)) * 100 / u64::from(of);
                format!("{percent} %, {what}")
            }
            None => format!("{} done, {what}", self.done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far() {
        let mut far = Far::default();
        let header = "  Plan       : 2 scenarios, 9 samples a CPU after 2 for warm-up; method tftf, warm, all wake together";
        assert_eq!(far.line(header), None);
        assert_eq!(
            far.line("> Executing 'A test'").as_deref(),
            Some("0 %, A test")
        );
        assert_eq!(far.line("<RT_INSTR:x\t0\t0\t1/>"), None);
        assert_eq!(far.line("> Executing 'B'").as_deref(), Some("25 %, B"));
        let warm = "A test, CPUs kept on between samples";
        assert_eq!(far.line(warm).as_deref(), Some(&*format!("50 %, {warm}")));
        assert_eq!(far.line("@PB 0001 {\"cpu\":1}"), None);
        let mut tftf = Far::default();
        assert_eq!(tftf.line("> Executing 'A'").as_deref(), Some("0 done, A"));
    }
}
