//! The board files that there are, and those that are refused.

mod real;
mod refused;
