//! Timers, and waiting by them.

pub mod timer;
pub mod waiter;
