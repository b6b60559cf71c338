//! SMC and HVC calls: plain, timed, and in loops.

pub mod call_path;
pub mod conduit;
pub mod firmware;
pub mod interrupted_call;
pub mod operation_loop;
pub mod overhead;
