//! Tests with valid, rejected and corrupt device trees, based on two boards' trees.

mod describe;
mod format;
mod hostile;
mod node_model;
mod read;
mod refused;
mod table;
