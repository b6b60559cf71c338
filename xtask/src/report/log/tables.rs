//! Published tables -> a [`LoggedRun`]: one CSV file a scenario, named after it.
//!
//! * With a header line: `cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns`
//!   or `cluster,core,latency_ns`, in any order.
//! * Without, as in TF-A's `docs/perf/data/PLATFORM/{current,previous}`: the
//!   same columns in this order, each field quoted or not. A change behind a
//!   figure, `185700 (-30.51%)`, is another comparison's and left out.
//!
//! Such a table has figures alone: no samples, no timestamps, no conditions. Rows
//! that have the same labels are kept, in their order, as threads of a core.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use csv::ReaderBuilder;
use itertools::Itertools as _;
use psci_bench::model::{Cpu, Figures, Row, Run, Scenario, ScenarioKey};
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::spec::words::Word as _;

use super::logged_run::LoggedRun;

/// The most bytes of a file: far more than 512 CPUs take.
const FILE_MAX: u64 = 1 << 20;
/// The most rows of a file.
const ROWS_MAX: usize = 4096;
/// The beginning of the names of scenarios' files.
const TAG_PREFIX: &str = "test_";

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
    let mut logged = LoggedRun::default();
    (logged.source.input, logged.source.place) = (path.display().to_string(), 1);
    logged.integrity.tables = true;
    for file in &files {
        let bytes = read_file(file)?;
        let rows = parse(&bytes).with_context(|| file.display().to_string())?;
        logged.source.bytes.1 += bytes.len() as u64;
        match ScenarioId::from_word(&tag(file)) {
            Some(id) => add(&mut logged.run, id, &rows),
            None => drop(
                logged
                    .integrity
                    .unknown
                    .insert(tag(file), rows.len() as u32),
            ),
        }
    }
    sort(&mut logged.run);
    Ok(logged)
}

fn tag(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn in_folder(dir: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    let at = || dir.display().to_string();
    for entry in fs::read_dir(dir).with_context(at)? {
        let path = entry.with_context(at)?.path();
        if path.is_dir() {
            let name = path.file_name();
            folders.extend(name.map(|name| name.to_string_lossy().into_owned()));
        } else if are_at(&path) && tag(&path).starts_with(TAG_PREFIX) {
            files.push(path);
        }
    }
    if files.is_empty() && folders.iter().any(|name| name == "current") {
        return in_folder(&dir.join("current"));
    }
    let example = ScenarioId::SuspendDeepParallel.tag();
    let others = match folders.is_empty() {
        true => String::new(),
        false => format!(
            "; it has the folders {}",
            folders.iter().sorted().join(", ")
        ),
    };
    ensure!(
        !files.is_empty(),
        "{}: no table in this folder: expected files such as {example}.csv{others}",
        dir.display(),
    );
    Ok(files)
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let name = || path.display().to_string();
    let size = fs::metadata(path).with_context(name)?.len();
    ensure!(
        size <= FILE_MAX,
        "{}: {size} bytes are too many for a table",
        name()
    );
    fs::read(path).with_context(name)
}

/// A row of a table: cluster and core, and figures in nanoseconds.
type TableRow = ((u16, u16), Figures);

/// The names of columns, in the order of tables with three figures.
const COLUMNS: [&str; 6] = [
    "cluster",
    "core",
    "powerdown_ns",
    "wakeup_ns",
    "cache_flush_ns",
    "latency_ns",
];

/// Reads the rows of a table.
fn parse(bytes: &[u8]) -> Result<Vec<TableRow>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new();
    let mut reader = reader.has_headers(false).flexible(true).from_reader(bytes);
    let mut columns: Option<Vec<&str>> = None;
    let mut rows = Vec::new();
    let is_word = |cell: &&str| cell.starts_with(|c: char| c.is_ascii_alphabetic());
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let at = || format!("line {line}");
        let cells: Vec<&str> = record.iter().map(str::trim).collect();
        if columns.is_none() && cells.iter().any(is_word) {
            columns = Some(header(&cells).with_context(at)?);
            continue;
        }
        // A table without a header.
        let columns = columns.get_or_insert_with(|| match cells.len() {
            3 => vec!["cluster", "core", "latency_ns"],
            _ => COLUMNS[..5].to_vec(),
        });
        rows.push(row(columns, &cells).with_context(at)?);
        ensure!(
            rows.len() <= ROWS_MAX,
            "line {line}: more than {ROWS_MAX} rows"
        );
    }
    ensure!(!rows.is_empty(), "no row in it");
    Ok(rows)
}

fn header(cells: &[&str]) -> Result<Vec<&'static str>> {
    let column = |cell: &&str| match COLUMNS.into_iter().find(|it| it == cell) {
        Some(column) => Ok(column),
        None if *cell == "input" => bail!(
            "this is what --format csv writes, and no published table: name the log that it \
             was made of"
        ),
        None => bail!(
            "{cell:?} is no column: expected cluster, core, and powerdown_ns, wakeup_ns, \
             cache_flush_ns or latency_ns"
        ),
    };
    let columns: Vec<&str> = cells.iter().map(column).collect::<Result<_>>()?;
    if let Some(twice) = columns.iter().duplicates().next() {
        bail!("{twice:?} is there twice");
    }
    ensure!(
        columns.contains(&"cluster") && columns.contains(&"core") && columns.len() > 2,
        "expected cluster, core and at least one figure"
    );
    Ok(columns)
}

