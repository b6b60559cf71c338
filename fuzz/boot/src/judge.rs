//! Determines the outcome of a mutant's run, and whether it is a finding.

use std::collections::BTreeMap;

use hardware::board::Mpidr;
use hardware::image::Uart;
use report::follow::stream::MachineEnding;
use report::log::read_bytes;
use run::measure::Metric;
use run::model::Verdict;

use crate::classes::{Allows, Class};
use xtask::qemu::consoles::Consoles;
use xtask::qemu::diagnosis;
use xtask::qemu::run_result::{RunResult, word};

/// The outcome of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootOutcome {
    /// The log has a last line with this verdict.
    Closed(Verdict),
    /// The machine powered off without a last line. The payload's output ends with a message that
    /// identifies the console's new UART.
    Moved,
    /// The machine powered off without a last line, because neither the parameter block nor the
    /// tree contains the machine's UART.
    Mute,
    /// Anything else: the run hung or ended without a last line.
    Lost,
}

impl BootOutcome {
    /// All outcomes, in the order used in the summary.
    pub const ALL: [Self; 7] = [
        Self::Closed(Verdict::Pass),
        Self::Closed(Verdict::Fail),
        Self::Closed(Verdict::BadInput),
        Self::Closed(Verdict::Incomplete),
        Self::Moved,
        Self::Mute,
        Self::Lost,
    ];

    /// Returns the name of the outcome for the summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed(verdict) => word(verdict),
            Self::Moved => "moved: the last line says that the console moved to the tree's UART",
            Self::Mute => "mute: the machine's UART is in neither the parameter block nor the tree",
            Self::Lost => "lost: the run hung or ended without a last line",
        }
    }
}

/// A run's outcome and, if it is a finding, a description.
pub type JudgedBoot = (BootOutcome, Option<String>);

/// A serial scenario's tag, power_state and CPU. The CPU is None if the log does not identify it.
type RowKey = (&'static str, u32, Option<Mpidr>);
/// Power-down, wake-up and cache flush latencies, in ticks.
type RowFigures = [Option<u64>; 3];

/// Rows from the serial scenarios that suspend CPUs.
pub type Rows = BTreeMap<RowKey, RowFigures>;

/// Returns the rows in the log records.
pub fn read_rows(log: &[u8]) -> Rows {
    let mut rows = Rows::new();
    // Output that is not a log has no rows, and the run's outcome already reflects this.
    let Ok(runs) = read_bytes("log", log) else {
        return rows;
    };
    for run in runs.iter().map(|run| &run.run) {
        for scenario in &run.scenarios {
            let tag = scenario.id.tag();
            let is_wanted = tag.ends_with("susp_serial") || tag.ends_with("deep_serial");
            let conditions = scenario.conditions.as_ref().filter(|_| is_wanted);
            let Some(state) = conditions.and_then(|it| it.power_state) else {
                continue;
            };
            for cell in scenario.cells.iter().filter(|it| !it.lacks_own_record()) {
                let mpidr = run.cpu(cell.cpu).mpidr;
                let metrics = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
                let figures = metrics.map(|metric| cell.figure(metric));
                rows.insert((tag, state, mpidr), figures);
            }
        }
    }
    rows
}

/// The reference results with which mutants are compared.
#[derive(Clone, Debug)]
pub struct Reference {
    pub unmutated: Rows,
    /// The rows in `unmutated`, plus the rows measured with each of the other idle states.
    pub all: Rows,
    pub uart: Option<Uart>,
}

impl Reference {
    /// Evaluates the result of running `image`.
    pub fn judge(&self, class: &Class, image: &[u8], result: &RunResult) -> JudgedBoot {
        let turned_off = result.ending == MachineEnding::Exited { success: true };
        if result.diagnosis.is_none() && (turned_off || result.ending == MachineEnding::Parked) {
            let verdict = result.verdict;
            let wrong = match verdict {
                Verdict::Pass => self.find_wrong_row(class, &read_rows(&result.log)),
                _ => None,
            };
            return (BootOutcome::Closed(verdict), wrong);
        }
        if turned_off && diagnosis::console_moved(&result.text()).is_some() {
            return (BootOutcome::Moved, None);
        }
        if turned_off && !self.names_uart(image) {
            return (BootOutcome::Mute, None);
        }
        (
            BootOutcome::Lost,
            Some(result.diagnosis.clone().unwrap_or_default()),
        )
    }

    /// Describes the first row in `rows` that `class` does not allow, if any.
    fn find_wrong_row(&self, class: &Class, rows: &Rows) -> Option<String> {
        rows.iter().find_map(|(key, figures)| {
            let (tag, state, mpidr) = key;
            let cpu = mpidr.map_or_else(|| "without a number".to_owned(), |it| it.to_string());
            let of = format!("{tag} with state {state:#x} on CPU {cpu}");
            if class.allows != Allows::OtherStates && !self.unmutated.contains_key(key) {
                return Some(format!("{of}: not in the unmutated run"));
            }
            let expected = self.all.get(key).filter(|it| *it != figures)?;
            let wrong = format!("{of}: {figures:?} ticks, but {expected:?} in the unmutated run");
            (class.allows != Allows::OtherFigures).then_some(wrong)
        })
    }

    /// Returns true if the UART that wrote the log is in the parameter block or the appended tree.
    fn names_uart(&self, image: &[u8]) -> bool {
        let consoles = Consoles::of(image);
        consoles.is_some_and(|it| self.uart.is_some_and(|uart| it.include(uart.base)))
    }
}
