//! Made-up reports, and all that must hold for what is printed of them.

mod contract;
mod fixture;
mod golden;
mod latency;
mod machine_records;
mod shape;
