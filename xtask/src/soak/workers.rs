//! Threads that share a task.

use std::thread;

use anyhow::Result;

/// Calls `work` in `count` threads at the same time.
///
/// # Errors
/// Returns the first error from a thread.
pub fn in_threads(count: usize, work: impl Fn() -> Result<()> + Copy + Send) -> Result<()> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let mut workers = workers.into_iter();
        workers.try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })
}
