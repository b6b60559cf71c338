//! QEMU's monitor (QMP), for a machine that is about to be ended. QEMU itself may hang,
//! so that all answers together have a deadline.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest path that a socket can have (`sun_path` in unix(7)).
const PATH_MAX: usize = 107;
/// The longest answer that is read: 512 CPUs' registers are 1.5 MiB.
const ANSWER_MAX: usize = 16 << 20;

/// Where a machine can be asked.
#[derive(Clone, Debug)]
pub struct Socket(PathBuf);

impl Socket {
    /// Returns one in `dir`; None where its path would be none that QEMU can use.
    pub fn within(dir: &Path) -> Option<Self> {
        let path = dir.join("qmp");
        let usable = path.to_str().is_some_and(|text| text.len() <= PATH_MAX);
        usable.then_some(Self(path))
    }

    /// Returns the arguments for QEMU.
    pub fn arguments(&self) -> [OsString; 2] {
        // QEMU ends a path at a comma, unless there are two.
        let path = self.0.to_string_lossy().replace(',', ",,");
        let option = format!("unix:{path},server=on,wait=off");
        ["-qmp".into(), option.into()]
    }

    /// Opens the monitor. All its answers must come within `time`.
    pub fn connect(&self, time: Duration) -> io::Result<Monitor> {
        let mut monitor = Monitor {
            stream: BufReader::new(UnixStream::connect(&self.0)?),
            deadline: Instant::now() + time,
        };
        if monitor.line()?.get("QMP").is_none() {
            return Err(io::Error::other("no greeting"));
        }
        monitor.execute(json!({ "execute": "qmp_capabilities" }))?;
        Ok(monitor)
    }
}

/// A machine that answers.
#[derive(Debug)]
pub struct Monitor {
    stream: BufReader<UnixStream>,
    deadline: Instant,
}

impl Monitor {
    /// Stops all CPUs: what is read of them afterwards belongs together.
    pub fn stop(&mut self) -> io::Result<()> {
        self.execute(json!({ "execute": "stop" })).map(drop)
    }

    /// Returns the answer of the monitor for people to `command`.
    pub fn ask(&mut self, command: &str) -> io::Result<String> {
        let answer = self.execute(json!({
            "execute": "human-monitor-command",
            "arguments": { "command-line": command },
        }))?;
        let text = answer.as_str().map(str::to_owned);
        text.ok_or_else(|| io::Error::other("an answer without text"))
    }

    fn execute(&mut self, command: Value) -> io::Result<Value> {
        let left = Some(self.left()?);
        self.stream.get_ref().set_write_timeout(left)?;
        writeln!(self.stream.get_mut(), "{command}")?;
        loop {
            // Events come in between.
            let mut line = self.line()?;
            if let Some(answer) = line.get_mut("return") {
                return Ok(answer.take());
            }
            if line.get("error").is_some() {
                return Err(io::Error::other(line.to_string()));
            }
        }
    }

    fn line(&mut self) -> io::Result<Value> {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let left = Some(self.left()?);
            self.stream.get_ref().set_read_timeout(left)?;
            let there = self.stream.fill_buf()?;
            let end = there.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(there.len(), |end| end + 1);
            if count == 0 || line.len() + count > ANSWER_MAX {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            line.extend(there.get(..count).unwrap_or_default());
            self.stream.consume(count);
        }
        Ok(serde_json::from_slice(&line)?)
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        // A timeout of 0 would be none.
        Some(left)
            .filter(|left| !left.is_zero())
            .ok_or(io::ErrorKind::TimedOut.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::thread;

    const GREETING: &str = "{\"QMP\": {\"version\": {}}}\n{\"return\": {}}\n";

    /// Asks a machine that sends `said` to its first caller, and stays on the line.
    fn ask(said: &str, time: Duration) -> io::Result<String> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let socket = Socket::within(dir.path()).expect("a short path");
        let listener = UnixListener::bind(&socket.0).expect("bound");
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().expect("a caller");
                stream.write_all(said.as_bytes()).expect("written");
                // Until the caller hangs up.
                let _ = io::copy(&mut stream, &mut io::sink());
            });
            let mut monitor = socket.connect(time)?;
            monitor.stop()?;
            monitor.ask("info registers -a")
        })
    }

    #[test]
    fn an_answer_is_returned_and_all_else_an_error_in_time() {
        let event = "{\"timestamp\": {}, \"event\": \"STOP\"}\n{\"return\": {}}\n";
        let answer = "{\"return\": \"\\r\\nCPU#0\\r\\n \\\"PC\\\"\\u003d\\\\0\"}\n";
        let whole = format!("{GREETING}{event}{answer}");
        let said = ask(&whole, Duration::from_secs(10)).expect("an answer");
        assert_eq!(said, "\r\nCPU#0\r\n \"PC\"=\\0");
        let no_text = format!("{GREETING}{event}{{\"return\": {{}}}}\n");
        let cut = format!("{GREETING}{event}{{\"return\": \"cut\n");
        let error = "{\"QMP\": {}}\n{\"error\": {}}\n";
        for said in ["", "hello\n", GREETING, error, &no_text, &cut] {
            let started = Instant::now();
            assert!(ask(said, Duration::from_millis(200)).is_err(), "{said}");
            assert!(started.elapsed() < Duration::from_secs(5), "{said}");
        }
        let absent = Socket("/nowhere/qmp".into());
        assert!(absent.connect(Duration::from_secs(1)).is_err());
    }
}
