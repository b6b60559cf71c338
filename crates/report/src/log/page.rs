//! Reads published pages (TF-A's `docs/perf/psci-performance-PLATFORM.rst`) into tables that keep
//! each figure's position.
//!
//! Up to v2.8, the figures are in grid tables below headings, with one column for the CPU
//! (`page_cpus`). From v2.9 to v2.14, they are in `table` directives, in microseconds,
//! next to the previous release's figures. Since May 2026, they are in `csv-table` directives, in
//! whole nanoseconds. A figure may be followed by a change: `185700 (-30.51%)`. Tables whose first
//! column is neither Cluster nor CPU are ignored.

use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use hardware::text::keywords::Word as _;
use hardware::text::plural::many;
use host::read_file;
use itertools::Itertools as _;
use regex::Regex;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::grid_table;
use super::page_cpus::PageCpus;
use super::published_rows::{PublishedEntry, PublishedRow, columns_of, csv_lines, rows};
use super::release_version::ReleaseVersion;

/// The maximum size in bytes of a page or a data file.
const FILE_MAX: usize = 1 << 20;
/// If all figures for a release are integers and one is at least this large, they are in
/// nanoseconds, regardless of what the titles say.
const IMPLAUSIBLE_US: u64 = 100_000;

/// A published page. It has a latency table, its releases can be ordered, and no release has two
/// tables for a scenario. That the changes it prints are right has not been checked.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The path, as specified by the user.
    pub input: String,
    /// The board that the file's name or the title names, if it is one of this repository's.
    pub board: Option<String>,
    /// True if a table identifies CPUs by number, and the page does not say which clusters they are
    /// in.
    pub has_unknown_clusters: bool,
    /// The latency tables, in order.
    pub tables: Vec<PageTable>,
    /// Sentences about contradictions between the page's titles and its figures.
    pub doubts: Vec<String>,
}

/// A table of one scenario's latencies. Its columns are those of the scenario and its unit is
/// stated, but the stated unit may be wrong, as [`Page::doubts`] then says.
#[derive(Clone, Debug)]
pub struct PageTable {
    /// The line number of the directive, counting from 1.
    pub line: usize,
    /// The scenario.
    pub id: ScenarioId,
    /// The release named in the title, such as `v2.13`; empty if there is none.
    pub release: String,
    /// The folder that contains the data file: `current` or `previous`.
    pub folder: String,
    /// The unit specified in the title or in the columns' names, in nanoseconds.
    unit: u64,
    has_unknown_clusters: bool,
    /// The rows.
    pub rows: Vec<PublishedRow>,
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
    pub fn releases(&self) -> Vec<Vec<&PageTable>> {
        let mut by_age: BTreeMap<Option<ReleaseAge>, Vec<&PageTable>> = BTreeMap::new();
        for table in &self.tables {
            by_age.entry(table.age()).or_default().push(table);
        }
        by_age.into_values().rev().collect()
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
    pub fn changes(&self) -> impl Iterator<Item = i64> {
        let figures = self.rows.iter().flat_map(|row| &row.figures);
        figures.filter_map(|figure| figure.change)
    }
}

/// Returns true if `path` has the file extension of a page.
pub fn is_at(path: &Path) -> bool {
    has_extension(path, "rst")
}

/// Returns true if a file's name ends in a dot and `extension`, in upper or lower case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|path_extension| path_extension.eq_ignore_ascii_case(extension))
}

/// Returns the text of the page file at `path`. Errors start with `what`.
pub fn read_text(what: &str, path: &Path) -> Result<String> {
    let text = read_file::text(read_file::read(what, path, FILE_MAX)?);
    text.map_err(|line| anyhow!("{}:{line}:1: not UTF-8 text", path.display()))
}

