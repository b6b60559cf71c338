//! Audits a published page: compares each printed change with the change computed from the tables
//! for the two newest releases.
//!
//! Figures are paired by CPU or, for parallel calls, by size rank, but never by row number. If
//! labels repeat, the CPU that a row belongs to is unknown, and a change that matches such a row is
//! ambiguous.

use std::cmp::Reverse;
use std::collections::HashSet;

use hardware::text::plural::many;
use itertools::Itertools as _;
use report::analysis::compare::percent;
use report::log::page::{Page, PageTable};
use report::log::published_rows::PublishedFigure;
use serde::Serialize;
use suite::measure::Metric;
use suite::plan::ScenarioId;

/// The maximum rounding error in a printed change, in hundredths of a percent.
const ROUNDED: f64 = 0.51;

const ABSENT: &str = "the previous release does not have this table";
const REPEATED: &str =
    "several rows have the same label but are not threads, so their CPUs cannot be identified";
const REORDERED: &str = "Powerdown has the same figures, but on different CPUs; a different order \
                         in the lock queue is not a firmware change";

/// A page and the changes that it should print.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    pub(crate) page: String,
    /// The two releases, newest first. The second name is empty if the page covers only one
    /// release.
    pub(crate) releases: [String; 2],
    pub(crate) tables: Vec<AuditedTable>,
    /// Findings about the page as a whole.
    pub(crate) findings: Vec<String>,
}

/// A table from the newest release, compared with the previous release's table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AuditedTable {
    pub(crate) id: ScenarioId,
    pub(crate) line: usize,
    pub(crate) figures: Vec<AuditedFigure>,
    /// Findings about this table.
    pub(crate) findings: Vec<String>,
}

/// A figure, the change printed after it, and the change that should be printed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AuditedFigure {
    #[serde(rename = "place")]
    pub(crate) position: String,
    /// Cluster and core.
    pub(crate) label: (u16, u16),
    pub(crate) metric: Metric,
    pub(crate) ns: u64,
    /// In percent.
    pub(crate) printed: Option<f64>,
    /// The change from the same CPU's old figure; None if labels repeat or the CPU is missing.
    pub(crate) by_cpu: Option<f64>,
    /// The change from the old figure with the same size rank; None for serial calls.
    pub(crate) by_order: Option<f64>,
    /// The old figure in nanoseconds that the printed change implies.
    pub(crate) implied_ns: Option<f64>,
    pub(crate) judged: AuditOutcome,
    /// The percentage change that should be printed but is not.
    #[serde(skip)]
    unprinted: Option<f64>,
}

/// The verdict on a printed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditOutcome {
    /// No change is printed.
    NotPrinted,
    /// The change is correct.
    Right,
    /// The change matches a row with the same labels, but several rows have those labels.
    Ambiguous,
    /// The change matches none of the old figures.
    Wrong,
    /// The previous release has no figure for this CPU.
    NotChecked,
}

impl AuditOutcome {
    /// Returns the name of the verdict.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::NotPrinted => "not printed",
            Self::Right => "right",
            Self::Ambiguous => "ambiguous",
            Self::Wrong => "wrong",
            Self::NotChecked => "not checked",
        }
    }
}

/// Counts the figures that received this verdict, across all pages.
pub fn count(audits: &[Audit], judged: AuditOutcome) -> usize {
    audits
        .iter()
        .flat_map(|audit| &audit.tables)
        .flat_map(|table| &table.figures)
        .filter(|figure| figure.judged == judged)
        .count()
}

/// Returns a line with the number of printed changes for each verdict.
pub fn counts(audits: &[Audit]) -> String {
    use AuditOutcome::{Ambiguous, NotChecked, Right, Wrong};
    let counts =
        [Right, Wrong, Ambiguous, NotChecked].map(|verdict| (verdict, count(audits, verdict)));
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let list = counts
        .iter()
        .filter(|(verdict, count)| *verdict != NotChecked || *count > 0)
        .map(|(verdict, count)| format!("{count} {}", verdict.word()))
        .join(", ");
    format!("{}: {list}", many(total, "printed change"))
}

