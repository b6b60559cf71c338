//! The QEMU human monitor, for a machine that is about to be killed. QEMU itself may hang, so there
//! is a single deadline for all replies.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The maximum length of a socket path (`sun_path` in unix(7)).
const PATH_MAX: usize = 107;
/// The maximum size of a reply. The registers of 512 CPUs take up 1.5 MiB.
const ANSWER_MAX: usize = 16 << 20;
/// The QEMU prompt before each command and after the last reply.
const PROMPT: &str = "(qemu) ";

/// The socket for a machine's monitor.
#[derive(Clone, Debug)]
pub struct Socket(PathBuf);

impl Socket {
    /// Returns a socket in `dir`, or None if QEMU could not use its path.
    pub fn within(dir: &Path) -> Option<Self> {
        let path = dir.join("monitor");
        let usable = path.to_str().is_some_and(|text| text.len() <= PATH_MAX);
        usable.then_some(Self(path))
    }

    /// Returns the arguments for QEMU.
    pub fn arguments(&self) -> [OsString; 2] {
        // QEMU ends the path at a comma unless the comma is doubled.
        let path = self.0.to_string_lossy().replace(',', ",,");
        let option = format!("unix:{path},server=on,wait=off");
        ["-monitor".into(), option.into()]
    }

    /// Stops all CPUs, so that the replies are consistent, and returns all registers and everything
    /// else that QEMU prints. All replies must arrive within `time`.
    pub fn registers(&self, time: Duration) -> io::Result<String> {
        let deadline = Instant::now() + time;
        let mut stream = UnixStream::connect(&self.0)?;
        stream.set_write_timeout(Some(time))?;
        stream.write_all(b"stop\ninfo registers -a\n")?;
        let mut reply = String::new();
        let mut buffer = [0; 1 << 16];
        while !reply.ends_with(PROMPT) || reply.matches(PROMPT).count() < 3 {
            let left = deadline.saturating_duration_since(Instant::now());
            // A timeout of 0 means no timeout.
            stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let count = stream.read(&mut buffer)?;
            if count == 0 || left.is_zero() || reply.len() > ANSWER_MAX {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            reply += &String::from_utf8_lossy(&buffer[..count]);
        }
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    #[test]
    fn an_answer_is_returned_and_all_else_an_error_in_time() {
        let whole = "QEMU 7\r\n(qemu) stop\r\n(qemu) info\r\n\r\nCPU#0\r\n(qemu) ";
        for (reply, is_answer) in [("", false), (&whole[..45], false), (whole, true)] {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let socket = Socket::within(dir.path()).expect("a short path");
            let listener = UnixListener::bind(&socket.0).expect("bound");
            thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut stream, _) = listener.accept().expect("a caller");
                    stream.write_all(reply.as_bytes()).expect("written");
                    // Keep the connection open until the caller closes it.
                    let _ = io::copy(&mut stream, &mut io::sink());
                });
                let answer = socket.registers(Duration::from_millis(200)).ok();
                assert_eq!(answer.as_deref(), is_answer.then_some(reply));
            });
        }
        let absent = Socket("/nowhere/monitor".into());
        assert!(absent.registers(Duration::from_secs(1)).is_err());
    }
}
