//! Tests damaged logs: everything read from them must be either correct or marked as unreliable.
//!
//! `PSCI_BENCH_DAMAGE=N` tests N times as many logs.

use std::collections::BTreeSet;

use fastrand::Rng;
use hardware::board::CpuIndex;
use serde_json::Value;
use suite::model::{Cell, Run, Scenario, Series, Skip, Status};
use suite::plan::{Records, ScenarioId};

use super::logged_run::LoggedRun;
use super::reader::read_bytes;
use super::tests::prefixes::prefixed;
use crate::analysis::findings::findings;
use crate::analysis::words::NOT_VERIFIED;
use crate::made_up_run;

/// Damages one in every `of` parts by dropping it, duplicating it, swapping it with another one, or
/// changing it with `flip`.
fn damage<T: Clone>(
    random: &mut Rng,
    parts: &mut Vec<T>,
    of: u64,
    flip: impl Fn(&mut T, &mut Rng),
) {
    let kind = random.u32(..4);
    let mut place = 0;
    while place < parts.len() {
        if random.u64(..of) == 0 {
            match kind {
                0 => drop(parts.remove(place)),
                1 => parts.insert(place, parts[place].clone()),
                2 => parts.swap(place, place.saturating_sub(1)),
                _ => flip(&mut parts[place], random),
            }
        }
        place += 1;
    }
}

/// Returns the number of logs that a test damages.
fn logs(usual: u64) -> u64 {
    let times = std::env::var("PSCI_BENCH_DAMAGE").ok();
    usual * times.map_or(1, |it| it.parse().expect("a number"))
}

fn json(run: &Run) -> Value {
    serde_json::to_value(run).expect("all map keys are strings")
}

