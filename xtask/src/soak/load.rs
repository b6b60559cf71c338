//! Keeps the host busy, because some faults show up only when the machine's CPUs are delayed.

use std::hint::black_box;
use std::io;
use std::thread::Builder;

/// Starts `threads` busy threads, which exit along with this process.
pub fn keep_busy(threads: u16) -> io::Result<()> {
    for _ in 0..threads {
        let work = || {
            let mut value = 1u64;
            loop {
                value = black_box(value.wrapping_mul(3));
            }
        };
        Builder::new().name("load".into()).spawn(work)?;
    }
    Ok(())
}
