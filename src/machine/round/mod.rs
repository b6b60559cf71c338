//! A measurement round: orders, the part of each CPU, the lead.

pub mod channel;
pub mod lead;
pub mod lead_watch;
pub mod order;
pub mod orders;
pub mod participant;
pub mod secondary;
pub mod sgi_waker;
pub mod timer_load;