/// Returns true if every known value in `found` is also in `whole`.
fn is_part(found: &Value, whole: &Value) -> bool {
    match (found, whole) {
        (Value::Object(found), Value::Object(whole)) => {
            let mut each = found.iter();
            each.all(|(key, it)| is_part(it, whole.get(key).unwrap_or(&Value::Null)))
        }
        (Value::Array(found), Value::Array(whole)) => {
            let mut each = found.iter();
            each.all(|it| whole.iter().any(|own| is_part(it, own)))
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
fn sentences(logged: &LoggedRun) -> impl Iterator<Item = String> {
    let all = logged.run.scenarios.iter();
    let all = all.flat_map(|it| findings(logged, it));
    all.map(|it| it.sentence).filter(|it| {
        !it.starts_with("No findings: ") && !it.starts_with("Net of the loop: unknown")
    })
}

impl Truth {
    /// Reads the undamaged log.
    fn of(log: &str) -> Self {
        let logged = read_bytes("a.log", log.as_bytes())
            .expect("a run")
            .remove(0);
        assert!(logged.is_complete());
        let sentences = sentences(&logged).collect();
        Self {
            run: logged.run,
            sentences,
        }
    }

    /// Asserts that everything in `logged` is either correct or marked as unreliable.
    fn assert_holds(&self, logged: &LoggedRun) {
        let mut run = logged.run.clone();
        let is_known = !run.clock().is_known() || run.clock() == self.run.clock();
        assert!(is_known || !run.has_records());
        // The lead's identity is checked along with the other data on its CPU.
        run.facts
            .iter_mut()
            .zip(self.run.facts)
            .for_each(|(it, own)| it.own = own.own);
        // The labels of lost CPUs are guessed, and are marked accordingly.
        run.cpus.retain(|it| it.mpidr.is_some());
        for scenario in &mut run.scenarios {
            let own = self
                .run
                .scenarios
                .iter()
                .find(|it| it.key() == scenario.key());
            let is_whole = logged.integrity.records.is_some() && scenario.lost_records == 0;
            assert!(!is_whole || own == Some(scenario), "{scenario:#?}");
            scenario.lost_records = 0;
            if logged.integrity.records.is_none() {
                scenario.status = Status::Unknown;
            }
            for cell in scenario.cells.iter_mut().filter(|it| it.lacks_own_record()) {
                let cpu = sent_cpu(logged, cell.cpu);
                let is_true = cell.skipped.is_none() || self.has_skipped(scenario.id, cpu);
                assert!(is_true || !logged.is_complete());
                cell.skipped = None;
                let is_doubtful = logged.is_doubtful(cell);
                // Only figures read from lines lack samples.
                let is_of_line = |it: &Series| it.summary.n == 0;
                assert!(is_doubtful || !cell.series.iter().any(is_of_line));
                cell.series.retain(|it| !is_of_line(it));
            }
            let is_empty = |it: &Cell| {
                let mut empty = Cell::new(it.cpu, it.step);
                empty.helper = it.helper;
                *it == empty
            };
            scenario.cells.retain(|it| !is_empty(it));
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

    /// Returns true if a CPU's cell was skipped.
    fn has_skipped(&self, id: ScenarioId, cpu: CpuIndex) -> bool {
        let mut all = self.run.scenarios.iter().filter(|it| it.id == id);
        all.any(|it| it.cell(cpu).is_some_and(is_skipped))
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
        run.scenarios.sort_by_key(|it| (it.id.index(), it.helper));
        assert_eq!(run, self.run);
    }

    /// Returns true if a log without records has all rows that were sent.
    fn has_all_rows(&self, logged: &LoggedRun) -> bool {
        let mut framed = self.run.scenarios.iter().filter(|it| it.has_tftf_lines());
        let has = |it: &Scenario, cpu: CpuIndex| {
            let own = logged.scenario(it.id, it.method)?.cell(cpu)?;
            let is_left_out = || self.has_skipped(it.id, sent_cpu(logged, cpu));
            Some(logged.is_doubtful(own) || is_skipped(own) && is_left_out())
        };
        framed.all(|it| (0..4).all(|cpu| has(it, cpu.into()) == Some(true)))
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
    let mut run = made_up_run::run();
    run.scenarios.pop();
    if nth % 2 == 1 {
        let cell = &mut run.scenarios[2].cells[3];
        *cell = Cell {
            skipped: Some(Skip::NoGic),
            ..Cell::new(cell.cpu, cell.step)
        };
    }
    run.end = Some(made_up_run::end(&run));
    run
}

#[test]
fn damaged_logs_never_change_a_figure_or_a_sentence() {
    let mut random = Rng::with_seed(1);
    let (mut whole, mut lossy, mut refused) = (0, 0, 0);
    for nth in 0..logs(500) {
        let copies =
            [Records::Once, Records::Once, Records::Twice, Records::None][nth as usize % 4];
        let run = match copies {
            Records::None => run_of_lines(nth / 4),
            Records::Once | Records::Twice => made_up_run::run(),
        };
        let log = made_up_run::log(&run, copies);
        let truth = Truth::of(&log);
        let log = match nth % 5 {
            0 => prefixed(&log, |_| "2026-01-02T03:04:05Z 00O ".to_owned(), "\n"),
            1 => prefixed(&log, |line| format!("[{line:5}.25] "), "\r\n"),
            _ => log,
        };
        let of = [100, 1_000, 10_000, 100_000][(nth / 4) as usize % 4];
        let lines = log.split_inclusive('\n').map(|it| it.as_bytes().to_vec());
        let mut lines: Vec<Vec<u8>> = lines.collect();
        let count = lines.len();
        let [one, other] = [(); 2].map(|()| random.usize(..count));
        match nth / 16 % 3 {
            0 => damage(&mut random, &mut lines, of.min(3_000) / 10, |bytes, _| {
                bytes.reverse()
            }),
            1 => lines.swap(one, other),
            _ => {}
        }
        let mut bytes = lines.concat();
        damage(&mut random, &mut bytes, of, |byte, random| {
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
    let mut all = Vec::new();
    for line in log.lines() {
        let (mut text, mut column) = (String::new(), 0);
        for letter in line.chars() {
            if column >= columns {
                all.push(std::mem::take(&mut text));
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
        all.push(text);
    }
    all
}

#[test]
fn pasted_logs_lose_no_row_in_silence() {
    let mut random = Rng::with_seed(1);
    let is_own = |it: &&str| !it.starts_with("psci-bench") && !it.starts_with("  Board");
    let logs_of = |run: &Run| {
        let log = made_up_run::log(run, Records::None);
        let tftf: String = log.split_inclusive('\n').filter(is_own).collect();
        (Truth::of(&log), [log, tftf])
    };
    let kinds = [0, 1].map(|nth| logs_of(&run_of_lines(nth)));
    let mut whole = 0;
    for nth in 0..logs(100) {
        let (truth, texts) = &kinds[nth as usize / 2 % 2];
        let (log, columns) = (&texts[nth as usize % 2], 40 + nth as usize % 93);
        let mut lines = pasted(log, columns, |column| match nth / 4 % 4 {
            0 => "\t".to_owned(),
            1 => " ".repeat(8 - column % 8),
            2 => " ".to_owned(),
            _ => String::new(),
        });
        for place in (0..lines.len()).rev().filter(|_| nth % 5 == 0) {
            if random.u32(..9) == 0 {
                lines.insert(place, "INFO:    BL31: 28\t17".into());
            }
        }
        let is_trimmed = nth % 3 == 0;
        let lines = lines
            .iter()
            .map(|it| if is_trimmed { it.trim_end() } else { it });
        let text = lines.collect::<Vec<_>>().join("\n");
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
                cells.retain(|it| !is_skipped(it) || !truth.has_skipped(scenario.id, it.cpu));
            }
            assert!(is_part(&json(&run), &json(&truth.run)), "{text}");
            whole += u64::from(is_complete);
        }
    }
    println!("{whole} whole");
    assert!(whole > logs(100) / 10);
}
