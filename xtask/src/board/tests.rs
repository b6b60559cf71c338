//! The board files that there are, and a made-up one with its changes.

mod real;
mod refused;
