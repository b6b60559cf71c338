//! Published tables -> a [`Run`]: one CSV file a scenario, named after it.
//!
//! * With a header line: `cluster,core,powerdown_ns,wakeup_ns,cache_flush_ns`
//!   or `cluster,core,latency_ns`, in any order.
//! * Without, as in TF-A's `docs/perf/data/PLATFORM/{current,previous}`: the
//!   same columns in this order, each field quoted or not. A change behind a
//!   figure, `185700 (-30.51%)`, is another comparison's and left out.
//!
//! Figures alone are in such a table: no samples, no timestamps, no
//! conditions. Rows that have the same labels are kept, in their order, and
//! told apart as threads of a core would be.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use csv::ReaderBuilder;
use psci_bench::measure::Metric;
use psci_bench::plan::{Method, ScenarioId};

use crate::report::model::{Cpu, Integrity, Row, Run, Source, Term, Test};

/// The most bytes of a file: far more than 512 CPUs take.
const FILE_MAX: u64 = 1 << 20;
/// The most rows of a file.
const ROWS_MAX: usize = 4096;
/// What every file of a scenario begins with.
const TAG_PREFIX: &str = "test_";

const PMF: [Metric; 3] = [Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush];
const CALL: [Metric; 1] = [Metric::Latency];

/// Whether `path` is of tables, and no log.
#[must_use]
pub fn are_at(path: &Path) -> bool {
    path.is_dir()
        || path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("csv"))
}

/// Reads the tables at `path`: a file, a folder of files, or a folder whose
/// `current` is one.
///
/// # Errors
/// A file that can not be read, or with a line that is no row; no file at all.
pub fn read(path: &Path) -> Result<Run> {
    let mut files = if path.is_dir() {
        in_folder(path)?
    } else {
        vec![path.to_owned()]
    };
    let place = |file: &PathBuf| {
        let tag = tag(file);
        let own = ScenarioId::ALL.iter().position(|id| id.tag() == tag);
        (own.unwrap_or(ScenarioId::ALL.len()), tag)
    };
    files.sort_by_key(place);
    let mut run = Run {
        source: Source {
            input: path.display().to_string(),
            place: 1,
            ..Source::default()
        },
        integrity: Integrity {
            tables: true,
            ..Integrity::default()
        },
        ..Run::default()
    };
    for file in &files {
        let bytes = read_file(file)?;
        let lines = parse(&bytes).with_context(|| file.display().to_string())?;
        run.source.bytes.1 += bytes.len() as u64;
        add(&mut run, &tag(file), lines);
    }
    sort(&mut run);
    Ok(run)
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
            folders.extend(
                path.file_name()
                    .map(|name| name.to_string_lossy().into_owned()),
            );
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

/// A row: cluster, core, and figures in nanoseconds.
struct Line {
    cluster: u32,
    core: u32,
    figures: Vec<(Metric, u64)>,
}

fn parse(bytes: &[u8]) -> Result<Vec<Line>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut columns: Option<Vec<Column>> = None;
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record?;
        let at = record.position().map_or(0, csv::Position::line);
        let cells: Vec<&str> = record.iter().map(str::trim).collect();
        if lines.is_empty() && columns.is_none() && cells.iter().any(|it| is_word(it)) {
            columns = Some(header(&cells).with_context(|| format!("line {at}"))?);
            continue;
        }
        let columns = columns.get_or_insert_with(|| by_count(cells.len()));
        lines.push(row(columns, &cells).with_context(|| format!("line {at}"))?);
        ensure!(
            lines.len() <= ROWS_MAX,
            "line {at}: more than {ROWS_MAX} rows"
        );
    }
    ensure!(!lines.is_empty(), "no row in it");
    Ok(lines)
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Cluster,
    Core,
    Figure(Metric),
}

