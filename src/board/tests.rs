//! Device trees as models, changed one thing at a time.

mod contradictions;
mod errata;
mod errors;
mod format;
mod frame;
mod good;
mod hostile;
mod trees;
mod uarts;
mod watchdog;