/// Reads the page at `path`.
///
/// # Errors
/// Returns an error that starts with `FILE:LINE:COLUMN: ` if a table cannot be read, or if the page
/// has no latency table.
pub fn read(path: &Path) -> Result<Page> {
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
    check_releases(&page.tables).map_err(|error| anyhow!("{input}:{error}"))?;
    correct_units(&mut page, &input);
    page.doubts.extend(doubts_of_releases(&input, &page.tables));
    page.input = input;
    Ok(page)
}

/// Corrects the figures of each release that is in nanoseconds although its titles say
/// microseconds, and adds a sentence about it.
fn correct_units(page: &mut Page, input: &str) {
    // Some titles say 2.13 and others v2.13.
    let ages = page.tables.iter().map(PageTable::age).unique();
    for age in ages.collect_vec() {
        let mut in_us = Vec::new();
        for table in &mut page.tables {
            if table.age() == age && table.unit == 1000 {
                in_us.push(table);
            }
        }
        if !is_in_ns(&in_us) {
            continue;
        }
        page.doubts.push(format!(
            "{input}:{}: the titles for {} say microseconds, but the figures are in nanoseconds",
            in_us[0].line, in_us[0].release
        ));
        for table in in_us {
            for figure in table.rows.iter_mut().flat_map(|row| &mut row.figures) {
                figure.ns /= 1000;
            }
        }
    }
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
        let mut tables = Vec::new();
        let mut next = 0;
        while next < self.lines.len() {
            let Some(directive) = find(&self.lines, next) else {
                next += 1;
                continue;
            };
            let begin = directive.begin;
            next = directive.end;
            let table = directive.table(self, &mut next);
            // A table without latencies may end where it begins.
            next = next.max(begin + 1);
            tables.extend(table.map_err(|error| anyhow!("{}:{error:#}", self.path.display()))?);
        }
        Ok(tables)
    }
}

/// Returns the first heading on a page, which is the first underlined line.
fn title(lines: &[&str]) -> String {
    for pair in lines.windows(2) {
        let heading = pair[0].trim();
        let rule = pair[1].trim_end();
        let is_rule = rule.starts_with("==") && rule.chars().all(|mark| mark == '=');
        if !heading.is_empty() && is_rule {
            return heading.to_owned();
        }
    }
    String::new()
}

/// Returns the board that a page's file name or title names.
fn board(path: &Path, title: &str) -> Option<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.strip_prefix("psci-performance-").unwrap_or(&stem);
    let lowercase = title.to_ascii_lowercase();
    let words = lowercase.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let names = iter::once(name).chain(words);
    known_board(names).map(str::to_owned)
}

/// Returns the first of `names` that is the name of a board in this repository.
pub(super) fn known_board<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names.find(|name| boards::names().any(|board| board == *name))
}

/// Returns the last heading, which is an underlined line, before the line `end`.
fn heading_before<'l>(lines: &[&'l str], end: usize) -> Option<&'l str> {
    for pair in lines[..end].windows(2).rev() {
        let heading = pair[0].trim();
        let rule = pair[1].trim_end();
        if is_rule(rule) && heading.contains(char::is_alphanumeric) {
            return Some(heading);
        }
    }
    None
}

/// Returns true if a line consists of one punctuation mark, at least three times.
fn is_rule(line: &str) -> bool {
    let Some(mark) = line.chars().next() else {
        return false;
    };
    mark.is_ascii_punctuation() && line.len() > 2 && line.chars().all(|letter| letter == mark)
}

/// Returns a sentence if the clusters of a page's CPUs are unknown.
fn doubt_of_clusters(input: &str, tables: &[PageTable]) -> Option<String> {
    let table = tables.iter().find(|table| table.has_unknown_clusters)?;
    Some(format!(
        "{input}:{}: the page does not say which clusters its CPUs are in; CPU n is shown as 0.n",
        table.line
    ))
}

