//! Tests damaged logs: everything read from them must be either correct or marked as unreliable.
//!
//! `PSCI_BENCH_DAMAGE=N` tests N times as many logs.

use std::collections::BTreeSet;

use fastrand::Rng;
use hardware::board::CpuIndex;
use serde_json::Value;
use suite::model::{Cell, Run, Scenario, Skip, Status};
use suite::plan::{Records, ScenarioId};

use super::logged_run::LoggedRun;
use super::reader::read_bytes;
use super::tests::prefixes::prefixed;
use crate::analysis::findings::findings;
use crate::analysis::value_text::NOT_VERIFIED;
use crate::synthetic_run;

/// Damages one in every `rarity` parts by dropping it, duplicating it, swapping it with another
/// one, or changing it with `flip`.
fn damage<T: Clone>(
    random: &mut Rng,
    parts: &mut Vec<T>,
    rarity: u64,
    flip: impl Fn(&mut T, &mut Rng),
) {
    let kind = random.u32(..4);
    let mut index = 0;
    while index < parts.len() {
        if random.u64(..rarity) == 0 {
            match kind {
                0 => drop(parts.remove(index)),
                1 => parts.insert(index, parts[index].clone()),
                2 => parts.swap(index, index.saturating_sub(1)),
                _ => flip(&mut parts[index], random),
            }
        }
        index += 1;
    }
}

/// Returns the number of logs that a test damages.
fn logs(usual: u64) -> u64 {
    match std::env::var("PSCI_BENCH_DAMAGE") {
        Ok(times) => usual * times.parse::<u64>().expect("a number"),
        Err(_) => usual,
    }
}

fn json(run: &Run) -> Value {
    serde_json::to_value(run).expect("all map keys are strings")
}

/// Returns true if every known value in `found` is also in `whole`.
fn is_part(found: &Value, whole: &Value) -> bool {
    match (found, whole) {
        (Value::Object(found), Value::Object(whole)) => {
            for (key, value) in found {
                if !is_part(value, whole.get(key).unwrap_or(&Value::Null)) {
                    return false;
                }
            }
            true
        }
        (Value::Array(found), Value::Array(whole)) => {
            for value in found {
                if !whole.iter().any(|other| is_part(value, other)) {
                    return false;
                }
            }
            true
        }
        _ => found.is_null() || found == "unknown" || found == whole,
    }
}

/// The run that was sent, and the sentences in its report.
struct Truth {
    run: Run,
    sentences: BTreeSet<String>,
}

/// Returns the sentences, except for those that explain why there are no findings.
fn sentences(logged: &LoggedRun) -> BTreeSet<String> {
    let mut sentences = BTreeSet::new();
    for scenario in &logged.run.scenarios {
        for finding in findings(logged, scenario) {
            let sentence = finding.sentence;
            let explains = sentence.starts_with("No findings: ")
                || sentence.starts_with("Net of the loop: unknown");
            if !explains {
                sentences.insert(sentence);
            }
        }
    }
    sentences
}

impl Truth {
    /// Reads the undamaged log.
    fn of(log: &str) -> Self {
        let logged = read_bytes("a.log", log.as_bytes())
            .expect("a run")
            .remove(0);
        assert!(logged.is_complete());
        Self {
            sentences: sentences(&logged),
            run: logged.run,
        }
    }

    /// Asserts that everything in `logged` is either correct or marked as unreliable.
    fn assert_holds(&self, logged: &LoggedRun) {
        let mut run = logged.run.clone();
        let is_known = !run.clock().is_known() || run.clock() == self.run.clock();
        assert!(is_known || !run.has_records());
        // The lead's identity is checked along with the other data on its CPU.
        for (facts, sent) in run.facts.iter_mut().zip(self.run.facts) {
            facts.own = sent.own;
        }
        // The labels of lost CPUs are guessed, and are marked accordingly.
        run.cpus.retain(|cpu| cpu.mpidr.is_some());
        for scenario in &mut run.scenarios {
            self.check_scenario(logged, scenario);
        }
        assert!(is_part(&json(&run), &json(&self.run)), "{run:#?}");
        for sentence in sentences(logged) {
            let is_marked = sentence.ends_with(NOT_VERIFIED);
            assert!(
                is_marked || self.sentences.contains(&sentence),
                "{sentence}"
            );
        }
    }

