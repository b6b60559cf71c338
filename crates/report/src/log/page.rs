//! Reads published pages (TF-A's `docs/perf/psci-performance-PLATFORM.rst`) into tables that keep
//! each figure's position.
//!
//! Up to v2.8, the figures are in grid tables below headings, with one column for the CPU
//! ([`super::page_cpus`]). From v2.9 to v2.14, they are in `table` directives, in microseconds, next
//! to the previous release's figures. Since May 2026, they are in `csv-table` directives, in whole
//! nanoseconds. A figure may be followed by a change: `185700 (-30.51%)`. Tables whose first column
//! is neither Cluster nor CPU are ignored.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use hardware::text::plural::many;
use hardware::text::words::Word as _;
use host::read_file;
use itertools::Itertools as _;
use regex::Regex;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::grid_table;
use super::page_cpus::PageCpus;
use super::published_rows::{PublishedCell, PublishedRow, columns_of, csv_lines, rows};
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
    /// The board that the file's name or the title names, if it is one of this repository's.
    pub(crate) board: Option<String>,
    /// True if a table identifies CPUs by number, and the page does not say which clusters they are
    /// in.
    pub(crate) has_unknown_clusters: bool,
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
    /// The unit specified in the title or in the columns' names, in nanoseconds.
    unit: u64,
    has_unknown_clusters: bool,
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
        board: board(path, &title(&lines)),
        ..Page::default()
    };
    let cpus = PageCpus::of(&text, page.board.as_deref());
    let source = PageSource { path, lines, cpus };
    page.tables = source.tables(directive)?;
    // From v2.9 on, tables without a directive are those of an old release, with comments.
    if page.tables.is_empty() {
        page.tables = source.tables(bare_table)?;
    }
    ensure!(
        !page.tables.is_empty(),
        "{input}:1:1: no table of PSCI latencies; expected a page like those in TF-A's docs/perf, \
         with Cluster and Core columns, or with a CPU column"
    );
    page.doubts.extend(doubt_of_clusters(&input, &page.tables));
    page.has_unknown_clusters = !page.doubts.is_empty();
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

/// A page that is being read.
struct PageSource<'p> {
    path: &'p Path,
    lines: Vec<&'p str>,
    cpus: PageCpus,
}

impl PageSource<'_> {
    /// Reads the latency tables that `find` finds.
    fn tables(&self, find: fn(&[&str], usize) -> Option<Directive>) -> Result<Vec<PageTable>> {
        let (mut tables, mut next) = (Vec::new(), 0);
        while next < self.lines.len() {
            let found = find(&self.lines, next);
            next = found.as_ref().map_or(next + 1, |it| it.end);
            let Some(directive) = found else { continue };
            let begin = directive.begin;
            let table = directive.table(self, &mut next);
            // A table without latencies may end where it begins.
            next = next.max(begin + 1);
            tables.extend(table.map_err(|why| anyhow!("{}:{why:#}", self.path.display()))?);
        }
        Ok(tables)
    }
}

/// Returns the first heading on a page, which is the first underlined line.
fn title(lines: &[&str]) -> String {
    let is_rule = |line: &str| line.starts_with("==") && line.chars().all(|c| c == '=');
    let mut pairs = lines.windows(2);
    let found = pairs.find(|pair| !pair[0].trim().is_empty() && is_rule(pair[1].trim_end()));
    found.map_or_else(String::new, |pair| pair[0].trim().to_owned())
}

/// Returns the board that a page's file name or title names.
fn board(path: &Path, title: &str) -> Option<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.strip_prefix("psci-performance-").unwrap_or(&stem);
    let title = title.to_ascii_lowercase();
    let words = title.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let mut names = iter::once(name).chain(words);
    let known = names.find(|name| boards::names().any(|board| board == *name));
    known.map(str::to_owned)
}

/// Returns the last heading, which is an underlined line, before the line `end`.
fn heading_before<'l>(lines: &[&'l str], end: usize) -> Option<&'l str> {
    let mut pairs = lines[..end].windows(2).rev();
    let is_heading = |pair: &&[&str]| {
        let rule = pair[1].trim_end();
        let mark = rule.chars().next().filter(char::is_ascii_punctuation);
        let is_rule = rule.len() > 2 && rule.chars().all(|c| Some(c) == mark);
        is_rule && pair[0].contains(|c: char| c.is_alphanumeric())
    };
    pairs.find(is_heading).map(|pair| pair[0].trim())
}

