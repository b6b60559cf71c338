//! Reads published pages (TF-A's `docs/perf/psci-performance-PLATFORM.rst`) into tables that keep
//! each figure's position.
//!
//! Up to v2.14, the figures are in grid tables, in microseconds, next to the previous release's
//! figures. Since May 2026, they are in `csv-table` directives, in whole nanoseconds. A figure may
//! be followed by a change: `185700 (-30.51%)`. Tables whose first column is not Cluster are
//! ignored.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use hardware::text::words::Word as _;
use host::read_file;
use itertools::Itertools as _;
use regex::Regex;
use run::plan::{Procedure, ScenarioId, StateChoice, Turns};

use super::grid_table;
use super::published_rows::{PublishedCell, PublishedRow, csv_lines, rows};
use super::release_version::ReleaseVersion;

/// The maximum size in bytes of a page or a data file.
const FILE_MAX: usize = 1 << 20;
/// If all figures for a release are integers and one is at least this large, they are in
/// nanoseconds, regardless of what the titles say.
const IMPLAUSIBLE_US: u64 = 100_000;

/// A published page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// The path, as specified by the user.
    pub(crate) input: String,
    /// The first heading on the page.
    pub(crate) title: String,
    /// The latency tables, in order.
    pub(crate) tables: Vec<PageTable>,
    /// Sentences about contradictions between the page's titles and its figures.
    pub(crate) doubts: Vec<String>,
}

/// A table of one scenario's latencies.
#[derive(Clone, Debug)]
pub(crate) struct PageTable {
    /// The line number of the directive, counting from 1.
    pub(crate) line: usize,
    pub(crate) id: ScenarioId,
    /// The release named in the title, such as `v2.13`; empty if there is none.
    pub(crate) release: String,
    /// The folder that contains the data file: `current` or `previous`.
    pub(crate) folder: String,
    /// The unit specified in the title, in nanoseconds.
    unit: u64,
    pub(crate) rows: Vec<PublishedRow>,
}

/// The key used to order a page's releases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ReleaseAge {
    Version(ReleaseVersion),
    Previous,
    Current,
}

impl Page {
    /// Returns each release's tables, newest release first.
    pub(crate) fn releases(&self) -> Vec<Vec<&PageTable>> {
        let groups = self.tables.iter().into_group_map_by(|it| it.age());
        let newest_first = groups.into_iter().sorted_by(|a, b| b.0.cmp(&a.0));
        newest_first.map(|it| it.1).collect()
    }
}

impl PageTable {
    /// Returns the key used to order releases, which is the data file's folder or, without a data
    /// file, the version.
    fn age(&self) -> Option<ReleaseAge> {
        match self.folder.as_str() {
            "current" => Some(ReleaseAge::Current),
            "previous" => Some(ReleaseAge::Previous),
            _ => ReleaseVersion::parse(&self.release).map(ReleaseAge::Version),
        }
    }

    /// Returns the changes printed on the page.
    pub(crate) fn changes(&self) -> impl Iterator<Item = i64> {
        let figures = self.rows.iter().flat_map(|it| &it.figures);
        figures.filter_map(|it| it.change)
    }
}

/// Returns true if `path` has the file extension of a page.
pub(crate) fn is_at(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|it| it.eq_ignore_ascii_case("rst"))
}

/// Returns the text of the page file at `path`. Errors start with `what`.
pub(crate) fn read_text(what: &str, path: &Path) -> Result<String> {
    let text = read_file::text(read_file::read(what, path, FILE_MAX)?);
    text.map_err(|line| anyhow!("{}:{line}:1: not UTF-8 text", path.display()))
}

