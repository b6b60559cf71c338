//! Published pages: TF-A's `docs/perf/psci-performance-PLATFORM.rst` -> tables with places.
//!
//! Up to v2.14 the figures stand in grid tables, in microseconds, each release's beside those
//! of the one before; since May 2026 in `csv-table` directives over integer nanoseconds. A
//! figure may have a change behind it: `185700 (-30.51%)`. Of the page's other tables those
//! that do not begin with the column Cluster are left out.

use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use csv::{ReaderBuilder, Trim};
use itertools::Itertools as _;
use psci_bench::measure::Metric;
use psci_bench::plan::ScenarioId;
use psci_bench::spec::words::Word as _;
use regex::Regex;

use super::grid_table::{self, Cell};
use super::line_run::ROWS_MAX;
use crate::setup::read_file;

/// The most bytes of a page, and of a file of figures.
const FILE_MAX: usize = 1 << 20;
/// A page of which all figures are whole and one is this many microseconds is of nanoseconds.
const IMPLAUSIBLE_US: u64 = 100_000;

/// A published page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// The path, as it was given.
    pub(crate) input: String,
    /// The tables of latencies, in their order.
    pub(crate) tables: Vec<PageTable>,
    /// What the page says and its figures contradict.
    pub(crate) doubts: Vec<String>,
}

/// A table of a scenario's latencies.
#[derive(Clone, Debug)]
pub(crate) struct PageTable {
    /// The line of the directive, from 1.
    pub(crate) line: usize,
    pub(crate) id: ScenarioId,
    /// The release that the title names, without its `v`; empty if it names none.
    pub(crate) release: String,
    /// The folder of a file of figures: `current` or `previous`.
    pub(crate) folder: String,
    pub(crate) rows: Vec<PageRow>,
}

/// The figures of a CPU.
#[derive(Clone, Debug)]
pub(crate) struct PageRow {
    /// Cluster and core.
    pub(crate) label: (u16, u16),
    pub(crate) figures: Vec<PageFigure>,
}

/// A figure, and the change that is printed behind it.
#[derive(Clone, Debug)]
pub(crate) struct PageFigure {
    /// `FILE:LINE:COLUMN`.
    pub(crate) place: String,
    pub(crate) metric: Metric,
    pub(crate) ns: u64,
    /// In hundredths of a percent.
    pub(crate) change: Option<i64>,
}

impl Page {
    /// Returns the tables of each release, the newest first.
    pub(crate) fn releases(&self) -> Vec<Vec<&PageTable>> {
        let groups = self.tables.iter().into_group_map_by(|it| it.age());
        let newest_first = groups.into_iter().sorted_by(|a, b| b.0.cmp(&a.0));
        newest_first.map(|it| it.1).collect()
    }
}

impl PageTable {
    /// Returns what orders releases: the folder of the figures, else the version.
    fn age(&self) -> (bool, Vec<u32>) {
        match self.folder.as_str() {
            "current" => (true, vec![1]),
            "previous" => (true, vec![0]),
            _ => {
                let numbers = self.release.split('.').map(str::parse);
                (false, numbers.map(|it| it.unwrap_or_default()).collect())
            }
        }
    }
}

/// Returns true if `path` is of a page.
pub(super) fn is_at(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|it| it.eq_ignore_ascii_case("rst"))
}

/// Returns the metrics of a scenario's columns.
pub(crate) fn metrics(id: ScenarioId) -> &'static [Metric] {
    match id {
        ScenarioId::PsciVersionParallel => &[Metric::Latency],
        _ => &[Metric::Powerdown, Metric::Wakeup, Metric::CacheFlush],
    }
}

