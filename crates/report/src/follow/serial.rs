//! Follows a run on a board by reading its UART output from a serial port or stdin, until the last
//! line, a timeout, or an interrupt from the user. In all cases, the bytes received so far are
//! kept.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use host::log_file::LogFile;
use host::progress::StepProgress;
use serial2::SerialPort;

use crate::follow::screen::Screen;
use crate::follow::stream::{MachineEnding, chunks, closing, listen};

/// The maximum value of `--timeout`, in seconds: one day.
pub const TIMEOUT_MAX: u64 = 24 * 60 * 60;

/// A run's UART output, and how the run ended.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The bytes received so far.
    pub log: Vec<u8>,
    /// How the run ended, or None if the other side closed the connection.
    pub ending: Option<MachineEnding>,
    /// How long the run was followed.
    pub elapsed: Duration,
}

impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, seconds) = (self.log.len(), self.elapsed.as_secs_f64());
        let ended = closing(&self.log).is_some();
        let how = match self.ending {
            Some(MachineEnding::TimedOut) => "timed out (--timeout)",
            Some(MachineEnding::Interrupted) => "interrupted",
            _ if ended => "the run has ended",
            _ => "the UART was closed before the run's last line",
        };
        write!(f, "{how}: {bytes} bytes in {seconds:.1} s")
    }
}

/// Follows the port at `device`, or stdin for `-`, for at most `timeout`. The port runs at `baud`,
/// with 8 data bits, no parity, one stop bit and no flow control. All output is written to `log` as
/// it arrives.
pub fn follow(
    device: &Path,
    baud: u32,
    timeout: Duration,
    interrupt: &AtomicBool,
    log: Option<&mut LogFile>,
) -> Result<Followed> {
    let name = device.display();
    let from: Box<dyn Read + Send> = if device == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let mut port = SerialPort::open(device, baud)
            .with_context(|| format!("{name}: cannot open at {baud} baud"))?;
        // A silent port is not closed, so `listen` enforces the deadline.
        port.set_read_timeout(Duration::from_secs(TIMEOUT_MAX))
            .with_context(|| name.to_string())?;
        Box::new(port)
    };
    let started = Instant::now();
    let (mut out, progress) = (
        io::sink(),
        StepProgress::start(&format!("following {name}")),
    );
    let mut screen = Screen::new(log, &mut out, Some(progress));
    let mut all = Vec::new();
    // The reader thread may block until the process exits.
    let (bytes, _) = chunks(from);
    let times = (started, timeout.into());
    let ending = listen(&bytes, &mut all, times, interrupt, &mut screen, &mut || {
        None
    })?;
    Ok(Followed {
        ending,
        log: all,
        elapsed: started.elapsed(),
    })
}
