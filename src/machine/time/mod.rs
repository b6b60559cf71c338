//! The counter, the timers, and waits by them.

pub mod timer;
pub mod waiter;
