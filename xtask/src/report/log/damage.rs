//! Damaged logs: nothing that is read differs from the truth without a mark.
//!
//! `PSCI_BENCH_DAMAGE=N` damages N times as many logs.

use std::collections::BTreeSet;

use psci_bench::measure::Facts;
use psci_bench::model::{Row, Run, Scenario, Status};
use psci_bench::plan::Records;

use super::logged_run::LoggedRun;
use super::made_up_run;
use super::reader::read_bytes;
use crate::report::analysis::findings::findings;
use crate::report::analysis::words::{NOT_VERIFIED, RECORDS_LOST};

/// A generator of numbers that are always the same: Marsaglia, "Xorshift RNGs",
/// Journal of Statistical Software 8 (2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns true once in `of` times.
    fn once_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }

    /// Damages one of `of` parts: it is lost, comes twice, changes its place with another
    /// one, or `flip` changes it.
    fn damage<T: Clone>(&mut self, parts: &mut Vec<T>, of: u64, flip: impl Fn(&mut T, u64)) {
        let kind = self.next() % 4;
        let mut place = 0;
        while place < parts.len() {
            if self.once_in(of) {
                match kind {
                    0 => drop(parts.remove(place)),
                    1 => parts.insert(place, parts[place].clone()),
                    2 => parts.swap(place, place.saturating_sub(1)),
                    _ => flip(&mut parts[place], self.next()),
                }
            }
            place += 1;
        }
    }
}

/// Returns the number of logs that a test damages.
fn logs(usual: u64) -> u64 {
    let times = std::env::var("PSCI_BENCH_DAMAGE").ok();
    usual * times.map_or(1, |it| it.parse().expect("a number"))
}

/// The run that is sent, and the sentences of its report.
struct Truth {
    run: Run,
    sentences: BTreeSet<String>,
}

fn sentences(logged: &LoggedRun) -> impl Iterator<Item = String> {
    let each = logged.run.scenarios.iter();
    each.flat_map(|it| findings(logged, it))
        .map(|it| it.sentence)
}

impl Truth {
    /// Reads the log without damage.
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

    /// Asserts that all of `logged` is true or marked.
    fn assert_holds(&self, logged: &LoggedRun) {
        let (run, is_sent) = (&logged.run, logged.integrity.records.is_some());
        assert!(run.head.is_none() || run.head == self.run.head);
        // The lead's identity stands with its CPU.
        let facts = run.facts.zip(self.run.facts);
        assert!(facts.is_none_or(|(it, own)| Facts { own: own.own, ..it } == own));
        assert!(run.plan.is_none() || run.plan == self.run.plan);
        assert!(run.end.is_none() || run.end == self.run.end);
        assert!(
            !is_sent
                || !run.clock().is_known()
                || run.clock() == self.run.clock()
                || !run.has_records()
        );
        for (cpu, own) in run
            .cpus
            .iter()
            .zip(&self.run.cpus)
            .filter(|it| it.0.mpidr.is_some())
        {
            assert_eq!(
                (cpu.mpidr, cpu.cluster, cpu.core),
                (own.mpidr, own.cluster, own.core)
            );
        }
        for scenario in &run.scenarios {
            let own = self.run.scenario(scenario.key());
            self.assert_scenario(logged, scenario, own);
        }
        for sentence in sentences(logged) {
            let is_marked = [NOT_VERIFIED, RECORDS_LOST]
                .iter()
                .any(|it| sentence.ends_with(it));
            assert!(
                is_marked || self.sentences.contains(&sentence),
                "{sentence}"
            );
        }
    }

    /// Asserts that a log whose runs are all complete has everything, in one run.
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

    fn assert_scenario(&self, logged: &LoggedRun, scenario: &Scenario, own: Option<&Scenario>) {
        let is_sent = logged.integrity.records.is_some();
        let nothing = Scenario::new(scenario.key());
        let own = own.unwrap_or(&nothing);
        let is_status = scenario.status == Status::Unknown || scenario.status == own.status;
        assert!(is_status || !is_sent, "{:?}", scenario.key());
        assert!(scenario.conditions.is_none() || scenario.conditions == own.conditions);
        for row in &scenario.rows {
            let nothing = Row::default();
            let known = own.row(row.cpu).unwrap_or(&nothing);
            let is_marked = row.figures == Default::default() || logged.is_doubtful(row);
            assert!(if row.is_from_line() {
                is_marked
            } else {
                row.figures == known.figures
            });
            assert!(row.attempts.is_none() || row.attempts == known.attempts);
            assert!(row.shown.is_none() || row.shown == known.shown);
            assert!(
                row.statistics
                    .iter()
                    .all(|it| known.statistics.contains(it))
            );
            assert!(row.samples.iter().all(|it| known.samples.contains(it)));
        }
        for point in &scenario.points {
            let mut known = own.points.iter().filter(|it| it.spread.is_some());
            let spread = point.spread.is_some();
            assert!(known.any(|it| {
                let mut it = it.clone();
                it.spread = it.spread.filter(|_| spread);
                it == *point
            }));
        }
    }

