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
use serde::Serialize;
use suite::measure::Metric;
use suite::plan::ScenarioId;

use super::compare::percent;
use crate::log::page::{Page, PageTable};
use crate::log::published_rows::PublishedFigure;

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
    pub(crate) place: String,
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
    let tables = audits.iter().flat_map(|it| &it.tables);
    let figures = tables.flat_map(|it| &it.figures);
    figures.filter(|it| it.judged == judged).count()
}

/// Returns a line with the number of printed changes for each verdict.
pub fn counts(audits: &[Audit]) -> String {
    use AuditOutcome::{Ambiguous, NotChecked, Right, Wrong};
    let counts = [Right, Wrong, Ambiguous, NotChecked].map(|it| (it, count(audits, it)));
    let all: usize = counts.iter().map(|it| it.1).sum();
    let said = counts.iter().filter(|it| it.0 != NotChecked || it.1 > 0);
    let said = said
        .map(|it| format!("{} {}", it.1, it.0.word()))
        .join(", ");
    format!("{}: {said}", many(all, "printed change"))
}

/// Audits a page. The page need not print changes below `tolerance_ppm`.
pub(crate) fn audit(page: &Page, tolerance_ppm: u32) -> Audit {
    let mut releases = page.releases().into_iter();
    let [newer, former] = [(); 2].map(|()| releases.next().unwrap_or_default());
    let older = releases.flatten().chain(former.iter().copied());
    let older = older.flat_map(PageTable::changes).count();
    let name = |of: &[&PageTable]| of.first().map_or(String::new(), |it| it.release.clone());
    let pairs = newer.iter().map(|new| {
        let old = former.iter().find(|it| it.id == new.id);
        let mut beside = (*old.unwrap_or(new)).clone();
        if old.is_none() {
            beside.rows.clear();
        }
        (*new, beside)
    });
    let pairs = pairs.collect_vec();
    let tables = pairs
        .iter()
        .map(|(new, old)| audited(new, old, tolerance_ppm));
    let mut audit = Audit {
        page: page.input.clone(),
        releases: [name(&newer), name(&former)],
        tables: tables.collect(),
        findings: page.doubts.clone(),
    };
    audit.findings.extend(shared(&pairs, &audit.releases));
    if older > 0 {
        let changes = many(older, "change");
        let sentence = format!("not checked: {changes} in the tables for older releases");
        audit.findings.push(sentence);
    }
    audit.findings.extend(unprinted(&audit, tolerance_ppm));
    audit
}

/// Compares a table with the previous release's table.
fn audited(new: &PageTable, old: &PageTable, tolerance_ppm: u32) -> AuditedTable {
    let columns = new.rows.first().map_or(0, |it| it.figures.len());
    let columns: Vec<AuditColumn> = (0..columns)
        .map(|it| AuditColumn::of(new, old, it))
        .collect();
    let is_ambiguous = repeats(new) || repeats(old);
    let is_queue = new.id.is_suspend();
    let reordered = columns.first().filter(|_| is_queue && !is_ambiguous);
    let is_reordered = reordered.is_some_and(|it| it.is_reordered(tolerance_ppm));
    let absent = (old.rows.is_empty(), ABSENT);
    let facts = [absent, (is_ambiguous, REPEATED), (is_reordered, REORDERED)];
    let facts = facts.into_iter().filter(|it| it.0);
    let mut findings: Vec<String> = facts.map(|it| it.1.to_owned()).collect();
    let label = |table: &PageTable| table.rows.iter().map(|it| it.label).collect::<HashSet<_>>();
    for (cluster, core) in label(old).difference(&label(new)).sorted() {
        findings.push(format!(
            "CPU {cluster}.{core} is in the previous table but not in this one"
        ));
    }
    let printed: usize = columns.iter().map(|it| it.printed().count()).sum();
    let by_row: usize = columns.iter().map(|it| it.fitting(|it| it.of_row)).sum();
    let by_cpu: usize = columns.iter().map(|it| it.fitting(|it| it.of_cpu)).sum();
    if printed > 0 && by_row == printed && (by_cpu < printed || is_ambiguous) {
        let all = many(printed, "printed change");
        let whose = match is_ambiguous {
            true => "which may belong to another CPU",
            false => "which belongs to another CPU",
        };
        findings.push(format!(
            "{all} match the row at the same position in the previous table, {whose}"
        ));
    }
    let figures = columns.iter().flat_map(|it| it.judged(is_ambiguous));
    AuditedTable {
        id: new.id,
        line: new.line,
        // List the figures row by row, as on the page.
        figures: figures.sorted_by_key(|it| it.0).map(|it| it.1).collect(),
        findings,
    }
}