fn is_word(cell: &str) -> bool {
    cell.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn header(cells: &[&str]) -> Result<Vec<Column>> {
    let column = |cell: &&str| {
        Ok(match *cell {
            "cluster" => Column::Cluster,
            "core" => Column::Core,
            "powerdown_ns" => Column::Figure(Metric::Powerdown),
            "wakeup_ns" => Column::Figure(Metric::Wakeup),
            "cache_flush_ns" => Column::Figure(Metric::CacheFlush),
            "latency_ns" => Column::Figure(Metric::Latency),
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

/// The columns of a table without a header.
fn by_count(count: usize) -> Vec<Column> {
    let metrics: &[Metric] = if count == 3 { &CALL } else { &PMF };
    let metrics = metrics.iter().map(|metric| Column::Figure(*metric));
    [Column::Cluster, Column::Core]
        .into_iter()
        .chain(metrics)
        .collect()
}

fn row(columns: &[Column], cells: &[&str]) -> Result<Line> {
    ensure!(
        cells.len() == columns.len(),
        "{} fields, and not {}",
        cells.len(),
        columns.len()
    );
    let mut line = Line {
        cluster: 0,
        core: 0,
        figures: Vec::new(),
    };
    for (column, cell) in columns.iter().zip(cells) {
        let figure = figure(cell)
            .with_context(|| format!("{cell:?} is no number of nanoseconds or of a CPU"))?;
        let label = || u32::try_from(figure).with_context(|| format!("{cell:?} is no label"));
        match column {
            Column::Cluster => line.cluster = label()?,
            Column::Core => line.core = label()?,
            Column::Figure(metric) => line.figures.push((*metric, figure)),
        }
    }
    // As payload and documentation have them, whatever the file's order is.
    line.figures
        .sort_by_key(|figure| Metric::ALL.iter().position(|it| *it == figure.0));
    Ok(line)
}

/// `185700`, or `185700 (-30.51%)`.
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
fn add(run: &mut Run, tag: &str, lines: Vec<Line>) {
    let mut test = Test::new(Term::of(tag), Term::Known(Method::Tftf));
    test.pmf = Some(true);
    for (place, line) in lines.iter().enumerate() {
        let same = |it: &&Line| (it.cluster, it.core) == (line.cluster, line.core);
        let before = lines.iter().take(place).filter(same).count();
        let cpu = Cpu {
            cluster: line.cluster,
            core: line.core,
            thread: u32::try_from(before).unwrap_or(u32::MAX),
            ..Cpu::default()
        };
        let known = run.cpus.iter().position(|it| *it == cpu);
        let cpu = known.unwrap_or_else(|| {
            run.cpus.push(cpu);
            run.cpus.len() - 1
        });
        let figures = line.figures.iter();
        test.rows.push(Row {
            cpu,
            figures: figures
                .map(|(metric, ns)| (Term::Known(*metric), *ns))
                .collect(),
            ..Row::default()
        });
    }
    run.tests.push(test);
}

/// CPUs in the order of their labels, unless those name several rows: then the
/// rows' own order is all that tells them apart.
fn sort(run: &mut Run) {
    if run.threads() == 1 {
        let mut order: Vec<usize> = (0..run.cpus.len()).collect();
        order.sort_by_key(|at| run.cpus.get(*at).map(|cpu| (cpu.cluster, cpu.core)));
        let place = |cpu: usize| order.iter().position(|at| *at == cpu).unwrap_or(cpu);
        for row in run.tests.iter_mut().flat_map(|test| &mut test.rows) {
            row.cpu = place(row.cpu);
        }
        run.cpus.sort_by_key(|cpu| (cpu.cluster, cpu.core));
    }
    for test in &mut run.tests {
        test.rows.sort_by_key(|row| row.cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<(u32, u32, Vec<u64>)>> {
        let lines = parse(text.as_bytes())?;
        let plain = |line: Line| {
            let figures = line.figures.iter().map(|it| it.1).collect();
            (line.cluster, line.core, figures)
        };
        Ok(lines.into_iter().map(plain).collect())
    }

    #[test]
    fn every_layout() {
        let docs = "\"0\",\"1\",\"185700 (-30.51%)\",\"27\",\"0\"\n";
        assert_eq!(lines(docs).expect("rows"), [(0, 1, vec![185_700, 27, 0])]);
        assert_eq!(
            lines("1,2,880\r\n1,3,7\r\n").expect("rows")[1],
            (1, 3, vec![7])
        );
        let header = "core,cluster,cache_flush_ns,powerdown_ns\n1,0,5,9\n";
        assert_eq!(lines(header).expect("rows"), [(0, 1, vec![9, 5])]);
    }

    #[test]
    fn what_is_no_table_is_named_by_its_line() {
        let said = |text: &str| format!("{:#}", lines(text).expect_err(text));
        assert_eq!(said(""), "no row in it");
        assert_eq!(said("cluster,core,latency_ns\n"), "no row in it");
        assert_eq!(said("0,0,1,2\n"), "line 1: 4 fields, and not 5");
        for (text, part) in [
            ("0,0,1\n0,1,-5\n", "line 2: \"-5\" is no number"),
            ("0,0,1.5\n", "line 1: \"1.5\" is no number"),
            ("0,0,7 (x)\n", "\"7 (x)\" is no number"),
            ("0,0,99999999999999999999\n", "is no number"),
            ("0,4294967296,7\n", "is no label"),
            ("0,0,\n", "\"\" is no number"),
            ("cluster,core,joules\n0,0,1\n", "\"joules\" is no column"),
            ("cluster,core,core,latency_ns\n", "\"core\" is there twice"),
            ("cluster,core\n0,0\n", "at least one figure"),
            ("input,run,model\n", "what --format csv writes"),
        ] {
            assert!(said(text).contains(part), "{text}: {}", said(text));
        }
        assert!(lines(&"0,0,1\n".repeat(ROWS_MAX + 1)).is_err());
    }
}
