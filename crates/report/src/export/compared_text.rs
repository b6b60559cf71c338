//! Formats compared values and their changes.

use hardware::spec::ticks::Clock;

/// Formats a value in the unit used by the suite's tables or, for a step, per operation.
pub(super) fn value_text(clock: Clock, is_of_step: bool, value: f64) -> String {
    match (is_of_step, clock.is_known()) {
        (true, _) if value.abs() >= 1000.0 => format!("{value:.0}"),
        (true, _) => format!("{value:.2}"),
        (false, false) => value.to_string(),
        // Halves are rounded up, as in other tables.
        (false, true) => format!("{:.2}", (value / 10.0 + 0.5).floor() / 100.0),
    }
}

/// Formats a change as a percentage. None means a change from zero.
pub(super) fn percent_text(percent: Option<f64>) -> String {
    percent.map_or_else(
        || "from zero".to_owned(),
        |percent| format!("{percent:+.2} %"),
    )
}
