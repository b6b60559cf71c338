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
use psci_bench::model::{Cpu, Figures, Row, Run, Scenario, ScenarioKey};
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::spec::words::Word as _;

use super::integrity::Integrity;
use super::logged_run::{LoggedRun, Source};

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
    let mut files = if path.is_dir() {
        in_folder(path)?
    } else {
        vec![path.to_owned()]
    };
    let place = |file: &PathBuf| {
        let tag = tag(file);
        let own = ScenarioId::from_word(&tag).map(ScenarioId::index);
        (own.unwrap_or(ScenarioId::ALL.len()), tag)
    };
    files.sort_by_key(place);
    let mut logged = LoggedRun {
        source: Source {
            input: path.display().to_string(),
            place: 1,
            ..Source::default()
        },
        integrity: Integrity {
            tables: true,
            ..Integrity::default()
        },
        ..LoggedRun::default()
    };
    for file in &files {
        let bytes = read_file(file)?;
        let rows = parse(&bytes).with_context(|| file.display().to_string())?;
        logged.source.bytes.1 += bytes.len() as u64;
        let tag = tag(file);
        match ScenarioId::from_word(&tag) {
            Some(id) => add(&mut logged.run, id, &rows),
            None => {
                let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                logged.integrity.unknown.insert(tag, count);
            }
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
    let mut files = Vec::new();
    let mut folders = Vec::new();
    let entries = fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    for entry in entries {
        let path = entry.with_context(|| dir.display().to_string())?.path();
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
    folders.sort_unstable();
    ensure!(
        !files.is_empty(),
        "{}: no table in this folder: expected files such as {}.csv{}",
        dir.display(),
        ScenarioId::SuspendDeepParallel.tag(),
        if folders.is_empty() {
            String::new()
        } else {
            format!("; it has the folders {}", folders.join(", "))
        }
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

/// A row of a table: labels, and figures in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableRow {
    pub(crate) cluster: u16,
    pub(crate) core: u16,
    pub(crate) figures: Figures,
}

/// Reads the rows of a table.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<TableRow>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut columns: Option<Vec<Column>> = None;
    let mut rows = Vec::new();
    let is_word = |cell: &&str| cell.starts_with(|c: char| c.is_ascii_alphabetic());
    for record in reader.records() {
        let record = record?;
        let at = record.position().map_or(0, csv::Position::line);
        let cells: Vec<&str> = record.iter().map(str::trim).collect();
        if rows.is_empty() && columns.is_none() && cells.iter().any(is_word) {
            columns = Some(header(&cells).with_context(|| format!("line {at}"))?);
            continue;
        }
        let columns = columns.get_or_insert_with(|| by_count(cells.len()));
        rows.push(row(columns, &cells).with_context(|| format!("line {at}"))?);
        ensure!(
            rows.len() <= ROWS_MAX,
            "line {at}: more than {ROWS_MAX} rows"
        );
    }
    ensure!(!rows.is_empty(), "no row in it");
    Ok(rows)
}

/// The quantity in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Cluster,
    Core,
    Powerdown,
    Wakeup,
    CacheFlush,
    Latency,
}

fn header(cells: &[&str]) -> Result<Vec<Column>> {
    let column = |cell: &&str| {
        Ok(match *cell {
            "cluster" => Column::Cluster,
            "core" => Column::Core,
            "powerdown_ns" => Column::Powerdown,
            "wakeup_ns" => Column::Wakeup,
            "cache_flush_ns" => Column::CacheFlush,
            "latency_ns" => Column::Latency,
            "input" => bail!(
                "this is what --format csv writes, and no published table: name the log that it \
                 was made of"
            ),
            other => bail!(
                "{other:?} is no column: expected cluster, core, and powerdown_ns, wakeup_ns, \
                 cache_flush_ns or latency_ns"
            ),
        })
    };
    let columns: Vec<Column> = cells.iter().map(column).collect::<Result<_>>()?;
    for (place, it) in columns.iter().enumerate() {
        ensure!(
            !columns[..place].contains(it),
            "{:?} is there twice",
            cells[place]
        );
    }
    ensure!(
        columns.contains(&Column::Cluster) && columns.contains(&Column::Core) && columns.len() > 2,
        "expected cluster, core and at least one figure"
    );
    Ok(columns)
}

/// Returns the columns of a table without a header.
fn by_count(count: usize) -> Vec<Column> {
    use Column::{CacheFlush, Cluster, Core, Latency, Powerdown, Wakeup};
    match count {
        3 => vec![Cluster, Core, Latency],
        _ => vec![Cluster, Core, Powerdown, Wakeup, CacheFlush],
    }
}

fn row(columns: &[Column], cells: &[&str]) -> Result<TableRow> {
    ensure!(
        cells.len() == columns.len(),
        "{} fields, and not {}",
        cells.len(),
        columns.len()
    );
    let mut row = TableRow::default();
    for (column, cell) in columns.iter().zip(cells) {
        let figure = figure(cell)
            .with_context(|| format!("{cell:?} is no number of nanoseconds or of a CPU"))?;
        let label = || u16::try_from(figure).with_context(|| format!("{cell:?} is no label"));
        match column {
            Column::Cluster => row.cluster = label()?,
            Column::Core => row.core = label()?,
            Column::Powerdown | Column::Latency => row.figures.powerdown = Some(figure),
            Column::Wakeup => row.figures.wakeup = Some(figure),
            Column::CacheFlush => row.figures.cache_flush = Some(figure),
        }
    }
    Ok(row)
}

/// Parses `185700`, or `185700 (-30.51%)`.
fn figure(cell: &str) -> Option<u64> {
    let (number, change) = cell.split_once(' ').unwrap_or((cell, ""));
    let change = change.trim();
    let is_change = |it: &str| {
        let inner = it.strip_prefix('(')?.strip_suffix("%)")?;
        inner.parse::<f64>().ok()
    };
    if !change.is_empty() {
        is_change(change)?;
    }
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten()
}

/// Adds a scenario to `run`.
fn add(run: &mut Run, id: ScenarioId, rows: &[TableRow]) {
    let mut scenario = Scenario::new(ScenarioKey {
        id,
        method: Method::Tftf,
        helper: None,
    });
    for (place, row) in rows.iter().enumerate() {
        let is_same = |it: &&TableRow| (it.cluster, it.core) == (row.cluster, row.core);
        let before = rows.iter().take(place).filter(is_same).count();
        let cpu = Cpu {
            cluster: row.cluster,
            core: row.core,
            thread: before as u16,
            ..Cpu::default()
        };
        let known = run.cpus.iter().position(|it| *it == cpu);
        let index = known.unwrap_or_else(|| {
            run.cpus.push(cpu);
            run.cpus.len() - 1
        });
        scenario.rows.push(Row {
            cpu: index as u16,
            figures: row.figures,
            ..Row::default()
        });
    }
    run.scenarios.push(scenario);
}

/// Sorts CPUs by their labels, unless those name several rows: then the rows' own
/// order is all that tells them apart.
fn sort(run: &mut Run) {
    if run.threads() == 1 {
        let labels: Vec<(u16, u16)> = run.cpus.iter().map(|it| (it.cluster, it.core)).collect();
        run.cpus.sort_by_key(|cpu| (cpu.cluster, cpu.core));
        let place = |label: &(u16, u16)| {
            let place = run
                .cpus
                .iter()
                .position(|it| (it.cluster, it.core) == *label);
            place.unwrap_or_default() as u16
        };
        let places: Vec<u16> = labels.iter().map(place).collect();
        for row in run.scenarios.iter_mut().flat_map(|it| &mut it.rows) {
            row.cpu = places[usize::from(row.cpu)];
        }
    }
    for scenario in &mut run.scenarios {
        scenario.rows.sort_by_key(|row| row.cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(all: [Option<u64>; 3]) -> Figures {
        let [powerdown, wakeup, cache_flush] = all;
        Figures {
            powerdown,
            wakeup,
            cache_flush,
        }
    }

    #[test]
    fn tables_of_each_layout_are_read() {
        for (text, label, expected) in [
            (
                "\"0\",\"1\",\"185700 (-30.51%)\",\"27\",\"0\"\n",
                (0, 1),
                [Some(185_700), Some(27), Some(0)],
            ),
            ("1,3,7\r\n1,2,880\r\n", (1, 3), [Some(7), None, None]),
            (
                "core,cluster,cache_flush_ns,powerdown_ns\n1,0,5,9\n",
                (0, 1),
                [Some(9), None, Some(5)],
            ),
        ] {
            let row = parse(text.as_bytes()).expect("rows")[0];
            assert_eq!((row.cluster, row.core), label, "{text}");
            assert_eq!(row.figures, figures(expected), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        let said = |text: &str| format!("{:#}", parse(text.as_bytes()).expect_err(text));
        assert_eq!(said(""), "no row in it");
        assert_eq!(said("cluster,core,latency_ns\n"), "no row in it");
        assert_eq!(said("0,0,1,2\n"), "line 1: 4 fields, and not 5");
        for (text, part) in [
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
        ] {
            assert!(said(text).contains(part), "{text}: {}", said(text));
        }
        let text = "0,0,1\n".repeat(ROWS_MAX + 1);
        assert!(said(&text).contains("more than 4096 rows"));
    }

    #[test]
    fn unknown_scenarios_are_named_and_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let known = ScenarioId::PsciVersionParallel;
        let file = |tag: &str| dir.path().join(format!("{tag}.csv"));
        fs::write(file(known.tag()), "0,1,7\n0,0,8\n").expect("written");
        fs::write(file("test_later"), "0,0,9\n").expect("written");
        let logged = read(dir.path()).expect("tables");
        let rows = &logged.run.scenarios[0].rows;
        assert_eq!(rows[0].figures.powerdown, Some(8));
        assert_eq!(
            (logged.run.scenarios.len(), logged.is_complete()),
            (1, true)
        );
        assert!(!logged.is_doubtful(&rows[0]));
        let doubts = logged.doubts().join("\n");
        assert!(
            doubts.contains(
                "1 row of scenarios that this version does not know left out: test_later"
            ),
            "{doubts}"
        );
        fs::remove_file(file(known.tag())).expect("removed");
    }
}
