//! Boots with damaged device trees and parameter blocks.

pub mod blob;
mod classes;
mod judge;
mod mutations;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use self::run::{Options, run};