/// Reads the page at `path`.
///
/// # Errors
/// Returns an error that starts with `FILE:LINE:COLUMN: ` if a table cannot be read, or if the page
/// has no latency table.
pub(crate) fn read(path: &Path) -> Result<Page> {
    let input = path.display().to_string();
    let text = read_text("page", path)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut page = Page {
        title: title(&lines),
        ..Page::default()
    };
    let mut next = 0;
    while next < lines.len() {
        let found = directive(&lines, next);
        next = found.as_ref().map_or(next + 1, |it| it.end);
        let Some(directive) = found else { continue };
        let table = directive.table(&lines, path, &mut next);
        let table = table.map_err(|why| anyhow!("{input}:{why:#}"))?;
        page.tables.extend(table);
    }
    ensure!(
        !page.tables.is_empty(),
        "{input}:1:1: no table of PSCI latencies; expected a page like those in TF-A's docs/perf, \
         with Cluster and Core columns"
    );
    check_releases(&page.tables).map_err(|why| anyhow!("{input}:{why}"))?;
    // Some titles say 2.13 and others v2.13.
    let releases = page.tables.iter().map(PageTable::age).unique();
    for age in releases.collect_vec() {
        let is_own = |it: &&mut PageTable| it.age() == age && it.unit == 1000;
        let mut own: Vec<&mut PageTable> = page.tables.iter_mut().filter(is_own).collect();
        if !is_of_ns(&own) {
            continue;
        }
        page.doubts.push(format!(
            "{input}:{}: the titles for {} say microseconds, but the figures are in nanoseconds",
            own[0].line, own[0].release
        ));
        let rows = own.iter_mut().flat_map(|it| &mut it.rows);
        let figures = rows.flat_map(|it| &mut it.figures);
        figures.for_each(|it| it.ns /= 1000);
    }
    page.doubts
        .extend(releases_of_folders(&input, &page.tables));
    page.input = input;
    Ok(page)
}

/// Returns the first heading on a page, which is the first underlined line.
fn title(lines: &[&str]) -> String {
    let is_rule = |line: &str| line.starts_with("==") && line.chars().all(|c| c == '=');
    let mut pairs = lines.windows(2);
    let found = pairs.find(|pair| !pair[0].trim().is_empty() && is_rule(pair[1].trim_end()));
    found.map_or_else(String::new, |pair| pair[0].trim().to_owned())
}

/// Rejects releases that cannot be ordered, and pages with two tables for the same release and
/// scenario.
fn check_releases(tables: &[PageTable]) -> Result<()> {
    let kind = |it: &PageTable| it.age().map(|it| matches!(it, ReleaseAge::Version(_)));
    let is_lost = |it: &&PageTable| kind(it).is_none() || kind(it) != kind(&tables[0]);
    let are_one = tables.iter().map(PageTable::age).all_equal();
    if let Some(it) = tables.iter().find(is_lost).filter(|_| !are_one) {
        bail!(
            "{}:1: this table's release is unknown; expected a title that ends in a release, such \
             as (v2.13), or a file in a folder named current or previous",
            it.line
        );
    }
    let mut twice = tables.iter().duplicates_by(|it| (it.age(), it.id));
    match twice.next() {
        Some(it) => bail!(
            "{}:1: a second table for the same scenario and release",
            it.line
        ),
        None => Ok(()),
    }
}

/// Returns true if the figures are in nanoseconds although the titles say microseconds, which is
/// assumed if all figures are integers and at least one is implausibly large for microseconds.
fn is_of_ns(tables: &[&mut PageTable]) -> bool {
    let rows = tables.iter().flat_map(|it| &it.rows);
    let figures = rows.flat_map(|row| &row.figures);
    let mut all = figures.map(|it| it.ns);
    all.clone().all(|ns| ns % 1000 == 0) && all.any(|ns| ns >= IMPLAUSIBLE_US * 1000)
}

/// Returns a sentence for each table whose title names a different release from the other tables in
/// its folder.
fn releases_of_folders<'t>(
    input: &'t str,
    tables: &'t [PageTable],
) -> impl Iterator<Item = String> + 't {
    tables.iter().filter_map(move |table| {
        let alike = tables.iter().filter(|it| it.folder == table.folder);
        let releases = alike.map(|it| &it.release).counts();
        let (most, _) = releases.into_iter().max_by_key(|it| (it.1, it.0))?;
        (!table.folder.is_empty() && *most != table.release).then(|| {
            let (line, folder, own) = (table.line, &table.folder, &table.release);
            format!(
                "{input}:{line}: the title says ({own}), but the others in the {folder} folder say \
                 ({most})"
            )
        })
    })
}