/// Audits a page. The page need not print changes below `tolerance_ppm`.
pub(crate) fn audit(page: &Page, tolerance_ppm: u32) -> Audit {
    let mut releases = page.releases().into_iter();
    let newer = releases.next().unwrap_or_default();
    let previous = releases.next().unwrap_or_default();
    let unchecked = releases
        .flatten()
        .chain(previous.iter().copied())
        .flat_map(PageTable::changes)
        .count();
    let name = |tables: &[&PageTable]| {
        let first = tables.first();
        first.map_or_else(String::new, |table| table.release.clone())
    };
    let pairs = newer
        .iter()
        .map(|new_table| (*new_table, previous_table(new_table, &previous)))
        .collect_vec();
    let tables = pairs
        .iter()
        .map(|(new_table, old_table)| audited(new_table, old_table, tolerance_ppm));
    let mut audit = Audit {
        page: page.input.clone(),
        releases: [name(&newer), name(&previous)],
        tables: tables.collect(),
        findings: page.doubts.clone(),
    };
    audit.findings.extend(shared(&pairs, &audit.releases));
    if unchecked > 0 {
        let changes = many(unchecked, "change");
        let sentence = format!("not checked: {changes} in the tables for older releases");
        audit.findings.push(sentence);
    }
    audit.findings.extend(unprinted(&audit, tolerance_ppm));
    audit
}

/// Returns the previous release's table for the same scenario, or a table without rows if that
/// release does not have one.
fn previous_table(new: &PageTable, previous: &[&PageTable]) -> PageTable {
    match previous.iter().find(|table| table.id == new.id) {
        Some(old) => (*old).clone(),
        None => {
            let mut empty = new.clone();
            empty.rows.clear();
            empty
        }
    }
}

/// Compares a table with the previous release's table.
fn audited(new: &PageTable, old: &PageTable, tolerance_ppm: u32) -> AuditedTable {
    let width = new.rows.first().map_or(0, |row| row.figures.len());
    let columns: Vec<AuditColumn> = (0..width)
        .map(|column_index| AuditColumn::of(new, old, column_index))
        .collect();
    let is_ambiguous = repeats(new) || repeats(old);
    let is_queue = new.id.is_suspend();
    let powerdown = columns.first().filter(|_| is_queue && !is_ambiguous);
    let is_reordered = powerdown.is_some_and(|column| column.is_reordered(tolerance_ppm));
    let mut findings = Vec::new();
    if old.rows.is_empty() {
        findings.push(ABSENT.to_owned());
    }
    if is_ambiguous {
        findings.push(REPEATED.to_owned());
    }
    if is_reordered {
        findings.push(REORDERED.to_owned());
    }
    for (cluster, core) in labels(old).difference(&labels(new)).sorted() {
        findings.push(format!(
            "CPU {cluster}.{core} is in the previous table but not in this one"
        ));
    }
    findings.extend(shifted_rows(&columns, is_ambiguous));
    let figures = columns
        .iter()
        .flat_map(|column| column.judged(is_ambiguous))
        // List the figures row by row, as on the page.
        .sorted_by_key(|(row, _)| *row)
        .map(|(_, figure)| figure);
    AuditedTable {
        id: new.id,
        line: new.line,
        figures: figures.collect(),
        findings,
    }
}

/// Returns a sentence saying that all printed changes match the row at the same position, although
/// that row may belong to another CPU; None if they do not.
fn shifted_rows(columns: &[AuditColumn<'_>], is_ambiguous: bool) -> Option<String> {
    let printed: usize = columns.iter().map(|column| column.printed().count()).sum();
    let by_row: usize = columns
        .iter()
        .map(|column| column.fitting(|cell| cell.old_by_row))
        .sum();
    let by_cpu: usize = columns
        .iter()
        .map(|column| column.fitting(|cell| cell.old_by_cpu))
        .sum();
    if printed == 0 || by_row != printed || by_cpu == printed && !is_ambiguous {
        return None;
    }
    let changes = many(printed, "printed change");
    let owner = if is_ambiguous {
        "which may belong to another CPU"
    } else {
        "which belongs to another CPU"
    };
    Some(format!(
        "{changes} match the row at the same position in the previous table, {owner}"
    ))
}

/// Returns the cluster and core of each row.
fn labels(table: &PageTable) -> HashSet<(u16, u16)> {
    table.rows.iter().map(|row| row.label).collect()
}

/// Returns true if two rows of a table have the same label.
fn repeats(table: &PageTable) -> bool {
    !table.rows.iter().map(|row| row.label).all_unique()
}

/// One metric's figures, each with the old figures that it can be compared with.
struct AuditColumn<'t> {
    cells: Vec<AuditCell<'t>>,
}

/// A printed figure, and the old figures in nanoseconds with which it may have been compared.
struct AuditCell<'t> {
    label: (u16, u16),
    new: &'t PublishedFigure,
    /// The figures in all rows with the same label.
    olds_by_label: Vec<u64>,
    /// The same CPU's figure; None unless exactly one row has the same label.
    old_by_cpu: Option<u64>,
    /// The figure with the same size rank.
    old_by_order: Option<u64>,
    /// The figure in the same row.
    old_by_row: Option<u64>,
}

