//! Boots with damaged device trees and parameter blocks.

pub mod blob;
pub mod classes;
pub mod judge;
mod mutations;
pub mod random;
mod run;
#[cfg(test)]
mod tests;

pub use self::run::{Options, run};
