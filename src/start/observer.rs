//! The payload's work between the rounds of a run: recording the heap position for each scenario
//! and exposing the sample count to the host.

use core::sync::atomic::{AtomicU64, Ordering};

use suite::output::RunObserver;

use crate::machine::allocator::HEAP;

/// The number of samples kept in the current scenario (lower half) and the number requested (upper
/// half). xtask reads this word from QEMU's memory.
#[used]
static SAMPLES: AtomicU64 = AtomicU64::new(0);

/// Observes the payload's run.
pub struct Observer;

impl RunObserver for Observer {
    fn scenario_begins(&mut self) {
        HEAP.mark();
    }

    fn note_samples(&mut self, kept: u32, asked: u32) {
        let word = u64::from(asked) << 32 | u64::from(kept);
        SAMPLES.store(word, Ordering::Relaxed);
    }

    fn scenario_ends(&mut self) {
        HEAP.release();
    }
}