impl AuditCell<'_> {
    fn fits(&self, old: Option<u64>) -> bool {
        old.is_some_and(|old_ns| fits(self.new, old_ns))
    }
}

/// Returns true if the printed change is relative to `old`.
fn fits(new: &PublishedFigure, old: u64) -> bool {
    let printed = new.change.map(|hundredths| hundredths as f64);
    let exact = percent(new.ns as f64, old as f64);
    printed
        .zip(exact)
        .is_some_and(|(printed_percent, exact_ratio)| {
            (printed_percent - exact_ratio * 100.0).abs() <= ROUNDED
        })
}

impl<'t> AuditColumn<'t> {
    fn of(new: &'t PageTable, old: &'t PageTable, column: usize) -> Self {
        let sorted_olds = old
            .rows
            .iter()
            .map(|row| row.figures[column].ns)
            .sorted()
            .collect_vec();
        let is_by_size = new.id.is_parallel() || repeats(new) || repeats(old);
        let is_queue = is_by_size && new.rows.len() == sorted_olds.len();
        let ranks = size_ranks(new, column);
        let cells = new.rows.iter().enumerate().map(|(index, row)| {
            let olds_by_label: Vec<u64> = old
                .rows
                .iter()
                .filter(|old_row| old_row.label == row.label)
                .map(|old_row| old_row.figures[column].ns)
                .collect();
            AuditCell {
                label: row.label,
                new: &row.figures[column],
                old_by_cpu: olds_by_label.iter().exactly_one().ok().copied(),
                olds_by_label,
                old_by_order: is_queue.then(|| sorted_olds[ranks[index]]),
                old_by_row: old
                    .rows
                    .get(index)
                    .map(|old_row| old_row.figures[column].ns),
            }
        });
        Self {
            cells: cells.collect(),
        }
    }

    /// Returns the figures after which a change is printed.
    fn printed(&self) -> impl Iterator<Item = &AuditCell<'t>> {
        self.cells.iter().filter(|cell| cell.new.change.is_some())
    }

    /// Counts the printed changes that match the old figure returned by `old_ns`.
    fn fitting(&self, old_ns: impl Fn(&AuditCell<'t>) -> Option<u64>) -> usize {
        self.printed()
            .filter(|cell| cell.fits(old_ns(cell)))
            .count()
    }

    /// Returns true if all figures match the previous ones by rank but not by CPU.
    fn is_reordered(&self, ppm: u32) -> bool {
        let is_far = |old_ns: Option<u64>, new_ns: u64| {
            let change = old_ns.and_then(|old_ns| percent(new_ns as f64, old_ns as f64));
            change.is_none_or(|percent| percent.abs() * 10_000.0 > f64::from(ppm))
        };
        let mut by_cpu = self.cells.iter();
        let mut by_order = self.cells.iter();
        by_cpu.any(|cell| is_far(cell.old_by_cpu, cell.new.ns))
            && !by_order.any(|cell| is_far(cell.old_by_order, cell.new.ns))
    }

    /// Returns the figures, each with its verdict and its row on the page.
    fn judged(&self, is_ambiguous: bool) -> impl Iterator<Item = (usize, AuditedFigure)> {
        let printed = self.printed().count();
        let is_by_order = self.fitting(|cell| cell.old_by_order) == printed;
        // A single change may match the figure with the same rank by chance.
        let is_proven = is_by_order && (printed > 1 || !is_ambiguous);
        self.cells.iter().enumerate().map(move |(row, cell)| {
            let fits_label = cell
                .olds_by_label
                .iter()
                .any(|old_ns| cell.fits(Some(*old_ns)));
            let judged = match cell.new.change {
                None => AuditOutcome::NotPrinted,
                Some(_) if is_proven => AuditOutcome::Right,
                Some(_)
                    if is_ambiguous
                        && (is_by_order || fits_label || cell.fits(cell.old_by_row)) =>
                {
                    AuditOutcome::Ambiguous
                }
                Some(_) if !is_ambiguous && cell.fits(cell.old_by_cpu) => AuditOutcome::Right,
                Some(_) if cell.olds_by_label.is_empty() && cell.old_by_order.is_none() => {
                    AuditOutcome::NotChecked
                }
                Some(_) => AuditOutcome::Wrong,
            };
            let change = |old_ns: Option<u64>| percent(cell.new.ns as f64, old_ns? as f64);
            let due = if is_by_order {
                change(cell.old_by_order).or(change(cell.old_by_cpu))
            } else {
                change(cell.old_by_cpu)
            };
            let figure = AuditedFigure {
                position: cell.new.position.clone(),
                label: cell.label,
                metric: cell.new.metric,
                ns: cell.new.ns,
                printed: cell.new.change.map(|hundredths| hundredths as f64 / 100.0),
                by_cpu: change(cell.old_by_cpu.filter(|_| !is_ambiguous)),
                by_order: change(cell.old_by_order),
                implied_ns: implied(cell.new, 0.0),
                judged,
                unprinted: due.filter(|_| judged == AuditOutcome::NotPrinted),
            };
            (row, figure)
        })
    }
}

