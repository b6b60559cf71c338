//! Boots with damaged device trees and parameter blocks.

mod classes;
mod judge;
mod mutations;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use self::run::{Options, run};
