//! The verbs of `psci-report`, run as `cargo xtask` runs them.

mod support;

mod boot;
mod compare;
mod history;
mod live;
mod page_input;
mod refused;
mod report;
mod report_page;
mod rst_reports;
