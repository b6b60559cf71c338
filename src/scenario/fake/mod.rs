//! A machine without hardware, for tests.

mod fake;
mod timers;

pub use self::fake::{CLUSTER_FLUSH, CORE_FLUSH, CORE_LINES, Fake, LOSS, QUEUE_STEP};