fn row(columns: &[&str], cells: &[&str]) -> Result<TableRow> {
    let (count, expected) = (cells.len(), columns.len());
    ensure!(count == expected, "{count} fields, and not {expected}");
    let mut row = TableRow::default();
    for (column, cell) in columns.iter().zip(cells) {
        let figure = figure(cell)
            .with_context(|| format!("{cell:?} is no number of nanoseconds or of a CPU"))?;
        let label = || u16::try_from(figure).with_context(|| format!("{cell:?} is no label"));
        match *column {
            "cluster" => row.0.0 = label()?,
            "core" => row.0.1 = label()?,
            "wakeup_ns" => row.1.wakeup = Some(figure),
            "cache_flush_ns" => row.1.cache_flush = Some(figure),
            _ => row.1.powerdown = Some(figure),
        }
    }
    Ok(row)
}

/// Parses `185700`, or `185700 (-30.51%)`.
fn figure(cell: &str) -> Option<u64> {
    let (number, change) = cell.split_once(' ').unwrap_or((cell, ""));
    if !change.trim().is_empty() {
        let inner = change.trim().strip_prefix('(')?.strip_suffix("%)")?;
        inner.parse::<f64>().ok()?;
    }
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten()
}

/// Adds a scenario to `run`.
fn add(run: &mut Run, id: ScenarioId, rows: &[TableRow]) {
    let (method, helper) = (Method::Tftf, None);
    let mut scenario = Scenario::new(ScenarioKey { id, method, helper });
    for (place, (label, figures)) in rows.iter().enumerate() {
        let mut cpu = Cpu::default();
        (cpu.cluster, cpu.core) = *label;
        cpu.thread = rows[..place].iter().filter(|it| it.0 == *label).count() as u16;
        let known = run.cpus.iter().position(|it| *it == cpu);
        let index = known.unwrap_or(run.cpus.len());
        if known.is_none() {
            run.cpus.push(cpu);
        }
        let mut row = Row {
            figures: *figures,
            ..Row::default()
        };
        row.cpu = index as u16;
        scenario.rows.push(row);
    }
    run.scenarios.push(scenario);
}

/// Sorts CPUs by their labels, unless those name several rows: then the rows' own
/// order is all that tells them apart.
fn sort(run: &mut Run) {
    if run.threads() == 1 {
        let before = run.cpus.clone();
        run.cpus.sort_by_key(|cpu| (cpu.cluster, cpu.core));
        for row in run.scenarios.iter_mut().flat_map(|it| &mut it.rows) {
            let cpu = before[usize::from(row.cpu)];
            let place = run.cpus.iter().position(|it| *it == cpu);
            row.cpu = place.unwrap_or_default() as u16;
        }
    }
    for scenario in &mut run.scenarios {
        scenario.rows.sort_by_key(|row| row.cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_each_layout_are_read() {
        let header = "core,cluster,cache_flush_ns,powerdown_ns\n1,0,5,9\n";
        let quoted = "\"0\",\"1\",\"18 (-30.51%)\",\"27\",\"0\"\n";
        for (text, label, figures) in [
            (quoted, (0, 1), [Some(18), Some(27), Some(0)]),
            ("1,3,7\r\n1,2,880\r\n", (1, 3), [Some(7), None, None]),
            (header, (0, 1), [Some(9), None, Some(5)]),
        ] {
            let row = parse(text.as_bytes()).expect("rows")[0];
            let own = [row.1.powerdown, row.1.wakeup, row.1.cache_flush];
            assert_eq!((row.0, own), (label, figures), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        let rows = "0,0,1\n".repeat(ROWS_MAX + 1);
        for (text, part) in [
            ("", "no row in it"),
            ("cluster,core,latency_ns\n", "no row in it"),
            ("0,0,1,2\n", "line 1: 4 fields, and not 5"),
            ("0,0,1\n0,1,-5\n", "line 2: \"-5\" is no number"),
            ("0,0,1.5\n", "line 1: \"1.5\" is no number"),
            ("0,0,7 (x)\n", "\"7 (x)\" is no number"),
            ("0,0,99999999999999999999\n", "is no number"),
            ("0,65536,7\n", "is no label"),
            ("0,0,\n", "\"\" is no number"),
            ("cluster,core,joules\n0,0,1\n", "\"joules\" is no column"),
            ("cluster,core,core,latency_ns\n", "\"core\" is there twice"),
            ("cluster,core\n0,0\n", "at least one figure"),
            ("input,run,model\n", "what --format csv writes"),
            (&rows, "more than 4096 rows"),
        ] {
            let said = format!("{:#}", parse(text.as_bytes()).expect_err(text));
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
        assert_eq!(rows[0].figures.powerdown, Some(8));
        assert!(logged.run.scenarios.len() == 1 && logged.is_complete());
        assert!(!logged.is_doubtful(&rows[0]));
        let part = "1 row of scenarios that this version does not know left out: test_later";
        assert!(logged.doubts().join("\n").contains(part));
    }
}
