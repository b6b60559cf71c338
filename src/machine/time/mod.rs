//! The counter, the timers, and waits that use them.

pub mod timer;
pub mod waiter;
