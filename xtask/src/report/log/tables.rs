//! Published tables -> a [`LoggedRun`]: one CSV file a scenario, named after it.
//!
//! * With a header line: `cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns`
//!   or `cluster,core,latency_ns`, in any order.
//! * Without, as in TF-A's `docs/perf/data/PLATFORM/{current,previous}`: the
//!   same columns in this order, each field quoted or not. A change behind a
//!   figure, `185700 (-30.51%)`, is another comparison's and left out.
//!
//! Such a table has figures alone: no samples, no timestamps, no conditions. Its board is
//! known by the folder's name, at most. Its rows are read as RT_INSTR lines.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use csv::{ReaderBuilder, StringRecord, Trim};
use psci_bench::plan::ScenarioId;
use psci_bench::spec::words::Word as _;
use serde::{Deserialize, Deserializer, de};

use super::builder::LoggedRunBuilder;
use super::line_run::ROWS_MAX;
use super::logged_run::LoggedRun;
use super::plain_line::{PlainLine, RtInstr};
use crate::board;
use crate::setup::read_file;
use crate::setup::workspace::Workspace;

/// The most bytes of a file: more than 512 CPUs take.
const FILE_MAX: usize = 1 << 17;

/// Returns true if `path` is of tables, and no log.
pub fn are_at(path: &Path) -> bool {
    let ending = path.extension();
    path.is_dir() || ending.is_some_and(|it| it.eq_ignore_ascii_case("csv"))
}

/// Reads the tables at `path`: a file, a folder of files, or a folder whose
/// `current` is one.
pub fn read(path: &Path) -> Result<LoggedRun> {
    let mut files = match path.is_dir() {
        true => in_folder(path)?,
        false => vec![path.to_owned()],
    };
    files.sort_by_cached_key(|file| {
        let own = ScenarioId::from_word(&tag(file)).map(ScenarioId::index);
        (own.unwrap_or(ScenarioId::ALL.len()), tag(file))
    });
    let (mut builder, mut size) = (LoggedRunBuilder::of_tables(), 0);
    for file in &files {
        let bytes = read_file::read("table", file, FILE_MAX)?;
        size += bytes.len() as u64;
        builder.extend(0, (0, size));
        let tag = &tag(file);
        let rows = parse(&bytes, ScenarioId::from_word(tag));
        for row in rows.with_context(|| file.display().to_string())? {
            let label = (row.cluster, row.core);
            let first = row.powerdown_ns.or(row.latency_ns);
            let values = [first, row.wakeup_ns, row.cache_flush_ns];
            builder.line(PlainLine::RtInstr(RtInstr { tag, label, values }));
        }
    }
    let mut run = builder.finish(&path.display().to_string(), 1);
    run.header.board = files.first().and_then(|it| platform(it));
    Ok(run)
}

/// Returns the platform that a file's folders name: that of `current` and `previous`, else a
/// board of this repository.
fn platform(file: &Path) -> Option<String> {
    let folder = fs::canonicalize(file.parent()?).ok()?;
    let names: Vec<_> = folder.iter().rev().map(|it| it.to_string_lossy()).collect();
    if let [release, platform, ..] = &names[..]
        && ["current", "previous"].contains(&&**release)
    {
        return Some(platform.to_string());
    }
    let boards = board::names(&Workspace::find().ok()?);
    let known = names
        .iter()
        .find(|it| boards.iter().any(|board| board == *it));
    known.map(ToString::to_string)
}

fn tag(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn in_folder(dir: &Path) -> Result<Vec<PathBuf>> {
    let at = || dir.display().to_string();
    let entries = fs::read_dir(dir).with_context(at)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = paths.collect::<Result<_>>().with_context(at)?;
    files.retain(|path| !path.is_dir() && are_at(path) && tag(path).starts_with("test_"));
    let current = dir.join("current");
    if files.is_empty() && current.is_dir() {
        return in_folder(&current);
    }
    let example = ScenarioId::SuspendDeepParallel.tag();
    ensure!(
        !files.is_empty(),
        "{}: no table in this folder, and no folder current: expected files such as {example}.csv",
        at()
    );
    Ok(files)
}

/// A row of a table, with figures in nanoseconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRow {
    cluster: u16,
    core: u16,
    #[serde(default, deserialize_with = "figure")]
    powerdown_ns: Option<u64>,
    #[serde(default, deserialize_with = "figure")]
    wakeup_ns: Option<u64>,
    #[serde(default, deserialize_with = "figure")]
    cache_flush_ns: Option<u64>,
    #[serde(default, deserialize_with = "figure")]
    latency_ns: Option<u64>,
}

/// Reads `185700`, or `185700 (-30.51%)`.
fn figure<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let cell = String::deserialize(from)?;
    let (number, change) = cell.split_once(' ').unwrap_or((&cell, "(0%)"));
    let change = change
        .trim()
        .strip_prefix('(')
        .and_then(|it| it.strip_suffix("%)"));
    let is_change = change.is_some_and(|it| it.parse::<f64>().is_ok());
    let is_number = is_change && number.bytes().all(|b| b.is_ascii_digit());
    let value = number.parse().ok().filter(|_| is_number);
    let refused = || de::Error::custom(format!("{cell:?} is no number of nanoseconds"));
    value.map(Some).ok_or_else(refused)
}