/// Rejects releases that cannot be ordered, and pages with two tables for the same release and
/// scenario.
fn check_releases(tables: &[PageTable]) -> Result<()> {
    if !tables.iter().map(PageTable::age).all_equal() {
        // Versions cannot be compared with folders.
        let are_versions = matches!(tables[0].age(), Some(ReleaseAge::Version(_)));
        for table in tables {
            let has_order = match table.age() {
                Some(ReleaseAge::Version(_)) => are_versions,
                Some(ReleaseAge::Previous | ReleaseAge::Current) => !are_versions,
                None => false,
            };
            ensure!(
                has_order,
                "{}:1: this table's release is unknown; expected a title that ends in a release, \
                 such as (v2.13), or a file in a folder named current or previous",
                table.line
            );
        }
    }
    let mut duplicates = tables.iter().duplicates_by(|table| (table.age(), table.id));
    if let Some(table) = duplicates.next() {
        bail!(
            "{}:1: a second table for the same scenario and release",
            table.line
        );
    }
    Ok(())
}

/// Returns true if the figures are in nanoseconds although the titles say microseconds, which is
/// assumed if all figures are integers and at least one is implausibly large for microseconds.
fn is_in_ns(tables: &[&mut PageTable]) -> bool {
    let mut has_implausible = false;
    for table in tables {
        for figure in table.rows.iter().flat_map(|row| &row.figures) {
            if figure.ns % 1000 != 0 {
                return false;
            }
            has_implausible |= figure.ns >= IMPLAUSIBLE_US * 1000;
        }
    }
    has_implausible
}

/// Returns a sentence for each table whose title names a different release from the other tables in
/// its folder.
fn doubts_of_releases(input: &str, tables: &[PageTable]) -> Vec<String> {
    let mut doubts = Vec::new();
    for table in tables {
        let PageTable {
            line,
            folder,
            release,
            ..
        } = table;
        let neighbors = tables.iter().filter(|other| other.folder == *folder);
        if !folder.is_empty()
            && let Some(most_common) = most_common_release(neighbors)
            && most_common != release
        {
            doubts.push(format!(
                "{input}:{line}: the title says ({release}), but the others in the {folder} folder \
                 say ({most_common})"
            ));
        }
    }
    doubts
}

/// Returns the release that most of the tables' titles name.
pub(super) fn most_common_release<'t>(
    tables: impl Iterator<Item = &'t PageTable>,
) -> Option<&'t String> {
    let counts = tables.counts_by(|table| &table.release);
    let (release, _) = counts
        .into_iter()
        .max_by_key(|(release, count)| (*count, *release))?;
    Some(release)
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
    let captures = BEGIN.captures(lines[begin])?;
    let mut directive = Directive {
        begin,
        end: begin + 1,
        is_csv: captures.get(1).is_some_and(|kind| kind.as_str() == "csv-"),
        title: captures[2].trim().to_owned(),
        header: String::new(),
        file: None,
    };
    for line in &lines[begin + 1..] {
        let text = line.trim();
        if !line.starts_with(' ') || text.is_empty() {
            break;
        }
        if let Some(header) = text.strip_prefix(":header:") {
            header.clone_into(&mut directive.header);
        } else if let Some(file) = text.strip_prefix(":file:") {
            directive.file = Some((file.trim().to_owned(), directive.end));
        } else if !text.starts_with(':') {
            directive.title = format!("{} {text}", directive.title);
        }
        directive.end += 1;
    }
    Some(directive)
}

