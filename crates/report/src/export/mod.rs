//! Writes reports in each format.

mod audit_document;
mod commentary;
mod comparison_document;
mod cpu_names;
mod csv;
mod document;
mod dt;
mod escape;
mod formats;
mod html;
mod json;
mod junit;
mod markup;
mod matrix_document;
mod merged_tables;
mod method;
mod object;
mod overhead_text;
mod perfetto;
mod published_page;
mod report_data;
mod report_document;
mod scenario_document;
mod step_tables;
mod table;
mod template;
mod tfa_docs;

pub use self::document::Block;
pub use self::formats::{ALL, Format, ReportPart, able, by_name};
pub use self::html::{Chart, Drawing, EDGE, LANE, LEFT, Scale, write_page};
pub use self::markup::write_blocks;
pub use self::report_data::Report;
pub use self::table::Table;
pub use self::tfa_docs::{Publication, publish};
