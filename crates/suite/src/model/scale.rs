//! The units in which figures are shown.

use alloc::format;
use alloc::string::{String, ToString as _};

use hardware::spec::ticks::{Clock, Hundredths};

use super::cell::CellSeries;
use crate::measure::{Metric, Unit};

/// The unit of figures with the same metric, and their conversion to it. A figure that was measured
/// for several operations together is shown per operation.
#[derive(Clone, Copy, Debug)]
pub struct FigureScale {
    clock: Clock,
    unit: Unit,
    /// The number of operations in a sample.
    operations: u32,
    /// True if times are in nanoseconds instead of microseconds.
    is_fine: bool,
}

impl FigureScale {
    /// Returns the scale of tables and charts: microseconds or, per operation, nanoseconds.
    pub fn of_tables(clock: Clock, metric: Metric, operations: u32) -> Self {
        Self {
            clock,
            unit: metric.unit(),
            operations: operations.max(1),
            is_fine: operations > 1,
        }
    }

    /// Returns the scale of tables and charts for durations that do not belong to a metric.
    pub fn of_durations(clock: Clock) -> Self {
        Self {
            clock,
            unit: Unit::Ticks,
            operations: 1,
            is_fine: false,
        }
    }

    /// Returns the scale of the table that shows this series.
    pub fn of_series(clock: Clock, of_cell: CellSeries<'_>) -> Self {
        let operations = of_cell.cell.step.operations;
        Self::of_tables(clock, of_cell.series.metric, operations)
    }

    /// Returns the scale of comparisons and of formats for programs: nanoseconds.
    pub fn of_programs(clock: Clock, metric: Metric, operations: u32) -> Self {
        Self {
            is_fine: true,
            ..Self::of_tables(clock, metric, operations)
        }
    }

    /// Returns the name of the unit.
    pub fn name(self) -> &'static str {
        match self.unit {
            Unit::Cycles => "cycles",
            Unit::Microseconds => "us",
            Unit::Count => "times",
            Unit::Ticks if self.is_fine && self.clock.is_known() => "ns",
            Unit::Ticks => self.clock.unit(),
        }
    }

    /// Returns the unit as shown in a table heading.
    pub fn heading(self) -> String {
        let per = if self.operations > 1 {
            " per operation"
        } else {
            ""
        };
        format!("{}{per}", self.name())
    }

    /// Returns a figure as text: with two decimal places if it was converted, otherwise as a whole
    /// number. Returns "n/a" if it is too large for the conversion.
    pub fn text(self, figure: u64) -> String {
        let operations = u64::from(self.operations);
        let hundredths = match self.unit {
            Unit::Microseconds | Unit::Count => return figure.to_string(),
            Unit::Ticks if self.clock.is_known() => {
                let (factor, divisor) = if self.is_fine {
                    (100, operations)
                } else {
                    (1, 10 * operations)
                };
                self.clock
                    .ns(figure)
                    .and_then(|ns| rounded(ns, factor, divisor))
            }
            _ if operations == 1 => return figure.to_string(),
            _ => rounded(figure, 100, operations),
        };
        hundredths.map_or_else(|| "n/a".into(), |number| Hundredths(number).to_string())
    }

    /// Converts a value in the scale of programs to this scale.
    pub fn from_programs(self, value: f64) -> f64 {
        match self.unit {
            Unit::Ticks if self.clock.is_known() && !self.is_fine => value / 1e3,
            _ => value,
        }
    }

    /// Returns a figure in the unit, exactly.
    pub fn value(self, figure: u64) -> f64 {
        let scale = match self.unit {
            Unit::Ticks if self.clock.is_known() => {
                let units = if self.is_fine { 1e9 } else { 1e6 };
                units / self.clock.hz as f64
            }
            _ => 1.0,
        };
        figure as f64 * scale / f64::from(self.operations)
    }
}

/// Returns `number * factor / divisor`, rounded; None if it is too large.
fn rounded(number: u64, factor: u64, divisor: u64) -> Option<u64> {
    let product = number.checked_mul(factor)?;
    Some(product.checked_add(divisor / 2)? / divisor)
}
