//! Formats CPUs and durations for use in sentences.

use hardware::board::CpuIndex;
use hardware::spec::ticks::Clock;
use itertools::Itertools as _;
use suite::model::{Label, Run};

/// Appended to a finding that is based on unverified figures.
pub(crate) const NOT_VERIFIED: &str = " Not verified: based on lines without a checksum.";

/// Returns the CPU labels: `CPU 0.0, 0.1`. For more than 16 CPUs, returns their number and the
/// first and last labels.
pub fn cpus_text(run: &Run, cpus: impl IntoIterator<Item = CpuIndex>) -> String {
    let labels: Vec<Label> = cpus.into_iter().map(|cpu| run.label(cpu)).collect();
    match labels.as_slice() {
        [first, .., last] if labels.len() > 16 => {
            format!("{} CPUs, {first} to {last}", labels.len())
        }
        _ => format!("CPU {}", labels.iter().format(", ")),
    }
}

/// Formats the smallest and largest values; returns an empty string if there are no values.
pub(super) fn range_text(
    values: impl Iterator<Item = f64>,
    text: impl Fn(f64) -> String,
) -> String {
    let Some(ends) = values.minmax_by(|a, b| a.total_cmp(b)).into_option() else {
        return String::new();
    };
    let least = text(ends.0);
    let most = text(ends.1);
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// Formats the range of durations, which are in nanoseconds, or in ticks if the clock is unknown.
pub(super) fn durations_text(run: &Run, durations: impl Iterator<Item = f64>) -> String {
    range_text(durations, |duration| {
        with_unit(run.clock(), duration, &decimal(duration))
    })
}

/// Formats a duration from [`super::figure::FigureKey::per_operation`] with its unit.
pub(super) fn time(run: &Run, value: f64) -> String {
    with_unit(run.clock(), value, &format!("{value:.2}"))
}

/// Formats a duration with its unit: in microseconds or, if it is short or the clock is unknown, as
/// `number`.
fn with_unit(clock: Clock, duration: f64, number: &str) -> String {
    if !clock.is_known() && number == "1" {
        "1 tick".to_owned()
    } else if !clock.is_known() {
        format!("{number} ticks")
    } else if duration.abs() < 1000.0 {
        format!("{number} ns")
    } else {
        format!("{} us", us_text(duration))
    }
}

/// Converts nanoseconds to microseconds with two decimal places. Rounds halves up, as the suite's
/// tables do.
pub fn us_text(ns: f64) -> String {
    format!("{:.2}", (ns / 10.0 + 0.5).floor() / 100.0)
}

/// Formats a number with at most two decimal places.
fn decimal(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