/// Reads the rows of a table, which a scenario that is known has the figures of.
fn parse(bytes: &[u8], id: Option<ScenarioId>) -> Result<Vec<TableRow>> {
    let mut reader = ReaderBuilder::new();
    let mut reader = reader.has_headers(false).trim(Trim::All).from_reader(bytes);
    let mut columns: Option<StringRecord> = None;
    let mut rows = Vec::new();
    let is_word = |cell: &str| cell.starts_with(|c: char| c.is_ascii_alphabetic());
    for record in reader.records() {
        let record = record?;
        if columns.is_none() && record.iter().any(is_word) {
            columns = Some(record);
            continue;
        }
        let columns = columns.get_or_insert_with(|| match record.len() {
            3 => vec!["cluster", "core", "latency_ns"].into(),
            _ => vec![
                "cluster",
                "core",
                "powerdown_ns",
                "wakeup_ns",
                "cache_flush_ns",
            ]
            .into(),
        });
        let line = record.position().map_or(0, csv::Position::line);
        let (count, expected) = (record.len(), columns.len());
        ensure!(
            count == expected,
            "line {line}: {count} fields, and not {expected}"
        );
        let row: TableRow = record.deserialize(Some(columns))?;
        let has_figure = row
            .powerdown_ns
            .or(row.wakeup_ns)
            .or(row.cache_flush_ns)
            .or(row.latency_ns);
        ensure!(
            has_figure.is_some(),
            "line {line}: expected at least one figure"
        );
        let expected = match id {
            Some(ScenarioId::PsciVersionParallel) => "a latency alone",
            _ => "Powerdown, Wakeup and Cache Flush, and no latency",
        };
        let is_of_latency = id.map(|it| it == ScenarioId::PsciVersionParallel);
        ensure!(
            is_of_latency.is_none_or(|it| it == row.latency_ns.is_some()),
            "line {line}: this scenario's figures are {expected}"
        );
        ensure!(
            rows.len() < ROWS_MAX,
            "line {line}: more than {ROWS_MAX} rows"
        );
        rows.push(row);
    }
    ensure!(!rows.is_empty(), "no row in it");
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_each_layout_are_read() {
        let header = "core,cluster,cache_flush_ns,powerdown_ns\n1,0,5,9\n";
        let quoted = "\u{feff}\"0\",\"1\",\"18 (-30.51%)\",\"27\",\"0\"\n";
        for (text, label, figures) in [
            (quoted, (0, 1), [Some(18), Some(27), Some(0), None]),
            ("1,3, 7\r\n1,2,880\r\n", (1, 3), [None, None, None, Some(7)]),
            (header, (0, 1), [Some(9), None, Some(5), None]),
        ] {
            let row = &parse(text.as_bytes(), None).expect("rows")[0];
            let first = [
                row.powerdown_ns,
                row.wakeup_ns,
                row.cache_flush_ns,
                row.latency_ns,
            ];
            assert_eq!(((row.cluster, row.core), first), (label, figures), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        let rows = "0,0,1\n".repeat(ROWS_MAX + 1);
        for (text, part) in [
            ("", "no row in it"),
            ("cluster,core,latency_ns\n", "no row in it"),
            ("0,0,1,2\n", "line 1: 4 fields, and not 5"),
            ("0,0,1\n0,1\n", "line: 2,"),
            ("0,0,1\n0,1,-5\n", "\"-5\" is no number"),
            ("0,0,1\n0,1,1.5\n", "line: 2,"),
            ("0,0,7 (x)\n", "\"7 (x)\" is no number"),
            ("0,0,99999999999999999999\n", "is no number"),
            ("0,65536,7\n", "too large"),
            ("0,0,\n", "\"\" is no number"),
            ("cluster,core,joules\n0,0,1\n", "unknown field `joules`"),
            (
                "cluster,core,core,latency_ns\n0,0,0,1\n",
                "duplicate field `core`",
            ),
            ("cluster,latency_ns\n0,0\n", "missing field `core`"),
            ("cluster,core\n0,0\n", "at least one figure"),
            (&rows, "more than 4096 rows"),
        ] {
            let said = format!("{:#}", parse(text.as_bytes(), None).expect_err(text));
            assert!(said.contains(part), "{text}: {said}");
        }
    }

    #[test]
    fn columns_have_to_be_those_of_the_scenario() {
        for (id, text, part) in [
            (ScenarioId::CpuOffSerial, "0,0,7\n", "and no latency"),
            (ScenarioId::CpuOffSerial, "0,0,7,8,9\n", ""),
            (
                ScenarioId::PsciVersionParallel,
                "0,0,7,8,9\n",
                "a latency alone",
            ),
            (ScenarioId::PsciVersionParallel, "0,0,7\n", ""),
        ] {
            let said = parse(text.as_bytes(), Some(id))
                .err()
                .map(|it| it.to_string());
            let is_due = said.as_ref().is_some_and(|it| it.contains(part));
            assert_eq!(is_due, !part.is_empty(), "{id}: {said:?}");
        }
    }

    #[test]
    fn unknown_scenarios_are_named_and_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let tag = ScenarioId::PsciVersionParallel.tag();
        for (tag, text) in [(tag, "0,1,7\n0,0,8\n"), ("test_later", "0,0,9\n")] {
            fs::write(dir.path().join(format!("{tag}.csv")), text).expect("written");
        }
        let logged = read(dir.path()).expect("tables");
        let rows = &logged.run.scenarios[0].rows;
        assert_eq!(rows[0].figures.powerdown, Some(7));
        assert!(logged.run.scenarios.len() == 1 && logged.is_complete());
        assert!(!logged.is_doubtful(&rows[0]));
        let part = "1 row of scenarios that this version does not know left out: test_later";
        assert!(logged.doubts().join("\n").contains(part));
    }
}
