//! Device trees that are read, refused and broken: two of boards, edited.

mod describe;
mod format;
mod hostile;
mod node_model;
mod read;
mod refused;
mod table;
