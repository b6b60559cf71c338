//! Pages with flame graphs and ledger charts, for the browser.

use std::collections::BTreeMap;

use runner::build::checkout::Commit;
use test_support::browser::check_page;

use crate::commits::figure_comparison::{CommitFigures, FigureComparison};
use crate::commits::ledger::{CommitLedger, LedgerEntry, LedgerJump};
use crate::commits::ledger_export::{self, LedgerFormat};
use crate::profile::difference::changes;
use crate::profile::export::{ProfileFormat, write};
use crate::profile::profile::{Cost, Profile, ProfilePhase};

/// A function name that contains markup.
const MARKUP: &str = "smc;<script>nosuch()</script>";

/// Returns a phase of two samples with these stacks and their mean instructions per call.
fn phase(name: &str, stacks: &[(&str, u64)]) -> ProfilePhase {
    let cost = |mean: u64| Cost {
        instructions: 2 * mean,
        calls: 2,
        ..Cost::default()
    };
    let stacks: BTreeMap<String, Cost> = stacks
        .iter()
        .map(|(stack, mean)| ((*stack).to_owned(), cost(*mean)))
        .collect();
    ProfilePhase {
        scenario: "susp_deep_serial".to_owned(),
        name: name.to_owned(),
        samples: 2,
        elapsed: stacks.values().map(|cost| cost.instructions).sum(),
        stacks,
        ..ProfilePhase::default()
    }
}

fn profile(phases: Vec<ProfilePhase>) -> Profile {
    let mut profile = Profile::synthetic(&[]);
    profile.phases = phases;
    profile
}

fn old_profile() -> Profile {
    let entry = [
        ("smc", 100),
        ("smc;suspend", 39),
        ("smc;suspend;finish_old", 30),
        ("smc;suspend;finish_old;wait", 20),
        ("smc;suspend;memcpy", 260),
        ("smc;suspend;memcpy;memset", 20),
        ("smc;suspend;nop", 1),
        ("smc;trace", 30),
    ];
    let flush = [("smc;flush_by_set_and_way", 30), ("smc;answer_ping", 7)];
    profile(vec![phase("entry", &entry), phase("cache flush", &flush)])
}

fn new_profile() -> Profile {
    let entry = [
        ("smc", 100),
        (MARKUP, 100),
        ("smc;suspend", 49),
        ("smc;suspend;finish_new", 30),
        ("smc;suspend;finish_new;wait", 20),
        ("smc;suspend;memcpy", 80),
        ("smc;suspend;memcpy;memset", 20),
        ("smc;suspend;nop", 1),
    ];
    let inserted = "smc;power_down;flush_by_set_and_way";
    let flush = [
        ("smc;power_down", 5),
        (inserted, 30),
        ("smc;answer_pong", 7),
    ];
    profile(vec![phase("entry", &entry), phase("cache flush", &flush)])
}

fn page(profile: &Profile, baseline: Option<&Profile>) -> String {
    let mut page = Vec::new();
    write(ProfileFormat::Html, profile, baseline, &mut page).expect("a page");
    String::from_utf8(page).expect("UTF-8")
}

#[test]
fn profile_page_has_its_parts() {
    let page = page(&new_profile(), None);
    for part in [
        "<li class=\"chart\"><a href=\"#susp_deep_serial-cache-flush\">cache flush</a></li>",
        "<g class=\"frame flame\" data-name=\"memcpy\"",
        "<title>memcpy: 100.0 instructions, 25.0 %</title>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    check_in_browser("profile", &page);
}

#[test]
fn change_page_has_its_parts() {
    let page = page(&new_profile(), Some(&old_profile()));
    for part in [
        "<g class=\"frame flame-fewer-3\" data-name=\"− memcpy\"",
        "<g class=\"frame flame-fewer-2\" data-name=\"− trace\"",
        "<g class=\"frame flame-more-2\" data-name=\"+ suspend\"",
        "<g class=\"frame flame-same\" data-name=\"finish_old → finish_new\"",
        "<title>finish_old → finish_new: 50.0 instructions, 12.5 %; baseline 50.0, ",
        "; inserted: the baseline calls its callees directly</title>",
        "<g class=\"frame flame-same\" data-name=\"flush_by_set_and_way\"",
        "<span>answer_ping →</span> <span>answer_pong</span>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    check_in_browser("change", &page);
}

#[test]
fn ledger_page_has_its_parts() {
    let profiles = [old_profile(), old_profile(), new_profile()];
    let entry = |(place, profile): (usize, Profile)| LedgerEntry {
        commit: commit(place),
        record: CommitFigures::from(profile),
        ..LedgerEntry::default()
    };
    let entries = profiles.into_iter().enumerate().map(entry).collect();
    let jump = LedgerJump {
        commit: commit(2),
        since: commit(1),
        merged_by: None,
        changes: changes(&old_profile(), &new_profile()),
        share_of_whole: None,
    };
    let ledger = CommitLedger {
        range: "v1..v2".to_owned(),
        comparison: FigureComparison::all(0.01, None),
        entries,
        jumps: vec![jump],
        whole: Vec::new(),
    };
    let mut bytes = Vec::new();
    ledger_export::write(LedgerFormat::Html, &ledger, &mut bytes).expect("a page");
    let page = String::from_utf8(bytes).expect("UTF-8");
    for part in [
        ">Charts</a></li>",
        "<li class=\"chart\"><a href=\"#susp_deep_serial-cache-flush\">",
        "class=\"last-man\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script"), "a page without flame graphs");
    check_in_browser("ledger", &page);
}

fn commit(place: usize) -> Commit {
    Commit {
        id: format!("{place}").repeat(40),
        title: "psci: add <b>power_down</b>".to_owned(),
        ..Commit::default()
    }
}

/// Checks that a browser finds nothing wrong with a page.
fn check_in_browser(name: &str, page: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    check_page(name, page, dir.path());
}
