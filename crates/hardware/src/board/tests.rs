//! Tests with valid, rejected and corrupt device trees, based on the trees of two boards.

mod describe;
mod footprint;
mod format;
mod hostile;
mod node_model;
mod read;
mod refused;
mod table;
