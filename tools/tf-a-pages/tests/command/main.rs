//! The verbs of `psci-tf-a-pages`, run as `cargo xtask` runs them.

mod support;

mod audit;
mod pages;
mod publish;
