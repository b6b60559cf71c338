//! Secure interrupts that stay pending.

use alloc::format;
use alloc::vec::Vec;

use super::subject::Subject;
use crate::model::{Finding, FindingKind};

/// A secure interrupt that stayed pending.
pub(super) const SECURE_INTERRUPT: FindingKind = FindingKind::new("secure-interrupt");

/// Finds a secure interrupt that no firmware takes.
pub(super) fn find_secure_interrupt(&Subject { run, scenario, .. }: &Subject<'_>) -> Vec<Finding> {
    let conditions = scenario.conditions.as_ref();
    let Some(cpu) = conditions.and_then(|conditions| conditions.secure_interrupt) else {
        return Vec::new();
    };
    let label = run.label(cpu);
    let sentence = format!(
        "A secure interrupt is pending at CPU {label} (ISR_EL1.F) and hides all others, and the \
         firmware does not take it. Each WFI and each suspend on this CPU returns immediately."
    );
    [Finding::by_counts(SECURE_INTERRUPT, sentence, [cpu])].into()
}
