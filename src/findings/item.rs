//! Parts that several findings share.

use core::fmt::{self, Write};

use crate::model::{Row, TestReport};
use crate::plan::ScenarioId;
use crate::spec::pmf::Stamp;
use crate::spec::prose::{Prose, paragraph};

/// Whether a finding was written.
pub(crate) type Found = Result<bool, fmt::Error>;

pub(crate) fn item(
    out: &mut dyn Write,
    text: &mut dyn FnMut(&mut Prose<'_>) -> fmt::Result,
) -> fmt::Result {
    paragraph(out, "* ", 2, text)
}

/// When the row's CPU went down in the round that is shown.
pub(crate) fn went_down(row: &Row) -> Option<u64> {
    row.shown.map(|s| s.stamps.at(Stamp::EnterHwLowPwr))
}

/// Whether all CPUs went down at once, and their timestamps say when.
pub(crate) fn has_order(test: &TestReport<'_>) -> bool {
    test.pmf
        && test.scenario.is_parallel()
        && test.scenario != ScenarioId::PsciVersionParallel
        && test.rows.iter().any(|row| row.shown.is_some())
}

/// Makes `range` hold `more`, too.
pub(crate) fn widen(range: &mut Option<(u64, u64)>, more: (u64, u64)) {
    let (least, most) = range.unwrap_or(more);
    *range = Some((least.min(more.0), most.max(more.1)));
}
