//! Ticks as people read them: microseconds where the counter's frequency is
//! known, ticks where it is not.

use core::fmt;

use super::grid::Cell;
use super::text::Many;
use crate::measure::Clock;

/// A number with two decimals, as an integer of hundredths.
#[derive(Clone, Copy)]
pub(crate) struct Hundredths(pub(crate) u64);

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// What figures are told in.
#[derive(Clone, Copy)]
pub(crate) struct Unit(pub(crate) Clock);

impl Unit {
    /// Its name, for headings.
    pub(crate) fn name(self) -> &'static str {
        if self.0.is_known() { "us" } else { "ticks" }
    }

    /// A figure in a table.
    pub(crate) fn cell(self, ticks: Option<u64>) -> Cell {
        match ticks {
            None => Cell::Missing,
            Some(ticks) if !self.0.is_known() => Cell::Count(ticks),
            Some(ticks) => self
                .0
                .centi_us(ticks)
                .map_or(Cell::Missing, Cell::Hundredths),
        }
    }

    /// A figure in a sentence, with its unit.
    pub(crate) fn span(self, ticks: u64) -> Span {
        Span(self, ticks)
    }

    /// The durations from one to another.
    pub(crate) fn range(self, (least, most): (u64, u64)) -> Range {
        Range(self.span(least), self.span(most))
    }
}

/// A duration in a sentence.
#[derive(Clone, Copy)]
pub(crate) struct Span(Unit, u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Unit(clock), ticks) = *self;
        match (clock.ns(ticks), clock.centi_us(ticks)) {
            // Two decimals of a microsecond would hide a tick.
            (Some(ns @ ..1000), _) => write!(f, "{ns} ns"),
            (_, Some(value)) => write!(f, "{} us", Hundredths(value)),
            _ => Many(ticks, "tick").fmt(f),
        }
    }
}

/// A duration, or two with what lies between.
#[derive(Clone, Copy)]
pub(crate) struct Range(pub(crate) Span, pub(crate) Span);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        if self.0.1 != self.1.1 {
            write!(f, " to {}", self.1)?;
        }
        Ok(())
    }
}
