//! A measurement round: the handover of orders, each CPU's part, and the lead.

pub mod channel;
mod context;
mod counter_watch;
pub mod cpu_states;
mod interrupted;
pub mod lead;
pub mod lead_watch;
pub mod participant;
pub mod secondary;
mod sgi;
pub mod stress;
mod stress_state;
mod suspend_load;
pub mod timer_load;