/// Returns a sentence if the clusters of a page's CPUs are unknown.
fn doubt_of_clusters(input: &str, tables: &[PageTable]) -> Option<String> {
    let table = tables.iter().find(|it| it.has_unknown_clusters)?;
    Some(format!(
        "{input}:{}: the page does not say which clusters its CPUs are in; CPU n is shown as 0.n",
        table.line
    ))
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

/// A `table` or `csv-table` directive, or a grid table without one.
struct Directive {
    /// The indices of the directive's first line and of the first line after its title and options.
    begin: usize,
    end: usize,
    is_csv: bool,
    /// The title, or the heading above a table without a directive.
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

/// Returns a grid table of latencies that starts on a line without a directive. The heading above
/// it is its title.
fn bare_table(lines: &[&str], begin: usize) -> Option<Directive> {
    let is_table = lines[begin].trim_start().starts_with("+-");
    let names = lines.get(begin + 1).filter(|_| is_table)?;
    let mut names = names.split('|').map(str::trim).filter(|it| !it.is_empty());
    let has_cpus = names.next().is_some_and(is_cpu_column);
    (has_cpus && names.any(|it| metric_of(it).is_some())).then(|| Directive {
        begin,
        end: begin,
        is_csv: false,
        title: heading_before(lines, begin).unwrap_or_default().to_owned(),
        header: String::new(),
        file: None,
    })
}

/// Returns true if a header's first column is the cluster or the CPU.
fn is_cpu_column(row: &str) -> bool {
    let row = row.trim_start_matches(['|', '"', ' ']).to_lowercase();
    row.starts_with("cluster") || row.starts_with("cpu")
}

/// Returns the metric in a column, from its name.
fn metric_of(name: &str) -> Option<Metric> {
    let name = name.to_lowercase();
    let names = [
        ("entry", Metric::Powerdown),
        ("powerdown", Metric::Powerdown),
        ("exit", Metric::Wakeup),
        ("wakeup", Metric::Wakeup),
        ("flush", Metric::CacheFlush),
        ("latency", Metric::Latency),
        ("time", Metric::Latency),
    ];
    let mut fitting = names.into_iter().filter(|it| name.contains(it.0));
    fitting.next().map(|it| it.1)
}

/// The column names, the cells, and the data file that contains them.
type Cells = (String, Vec<Vec<PublishedCell>>, Option<PathBuf>);

impl Directive {
    /// Reads the table, or returns None if the table has no latencies. Sets `next` to the line
    /// after the table.
    fn table(&self, page: &PageSource<'_>, next: &mut usize) -> Result<Option<PageTable>> {
        let lines = &page.lines;
        let line = self.begin + 1;
        let file = self.file.as_ref().map(|it| Path::new(&it.0));
        let inside = lines[self.end..].iter().map(|it| it.trim());
        let inside = inside.skip_while(|it| it.is_empty());
        let mut inside = inside.take_while(|it| !it.is_empty());
        if self.id(file).is_none() && !is_cpu_column(&self.header) && !inside.any(is_cpu_column) {
            return Ok(None);
        }
        let (header, mut cells, file) = match (&self.file, self.is_csv) {
            (Some((file, at)), true) => {
                let file = page.path.with_file_name("").join(file);
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
        let said =
            "neither the title nor the columns' names specify a unit: expected (ns), (us) or (µs)";
        let unit = unit(title).or_else(|| unit_of_columns(&header));
        let unit = unit.with_context(|| format!("{line}:1: {said}"))?;
        let has_unknown_clusters = has_cpu_column(&header) && {
            check_count(&header, id).with_context(|| format!("{line}:1"))?;
            page.cpus.label(&mut cells)?
        };
        let rows = rows(Some(id), &cells, unit);
        let mut rows = rows.map_err(|why| match &file {
            Some(file) => anyhow!("{line}:1: {}:{why:#}", file.display()),
            None if cells.is_empty() => anyhow!("{line}:1: {why:#}"),
            None => why,
        })?;
        check_columns(&header, &rows).with_context(|| format!("{line}:1"))?;
        let of = file.as_deref().unwrap_or(page.path).display();
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
            has_unknown_clusters,
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

/// Returns true if a table has one column for the CPU.
fn has_cpu_column(header: &str) -> bool {
    header.trim().to_lowercase().starts_with("cpu")
}

/// Rejects a table with one column for the CPU and too many or too few others.
fn check_count(header: &str, id: ScenarioId) -> Result<()> {
    let (columns, expected) = (header.split(',').count(), columns_of(id));
    ensure!(
        columns == expected.len() + 1,
        "{}, expected CPU, {}",
        many(columns, "column"),
        expected.iter().map(|it| it.heading()).join(", ")
    );
    Ok(())
}

/// Rejects columns that are not in the same order as the figures. If a name says nothing about the
/// metric, only its first letter is checked.
fn check_columns(header: &str, rows: &[PublishedRow]) -> Result<()> {
    let labels: &[&str] = match has_cpu_column(header) {
        true => &["CPU"],
        false => &["Cluster", "Core"],
    };
    let metrics = rows[0].figures.iter().map(|it| it.metric);
    let columns = labels.iter().map(|it| (*it, None));
    let columns = columns.chain(metrics.map(|it| (it.heading(), Some(it))));
    let columns = columns.collect_vec();
    let first = |name: &str| name.trim().to_lowercase().chars().next();
    let is_own = |(name, (own, metric)): (&str, &(&str, Option<Metric>))| match metric_of(name) {
        Some(found) if metric.is_some() => Some(found) == *metric,
        _ => first(name.trim_matches([' ', '`'])) == first(own),
    };
    let mut names = header.trim().split(',').zip(&columns);
    ensure!(
        header.is_empty() || names.all(is_own),
        "the columns are {header:?}: expected {}",
        columns.iter().map(|it| it.0).join(", ")
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
    if has("psci version") || has("cpu version") {
        return Some(ScenarioId::PSCI_VERSION_PARALLEL);
    }
    if has("cpu off") {
        return Some(ScenarioId::CPU_OFF_SERIAL);
    }
    if !is_named || is_deeper || !has("suspend") {
        return None;
    }
    Some(match (has("deepest"), is_parallel) {
        (true, true) => ScenarioId::SUSPEND_DEEP_PARALLEL,
        (true, false) => ScenarioId::SUSPEND_DEEP_SERIAL,
        (false, true) => ScenarioId::CPU_SUSPEND_PARALLEL,
        (false, false) => ScenarioId::CPU_SUSPEND_SERIAL,
    })
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

/// Returns the unit specified in the names of the columns, if they all agree.
fn unit_of_columns(header: &str) -> Option<u64> {
    let mut units = header.split(',').filter_map(unit);
    units.all_equal_value().ok()
}

/// Returns the text in parentheses at the end of a title; empty if there is none.
fn release(title: &str) -> String {
    let inside = title.strip_suffix(')').and_then(|it| it.rsplit_once('('));
    let inside = inside.filter(|it| unit(&format!("({})", it.1)).is_none());
    inside.map_or("", |it| it.1).to_owned()
}
