//! `svg`: one picture, for pages and slides: the timeline of the first parallel suspend. The file is
//! self-contained and follows the reader's light or dark mode.

use std::io::Write;

use anyhow::{Context as _, Result};
use minijinja::context;
use minijinja::value::Serde;
use suite::model::Scenario;

use super::timeline;
use crate::export::document::Charts;
use crate::export::drawing::Chart;
use crate::export::escape::xml;
use crate::export::report_data::Report;
use crate::export::template::render;
use crate::log::LoggedRun;

pub fn write_picture(report: &Report, out: &mut dyn Write) -> Result<()> {
    let mut pictures = report.runs.iter().flat_map(|logged| {
        let scenarios = logged
            .run
            .scenarios
            .iter()
            .filter(|scenario| is_drawn(scenario));
        scenarios.filter_map(move |scenario| picture(logged, scenario))
    });
    let (heading, chart) = pictures.next().context(
        "no log has timestamps of CPUs that are suspended in parallel, which this picture shows; \
         --format html has all pictures",
    )?;
    let context = context! {
        heading,
        style => include_str!("style.css"),
        chart => Serde(chart),
    };
    let text = render(include_str!("picture.svg"), context, xml)?;
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn is_drawn(scenario: &Scenario) -> bool {
    scenario.id.is_parallel() && scenario.id.has_queue()
}

/// Returns the picture's heading and its chart; None if the log lacks the samples.
fn picture(logged: &LoggedRun, scenario: &Scenario) -> Option<(String, Chart)> {
    let charts = Charts {
        id: "picture".to_owned(),
        logged,
        scenario,
    };
    let board = logged.board().unwrap_or(&logged.source.input);
    let counts_instructions = logged.run.plan.and_then(|plan| plan.host_cpus) == Some(0);
    let clock = if counts_instructions {
        ", whose clock counts instructions"
    } else {
        ""
    };
    let heading = format!("{}, {board}{clock}", scenario.id.name());
    Some((heading, timeline::figure(&charts)?))
}