/// Reads the page at `path`.
///
/// # Errors
/// `FILE:LINE:COLUMN: ` and what cannot be read; a page without a table of latencies.
pub(crate) fn read(path: &Path) -> Result<Page> {
    let input = path.display().to_string();
    let bytes = read_file::read("page", path, FILE_MAX)?;
    let text = String::from_utf8(bytes).with_context(|| input.clone())?;
    let lines: Vec<&str> = text.lines().collect();
    let mut page = Page::default();
    let mut next = 0;
    let mut raw = Vec::new();
    while next < lines.len() {
        let found = directive(&lines, next);
        next = found.as_ref().map_or(next + 1, |it| it.end);
        let Some(directive) = found else { continue };
        let table = directive.table(&lines, path, &mut next);
        raw.extend(table.map_err(|why| anyhow!("{input}:{why:#}"))?);
    }
    ensure!(
        !raw.is_empty(),
        "{input}:1:1: no table of PSCI's latencies: expected a page as TF-A's docs/perf has them, \
         with the columns Cluster and Core"
    );
    let is_of_ns = is_of_ns(&raw);
    if is_of_ns {
        page.doubts.push(format!(
            "{input}: the titles say microseconds, and the figures are nanoseconds"
        ));
    }
    page.tables = raw.into_iter().map(|it| it.scaled(is_of_ns)).collect();
    let twice = page
        .releases()
        .into_iter()
        .flatten()
        .duplicates_by(|it| (it.age(), it.id))
        .next();
    if let Some(it) = twice {
        bail!(
            "{input}:{}:1: another table of the same scenario and release",
            it.line
        );
    }
    page.doubts
        .extend(releases_of_folders(&input, &page.tables));
    page.input = input;
    Ok(page)
}

/// A table whose figures are thousandths of the unit that its title names.
struct RawTable {
    is_us: bool,
    table: PageTable,
}

impl RawTable {
    fn scaled(mut self, is_of_ns: bool) -> PageTable {
        if !self.is_us || is_of_ns {
            let figures = self.table.rows.iter_mut().flat_map(|it| &mut it.figures);
            figures.for_each(|it| it.ns /= 1000);
        }
        self.table
    }
}

/// Returns true if the figures are nanoseconds below titles that say microseconds: all of them
/// are whole, and one is of a time that no call takes.
fn is_of_ns(tables: &[RawTable]) -> bool {
    let mut all = tables.iter().filter(|it| it.is_us).flat_map(|it| {
        let figures = it.table.rows.iter().flat_map(|row| &row.figures);
        figures.map(|figure| figure.ns)
    });
    let is_whole = all.clone().all(|ns| ns % 1000 == 0);
    is_whole && all.any(|ns| ns >= IMPLAUSIBLE_US * 1000)
}

/// Returns a doubt for each table whose title names another release than those of the same
/// folder do.
fn releases_of_folders<'t>(
    input: &'t str,
    tables: &'t [PageTable],
) -> impl Iterator<Item = String> + 't {
    tables.iter().filter_map(move |table| {
        let mut alike = tables.iter().filter(|it| it.folder == table.folder);
        let first = alike.next().filter(|_| !table.folder.is_empty())?;
        (first.release != table.release).then(|| {
            let (line, folder) = (table.line, &table.folder);
            format!(
                "{input}:{line}: the title says ({}), and the others of the folder {folder} ({})",
                table.release, first.release
            )
        })
    })
}

/// A `table` or `csv-table` directive.
struct Directive {
    /// The lines of the directive and behind its title and options, from 0.
    begin: usize,
    end: usize,
    is_csv: bool,
    title: String,
    /// `:file:`, and its line from 0.
    file: Option<(String, usize)>,
}

/// Returns the directive that begins on a line.
fn directive(lines: &[&str], begin: usize) -> Option<Directive> {
    static BEGIN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^ *\.\. (csv-)?table:: *(.*)$").expect("a pattern"));
    let found = BEGIN.captures(lines[begin])?;
    let mut all = Directive {
        begin,
        end: begin + 1,
        is_csv: found.get(1).is_some(),
        title: found[2].trim().to_owned(),
        file: None,
    };
    while let Some(line) = lines.get(all.end).filter(|it| it.starts_with(' ')) {
        let line = line.trim();
        match line.strip_prefix(':') {
            _ if line.is_empty() => break,
            Some(option) => {
                if let Some(file) = option.strip_prefix("file:") {
                    all.file = Some((file.trim().to_owned(), all.end));
                }
            }
            None => all.title = format!("{} {line}", all.title),
        }
        all.end += 1;
    }
    Some(all)
}

