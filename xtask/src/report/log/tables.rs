//! Published tables -> a [`LoggedRun`]: one CSV file a scenario, named after it.
//!
//! The columns are `cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns` or
//! `cluster,core,latency_ns`, with that header line or, as in TF-A's
//! `docs/perf/data/PLATFORM/{current,previous}`, without. A change behind a figure,
//! `185700 (-30.51%)`, is another comparison's and left out.
//!
//! Such a table has figures alone: no samples, no timestamps, no conditions. Its board is
//! known by the folder's name, at most. The rows are read as RT_INSTR lines.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use csv::{ReaderBuilder, Trim};
use psci_bench::plan::ScenarioId;
use psci_bench::spec::words::Word as _;

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
        let rows = parse(&bytes, tag).with_context(|| file.display().to_string())?;
        for row in rows {
            builder.line(PlainLine::RtInstr(row));
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

/// The columns of a scenario that suspends CPUs or turns them off.
const SUSPEND: [&str; 5] = [
    "cluster",
    "core",
    "powerdown_ns",
    "wakeup_ns",
    "cache_flush_ns",
];
/// The columns of PSCI_VERSION.
const LATENCY: [&str; 3] = ["cluster", "core", "latency_ns"];

/// Reads the rows of a scenario's table.
fn parse<'t>(bytes: &[u8], tag: &'t str) -> Result<Vec<RtInstr<'t>>> {
    let mut reader = ReaderBuilder::new();
    let mut reader = reader.has_headers(false).trim(Trim::All).from_reader(bytes);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let cells: Vec<&str> = record.iter().collect();
        if rows.is_empty() && (cells == SUSPEND || cells == LATENCY) {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        rows.push(row(&cells, tag).with_context(|| format!("line {line}"))?);
        ensure!(
            rows.len() <= ROWS_MAX,
            "line {line}: more than {ROWS_MAX} rows"
        );
    }
    ensure!(!rows.is_empty(), "no row in it");
    Ok(rows)
}

fn row<'t>(cells: &[&str], tag: &'t str) -> Result<RtInstr<'t>> {
    let is_of_latency = ScenarioId::from_word(tag).map(|it| it == ScenarioId::PsciVersionParallel);
    let (counts, expected) = match is_of_latency {
        Some(true) => (&[LATENCY.len()][..], "3, with a latency alone"),
        Some(false) => (
            &[SUSPEND.len()][..],
            "5, with Powerdown, Wakeup and Cache Flush, and no latency",
        ),
        None => (&[LATENCY.len(), SUSPEND.len()][..], "3 or 5"),
    };
    let count = cells.len();
    ensure!(
        counts.contains(&count),
        "{count} fields, and not {expected}"
    );
    let number = |cell: &str| {
        cell.parse()
            .with_context(|| format!("{cell:?} is no number"))
    };
    let label = (number(cells[0])?, number(cells[1])?);
    let mut values = [None; 3];
    for (value, cell) in values.iter_mut().zip(&cells[2..]) {
        *value = Some(figure(cell)?);
    }
    Ok(RtInstr { tag, label, values })
}

/// Reads `185700`, or `185700 (-30.51%)`.
fn figure(cell: &str) -> Result<u64> {
    let (number, change) = cell.split_once(' ').unwrap_or((cell, "(0%)"));
    let change = change
        .trim()
        .strip_prefix('(')
        .and_then(|it| it.strip_suffix("%)"));
    let is_change = change.is_some_and(|it| it.parse::<f64>().is_ok());
    let is_number = is_change && number.bytes().all(|b| b.is_ascii_digit());
    let value = number.parse().ok().filter(|_| is_number);
    value.with_context(|| format!("{cell:?} is no number of nanoseconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_each_layout_are_read() {
        let header = "cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns\n0,1,9,7,5\n";
        let quoted = "\u{feff}\"0\",\"1\",\"18 (-30.51%)\",\"27\",\"0\"\n";
        for (text, label, values) in [
            (quoted, (0, 1), [Some(18), Some(27), Some(0)]),
            ("1,3, 7\r\n1,2,880\r\n", (1, 3), [Some(7), None, None]),
            (header, (0, 1), [Some(9), Some(7), Some(5)]),
        ] {
            let tag = "test_x";
            let expected = RtInstr { tag, label, values };
            assert_eq!(parse(text.as_bytes(), tag).expect("rows")[0], expected);
        }
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        let rows = "0,0,1\n".repeat(ROWS_MAX + 1);
        let (off, version) = (
            "test_rt_instr_cpu_off_serial",
            ScenarioId::PsciVersionParallel.tag(),
        );
        for (tag, text, part) in [
            ("test_x", "", "no row in it"),
            ("test_x", "cluster,core,latency_ns\n", "no row in it"),
            ("test_x", "0,0,1,2\n", "line 1: 4 fields, and not 3 or 5"),
            ("test_x", "0,0,1\n0,1\n", "line: 2,"),
            ("test_x", "0,0,1\n0,1,-5\n", "line 2: \"-5\" is no number"),
            ("test_x", "0,0,7 (x)\n", "\"7 (x)\" is no number"),
            ("test_x", "0,0,99999999999999999999\n", "is no number"),
            ("test_x", "0,65536,7\n", "too large"),
            ("test_x", "0,0,\n", "\"\" is no number"),
            (
                "test_x",
                "core,cluster,latency_ns\n0,0,0\n",
                "\"core\" is no number",
            ),
            ("test_x", &rows, "line 4097: more than 4096 rows"),
            (off, "0,0,7\n", "and no latency"),
            (version, "0,0,7,8,9\n", "a latency alone"),
        ] {
            let said = format!("{:#}", parse(text.as_bytes(), tag).expect_err(text));
            assert!(said.contains(part), "{text}: {said}");
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
