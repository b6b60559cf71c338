//! Device trees that are read, refused and broken: two of boards, changed by tables.

mod describe;
mod format;
mod hostile;
mod node_model;
mod table;
