//! Costs -> a table and sentences.

use std::io::{self, Write};

use psci_bench::plan::{Method, ScenarioId, TAG_PREFIX};

use super::table::Table;
use crate::report::analysis::overhead::{Cost, CostOfCpu, Overhead, Unit};

/// The timestamps that PSCI_VERSION passes: ENTER_PSCI and EXIT_PSCI.
const STAMPS: f64 = 2.0;

impl Overhead {
    /// Writes the table, and sentences about it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.table().plain(out)?;
        for sentence in self.meaning() {
            note(out, &sentence)?;
        }
        writeln!(out, "\nNot compared:")?;
        for sentence in &self.left_out {
            note(out, sentence)?;
        }
        Ok(())
    }

    fn table(&self) -> Table {
        let mut table = Table::titled(format!(
            "The price of instrumentation, by the caller's figures ({})",
            self.unit_name
        ));
        let is_noisy = self.unit == Unit::Time;
        table.words(["Scenario", "Figure", "CPU"]);
        table.numbers(["Instrumented", "Plain", "Difference"]);
        table.numbers(is_noisy.then_some("+-"));
        table.numbers(["Least", "Most", "CPUs", "Alike"]);
        table.words(is_noisy.then_some(""));
        table.rows = self.costs.iter().filter_map(|it| self.row(it)).collect();
        table
    }

    fn row(&self, cost: &Cost) -> Option<Vec<String>> {
        let own = cost.typical()?;
        let more = |value: f64| format!("{}{}", sign(value), number(value.abs()));
        let sorted = cost.sorted();
        let edge = |of: Option<&&CostOfCpu>| of.map_or(String::new(), |it| more(it.difference()));
        let is_noisy = self.unit == Unit::Time;
        let mut cells = vec![name(cost), cost.key.heading().to_owned(), own.label.clone()];
        cells.extend([number(own.with), number(own.without)]);
        cells.push(more(own.difference()));
        cells.extend(is_noisy.then(|| own.margin.map_or("n/a".to_owned(), number)));
        cells.extend([edge(sorted.first()), edge(sorted.last())]);
        cells.extend([cost.cpus.len(), cost.alike()].map(|it| it.to_string()));
        cells.extend(is_noisy.then(|| if own.is_noise() { "noise" } else { "" }.to_owned()));
        Some(cells)
    }

    /// Returns sentences on the figures.
    fn meaning(&self) -> Vec<String> {
        let is_noisy = self.unit == Unit::Time;
        let unit = match is_noisy {
            false => {
                "The clock counts the instructions of all CPUs together: what another one did \
                 meanwhile, such as the lead in waiting, is in the figure."
            }
            true => {
                "Differences are medians' with the sum of both notches; what is not beyond it \
                 is noise."
            }
        };
        let mut all = vec![format!(
            "A row is of one CPU, the one whose difference is the median; Least and Most are \
             those of all CPUs, and Alike is how many have the row's. {unit}"
        )];
        let is_alone = |it: &&Cost| it.variant_text().as_deref() == Some("psci_version");
        let is_suite = |it: &&Cost| it.scenario.id == ScenarioId::PsciVersionParallel;
        let mut costs = self.costs.iter();
        let version = costs
            .clone()
            .find(is_alone)
            .or_else(|| costs.find(is_suite));
        let own = version.and_then(|it| {
            if is_noisy {
                it.typical()
            } else {
                it.cleanest()
            }
        });
        let Some(own) = own else { return all };
        let call = "PSCI_VERSION, which passes two timestamps and does nothing else,";
        let difference = own.difference();
        all.push(match is_noisy && own.is_noise() {
            true => format!("{call} costs no more than noise."),
            false => format!(
                "{call} takes {} {} {} ({}{:.1} %) on CPU {}: {} for each timestamp.",
                number(difference.abs()),
                self.unit_name,
                if difference < 0.0 { "less" } else { "more" },
                sign(difference),
                difference.abs() / own.without.max(f64::MIN_POSITIVE) * 100.0,
                own.label,
                number(difference / STAMPS)
            ),
        });
        all
    }
}

/// The width of notes, in characters.
const WIDTH: usize = 100;

/// Writes a sentence as an item of a list, wrapped.
fn note(out: &mut dyn Write, sentence: &str) -> io::Result<()> {
    let mut line = "  *".to_owned();
    for word in sentence.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line = "   ".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

fn name(cost: &Cost) -> String {
    let tag = cost.scenario.id.tag();
    let tag = tag.strip_prefix(TAG_PREFIX).unwrap_or(tag);
    match cost.variant_text() {
        // Scenarios of points have one method only.
        Some(variant) => format!("{tag} {variant}"),
        None if cost.scenario.method == Method::Tftf => tag.to_owned(),
        None => format!("{tag}, {}", cost.scenario.method.word()),
    }
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "+" }
}

/// Returns a whole number as it is, another one with two decimals.
fn number(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}
