//! A record that comes in several parts.

use psci_bench::measure::Summary;

use super::values::put;

/// A summary in the making: one part may be lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    n: Option<u32>,
    min: Option<u64>,
    median: Option<u64>,
    p99: Option<u64>,
    max: Option<u64>,
    mad: Option<u64>,
}

impl Parts {
    pub(crate) fn set(&mut self, key: &str, value: &str) -> bool {
        match key {
            "n" => put(&mut self.n, value),
            "min" => put(&mut self.min, value),
            "med" => put(&mut self.median, value),
            "p99" => put(&mut self.p99, value),
            "max" => put(&mut self.max, value),
            "mad" => put(&mut self.mad, value),
            // A later statistic.
            _ => true,
        }
    }

    pub(crate) fn whole(self) -> Option<Summary> {
        Some(Summary {
            n: self.n?,
            min: self.min?,
            median: self.median?,
            p99: self.p99,
            max: self.max?,
            mad: self.mad?,
        })
    }
}
