//! Writes reports in each format.

mod check_tables;
mod compared_text;
mod comparison_document;
mod csv;
mod document;
mod document_format;
mod drawing;
mod escape;
mod formats;
mod history_document;
mod history_lines;
mod html;
mod json;
mod junit;
mod markup;
mod method;
mod object;
mod report_data;
mod report_document;
mod scenario_document;
mod step_tables;
mod table;
mod template;
mod warnings;

pub use self::compared_text::percent_text;
pub use self::document::{Block, Folded, Headline, LabeledLine, Tone};
pub use self::document_format::{Document, DocumentFormat};
pub use self::drawing::{Chart, Drawing, EDGE, FlameFrame, LANE, LEFT, Scale};
pub use self::escape::markup as escape_markup;
pub use self::formats::{ALL, Format, ReportPart, able, by_name};
pub use self::html::write_page;
pub use self::markup::write_blocks;
pub use self::method::{FIRMWARE, firmware, method as conditions};
pub use self::report_data::Report;
pub use self::template::render;
pub use suite::output::Table;