impl Directive {
    /// Reads the table; None if it is not of latencies. `next` becomes the line behind it.
    fn table(&self, lines: &[&str], page: &Path, next: &mut usize) -> Result<Option<RawTable>> {
        let line = self.begin + 1;
        let (rows, file) = match (&self.file, self.is_csv) {
            (Some((file, at)), true) => {
                let file = page.with_file_name("").join(file);
                let rows = csv_rows(&file).with_context(|| format!("{}:1: :file:", at + 1))?;
                (rows, Some(file))
            }
            _ => {
                let begin = (self.end..lines.len()).find(|at| !lines[*at].trim().is_empty());
                let begin = begin.filter(|at| lines[*at].trim_start().starts_with('+'));
                let Some(begin) = begin else {
                    ensure!(
                        scenario(&self.title).is_none(),
                        "{line}:1: this table of latencies has no figures that can be read: \
                         expected a grid table, or a csv-table with :file:"
                    );
                    return Ok(None);
                };
                let (mut rows, end) = grid_table::read(lines, begin)?;
                *next = end;
                let is_header = |row: &&Vec<Cell>| row[0].text.eq_ignore_ascii_case("cluster");
                if rows.first().filter(is_header).is_none() {
                    return Ok(None);
                }
                rows.remove(0);
                (rows, None)
            }
        };
        let Some(id) = self.id(file.as_deref()) else {
            return Err(anyhow!(
                "{line}:1: the title does not say which scenario's latencies these are: {:?}",
                self.title
            ));
        };
        let prefix = file.as_ref().map(|it| format!("{}:", it.display()));
        let rows = rows.iter().map(|row| {
            let row = page_row(id, row);
            row.map_err(|why| match &prefix {
                Some(file) => anyhow!("{line}:1: {file}{why}"),
                None => why,
            })
        });
        let mut rows: Vec<PageRow> = rows.try_collect()?;
        ensure!(!rows.is_empty(), "{line}:1: this table has no row of a CPU");
        ensure!(
            rows.len() <= ROWS_MAX,
            "{line}:1: more than {ROWS_MAX} rows"
        );
        let prefix = prefix.unwrap_or_else(|| format!("{}:", page.display()));
        for it in rows.iter_mut().flat_map(|row| &mut row.figures) {
            it.place.insert_str(0, &prefix);
        }
        let unit = unit_is_us(&self.title);
        let is_us = unit.with_context(|| {
            format!("{line}:1: the title names no unit: expected (ns), (us) or (µs)")
        })?;
        let folder = file.as_deref().and_then(Path::parent);
        let folder = folder.and_then(Path::file_name).unwrap_or_default();
        let table = PageTable {
            line,
            id,
            release: release(&self.title),
            folder: folder.to_string_lossy().into_owned(),
            rows,
        };
        Ok(Some(RawTable { is_us, table }))
    }

    /// Returns the scenario, by the name of a file of figures, else by the title.
    fn id(&self, file: Option<&Path>) -> Option<ScenarioId> {
        let stem = file.and_then(Path::file_stem);
        let tag = stem.map(|it| it.to_string_lossy());
        let by_file = tag.and_then(|it| ScenarioId::from_word(&it));
        by_file.or_else(|| scenario(&self.title))
    }
}

/// Returns the scenario that a title is of, by the words of TF-A's pages and of ours.
fn scenario(title: &str) -> Option<ScenarioId> {
    let title = title.to_lowercase().replace(['`', '_'], " ");
    let has = |word: &str| title.contains(word);
    let is_parallel = has("parallel");
    let is_named = is_parallel || has("serial") || has("sequence");
    if has("psci version") || has("cpu version") {
        Some(ScenarioId::PsciVersionParallel)
    } else if has("cpu off") {
        Some(ScenarioId::CpuOffSerial)
    } else if !is_named || !has("suspend") {
        None
    } else {
        Some(match (has("deepest"), is_parallel) {
            (true, true) => ScenarioId::SuspendDeepParallel,
            (true, false) => ScenarioId::SuspendDeepSerial,
            (false, true) => ScenarioId::CpuSuspendParallel,
            (false, false) => ScenarioId::CpuSuspendSerial,
        })
    }
}

