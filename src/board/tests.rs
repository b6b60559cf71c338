//! Device trees as text-like models, changed one thing at a time.

mod errors;
mod good;
mod hostile;
mod trees;
