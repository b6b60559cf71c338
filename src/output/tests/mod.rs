//! Made-up reports, and all that must hold for what is printed of them.

mod contract;
mod golden;
mod latency;
mod shape;
mod whole;
