//! Reports in each format.

mod compared;
mod content;
pub mod cpu_names;
mod csv;
mod dt;
mod escape;
mod exporter;
mod formats;
mod gha;
pub mod html;
mod json;
mod junit;
mod matrix;
mod md;
mod merged;
mod method;
pub mod overhead_text;
mod perfetto;
mod points;
mod rst;
pub(crate) mod table;
mod text;
mod tfa_docs;
mod xml;

pub use self::exporter::{Exporter, Options, Report, Takes, only_run};
pub use self::formats::{ALL, by_name};
