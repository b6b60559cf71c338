//! Device trees that are accepted, rejected or broken: edited trees of two boards.

mod describe;
mod format;
mod hostile;
mod node_model;
mod read;
mod refused;
mod table;
