//! WIP: logs into runs.

pub mod logged_run;
