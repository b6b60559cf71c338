//! Standard output that tolerates a closed pipe.

use std::io::{self, Write, stdout};

/// Standard output. A closed stdout is not an error, because the verdict does not depend on it.
#[derive(Default)]
pub struct Out {
    closed: bool,
}

impl Out {
    fn unless_closed(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(io::Error::new(error.kind(), format!("stdout: {error}"))),
            Ok(()) => Ok(()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.closed {
            let write_result = stdout().write_all(bytes);
            self.unless_closed(write_result)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let flushed = stdout().flush();
        self.unless_closed(flushed)
    }
}