/// A `table` or `csv-table` directive.
struct Directive {
    /// The indices of the directive's first line and of the first line after its title and options.
    begin: usize,
    end: usize,
    is_csv: bool,
    title: String,
    /// `:header:`.
    header: String,
    /// The value of `:file:`, and the index of its line.
    file: Option<(String, usize)>,
}

/// Returns the directive that starts on a line.
fn directive(lines: &[&str], begin: usize) -> Option<Directive> {
    static BEGIN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^ *\.\. (csv-|list-)?table:: *(.*)$").expect("a pattern"));
    let found = BEGIN.captures(lines[begin])?;
    let mut all = Directive {
        begin,
        end: begin + 1,
        is_csv: found.get(1).is_some_and(|it| it.as_str() == "csv-"),
        title: found[2].trim().to_owned(),
        header: String::new(),
        file: None,
    };
    while let Some(line) = lines.get(all.end).filter(|it| it.starts_with(' ')) {
        let line = line.trim();
        match line.strip_prefix(':') {
            _ if line.is_empty() => break,
            Some(option) => {
                if let Some(header) = option.strip_prefix("header:") {
                    all.header = header.to_owned();
                }
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

/// Returns true if a header's first column is the cluster.
fn is_cluster(row: &str) -> bool {
    let row = row.trim_start_matches(['|', '"', ' ']);
    row.to_lowercase().starts_with("cluster")
}

/// The column names, the cells, and the data file that contains them.
type Cells = (String, Vec<Vec<PublishedCell>>, Option<PathBuf>);

impl Directive {
    /// Reads the table, or returns None if the table has no latencies. Sets `next` to the line
    /// after the table.
    fn table(&self, lines: &[&str], page: &Path, next: &mut usize) -> Result<Option<PageTable>> {
        let line = self.begin + 1;
        let file = self.file.as_ref().map(|it| Path::new(&it.0));
        let inside = lines[self.end..].iter().map(|it| it.trim());
        let inside = inside.skip_while(|it| it.is_empty());
        let mut inside = inside.take_while(|it| !it.is_empty());
        if self.id(file).is_none() && !is_cluster(&self.header) && !inside.any(is_cluster) {
            return Ok(None);
        }
        let (header, cells, file) = match (&self.file, self.is_csv) {
            (Some((file, at)), true) => {
                let file = page.with_file_name("").join(file);
                let name = || file.display().to_string();
                let bytes = read_file::read("", &file, FILE_MAX);
                let cells = bytes.and_then(|it| csv_lines(&it).with_context(name));
                let cells = cells.with_context(|| format!("{}:1: :file:", at + 1))?;
                (self.header.clone(), cells, Some(file))
            }
            _ => self.grid(lines, next)?,
        };
        let id = self.id(file.as_deref());
        let title = &self.title;
        let said = "the title does not say which scenario's latencies these are";
        let id = id.with_context(|| format!("{line}:1: {said}: {title:?}"))?;
        let said = "the title does not specify a unit: expected (ns), (us) or (µs)";
        let unit = unit(title).with_context(|| format!("{line}:1: {said}"))?;
        let rows = rows(Some(id), &cells, unit);
        let mut rows = rows.map_err(|why| match &file {
            Some(file) => anyhow!("{line}:1: {}:{why:#}", file.display()),
            None if cells.is_empty() => anyhow!("{line}:1: {why:#}"),
            None => why,
        })?;
        check_columns(&header, &rows).with_context(|| format!("{line}:1"))?;
        let of = file.as_deref().unwrap_or(page).display();
        for it in rows.iter_mut().flat_map(|row| &mut row.figures) {
            it.place.insert_str(0, &format!("{of}:"));
        }
        let folder = file.as_deref().and_then(Path::parent);
        let folder = folder.and_then(Path::file_name).unwrap_or_default();
        Ok(Some(PageTable {
            line,
            id,
            release: release(&self.title),
            folder: folder.to_string_lossy().into_owned(),
            unit,
            rows,
        }))
    }

    /// Reads a grid table.
    fn grid(&self, lines: &[&str], next: &mut usize) -> Result<Cells> {
        let begin = (self.end..lines.len()).find(|at| !lines[*at].trim().is_empty());
        let begin = begin.filter(|at| lines[*at].trim_start().starts_with('+'));
        let begin = begin.with_context(|| {
            format!(
                "{}:1: this table of latencies has no readable figures; expected a grid table, \
                 or a csv-table with :file:",
                self.begin + 1
            )
        })?;
        let (rows, end) = grid_table::read(lines, begin)?;
        *next = end;
        let mut rows = rows.into_iter();
        let header = rows.next().unwrap_or_default();
        let header = header.iter().map(|it| it.text.as_str()).join(", ");
        Ok((header, rows.collect(), None))
    }

    /// Returns the scenario, from the name of the data file if possible, otherwise from the title.
    fn id(&self, file: Option<&Path>) -> Option<ScenarioId> {
        let stem = file.and_then(Path::file_stem);
        let tag = stem.map(|it| it.to_string_lossy());
        let by_file = tag.and_then(|it| ScenarioId::from_word(&it));
        by_file.or_else(|| scenario(&self.title))
    }
}

/// Rejects columns that are not in the same order as the figures. Only the first letter of each
/// name is checked.
fn check_columns(header: &str, rows: &[PublishedRow]) -> Result<()> {
    let metrics = rows[0].figures.iter().map(|it| it.metric.heading());
    let columns = ["Cluster", "Core"].into_iter().chain(metrics).collect_vec();
    let first = |name: &str| name.trim().to_lowercase().chars().next();
    let mut names = header.trim().split(',').zip(&columns);
    ensure!(
        header.is_empty() || names.all(|(name, own)| first(name) == first(own)),
        "the columns are {header:?}: expected {}",
        columns.join(", ")
    );
    Ok(())
}

/// Returns the scenario that a title refers to. Titles use the wording of TF-A's pages or of
/// this project's pages.
fn scenario(title: &str) -> Option<ScenarioId> {
    let title = title.to_lowercase().replace(['`', '_'], " ");
    let has = |word: &str| title.contains(word);
    let is_parallel = has("parallel");
    let is_named = is_parallel != (has("serial") || has("sequence"));
    let is_deeper = has("level ") && !has("level 0") && !has("deepest");
    let procedure = if has("psci version") || has("cpu version") {
        Procedure::Version
    } else if has("cpu off") {
        Procedure::CpuOff
    } else if !is_named || is_deeper || !has("suspend") {
        return None;
    } else {
        let state = match has("deepest") {
            true => StateChoice::Deepest,
            false => StateChoice::Core,
        };
        let turns = match is_parallel {
            true => Turns::Parallel,
            false => Turns::Serial,
        };
        Procedure::Suspend(state, turns)
    };
    let mut suite = ScenarioId::SUITE.into_iter();
    suite.find(|id| id.procedure() == procedure)
}

/// Returns the unit specified in a title, in nanoseconds.
fn unit(title: &str) -> Option<u64> {
    let has = |unit: &&str| title.contains(*unit);
    // The micro sign, and the letter mu.
    let is_us = ["(us)", "(\u{b5}s)", "(\u{3bc}s)"].iter().any(has);
    match title.contains("(ns)") {
        true => Some(1),
        false => is_us.then_some(1000),
    }
}

/// Returns the text in parentheses at the end of a title; empty if there is none.
fn release(title: &str) -> String {
    let inside = title.strip_suffix(')').and_then(|it| it.rsplit_once('('));
    let inside = inside.filter(|it| unit(&format!("({})", it.1)).is_none());
    inside.map_or("", |it| it.1).to_owned()
}
