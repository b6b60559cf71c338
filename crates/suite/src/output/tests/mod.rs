//! Example reports, and properties that all output must have.

mod golden;
mod size;
mod whole;
