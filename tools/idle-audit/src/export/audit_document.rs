//! Converts audits of idle states to blocks.

use std::cmp::Ordering;

use device_tree::declared::{DeclaredState, Duration};
use hardware::board::Mpidr;
use hardware::text::plural::many;
use itertools::Itertools as _;
use report::export::{Block, Headline, Table, Tone};
use suite::output::{ABSENT, text_or_absent};

use super::idle_report::IdleReport;
use crate::audit::{
    AuditedState, IdleAudit, Judgement, LongestTime, MeasuredGroup, PropertyValue, RuleVerdict,
};

/// Returns the blocks for one audit in full, or for several trees in short.
pub(super) fn audit_blocks<'r>(report: &IdleReport) -> Vec<Block<'r>> {
    match report.only_audit() {
        Some(audit) => one_audit(audit),
        None => several_audits(report),
    }
}

/// Returns the title of a document about these audits.
pub(super) fn title(report: &IdleReport) -> String {
    match report.only_audit() {
        Some(audit) => title_of_one(audit),
        None => {
            let trees = report.audits.len();
            format!("Declared idle states of {}", many(trees, "tree"))
        }
    }
}

fn title_of_one(audit: &IdleAudit) -> String {
    if audit.logs.is_empty() {
        format!("Declared idle states of {}", audit.board)
    } else {
        format!("Idle states of {}, declared and measured", audit.board)
    }
}

/// Returns the number of verdicts of each kind, and of the trees that cannot be audited.
pub fn summary(report: &IdleReport) -> String {
    let counts = counts(&report.audits);
    match report.refused_trees().count() {
        0 => counts,
        refused => format!("{counts}; {} cannot be audited", many(refused, "tree")),
    }
}

fn counts(audits: &[IdleAudit]) -> String {
    let count = |verdict| {
        audits
            .iter()
            .map(|audit| audit.count(verdict))
            .sum::<usize>()
    };
    let counts = RuleVerdict::ALL
        .map(|verdict| (count(verdict), verdict.word()))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .join(", ");
    if counts.is_empty() {
        "no contradictions".to_owned()
    } else {
        counts
    }
}

fn one_audit<'r>(audit: &IdleAudit) -> Vec<Block<'r>> {
    let has_logs = !audit.logs.is_empty();
    let states = many(audit.states.len(), "state");
    let by = audit.by.word();
    let mut facts = vec![("Declared", format!("{} ({by}), {states}", audit.source))];
    if has_logs {
        facts.push(("Measured", audit.logs.join(", ")));
        let margin = audit.margin;
        facts.push((
            "Margin",
            format!("a value is right up to {margin} times the measured worst case"),
        ));
    }
    let occurs = |is_wanted: fn(RuleVerdict) -> bool| {
        let mut wanted = RuleVerdict::ALL
            .into_iter()
            .filter(|verdict| is_wanted(*verdict));
        wanted.any(|verdict| audit.count(verdict) > 0)
    };
    let calls_for_change = occurs(RuleVerdict::calls_for_change);
    let is_unknown =
        occurs(|verdict| matches!(verdict, RuleVerdict::NotMeasured | RuleVerdict::CannotTell));
    let headline = Headline {
        text: counts(std::slice::from_ref(audit)),
        tone: match (calls_for_change, is_unknown) {
            (true, _) => Tone::Bad,
            (false, true) => Tone::Neutral,
            (false, false) => Tone::Good,
        },
    };
    let mut blocks = vec![
        Block::Title(title_of_one(audit)),
        Block::Headline(headline),
        Block::Definitions(facts),
    ];
    blocks.extend(declared_table(audit).finished().map(Block::Table));
    blocks.extend(verdict_table(audit).finished().map(Block::Table));
    blocks.extend(remarks(
        "What is wrong",
        audit,
        RuleVerdict::calls_for_change,
    ));
    blocks.extend(remarks("What is not used", audit, |verdict| {
        verdict == RuleVerdict::Unused
    }));
    blocks.extend(remarks("What is not known", audit, |verdict| {
        matches!(verdict, RuleVerdict::NotMeasured | RuleVerdict::CannotTell)
    }));
    if has_logs {
        blocks.extend(measured_table(audit).finished().map(Block::Table));
        blocks.extend(limit_table(audit).finished().map(Block::Table));
    }
    blocks
}

/// Returns a section about the judgements with a verdict that `is_listed`, or nothing if there are
/// none.
fn remarks<'r>(
    heading: &str,
    audit: &IdleAudit,
    is_listed: fn(RuleVerdict) -> bool,
) -> Vec<Block<'r>> {
    let sentences: Vec<String> = audit
        .judgements()
        .filter(|(_, judgement)| is_listed(judgement.verdict))
        .map(|(state, judgement)| sentence(state, judgement))
        .collect();
    if sentences.is_empty() {
        Vec::new()
    } else {
        vec![
            Block::Heading(heading.to_owned()),
            Block::Remarks(sentences),
        ]
    }
}