    /// Asserts that a scenario with all of its records is the one that was sent. Removes what was
    /// read from lines without a checksum and is marked as unreliable.
    fn check_scenario(&self, logged: &LoggedRun, scenario: &mut Scenario) {
        let mut all_sent = self.run.scenarios.iter();
        let sent = all_sent.find(|sent_scenario| sent_scenario.key() == scenario.key());
        if logged.integrity.records.is_none() {
            scenario.status = Status::Unknown;
        } else if scenario.lost_records == 0 {
            assert_eq!(sent, Some(&*scenario));
        }
        scenario.lost_records = 0;
        for cell in &mut scenario.cells {
            if cell.lacks_own_record() {
                self.check_cell(logged, scenario.id, cell);
            }
        }
        scenario.cells.retain(|cell| {
            let mut empty = Cell::new(cell.cpu, cell.step);
            empty.helper = cell.helper;
            *cell != empty
        });
    }

    /// Does the same for a cell without a record of its own.
    fn check_cell(&self, logged: &LoggedRun, id: ScenarioId, cell: &mut Cell) {
        if cell.skipped.is_some() && logged.is_complete() {
            assert!(self.has_skipped(id, sent_cpu(logged, cell.cpu)));
        }
        cell.skipped = None;
        // Only figures read from lines lack samples.
        if !logged.is_doubtful(cell) {
            assert!(cell.series.iter().all(|series| series.summary.n > 0));
        }
        cell.series.retain(|series| series.summary.n > 0);
    }

    /// Returns true if a CPU's cell was skipped.
    fn has_skipped(&self, id: ScenarioId, cpu: CpuIndex) -> bool {
        for sent_scenario in &self.run.scenarios {
            if sent_scenario.id == id
                && let Some(cell) = sent_scenario.cell(cpu)
                && is_skipped(cell)
            {
                return true;
            }
        }
        false
    }

    /// Asserts that, if every run is complete, the log contains a single run with nothing missing.
    fn assert_whole(&self, runs: &[LoggedRun]) {
        let [logged] = runs else {
            panic!("{} runs", runs.len());
        };
        if logged.integrity.records.is_none() {
            return assert!(self.has_all_rows(logged));
        }
        let mut run = logged.run.clone();
        run.scenarios
            .sort_by_key(|scenario| (scenario.id.index(), scenario.helper));
        assert_eq!(run, self.run);
    }

    /// Returns true if a log without records has all rows that were sent.
    fn has_all_rows(&self, logged: &LoggedRun) -> bool {
        for sent_scenario in &self.run.scenarios {
            if !sent_scenario.has_tftf_lines() {
                continue;
            }
            for cpu in 0..4 {
                if !self.has_row(logged, sent_scenario, cpu.into()) {
                    return false;
                }
            }
        }
        true
    }

    /// Returns true if a log without records has the CPU's row of a scenario.
    fn has_row(&self, logged: &LoggedRun, sent_scenario: &Scenario, cpu: CpuIndex) -> bool {
        let Some(scenario) = logged.scenario(sent_scenario.id, sent_scenario.method) else {
            return false;
        };
        let Some(cell) = scenario.cell(cpu) else {
            return false;
        };
        logged.is_doubtful(cell)
            || is_skipped(cell) && self.has_skipped(sent_scenario.id, sent_cpu(logged, cpu))
    }
}

/// Looks up a CPU by its labels and returns its index in the run that was sent.
fn sent_cpu(logged: &LoggedRun, cpu: CpuIndex) -> CpuIndex {
    let cpu = logged.run.cpu(cpu);
    cpu.cluster
        .saturating_mul(2)
        .saturating_add(cpu.core)
        .into()
}

fn is_skipped(cell: &Cell) -> bool {
    cell.skipped.is_some()
}

/// Returns a run that can be logged without records. The run has a skipped row if `nth` is odd.
fn run_of_lines(nth: u64) -> Run {
    let mut run = synthetic_run::run();
    run.scenarios.pop();
    if nth % 2 == 1 {
        let cell = &mut run.scenarios[2].cells[3];
        *cell = Cell {
            skipped: Some(Skip::NoGic),
            ..Cell::new(cell.cpu, cell.step)
        };
    }
    run.end = Some(synthetic_run::end(&run));
    run
}

