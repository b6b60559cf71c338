//! A board's page in TF-A's `docs/perf`.
//!
//! The parts that contain figures are enclosed in the comments `.. psci-bench: begin NAME` and
//! `.. psci-bench: end NAME`, and are regenerated each time. Everything else belongs to the
//! publisher and is left unchanged.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use boards::Publish;
use host::files;
use host::progress::say;
use itertools::Itertools as _;
use minijinja::value::Serde;
use minijinja::{Value, context};
use run::plan::{Procedure, ScenarioId};
use serde::Serialize;

use super::commentary::Commentary;
use super::escape::markup;
use super::method;
use super::template::render;
use crate::analysis::compare::Comparison;
use crate::log::{LoggedRun, page};

/// The parts that are regenerated.
const PARTS: [&str; 2] = ["conditions", "results"];

/// The releases whose figures a page shows.
pub(super) struct PageFigures<'s> {
    pub(super) run: &'s LoggedRun,
    pub(super) comparison: Option<&'s Comparison>,
    /// The file names in `current` and `previous`.
    pub(super) files: [BTreeSet<&'s String>; 2],
    /// The releases whose figures an existing page shows.
    pub(super) on_page: OnPage,
}

/// The releases whose figures an existing page shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnPage {
    /// The previous release's figures.
    Previous,
    /// Those of this run.
    Own,
}

/// A scenario's tables.
#[derive(Serialize)]
struct PageScenario {
    name: &'static str,
    underline: Value,
    header: &'static str,
    tables: Vec<PageTable>,
}

#[derive(Serialize)]
struct PageTable {
    release: &'static str,
    file: String,
}

/// Returns the text of the page at `path`: a new page, or the existing one with its parts
/// regenerated.
///
/// # Errors
/// Returns an error if the page cannot be read, or does not contain each part exactly once.
pub(super) fn text(path: &Path, platform: &str, shown: &PageFigures<'_>) -> Result<String> {
    let known = boards::names().find(|name| *name == platform);
    let board = known.map(boards::load).transpose()?;
    let publish = board.and_then(|board| board.publish);
    let own = path.exists().then(|| page::read_text("", path));
    let own = own.transpose()?;
    let previous = previous_firmware(own.as_deref(), shown);
    let new = new_page(platform, publish.as_ref(), shown, previous)?;
    let Some(mut own) = own else {
        return Ok(new);
    };
    for part in PARTS {
        let inside = part_of(&new, part).and_then(|it| new.get(it));
        let place = part_of(&own, part).with_context(|| {
            format!(
                "{}: this page is not from psci-bench; put its figures between the lines '.. \
                 psci-bench: begin {part}' and '.. psci-bench: end {part}', each once, or move the \
                 page away; nothing was written",
                path.display()
            )
        })?;
        let inside = inside.context("the template lacks a part")?;
        let is_crlf = own[..place.start].ends_with("\r\n");
        let inside = match is_crlf {
            true => inside.replace('\n', "\r\n"),
            false => inside.to_owned(),
        };
        own.replace_range(place, &inside);
    }
    Ok(own)
}

/// Writes the page, and prints the remaining steps.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let is_new = !path.exists();
    files::write(&[(("the page", path), text.as_bytes())])?;
    if is_new {
        say("add the page to the toctree of docs/perf/index.rst if it is missing there");
    }
    Ok(())
}

/// Returns a part's range, or None unless its start and its end each occur exactly once.
fn part_of(page: &str, part: &str) -> Option<std::ops::Range<usize>> {
    let place = |edge: &str| {
        let mark = format!(".. psci-bench: {edge} {part}");
        let mut end = 0;
        let lines = page.split_inclusive('\n').map(|line| {
            end += line.len();
            (line.trim_end() == mark).then_some((end - line.len(), end))
        });
        lines.flatten().exactly_one().ok()
    };
    let (begin, end) = (place("begin")?.1, place("end")?.0);
    (begin <= end).then_some(begin..end)
}

/// The field on a page that names the previous release's firmware.
const PREVIOUS: &str = "Previous release";

/// Returns the previous release's firmware from the baseline's log or, if the log does not name it,
/// from the existing page. Tables do not contain it.
fn previous_firmware(own: Option<&str>, shown: &PageFigures<'_>) -> Option<Value> {
    let of_log = method::firmware(&shown.comparison?.baseline).join("; ");
    if !of_log.is_empty() {
        return Some(of_log.into());
    }
    let own = own?;
    let conditions = own.get(part_of(own, "conditions")?)?;
    let name = match shown.on_page {
        OnPage::Previous => method::FIRMWARE,
        OnPage::Own => PREVIOUS,
    };
    let field = format!(":{name}: ");
    let mut fields = conditions.lines().filter_map(|it| it.strip_prefix(&field));
    let firmware = fields.join("; ");
    // Text taken from the page is already markup.
    (!firmware.is_empty()).then(|| Value::from_safe_string(firmware))
}

fn new_page(
    platform: &str,
    publish: Option<&Publish>,
    shown: &PageFigures<'_>,
    previous: Option<Value>,
) -> Result<String> {
    let (run, comparison) = (shown.run, shown.comparison);
    let board = publish.map(|it| it.title.as_str()).or(run.board());
    let title = format!("PSCI latencies of {}", board.unwrap_or(platform));
    let scenarios = ScenarioId::SUITE.map(|id| scenario(id, platform, &shown.files));
    let conditions = method::method(run);
    let conditions = conditions.into_iter().filter(|it| it.0 != "Log");
    let context = context! {
        underline => line_below(&title, "="),
        title,
        about => publish.map(|it| it.about.trim()),
        link => publish.and_then(|it| it.link.as_deref()),
        clocks => Serde(publish.map_or(&[][..], |it| &it.clocks)),
        conditions => Serde(conditions.collect::<Vec<_>>()),
        previous_name => PREVIOUS,
        previous,
        scenarios => Serde(scenarios.into_iter().flatten().collect::<Vec<_>>()),
        has_changes => comparison.is_some(),
        commentary => Serde(Commentary::of(run, comparison)),
    };
    render(include_str!("published_page.rst"), context, markup)
}

/// Returns the underline for a verbatim heading.
fn line_below(heading: &str, stroke: &str) -> Value {
    Value::from_safe_string(stroke.repeat(markup(heading).chars().count()))
}

/// Returns a scenario's tables, or None if it has no data file.
fn scenario(
    id: ScenarioId,
    platform: &str,
    files: &[BTreeSet<&String>; 2],
) -> Option<PageScenario> {
    let name = format!("{id}.csv");
    let folders = [("current", &files[0]), ("previous", &files[1])];
    let folders = folders.into_iter().filter(|it| it.1.contains(&name));
    let tables: Vec<PageTable> = folders
        .map(|(release, _)| PageTable {
            release,
            file: format!("data/{platform}/{release}/{name}"),
        })
        .collect();
    (!tables.is_empty()).then(|| PageScenario {
        name: id.name(),
        underline: line_below(id.name(), "~"),
        header: match id.procedure() {
            Procedure::Version => "Cluster, Core, Latency",
            Procedure::Suspend(..)
            | Procedure::CpuOff
            | Procedure::Loop
            | Procedure::CpuOn
            | Procedure::Timers
            | Procedure::Steps => "Cluster, Core, Powerdown, Wakeup, Cache Flush",
        },
        tables,
    })
}
