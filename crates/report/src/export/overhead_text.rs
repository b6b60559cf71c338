//! Presents costs as a table and sentences.

use std::io::{self, Write};

use run::plan::{Method, Procedure};

use super::table::Table;
use crate::analysis::overhead::{Cost, CostOfCpu, CostUnit, Overhead};

/// The number of timestamps that PSCI_VERSION records: ENTER_PSCI and EXIT_PSCI.
const STAMPS: f64 = 2.0;

impl Overhead {
    /// Writes the table, followed by sentences about it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.table().plain(out)?;
        for sentence in self.meaning() {
            writeln!(out, "  * {sentence}")?;
        }
        writeln!(out, "\nNot compared:")?;
        for sentence in &self.left_out {
            writeln!(out, "  * {sentence}")?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let unit = self.unit_name;
        let title = format!("The cost of instrumentation, from the caller's figures ({unit})");
        let mut table = Table::titled(title);
        let is_noisy = self.unit == CostUnit::Time;
        table.words(["Scenario", "Figure", "CPU"]);
        table.numbers(["Instrumented", "Plain", "Difference"]);
        table.numbers(is_noisy.then_some("+-"));
        table.numbers(["Least", "Most", "CPUs", "Alike"]);
        table.words(is_noisy.then_some(""));
        table.rows = self.costs.iter().filter_map(|it| self.row(it)).collect();
        table
    }

    fn row(&self, cost: &Cost) -> Option<Vec<String>> {
        let (own, sorted) = (cost.typical()?, cost.sorted());
        let more = |it: &CostOfCpu| signed(it.difference());
        let edge = |of: Option<&&CostOfCpu>| of.map_or(String::new(), |it| more(it));
        let is_noisy = self.unit == CostUnit::Time;
        let mut cells = vec![name(cost), cost.key.heading().to_owned(), own.label.clone()];
        cells.extend([number(own.with), number(own.without), more(own)]);
        cells.extend(is_noisy.then(|| own.margin.map_or("n/a".to_owned(), number)));
        cells.extend([edge(sorted.first()), edge(sorted.last())]);
        cells.extend([cost.cpus.len(), cost.alike()].map(|it| it.to_string()));
        let noise = match own.is_noise() {
            Some(true) => "noise",
            Some(false) => "",
            None => "no noise data",
        };
        cells.extend(is_noisy.then(|| noise.to_owned()));
        Some(cells)
    }

    fn meaning(&self) -> Vec<String> {
        let is_noisy = self.unit == CostUnit::Time;
        let unit = match is_noisy {
            false => {
                "The clock counts the instructions of all CPUs, so figures include instructions \
                 that other CPUs execute at the same time, such as the lead's wait loop."
            }
            true => {
                "Each difference is between two medians; a difference smaller than the sum of \
                 their notches (+-) is noise. The noise of a single sample is unknown."
            }
        };
        let mut all = vec![format!(
            "Each row shows the CPU whose difference is the median; Least and Most are the \
             extremes across all CPUs, and Alike is the number of CPUs with the same \
             difference. {unit}"
        )];
        let is_alone = |it: &&Cost| it.variant_text().as_deref() == Some("psci_version");
        let is_suite = |it: &&Cost| it.scenario.id.procedure() == Procedure::Version;
        let costs = || self.costs.iter();
        let version = costs().find(is_alone).or_else(|| costs().find(is_suite));
        let own = version.and_then(|it| match is_noisy {
            true => it.typical(),
            false => it.cleanest(),
        });
        let Some(own) = own else { return all };
        let call = "PSCI_VERSION, which records only two timestamps,";
        if is_noisy && own.is_noise() == Some(true) {
            all.push(format!("{call} has no cost that exceeds the noise."));
            return all;
        }
        let (difference, unit, cpu) = (own.difference(), self.unit_name, &own.label);
        let word = if difference < 0.0 { "less" } else { "more" };
        let percent = difference / own.without.max(f64::MIN_POSITIVE) * 100.0;
        let (size, each) = (number(difference.abs()), number(difference / STAMPS));
        let is_unknown = is_noisy && own.margin.is_none();
        let weighed = ["", ", not compared with noise"][usize::from(is_unknown)];
        all.push(format!(
            "{call} takes {size} {unit} {word} ({percent:+.1} %) on CPU {cpu}{weighed}: {each} for \
             each timestamp."
        ));
        all
    }
}

fn name(cost: &Cost) -> String {
    let tag = cost.scenario.id.short_tag();
    match cost.variant_text() {
        // Scenarios outside the TFTF suite have only one method.
        Some(variant) => format!("{tag} {variant}"),
        None if cost.scenario.method == Method::Tftf => tag.to_owned(),
        None => format!("{tag}, {}", cost.scenario.method.word()),
    }
}

fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", number(value.abs()))
}

/// Formats an integer unchanged, and any other number with two decimal places.
fn number(value: f64) -> String {
    let is_whole = (value - value.round()).abs() < 1e-6;
    let digits = if is_whole { 0 } else { 2 };
    format!("{value:.digits$}")
}