#[test]
fn damaged_logs_never_change_a_figure_or_a_sentence() {
    let mut random = Rng::with_seed(1);
    let mut whole = 0;
    let mut lossy = 0;
    let mut refused = 0;
    for nth in 0..logs(500) {
        let copies =
            [Records::Once, Records::Once, Records::Twice, Records::None][nth as usize % 4];
        let run = match copies {
            Records::None => run_of_lines(nth / 4),
            Records::Once | Records::Twice => synthetic_run::run(),
        };
        let sent = synthetic_run::log(&run, copies);
        let truth = Truth::of(&sent);
        let log = match nth % 5 {
            0 => prefixed(&sent, |_| "2026-01-02T03:04:05Z 00O ".to_owned(), "\n"),
            1 => prefixed(&sent, |line| format!("[{line:5}.25] "), "\r\n"),
            _ => sent,
        };
        let rarity = [100, 1_000, 10_000, 100_000][(nth / 4) as usize % 4];
        let mut lines: Vec<Vec<u8>> = log
            .split_inclusive('\n')
            .map(|line| line.as_bytes().to_vec())
            .collect();
        let count = lines.len();
        let one = random.usize(..count);
        let other = random.usize(..count);
        match nth / 16 % 3 {
            0 => damage(
                &mut random,
                &mut lines,
                rarity.min(3_000) / 10,
                |bytes, _| bytes.reverse(),
            ),
            1 => lines.swap(one, other),
            _ => {}
        }
        let mut bytes = lines.concat();
        damage(&mut random, &mut bytes, rarity, |byte, random| {
            *byte ^= 1 << random.u32(..8)
        });
        let Ok(runs) = read_bytes("a.log", &bytes) else {
            refused += 1;
            continue;
        };
        for logged in &runs {
            truth.assert_holds(logged);
        }
        if runs.iter().all(LoggedRun::is_complete) {
            truth.assert_whole(&runs);
            whole += 1;
        } else {
            lossy += 1;
        }
    }
    println!("{whole} complete, {lossy} incomplete, {refused} refused");
    assert!(whole > 20 && lossy > 200);
}

/// Returns a log as if copied from a terminal with `columns` columns. Each tab is replaced with the
/// result of `tab` for its column.
fn pasted(log: &str, columns: usize, tab: impl Fn(usize) -> String) -> Vec<String> {
    let mut pasted_lines = Vec::new();
    for line in log.lines() {
        let mut text = String::new();
        let mut column = 0;
        for letter in line.chars() {
            if column >= columns {
                pasted_lines.push(std::mem::take(&mut text));
                column = 0;
            }
            let is_tab = letter == '\t';
            text += &if is_tab { tab(column) } else { letter.into() };
            column = if is_tab {
                column / 8 * 8 + 8
            } else {
                column + 1
            };
        }
        pasted_lines.push(text);
    }
    pasted_lines
}

/// Returns the truth about a run without records, its log, and the same log without the lines that
/// TFTF does not print.
fn logs_of_lines(nth: u64) -> (Truth, [String; 2]) {
    let log = synthetic_run::log(&run_of_lines(nth), Records::None);
    let mut tftf = String::new();
    for line in log.split_inclusive('\n') {
        if !line.starts_with("psci-bench") && !line.starts_with("  Board") {
            tftf += line;
        }
    }
    (Truth::of(&log), [log, tftf])
}

#[test]
fn pasted_logs_lose_no_row_in_silence() {
    let mut random = Rng::with_seed(1);
    let kinds = [logs_of_lines(0), logs_of_lines(1)];
    let mut whole = 0;
    for nth in 0..logs(100) {
        let (truth, texts) = &kinds[nth as usize / 2 % 2];
        let log = &texts[nth as usize % 2];
        let columns = 40 + nth as usize % 93;
        let mut lines = pasted(log, columns, |column| match nth / 4 % 4 {
            0 => "\t".to_owned(),
            1 => " ".repeat(8 - column % 8),
            2 => " ".to_owned(),
            _ => String::new(),
        });
        if nth % 5 == 0 {
            for index in (0..lines.len()).rev() {
                if random.u32(..9) == 0 {
                    lines.insert(index, "INFO:    BL31: 28\t17".into());
                }
            }
        }
        if nth % 3 == 0 {
            for line in &mut lines {
                line.truncate(line.trim_end().len());
            }
        }
        let text = lines.join("\n");
        let Ok(runs) = read_bytes("a.log", text.as_bytes()) else {
            continue;
        };
        assert!(runs.len() < 2);
        for logged in runs {
            let is_complete = logged.is_complete();
            assert!(!is_complete || truth.has_all_rows(&logged), "{text}");
            let mut run = logged.run.clone();
            for scenario in &mut run.scenarios {
                for cell in &mut scenario.cells {
                    cell.cpu = sent_cpu(&logged, cell.cpu);
                }
                let cells = &mut scenario.cells;
                cells.retain(|cell| !is_skipped(cell) || !truth.has_skipped(scenario.id, cell.cpu));
            }
            assert!(is_part(&json(&run), &json(&truth.run)), "{text}");
            whole += u64::from(is_complete);
        }
    }
    println!("{whole} whole");
    assert!(whole > logs(100) / 10);
}
