//! Edits to the synthetic suite run. Each edit changes one thing.

use hardware::board::Mpidr;
use suite::measure::{Facts, Metric};
use suite::model::{Conditions, WakeSource};
use suite::plan::{Method, Plan, WakePattern};

use super::synthetic::suite;
use crate::log::LoggedRun;
use crate::log::logged_run::Stage;

/// An edit to a run.
pub(super) type RunEdit = fn(&mut LoggedRun);

/// Returns the synthetic suite run after one edit.
pub(super) fn edited(edit: RunEdit) -> LoggedRun {
    let mut logged = suite();
    edit(&mut logged);
    logged
}

fn facts(logged: &mut LoggedRun) -> &mut Facts {
    logged.run.facts.as_mut().expect("a record")
}

fn plan(logged: &mut LoggedRun) -> &mut Plan {
    logged.run.plan.as_mut().expect("a record")
}

/// Returns the conditions of the first scenario.
fn conditions(logged: &mut LoggedRun) -> &mut Conditions {
    let conditions = logged.run.scenarios[0].conditions.as_mut();
    conditions.expect("a record")
}

pub(super) fn nothing(_: &mut LoggedRun) {}

pub(super) fn board(logged: &mut LoggedRun) {
    logged.run.head.as_mut().expect("a record").model = "Juno".into();
}

pub(super) fn no_head(logged: &mut LoggedRun) {
    logged.run.head = None;
}

pub(super) fn payload(logged: &mut LoggedRun) {
    logged.run.head.as_mut().expect("a record").version = "9.9.9".into();
}

pub(super) fn clock(logged: &mut LoggedRun) {
    facts(logged).frequency = 1_000_000;
}

pub(super) fn no_clock(logged: &mut LoggedRun) {
    facts(logged).frequency = 0;
}

pub(super) fn no_facts(logged: &mut LoggedRun) {
    logged.run.facts = None;
}

pub(super) fn level(logged: &mut LoggedRun) {
    facts(logged).exception_level = 1;
}

pub(super) fn no_plan(logged: &mut LoggedRun) {
    logged.run.plan = None;
}

pub(super) fn iterations(logged: &mut LoggedRun) {
    plan(logged).iterations = 7;
}

pub(super) fn pattern(logged: &mut LoggedRun) {
    plan(logged).wake = Some(WakePattern::Staggered);
}

pub(super) fn firmware(logged: &mut LoggedRun) {
    logged.firmware = vec![Stage::default()];
    logged.firmware[0].version = Some("v2.1.1(release):x".into());
}

pub(super) fn one_mpidr(logged: &mut LoggedRun) {
    logged.run.cpus[3].mpidr = Some(Mpidr::new(0x103));
}

pub(super) fn equal_mpidrs(logged: &mut LoggedRun) {
    logged
        .run
        .cpus
        .iter_mut()
        .for_each(|cpu| cpu.mpidr = Some(Mpidr::new(9)));
}

pub(super) fn no_mpidrs(logged: &mut LoggedRun) {
    logged.run.cpus.iter_mut().for_each(|cpu| cpu.mpidr = None);
}

pub(super) fn equal_labels(logged: &mut LoggedRun) {
    for cpu in &mut logged.run.cpus {
        (cpu.mpidr, cpu.core) = (None, 0);
    }
}

pub(super) fn state(logged: &mut LoggedRun) {
    conditions(logged).power_state = Some(7);
}

pub(super) fn wake_source(logged: &mut LoggedRun) {
    conditions(logged).wake_source = WakeSource::Helper;
}

pub(super) fn callers_figures(logged: &mut LoggedRun) {
    conditions(logged).pmf = false;
}

/// Turns the last CPU in the first scenario into that scenario's helper.
pub(super) fn helper(logged: &mut LoggedRun) {
    wake_source(logged);
    let first = &mut logged.run.scenarios[0];
    first.helper = first.cells.pop().map(|cell| cell.cpu);
}

/// Removes a row from the first scenario.
pub(super) fn lost_row(logged: &mut LoggedRun) {
    logged.run.scenarios[0].cells.pop();
}

/// Removes the record of a row in the second scenario, but leaves its line.
pub(super) fn line(logged: &mut LoggedRun) {
    let cell = &mut logged.run.scenarios[1].cells[2];
    cell.counts = None;
    cell.set_figure(Metric::Powerdown, Some(1));
}

/// Removes all rows from the second scenario.
pub(super) fn no_rows(logged: &mut LoggedRun) {
    logged.run.scenarios[1].cells.clear();
}

/// Removes the Powerdown figure from a row in the second scenario.
pub(super) fn no_powerdown(logged: &mut LoggedRun) {
    logged.run.scenarios[1].cells[3].set_figure(Metric::Powerdown, None);
}

/// Changes the second scenario to the warm method.
pub(super) fn warm(logged: &mut LoggedRun) {
    logged.run.scenarios[1].method = Method::Warm;
}

/// Adds a copy of the second scenario that uses the warm method.
pub(super) fn warm_too(logged: &mut LoggedRun) {
    let mut warm = logged.run.scenarios[1].clone();
    warm.method = Method::Warm;
    logged.run.scenarios.push(warm);
}

pub(super) fn three_scenarios(logged: &mut LoggedRun) {
    logged.run.scenarios.truncate(3);
}

pub(super) fn no_scenarios(logged: &mut LoggedRun) {
    logged.run.scenarios.clear();
}

pub(super) fn two_cpus(logged: &mut LoggedRun) {
    logged.run.cpus.truncate(2);
    for scenario in &mut logged.run.scenarios {
        scenario.cells.truncate(2);
    }
}
