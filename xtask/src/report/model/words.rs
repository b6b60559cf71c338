//! Durations, counts and CPUs in sentences, as the payload writes them.

use super::run::Run;
use crate::setup::plural::many;

/// A duration with its unit.
pub(crate) fn span(run: &Run, ticks: u64) -> String {
    match run.ns(ticks) {
        // Two decimals of a microsecond would hide a tick.
        Some(ns @ ..1000) => format!("{ns} ns"),
        Some(_) => format!("{} us", run.shown(ticks)),
        None => many(usize::try_from(ticks).unwrap_or(usize::MAX), "tick"),
    }
}

/// A duration, or the least and the greatest of several; empty of none.
pub(crate) fn range(run: &Run, all: impl Iterator<Item = u64> + Clone) -> String {
    match (all.clone().min(), all.max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {}", span(run, least), span(run, most))
        }
        (Some(only), _) => span(run, only),
        _ => String::new(),
    }
}

/// The most CPUs that are named one by one.
const NAMED_MAX: usize = 16;

/// CPUs by their labels: `CPU 0.0, 0.1`.
pub(crate) fn cpus(run: &Run, all: impl Iterator<Item = usize>) -> String {
    let labels: Vec<String> = all.map(|cpu| run.label(cpu)).collect();
    match labels.as_slice() {
        [first, .., last] if labels.len() > NAMED_MAX => {
            format!("{} CPUs, {first} to {last}", labels.len())
        }
        _ => format!("CPU {}", labels.join(", ")),
    }
}
