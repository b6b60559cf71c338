//! The formats of an audit.

mod audit_data;
mod audit_document;
mod dts;
mod dts_source;
mod idle_format;
mod idle_node;
mod idle_report;
mod patch;
mod unified_diff;

pub use self::audit_document::summary;
pub use self::idle_format::IdleFormat;
pub use self::idle_node::write_node;
pub use self::idle_report::{DtsSource, IdleReport};
