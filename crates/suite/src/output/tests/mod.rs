//! Made-up reports, and all that must hold for what is printed of them.

mod golden;
mod size;
mod whole;