/// Returns true for microseconds, false for nanoseconds; None if the title names neither.
fn unit_is_us(title: &str) -> Option<bool> {
    let has = |unit: &str| title.contains(unit);
    match has("(ns)") {
        true => Some(false),
        // The sign for micro, and the letter mu.
        false => ["(us)", "(\u{b5}s)", "(\u{3bc}s)"]
            .iter()
            .any(|it| has(it))
            .then_some(true),
    }
}

/// Returns what the last brackets of a title hold, if they end it.
fn release(title: &str) -> String {
    let inside = title.strip_suffix(')').and_then(|it| it.rsplit_once('('));
    let inside = inside.map_or("", |it| it.1);
    inside.strip_prefix('v').unwrap_or(inside).to_owned()
}

/// Reads a file of figures, which has no header.
fn csv_rows(file: &Path) -> Result<Vec<Vec<Cell>>> {
    let bytes = read_file::read("", file, FILE_MAX)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut reader = ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).trim(Trim::All);
    let records = reader.from_reader(bytes.as_slice()).into_records();
    let rows = records.map(|record| {
        let record = record?;
        let line = record.position().map_or(1, csv::Position::line) as usize;
        let whole = text.lines().nth(line - 1).unwrap_or_default();
        let mut behind = 0;
        let cells = record.iter().map(|text| {
            let rest = whole.get(behind..).unwrap_or_default();
            let begin = behind + rest.find(text).unwrap_or_default();
            behind = begin + text.len();
            let (text, place) = (text.to_owned(), (line, begin + 1));
            Cell { text, place }
        });
        Ok(cells.collect())
    });
    let rows: Result<Vec<Vec<Cell>>, csv::Error> = rows.collect();
    rows.with_context(|| file.display().to_string())
}

/// Reads a row, whose places begin with `LINE:COLUMN`.
fn page_row(id: ScenarioId, cells: &[Cell]) -> Result<PageRow> {
    let metrics = metrics(id);
    let [cluster, core, figures @ ..] = cells else {
        let at = place(cells.first());
        return Err(anyhow!("{at}: expected a cluster, a core and figures"));
    };
    ensure!(
        figures.len() == metrics.len(),
        "{}: {} figures, and not {}",
        place(Some(cluster)),
        figures.len(),
        metrics.len()
    );
    let label = |cell: &Cell| {
        let at = place(Some(cell));
        let number = cell.text.parse::<u16>();
        number.map_err(|_| anyhow!("{at}: {:?} is no number of a cluster or core", cell.text))
    };
    let figure = |(cell, metric): (&Cell, &Metric)| {
        let (at, text) = (place(Some(cell)), &cell.text);
        let (ns, change) = number(text).with_context(|| {
            format!("{at}: {text:?} is no figure: expected one such as 244.52 or 244.52 (-65.43%)")
        })?;
        let metric = *metric;
        Ok(PageFigure {
            place: at,
            metric,
            ns,
            change,
        })
    };
    Ok(PageRow {
        label: (label(cluster)?, label(core)?),
        figures: figures
            .iter()
            .zip(metrics)
            .map(figure)
            .collect::<Result<_>>()?,
    })
}

fn place(cell: Option<&Cell>) -> String {
    let (line, column) = cell.map_or((0, 1), |it| it.place);
    format!("{line}:{column}")
}

/// Reads a figure as thousandths, and a change as hundredths of a percent.
fn number(text: &str) -> Option<(u64, Option<i64>)> {
    static FIGURE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(\d{1,12}(?:\.\d{1,3})?)(?: *\(([+-]\d{1,9}(?:\.\d{1,2})?)%\))?$")
            .expect("a pattern")
    });
    let found = FIGURE.captures(text)?;
    let change = found.get(2).map(|it| scaled(it.as_str(), 2));
    Some((u64::try_from(scaled(&found[1], 3)).ok()?, change))
}

/// Returns a decimal number times a power of ten that makes it whole.
fn scaled(number: &str, places: usize) -> i64 {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part:0<places$}");
    digits.parse().unwrap_or_default()
}
