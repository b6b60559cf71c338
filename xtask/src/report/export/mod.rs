//! Reports in each format.

mod comparison_document;
mod cpu_names;
mod csv;
mod document;
mod dt;
mod escape;
mod exporter;
mod formats;
mod gha;
mod html;
mod json;
mod junit;
mod markdown;
mod matrix_document;
mod merged_tables;
mod method;
mod overhead_text;
mod perfetto;
mod point_tables;
mod report_document;
mod rst;
mod scenario_document;
mod table;
mod text;
mod tfa_docs;

pub use self::exporter::{Exporter, Options, Report, Takes, only_run};
pub use self::formats::{ALL, by_name};
