//! The board files that there are, those that are refused, and a board's choices.

mod choices;
mod real;
mod refused;