/// Returns a verdict as a sentence, with the suggested value if there is one.
pub(super) fn sentence(state: &AuditedState, judgement: &Judgement) -> String {
    let DeclaredState {
        name, power_state, ..
    } = &state.declared;
    let Judgement { rule, reason, .. } = judgement;
    let cpu = judgement.cpu.as_ref();
    let on_cpu = cpu.map_or_else(String::new, |cpu| format!(", CPU {cpu}"));
    let change = judgement.change(&state.changes);
    let suggested = change.map_or_else(String::new, |change| match change.new {
        Some(PropertyValue::Cell(us)) => format!("; suggested: {us}"),
        Some(PropertyValue::Present) => "; suggested: add it".to_owned(),
        None => "; suggested: remove it".to_owned(),
    });
    format!("{name} ({power_state:#010x}), {rule}{on_cpu}: {reason}{suggested}.")
}

fn declared_table(audit: &IdleAudit) -> Table {
    let mut table = Table::titled("Declared values (us)");
    table.words(["State"]);
    table.words(["power_state", "CPUs"]);
    table.numbers(["Entry", "Exit"]);
    table.optional_numbers(&["Wake-up"], ABSENT);
    table.numbers(["Min residency"]);
    table.optional_words(["Timer"]);
    table.rows = audit.states.iter().map(declared_row).collect();
    table
}

fn declared_row(state: &AuditedState) -> Vec<String> {
    let declared = &state.declared;
    let power_state = format!("{:#010x}", declared.power_state);
    let mut row = vec![declared.name.clone(), power_state, users_text(&state.users)];
    row.extend(Duration::ALL.map(|duration| text_or_absent(declared.us(duration))));
    row.push(if declared.timer_stops { "stops" } else { "" }.to_owned());
    row
}

fn verdict_table(audit: &IdleAudit) -> Table {
    let mut table = Table::titled("Verdicts (us)");
    table.words(["State", "Rule"]);
    table.numbers(["Declared"]);
    table.optional_numbers(&["Measured"], "");
    table.optional_words(["CPU", "Verdict"]);
    let rows = audit.judgements().map(|(state, judgement)| {
        vec![
            state.declared.name.clone(),
            judgement.rule.to_owned(),
            judgement.declared.clone(),
            judgement.measured.clone(),
            judgement.cpu.clone().unwrap_or_default(),
            judgement.verdict.word().to_owned(),
        ]
    });
    table.rows = rows.collect();
    table
}

fn measured_table(audit: &IdleAudit) -> Table {
    let title = "Measured worst cases (us): Entry and Exit by the firmware's timestamps, Wake by \
                 the caller";
    let mut table = Table::titled(title);
    table.words(["State", "CPU type", "Suspend"]);
    table.end_names();
    for names in [["Entry", "CPU"], ["Exit", "CPU"], ["Wake", "CPU"]] {
        table.optional_numbers(&names, ABSENT);
    }
    table.optional_numbers(&["Cold entry", "Cold exit"], ABSENT);
    for state in &audit.states {
        let groups = state
            .measured
            .iter()
            .flat_map(|measured_state| &measured_state.groups);
        let rows = groups.map(|group| measured_row(&state.declared.name, group));
        table.rows.extend(rows);
    }
    table
}

fn measured_row(state: &str, group: &MeasuredGroup) -> Vec<String> {
    let mut row = vec![
        state.to_owned(),
        group.cpu_type.clone(),
        group.how.to_owned(),
    ];
    let text = |longest_time: &Option<LongestTime>| {
        text_or_absent(longest_time.as_ref().map(LongestTime::text))
    };
    for longest in [&group.entry, &group.exit, &group.wake] {
        row.push(text(longest));
        row.push(text_or_absent(
            longest.as_ref().map(|longest_time| &longest_time.cpu),
        ));
    }
    row.extend([&group.cold_entry, &group.cold_exit].map(text));
    row
}

fn limit_table(audit: &IdleAudit) -> Table {
    let title = "Latency limits (PM QoS, us): the smallest limit under which Linux may use a state";
    let mut table = Table::titled(title);
    table.words(["State"]);
    table.numbers(["Declared", "Measured"]);
    table.words(["Effect"]);
    let rows = audit.states.iter().filter_map(|state| {
        let (declared, measured) = state.limits()?;
        Some(vec![
            state.declared.name.clone(),
            declared.to_string(),
            measured.to_string(),
            limit_text(declared, measured),
        ])
    });
    table.rows = rows.collect();
    table
}

