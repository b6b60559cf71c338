//! Tests with valid, rejected and corrupt device trees, based on the trees of two boards.

mod describe;
mod edited_tree;
mod footprint;
mod format;
mod hostile;
mod read;
mod refused;
mod table;