    /// Returns true if a log without records has all rows that were sent.
    fn has_all_rows(&self, logged: &LoggedRun) -> bool {
        let mut framed = self.run.scenarios.iter().filter(|it| it.is_framed());
        let has = |it: &Scenario, cpu: u16| {
            let own = logged.scenario(it.id, it.method)?.row(cpu)?;
            Some(logged.is_doubtful(own))
        };
        framed.all(|it| (0..4).all(|cpu| has(it, cpu) == Some(true)))
    }
}

#[test]
fn damaged_logs_never_change_a_figure_or_a_sentence() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut whole, mut lossy, mut refused) = (0, 0, 0);
    for nth in 0..logs(500) {
        let copies =
            [Records::Once, Records::Once, Records::Twice, Records::None][nth as usize % 4];
        let mut run = made_up_run::run();
        if copies == Records::None {
            run.scenarios.pop();
            run.end = Some(made_up_run::end(&run));
        }
        let log = made_up_run::log(&run, copies);
        let truth = Truth::of(&log);
        let of = [100, 1_000, 10_000, 100_000][(nth / 4) as usize % 4];
        let lines = log.split_inclusive('\n').map(|it| it.as_bytes().to_vec());
        let mut lines: Vec<Vec<u8>> = lines.collect();
        let count = lines.len();
        match nth / 16 % 3 {
            0 => random.damage(&mut lines, of.min(3_000) / 10, |bytes, _| bytes.reverse()),
            1 => lines.swap(
                random.next() as usize % count,
                random.next() as usize % count,
            ),
            _ => {}
        }
        let mut bytes = lines.concat();
        random.damage(&mut bytes, of, |byte, number| *byte ^= 1 << (number % 8));
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
    println!("{whole} whole, {lossy} incomplete, {refused} refused");
    assert!(whole > 20 && lossy > 200);
}

/// Returns a log as a terminal of so many columns gives it, by a paste that may lose blanks
/// at the ends of lines, and with tabs that become what `tab` gives for a column.
fn pasted(
    log: &str,
    columns: usize,
    is_trimmed: bool,
    tab: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut all = Vec::new();
    for line in log.lines() {
        let (mut text, mut column) = (String::new(), 0);
        for letter in line.chars() {
            if column >= columns {
                all.push(std::mem::take(&mut text));
                column = 0;
            }
            match letter {
                '\t' => text += &tab(column),
                letter => text.push(letter),
            }
            column = if letter == '\t' {
                (column / 8 + 1) * 8
            } else {
                column + 1
            };
        }
        all.push(text);
    }
    if is_trimmed {
        all.iter_mut()
            .for_each(|it| it.truncate(it.trim_end().len()));
    }
    all
}

#[test]
fn pasted_logs_lose_no_row_in_silence() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut run = made_up_run::run();
    run.scenarios.pop();
    run.end = Some(made_up_run::end(&run));
    let log = made_up_run::log(&run, Records::None);
    let truth = Truth::of(&log);
    let is_own = |it: &&str| !it.starts_with("psci-bench") && !it.starts_with("  Board");
    let tftf: String = log.split_inclusive('\n').filter(is_own).collect();
    let ns = |row: &Row, clock: psci_bench::spec::ticks::Clock| {
        let it = row.figures;
        [it.powerdown, it.wakeup, it.cache_flush].map(|it| it.and_then(|it| clock.ns(it)))
    };
    let mut whole = 0;
    for nth in 0..logs(100) {
        let (log, columns) = ([&log, &tftf][nth as usize % 2], 40 + nth as usize % 93);
        let tab = |column: usize| match nth / 2 % 4 {
            0 => "\t".to_owned(),
            1 => " ".repeat(8 - column % 8),
            2 => " ".to_owned(),
            _ => String::new(),
        };
        let mut lines = pasted(log, columns, nth % 3 == 0, tab);
        for place in (0..lines.len()).rev().filter(|_| nth % 5 == 0) {
            if random.once_in(9) {
                lines.insert(place, "INFO:    BL31: 28\t17".into());
            }
        }
        let runs = read_bytes("a.log", lines.join("\n").as_bytes()).unwrap_or_default();
        assert!(runs.len() < 2);
        for logged in runs {
            assert!(
                !logged.is_complete() || truth.has_all_rows(&logged),
                "{columns}: {lines:#?}"
            );
            for scenario in &logged.run.scenarios {
                let of_id: Vec<Scenario> = truth
                    .run
                    .scenarios
                    .iter()
                    .filter(|it| it.id == scenario.id)
                    .cloned()
                    .collect();
                for row in scenario
                    .rows
                    .iter()
                    .filter(|it| it.figures.powerdown.is_some())
                {
                    let cpu = logged.run.cpu(row.cpu);
                    let place = truth
                        .run
                        .cpus
                        .iter()
                        .position(|it| (it.cluster, it.core) == (cpu.cluster, cpu.core));
                    let place = place.expect("a CPU that was sent") as u16;
                    let own = Scenario::row_of(&of_id, place, &|it| truth.run.cpu(it).cluster);
                    let own = ns(own.expect("a row").1, truth.run.clock());
                    assert_eq!(ns(row, logged.clock()), own, "{columns}: {lines:#?}");
                }
            }
            whole += u64::from(logged.is_complete());
        }
    }
    println!("{whole} whole");
    assert!(whole > logs(100) / 10);
}