/// Describes how a wrong wake-up latency changes the effect of PM QoS limits. Linux uses a state
/// only if its wake-up latency does not exceed the limit.
fn limit_text(declared: u64, measured: u64) -> String {
    match declared.cmp(&measured) {
        Ordering::Less => {
            let last = measured - 1;
            format!("limits of {declared} to {last} us admit it, although it is too slow")
        }
        Ordering::Equal => String::new(),
        Ordering::Greater => {
            let last = declared - 1;
            format!("limits of {measured} to {last} us exclude it, although it is fast enough")
        }
    }
}

/// Names the CPUs that use a state.
fn users_text(users: &[Mpidr]) -> String {
    match users {
        [] => "none".to_owned(),
        [only] => only.to_string(),
        [first, .., last] => format!("{first} to {last} ({})", users.len()),
    }
}

/// A verdict that was found in several trees.
struct Shared<'a> {
    state: &'a str,
    verdict: RuleVerdict,
    sentence: String,
    trees: Vec<&'a str>,
}

/// Counts the contradictions that differ between trees, and the states that they are about.
fn different(shared: &[Shared<'_>]) -> String {
    let wrong: Vec<&Shared<'_>> = shared
        .iter()
        .filter(|shared_change| shared_change.is_wrong())
        .collect();
    let states = wrong
        .iter()
        .unique_by(|shared_change| (&shared_change.trees, shared_change.state));
    format!(
        "{} about {}",
        many(wrong.len(), "contradiction"),
        many(states.count(), "state")
    )
}

impl Shared<'_> {
    fn is_wrong(&self) -> bool {
        self.verdict.calls_for_change()
    }

    fn text(&self) -> String {
        let trees = match self.trees.as_slice() {
            [tree] => (*tree).to_owned(),
            [first, more @ ..] => format!("{first} and {}", many(more.len(), "other tree")),
            [] => String::new(),
        };
        format!("{trees}: {}", self.sentence)
    }
}

/// Finds the verdicts of all trees.
fn shared(audits: &[IdleAudit]) -> Vec<Shared<'_>> {
    let mut shared: Vec<Shared<'_>> = Vec::new();
    for audit in audits {
        for (state, judgement) in audit.judgements() {
            let sentence = sentence(state, judgement);
            match shared.iter_mut().find(|other| other.sentence == sentence) {
                Some(same) => same.trees.push(&audit.source),
                None => shared.push(Shared {
                    state: &state.declared.name,
                    verdict: judgement.verdict,
                    sentence,
                    trees: vec![&audit.source],
                }),
            }
        }
    }
    shared
}

fn several_audits<'r>(report: &IdleReport) -> Vec<Block<'r>> {
    let audits = report.audits.as_slice();
    let shared = shared(audits);
    let states = audits.iter().map(|audit| audit.states.len()).sum();
    let mut facts = vec![
        (
            "Declared",
            format!("{} with idle states", many(audits.len(), "tree")),
        ),
        ("States", many(states, "state")),
        ("Verdicts", counts(audits)),
        ("Different", different(&shared)),
    ];
    let refused = report.refused_trees().count();
    let without = report.unaudited_trees.len() - refused;
    if without > 0 {
        facts.push(("No states", many(without, "tree")));
    }
    if refused > 0 {
        facts.push(("Not audited", many(refused, "tree")));
    }
    let mut blocks = vec![Block::Title(title(report)), Block::Definitions(facts)];
    let (wrong, unused): (Vec<_>, Vec<_>) = shared
        .iter()
        .partition(|shared_change| shared_change.is_wrong());
    for (heading, listed) in [("What is wrong", wrong), ("What is not used", unused)] {
        if !listed.is_empty() {
            blocks.push(Block::Heading(heading.to_owned()));
            let remarks = listed.into_iter().map(Shared::text);
            blocks.push(Block::Remarks(remarks.collect()));
        }
    }
    blocks.extend(tree_table(report).finished().map(Block::Table));
    blocks
}

/// Builds a table with the result for each tree.
fn tree_table(report: &IdleReport) -> Table {
    let mut table = Table::titled("Trees");
    table.words(["Tree"]);
    table.numbers(["States"]);
    table.words(["Result"]);
    let audited = report.audits.iter().map(|audit| {
        let result = counts(std::slice::from_ref(audit));
        vec![audit.source.clone(), audit.states.len().to_string(), result]
    });
    let unaudited = report.unaudited_trees.iter().map(|tree| {
        let (states, result) = match tree.refusal() {
            None => ("0".to_owned(), "no idle states".to_owned()),
            Some(reason) => (ABSENT.to_owned(), format!("cannot be audited: {reason}")),
        };
        vec![tree.source.clone(), states, result]
    });
    table.rows = audited.chain(unaudited).sorted().collect();
    table
}
