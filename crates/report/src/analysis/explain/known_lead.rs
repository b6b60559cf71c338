//! The lead, as identified by records, or inferred from flushes if only one CPU fits the tables.

use hardware::board::CpuIndex;

use super::flush_sizes::FlushSizes;
use super::suite_tables::SuiteTables;

/// A run's lead.
///
/// Holding one proves that a record identifies the lead, or that no other CPU fits the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownLead {
    pub cpu: CpuIndex,
    /// True if no record identifies the lead.
    pub is_inferred: bool,
}

impl KnownLead {
    /// Returns a sentence saying that the lead was inferred; empty if records identify it.
    pub(super) fn remark(self) -> &'static str {
        if self.is_inferred {
            " The lead is inferred: no other CPU fits these tables."
        } else {
            ""
        }
    }

    /// Returns true if `cpu` is another CPU in the lead's cluster. That cluster stays on while the
    /// lead is awake.
    pub(super) fn has_twin(self, tables: &SuiteTables<'_>, cpu: CpuIndex) -> bool {
        cpu != self.cpu && tables.cluster(cpu) == tables.cluster(self.cpu)
    }
}

/// Returns the lead; None if it is unknown.
pub(super) fn lead(tables: &SuiteTables<'_>) -> Option<KnownLead> {
    let recorded = tables.logged.run.lead();
    let cpu = recorded.or_else(|| Some(FlushSizes::of(tables)?.lead))?;
    Some(KnownLead {
        cpu,
        is_inferred: recorded.is_none(),
    })
}
