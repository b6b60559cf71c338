//! Work that keeps the host busy: some faults appear only if the machine's CPUs are
//! delayed.

use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// Busy threads, which end when the value is dropped.
#[derive(Debug, Default)]
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts `threads` busy threads.
    pub fn start(threads: usize) -> io::Result<Self> {
        let mut load = Self::default();
        for _ in 0..threads {
            let stop = Arc::clone(&load.stop);
            let thread = Builder::new().name("load".into());
            load.threads.push(thread.spawn(move || work(&stop))?);
        }
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The thread has no result.
            let _ = thread.join();
        }
    }
}

fn work(stop: &AtomicBool) {
    let mut value = 1u64;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..1 << 16 {
            value = black_box(value.wrapping_mul(3));
        }
    }
}