fn repeats(table: &PageTable) -> bool {
    !table.rows.iter().map(|it| it.label).all_unique()
}

/// One metric's figures, each with the old figures that it can be compared with.
struct AuditColumn<'t> {
    cells: Vec<Beside<'t>>,
}

struct Beside<'t> {
    label: (u16, u16),
    new: &'t PublishedFigure,
    /// The candidate old figures, in nanoseconds: those with the same labels, the one from the same
    /// CPU, the one with the same size rank, and the one in the same row.
    of_labels: Vec<u64>,
    of_cpu: Option<u64>,
    of_order: Option<u64>,
    of_row: Option<u64>,
}

impl Beside<'_> {
    fn fits(&self, old: Option<u64>) -> bool {
        old.is_some_and(|old| fits(self.new, old))
    }
}

/// Returns true if the printed change is relative to `old`.
fn fits(new: &PublishedFigure, old: u64) -> bool {
    let printed = new.change.map(|it| it as f64);
    let both = printed.zip(percent(new.ns as f64, old as f64));
    both.is_some_and(|(printed, exact)| (printed - exact * 100.0).abs() <= ROUNDED)
}

impl<'t> AuditColumn<'t> {
    fn of(new: &'t PageTable, old: &'t PageTable, column: usize) -> Self {
        let former = old.rows.iter().map(|it| it.figures[column].ns).sorted();
        let former = former.collect_vec();
        // Equal figures are sorted by change, largest first.
        let order = new.rows.iter().map(|it| &it.figures[column]).enumerate();
        let order = order.sorted_by_key(|it| (it.1.ns, Reverse(it.1.change.unwrap_or(0))));
        let order = order.map(|it| it.0).collect_vec();
        let is_by_size = new.id.is_parallel() || repeats(new) || repeats(old);
        let is_queue = is_by_size && order.len() == former.len();
        let cells = new.rows.iter().enumerate().map(|(place, row)| {
            let figure = &row.figures[column];
            let alike = old.rows.iter().filter(|it| it.label == row.label);
            let of_labels: Vec<u64> = alike.map(|it| it.figures[column].ns).collect();
            let rank = order.iter().position(|it| *it == place);
            Beside {
                label: row.label,
                new: figure,
                of_cpu: of_labels.iter().exactly_one().ok().copied(),
                of_labels,
                of_order: rank.filter(|_| is_queue).map(|it| former[it]),
                of_row: old.rows.get(place).map(|it| it.figures[column].ns),
            }
        });
        Self {
            cells: cells.collect(),
        }
    }