/// Returns each row's rank by the size of its figure. Equal figures are ranked by change, largest
/// first.
fn size_ranks(table: &PageTable, column: usize) -> Vec<usize> {
    let order = (0..table.rows.len()).sorted_by_key(|index| {
        let figure = &table.rows[*index].figures[column];
        (figure.ns, Reverse(figure.change.unwrap_or(0)))
    });
    let mut ranks = vec![0; table.rows.len()];
    for (rank, index) in order.enumerate() {
        ranks[index] = rank;
    }
    ranks
}

/// Returns the old figure in nanoseconds implied by a printed change, assuming a rounding error of
/// `rounded` hundredths of a percent.
fn implied(figure: &PublishedFigure, rounded: f64) -> Option<f64> {
    let share = 1.0 + (figure.change? as f64 + rounded) / 10_000.0;
    (share > 0.0).then(|| figure.ns as f64 / share)
}

/// Returns a sentence saying that most changes imply the same old figure in both releases; None if
/// they do not.
fn shared(pairs: &[(&PageTable, PageTable)], releases: &[String; 2]) -> Option<String> {
    let implied_range = |figure| Some((implied(figure, ROUNDED)?, implied(figure, -ROUNDED)?));
    let same_cpus = pairs
        .iter()
        .filter(|(new_table, old_table)| !repeats(new_table) && !repeats(old_table))
        .flat_map(|(new_table, old_table)| new_table.rows.iter().cartesian_product(&old_table.rows))
        .filter(|(new_row, old_row)| new_row.label == old_row.label);
    let overlaps = same_cpus
        .flat_map(|(new_row, old_row)| new_row.figures.iter().zip(&old_row.figures))
        .filter(|(new_figure, old_figure)| !fits(new_figure, old_figure.ns))
        .filter_map(|(new_figure, old_figure)| {
            implied_range(new_figure).zip(implied_range(old_figure))
        })
        .map(|(new_range, old_range)| new_range.0 <= old_range.1 && old_range.0 <= new_range.1)
        .collect_vec();
    let both = overlaps.len();
    let same = overlaps.iter().filter(|is_overlap| **is_overlap).count();
    let [newer, previous] = releases;
    (both > 1 && same * 2 > both).then(|| {
        format!(
            "{same} of {both} figures with a change in both {newer} and {previous} imply the same \
             old figure, so these changes are relative to a baseline that is not on the page"
        )
    })
}

/// Returns a sentence that lists the unprinted changes that exceed the tolerance and are at least
/// as large as the smallest printed change.
fn unprinted(audit: &Audit, tolerance_ppm: u32) -> Option<String> {
    let figures = audit
        .tables
        .iter()
        .flat_map(|table| table.figures.iter().map(|figure| (table.id, figure)))
        .collect_vec();
    let tolerance = f64::from(tolerance_ppm) / 10_000.0;
    let least = figures
        .iter()
        .filter_map(|(_, figure)| figure.printed)
        .map(f64::abs)
        .reduce(f64::min)
        .map_or(tolerance, |smallest_step| smallest_step.max(tolerance));
    let texts = figures
        .iter()
        .filter_map(|(id, figure)| {
            let change = figure.unprinted.filter(|change| change.abs() >= least)?;
            let (cluster, core) = figure.label;
            let (tag, metric) = (id.short_tag(), figure.metric.heading());
            let text = format!("{tag} CPU {cluster}.{core} {metric} {change:+.2} %");
            Some((change.abs(), text))
        })
        .sorted_by(|(one, _), (other, _)| other.total_cmp(one))
        .map(|(_, text)| text)
        .collect_vec();
    let changes = many(texts.len(), "change");
    let list = texts.join("; ");
    (!texts.is_empty()).then(|| format!("{changes} of at least {least:.2} % not printed: {list}"))
}
