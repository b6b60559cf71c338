//! `cargo xtask`, as a library with a thin `main`.
//!
//! It has the verbs that build and run the core. The verbs of `psci-report` and of the tools in
//! `tools/` are programs of their own, which it builds and runs when they are needed.

#![forbid(unsafe_code)]

pub mod cli;