/// Returns a grid table of latencies that starts on a line without a directive. The heading above
/// it is its title.
fn bare_table(lines: &[&str], begin: usize) -> Option<Directive> {
    if !lines[begin].trim_start().starts_with("+-") {
        return None;
    }
    let header = lines.get(begin + 1)?;
    let mut names = header
        .split('|')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let has_cpus = is_cpu_column(names.next()?);
    if !has_cpus || !names.any(|name| metric_of(name).is_some()) {
        return None;
    }
    Some(Directive {
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
    let first = row.trim_start_matches(['|', '"', ' ']).to_lowercase();
    first.starts_with("cluster") || first.starts_with("cpu")
}

/// Returns the metric in a column, from its name.
fn metric_of(name: &str) -> Option<Metric> {
    let lowercase = name.to_lowercase();
    let names = [
        ("entry", Metric::Powerdown),
        ("powerdown", Metric::Powerdown),
        ("exit", Metric::Wakeup),
        ("wakeup", Metric::Wakeup),
        ("flush", Metric::CacheFlush),
        ("latency", Metric::Latency),
        ("time", Metric::Latency),
    ];
    for (word, metric) in names {
        if lowercase.contains(word) {
            return Some(metric);
        }
    }
    None
}

/// The contents of a table before they are interpreted.
struct Entries {
    /// The column names, separated by commas.
    header: String,
    rows: Vec<Vec<PublishedEntry>>,
    /// The data file that contains the rows; None for a grid table.
    file: Option<PathBuf>,
}

impl Directive {
    /// Reads the table, or returns None if the table has no latencies. Sets `next` to the line
    /// after the table.
    fn table(&self, page: &PageSource<'_>, next: &mut usize) -> Result<Option<PageTable>> {
        if !self.has_latencies(&page.lines) {
            return Ok(None);
        }
        let line = self.begin + 1;
        let mut entries = match &self.file {
            Some((file, index)) if self.is_csv => self
                .csv(page.path, file)
                .with_context(|| format!("{}:1: :file:", index + 1))?,
            _ => self.grid(&page.lines, next)?,
        };
        let file = entries.file.as_deref();
        let id = self.id(file).with_context(|| {
            let title = &self.title;
            format!(
                "{line}:1: the title does not say which scenario's latencies these are: {title:?}"
            )
        })?;
        let Some(unit) = unit(&self.title).or_else(|| unit_of_columns(&entries.header)) else {
            bail!(
                "{line}:1: neither the title nor the columns' names specify a unit: expected (ns), \
                 (us) or (µs)"
            );
        };
        let has_unknown_clusters = if has_cpu_column(&entries.header) {
            check_count(&entries.header, id).with_context(|| format!("{line}:1"))?;
            page.cpus.label(&mut entries.rows)?
        } else {
            false
        };
        let mut rows = rows(Some(id), &entries.rows, unit).map_err(|error| match file {
            Some(file) => anyhow!("{line}:1: {}:{error:#}", file.display()),
            None if entries.rows.is_empty() => anyhow!("{line}:1: {error:#}"),
            None => error,
        })?;
        check_columns(&entries.header, &rows).with_context(|| format!("{line}:1"))?;
        let source = file.unwrap_or(page.path).display();
        for figure in rows.iter_mut().flat_map(|row| &mut row.figures) {
            figure.position.insert_str(0, &format!("{source}:"));
        }
        let folder = file
            .and_then(Path::parent)
            .and_then(Path::file_name)
            .unwrap_or_default();
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

    /// Returns true if the scenario is known, or if the header or a line of the table starts with
    /// the cluster or the CPU.
    fn has_latencies(&self, lines: &[&str]) -> bool {
        let file = self.file.as_ref().map(|(file, _)| Path::new(file));
        if self.id(file).is_some() || is_cpu_column(&self.header) {
            return true;
        }
        let mut table = lines[self.end..]
            .iter()
            .map(|line| line.trim())
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty());
        table.any(is_cpu_column)
    }

    /// Reads the data file of the page at `page`.
    fn csv(&self, page: &Path, file: &str) -> Result<Entries> {
        let file = page.with_file_name("").join(file);
        let bytes = read_file::read("", &file, FILE_MAX)?;
        Ok(Entries {
            header: self.header.clone(),
            rows: csv_lines(&bytes).with_context(|| file.display().to_string())?,
            file: Some(file),
        })
    }

    /// Reads a grid table.
    fn grid(&self, lines: &[&str], next: &mut usize) -> Result<Entries> {
        let mut begin = self.end;
        while begin < lines.len() && lines[begin].trim().is_empty() {
            begin += 1;
        }
        ensure!(
            begin < lines.len() && lines[begin].trim_start().starts_with('+'),
            "{}:1: this table of latencies has no readable figures; expected a grid table, or a \
             csv-table with :file:",
            self.begin + 1
        );
        let (mut rows, end) = grid_table::read(lines, begin)?;
        *next = end;
        let header = if rows.is_empty() {
            Vec::new()
        } else {
            rows.remove(0)
        };
        Ok(Entries {
            header: header.iter().map(|entry| &entry.text).join(", "),
            rows,
            file: None,
        })
    }

    /// Returns the scenario, from the name of the data file if possible, otherwise from the title.
    fn id(&self, file: Option<&Path>) -> Option<ScenarioId> {
        if let Some(stem) = file.and_then(Path::file_stem)
            && let Some(id) = ScenarioId::from_word(&stem.to_string_lossy())
        {
            return Some(id);
        }
        scenario(&self.title)
    }
}

/// Returns true if a table has one column for the CPU.
fn has_cpu_column(header: &str) -> bool {
    header.trim().to_lowercase().starts_with("cpu")
}

/// Rejects a table with one column for the CPU and too many or too few others.
fn check_count(header: &str, id: ScenarioId) -> Result<()> {
    let columns = header.split(',').count();
    let expected = columns_of(id);
    ensure!(
        columns == expected.len() + 1,
        "{}, expected CPU, {}",
        many(columns, "column"),
        expected.iter().map(|metric| metric.heading()).join(", ")
    );
    Ok(())
}

/// Rejects columns that are not in the same order as the figures.
fn check_columns(header: &str, rows: &[PublishedRow]) -> Result<()> {
    let labels: &[&str] = if has_cpu_column(header) {
        &["CPU"]
    } else {
        &["Cluster", "Core"]
    };
    let label_columns = labels.iter().map(|label| (*label, None));
    let metric_columns = rows[0]
        .figures
        .iter()
        .map(|figure| (figure.metric.heading(), Some(figure.metric)));
    let columns = label_columns.chain(metric_columns).collect_vec();
    if header.is_empty() {
        return Ok(());
    }
    for (name, (heading, metric)) in header.trim().split(',').zip(&columns) {
        ensure!(
            is_column_of(name, heading, *metric),
            "the columns are {header:?}: expected {}",
            columns.iter().map(|(heading, _)| heading).join(", ")
        );
    }
    Ok(())
}

/// Returns true if a column's name may be that of `metric`, or of the CPU labels if there is no
/// metric. If a name says nothing about the metric, only its first letter is checked.
fn is_column_of(name: &str, heading: &str, metric: Option<Metric>) -> bool {
    if let (Some(named), Some(metric)) = (metric_of(name), metric) {
        return named == metric;
    }
    first_letter(name.trim_matches([' ', '`'])) == first_letter(heading)
}

fn first_letter(name: &str) -> Option<char> {
    name.trim().to_lowercase().chars().next()
}

/// Returns the scenario that a title refers to. Titles use the wording of TF-A's pages or of
/// this project's pages.
fn scenario(title: &str) -> Option<ScenarioId> {
    let words = title.to_lowercase().replace(['`', '_'], " ");
    let has = |word: &str| words.contains(word);
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
    if title.contains("(ns)") {
        return Some(1);
    }
    // The micro sign, and the letter mu.
    for unit in ["(us)", "(\u{b5}s)", "(\u{3bc}s)"] {
        if title.contains(unit) {
            return Some(1000);
        }
    }
    None
}

/// Returns the unit specified in the names of the columns, if they all agree.
fn unit_of_columns(header: &str) -> Option<u64> {
    let mut units = header.split(',').filter_map(unit);
    units.all_equal_value().ok()
}

/// Returns the text in parentheses at the end of a title; empty if there is none.
fn release(title: &str) -> String {
    if let Some(unclosed) = title.strip_suffix(')')
        && let Some((_, text)) = unclosed.rsplit_once('(')
        && unit(&format!("({text})")).is_none()
    {
        text.to_owned()
    } else {
        String::new()
    }
}
