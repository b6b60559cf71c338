//! The counter, the timers, and waits by them.

pub mod timebase;
pub mod timer;
pub mod waiter;
