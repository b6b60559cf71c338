//! Example reports, and properties that must hold for all output.

mod golden;
mod size;
mod whole;
