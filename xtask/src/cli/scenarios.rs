//! `cargo xtask scenarios`.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use host::stdout::Out;
use suite::plan::{Group, ScenarioId};

use super::board_text::paragraph;

/// List the scenarios, and the groups to which they belong.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask scenarios
  cargo xtask qemu --args only=fitness,cpu_on

Details: docs/boot-arguments.md")]
pub struct ScenariosArguments {}

/// A heading, and whether a scenario is listed below it.
type Section = (&'static str, fn(ScenarioId) -> bool);

const SECTIONS: [Section; 4] = [
    ("suite: TF-A Tests' scenarios, which run by default", |id| {
        id.is_suite()
    }),
    ("micro: single operations, in loops", |id| id.is_micro()),
    ("Only in the group all", |id| {
        is_in_no_group(id) && id.descriptor().is_in_all
    }),
    (
        "In no group, because they may lose CPUs or take long",
        |id| !id.descriptor().is_in_all,
    ),
];

/// What follows the sections.
const GROUPS: &str = "
The group all contains suite and micro, too. The group first is for a board's
first run, in which a single CPU takes one step after another.

Example:
  cargo xtask qemu --args only=suite,fitness
";

fn is_in_no_group(id: ScenarioId) -> bool {
    id.descriptor().group == Group::None
}

pub(super) fn run(_: &ScenariosArguments) -> Result<u8> {
    Out::default().write_all(list().as_bytes())?;
    Ok(0)
}

/// Returns the list of scenarios, with their tags and what they measure.
fn list() -> String {
    let tags = ScenarioId::ALL.into_iter().map(ScenarioId::short_tag);
    let tag_width = tags.map(str::len).max().unwrap_or(0);
    let mut out = String::from("Scenarios and groups for the boot argument only=\n");
    for (heading, is_listed) in SECTIONS {
        out += &format!("\n{heading}\n");
        for id in ScenarioId::ALL.into_iter().filter(|id| is_listed(*id)) {
            let tag = format!("  {}", id.short_tag());
            paragraph(&mut out, &tag, id.name(), tag_width + 4);
        }
    }
    out + GROUPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scenario_is_listed_once_and_fits_a_terminal() {
        let list = list();
        for id in ScenarioId::ALL {
            let start = format!("\n  {} ", id.short_tag());
            assert_eq!(list.matches(&start).count(), 1, "{start}{list}");
        }
        assert!(list.lines().all(|line| line.len() <= 80), "{list}");
    }
}
