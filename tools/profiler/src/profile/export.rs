//! Writes profiles in each format.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use anyhow::Result;
use itertools::Itertools as _;
use report::export::{write_blocks, write_page};
use serde_json::{Value, json};

use super::difference;
use super::document::{NOTES, document, title};
use super::profile::Profile;

/// A format of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProfileFormat {
    /// Aligned tables for a terminal.
    Text,
    /// One page with tables and flame graphs.
    Html,
    /// One line per stack, for flame graph tools: the scenario, phase and functions, and the
    /// instructions in all samples. With a baseline, both counts are shown.
    Folded,
    /// For speedscope.app.
    Speedscope,
    /// Everything, for programs and for --against.
    Json,
}

/// Writes `profile`. With a baseline, the changes are written in addition to the profile or instead
/// of it. The speedscope format cannot represent a baseline, and folded stacks cannot represent
/// a baseline that has no functions.
pub fn write(
    format: ProfileFormat,
    profile: &Profile,
    baseline: Option<&Profile>,
    out: &mut dyn Write,
) -> Result<()> {
    match format {
        ProfileFormat::Text => write_blocks(document(profile, baseline), out),
        ProfileFormat::Html => {
            let title = title(profile, baseline);
            write_page(&title, NOTES, document(profile, baseline), out)
        }
        ProfileFormat::Folded => write_folded(profile, baseline, out),
        ProfileFormat::Speedscope => Ok(serde_json::to_writer(out, &speedscope(profile))?),
        ProfileFormat::Json => {
            let mut value = serde_json::to_value(profile)?;
            if let Some(baseline) = baseline {
                value["changes"] = serde_json::to_value(difference::changes(baseline, profile))?;
            }
            Ok(serde_json::to_writer(out, &value)?)
        }
    }
}

fn write_folded(profile: &Profile, baseline: Option<&Profile>, out: &mut dyn Write) -> Result<()> {
    let (old, mut new) = (baseline.map(folded_stacks), folded_stacks(profile));
    for stack in old.iter().flat_map(|old_costs| old_costs.keys()) {
        new.entry(stack.clone()).or_default();
    }
    for (stack, instructions) in &new {
        match &old {
            Some(old) => {
                let before = old.get(stack).copied().unwrap_or(0);
                writeln!(out, "{stack} {before} {instructions}")?;
            }
            None => writeln!(out, "{stack} {instructions}")?,
        }
    }
    Ok(())
}

/// Returns the instructions of each stack, which starts with the scenario and phase.
fn folded_stacks(profile: &Profile) -> BTreeMap<String, u64> {
    let mut folded = BTreeMap::new();
    for phase in profile.merged() {
        let name = phase.figure_name();
        for (stack, cost) in phase.stacks {
            folded.insert(format!("{name};{stack}"), cost.instructions);
        }
    }
    folded
}

/// Returns a profile in speedscope format: one sampled profile per phase, with each stack listed
/// once and weighted by its instructions.
fn speedscope(profile: &Profile) -> Value {
    let phases = profile.merged();
    let names = phases
        .iter()
        .flat_map(|phase| phase.stacks.keys())
        .flat_map(|stack| stack.split(';'))
        .unique()
        .collect_vec();
    let indices: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let sample = |stack: &String| stack.split(';').map(|name| indices[name]).collect_vec();
    let profiles = phases
        .iter()
        .map(|phase| {
            let costs = phase.stacks.values();
            json!({
                "type": "sampled", "name": phase.figure_name(), "unit": "none", "startValue": 0,
                "endValue": phase.own(), "samples": phase.stacks.keys().map(sample).collect_vec(),
                "weights": costs.map(|cost| cost.instructions).collect_vec(),
            })
        })
        .collect_vec();
    let frames = names
        .iter()
        .map(|name| json!({ "name": name }))
        .collect_vec();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": title(profile, None), "shared": { "frames": frames }, "profiles": profiles,
    })
}