    fn printed(&self) -> impl Iterator<Item = &Beside<'t>> {
        self.cells.iter().filter(|it| it.new.change.is_some())
    }

    /// Counts the printed changes that match the old figure returned by `old`.
    fn fitting(&self, old: impl Fn(&Beside<'t>) -> Option<u64>) -> usize {
        self.printed().filter(|it| it.fits(old(it))).count()
    }

    /// Returns true if all figures match the previous ones by rank but not by CPU.
    fn is_reordered(&self, ppm: u32) -> bool {
        let is_far = |old: Option<u64>, new: u64| {
            let change = old.and_then(|old| percent(new as f64, old as f64));
            change.is_none_or(|it| it.abs() * 10_000.0 > f64::from(ppm))
        };
        let cells = self.cells.iter();
        let is_apart = cells.clone().any(|it| is_far(it.of_cpu, it.new.ns));
        is_apart && !cells.clone().any(|it| is_far(it.of_order, it.new.ns))
    }

    /// Returns the figures, each with its verdict and its position on the page.
    fn judged(&self, is_ambiguous: bool) -> impl Iterator<Item = (usize, AuditedFigure)> {
        let printed = self.printed().count();
        let is_by_order = self.fitting(|it| it.of_order) == printed;
        // A single change may match the figure with the same rank by chance.
        let is_proven = is_by_order && (printed > 1 || !is_ambiguous);
        self.cells.iter().enumerate().map(move |(place, it)| {
            let is_of_a_label = it.of_labels.iter().any(|old| it.fits(Some(*old)));
            let judged = match it.new.change {
                None => AuditOutcome::NotPrinted,
                Some(_) if is_proven => AuditOutcome::Right,
                Some(_) if is_ambiguous && (is_by_order || is_of_a_label || it.fits(it.of_row)) => {
                    AuditOutcome::Ambiguous
                }
                Some(_) if !is_ambiguous && it.fits(it.of_cpu) => AuditOutcome::Right,
                Some(_) if it.of_labels.is_empty() && it.of_order.is_none() => {
                    AuditOutcome::NotChecked
                }
                Some(_) => AuditOutcome::Wrong,
            };
            let change = |old: Option<u64>| percent(it.new.ns as f64, old? as f64);
            let figure = AuditedFigure {
                place: it.new.place.clone(),
                label: it.label,
                metric: it.new.metric,
                ns: it.new.ns,
                printed: it.new.change.map(|it| it as f64 / 100.0),
                by_cpu: change(it.of_cpu.filter(|_| !is_ambiguous)),
                by_order: change(it.of_order),
                implied_ns: implied(it.new, 0.0),
                judged,
                unprinted: match is_by_order {
                    true => change(it.of_order).or(change(it.of_cpu)),
                    false => change(it.of_cpu),
                }
                .filter(|_| judged == AuditOutcome::NotPrinted),
            };
            (place, figure)
        })
    }
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
    let pairs = pairs.iter().filter(|it| !repeats(it.0) && !repeats(&it.1));
    let rows = pairs.flat_map(|(new, old)| new.rows.iter().cartesian_product(&old.rows));
    let rows = rows.filter(|(new, old)| new.label == old.label);
    let figures = rows.flat_map(|(new, old)| new.figures.iter().zip(&old.figures));
    let figures = figures.filter(|(new, old)| !fits(new, old.ns));
    let range = |it| Some((implied(it, ROUNDED)?, implied(it, -ROUNDED)?));
    let ranges = figures.filter_map(|(new, old)| range(new).zip(range(old)));
    let is_same = ranges
        .map(|(new, old)| new.0 <= old.1 && old.0 <= new.1)
        .collect_vec();
    let (both, same) = (is_same.len(), is_same.iter().filter(|it| **it).count());
    let [newer, former] = releases;
    (both > 1 && same * 2 > both).then(|| {
        format!(
            "{same} of {both} figures with a change in both {newer} and {former} imply the same \
             old figure, so these changes are relative to a baseline that is not on the page"
        )
    })
}

/// Returns a sentence that lists the unprinted changes that exceed the tolerance and are at least
/// as large as the smallest printed change.
fn unprinted(audit: &Audit, tolerance_ppm: u32) -> Option<String> {
    let tables = audit.tables.iter();
    let figures = tables.flat_map(|table| table.figures.iter().map(|it| (table.id, it)));
    let figures = figures.collect_vec();
    let printed = figures.iter().filter_map(|it| it.1.printed).map(f64::abs);
    let tolerance = f64::from(tolerance_ppm) / 10_000.0;
    let least = printed.reduce(f64::min).unwrap_or(0.0).max(tolerance);
    let missing = figures.iter().filter_map(|(id, it)| {
        let change = it.unprinted.filter(|it| it.abs() >= least)?;
        let ((cluster, core), metric) = (it.label, it.metric.heading());
        let tag = id.short_tag();
        let text = format!("{tag} CPU {cluster}.{core} {metric} {change:+.2} %");
        Some((change.abs(), text))
    });
    let missing = missing.sorted_by(|a, b| b.0.total_cmp(&a.0));
    let texts = missing.map(|it| it.1).collect_vec();
    let changes = many(texts.len(), "change");
    let list = texts.join("; ");
    (!texts.is_empty()).then(|| format!("{changes} of at least {least:.2} % not printed: {list}"))
}
