//! The formats of an audit.

use std::io::Write;

use anyhow::{Result, bail};
use report::cli::output::NamedFormat;
use report::export::{Document, DocumentFormat};

use super::audit_data::AuditData;
use super::audit_document::{audit_blocks, title};
use super::idle_node::write_node;
use super::idle_report::IdleReport;
use super::{dts, patch};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleFormat {
    /// A document about the audits.
    Document(DocumentFormat),
    /// The properties to change, to be appended to the tree's source.
    Dts,
    /// A patch for the tree's source.
    Patch,
    /// The worst cases of a run as a node. It is not an audit: nothing is declared.
    Node,
}

/// Explains how to read a page with audits.
const NOTES: &str = "\
The measured worst case of a latency is the maximum over all CPUs that use the state, all scenarios \
and all samples. It is not an upper bound. Entry and Exit come from the firmware's timestamps, Wake \
from the caller. The wake-up latency of a state is wakeup-latency-us or, if that is missing, the sum \
of entry and exit.";

impl IdleFormat {
    /// Returns all formats, in the order used by the help.
    pub fn all() -> Vec<Self> {
        let documents = DocumentFormat::ALL.map(Self::Document);
        [&documents[..], &[Self::Dts, Self::Patch, Self::Node]].concat()
    }

    /// Writes `report`.
    ///
    /// # Errors
    /// Returns an error if the format cannot show this report, or if `out` cannot be written to.
    pub fn write(self, report: &IdleReport, out: &mut dyn Write) -> Result<()> {
        match self {
            Self::Document(format) => {
                let document = Document {
                    title: title(report),
                    notes: NOTES,
                    blocks: audit_blocks(report),
                    runs: &report.runs,
                    data: AuditData::of(report),
                };
                document.write(format, out)
            }
            Self::Dts => dts::write(report, out),
            Self::Patch => patch::write(report, out),
            Self::Node => match report.runs.as_slice() {
                [logged] => write_node(logged, out),
                runs => bail!("--format dt takes one run, but there are {}", runs.len()),
            },
        }
    }
}

impl NamedFormat for IdleFormat {
    fn name(&self) -> &'static str {
        match self {
            Self::Document(format) => format.name(),
            Self::Dts => "dts",
            Self::Patch => "patch",
            Self::Node => "dt",
        }
    }
}
