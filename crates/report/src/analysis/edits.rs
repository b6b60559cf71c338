//! Edits to the made-up suite run. Each edit changes one thing.

use hardware::board::Mpidr;
use suite::measure::{Facts, Metric};
use suite::model::{Conditions, WakeSource};
use suite::plan::{Method, Plan, WakePattern};

use super::made_up::suite;
use crate::log::LoggedRun;
use crate::log::logged_run::Stage;

/// An edit to a run.
pub(super) type RunEdit = fn(&mut LoggedRun);

/// Returns the made-up suite run after one edit.
pub(super) fn edited(edit: RunEdit) -> LoggedRun {
    let mut run = suite();
    edit(&mut run);
    run
}

fn facts(run: &mut LoggedRun) -> &mut Facts {
    run.run.facts.as_mut().expect("a record")
}

fn plan(run: &mut LoggedRun) -> &mut Plan {
    run.run.plan.as_mut().expect("a record")
}

/// Returns the conditions of the first scenario.
fn conditions(run: &mut LoggedRun) -> &mut Conditions {
    let conditions = run.run.scenarios[0].conditions.as_mut();
    conditions.expect("a record")
}

pub(super) fn nothing(_: &mut LoggedRun) {}

pub(super) fn board(run: &mut LoggedRun) {
    run.run.head.as_mut().expect("a record").model = "Juno".into();
}

pub(super) fn no_head(run: &mut LoggedRun) {
    run.run.head = None;
}

pub(super) fn payload(run: &mut LoggedRun) {
    run.run.head.as_mut().expect("a record").version = "9.9.9".into();
}

pub(super) fn clock(run: &mut LoggedRun) {
    facts(run).frequency = 1_000_000;
}

pub(super) fn no_clock(run: &mut LoggedRun) {
    facts(run).frequency = 0;
}

pub(super) fn no_facts(run: &mut LoggedRun) {
    run.run.facts = None;
}

pub(super) fn level(run: &mut LoggedRun) {
    facts(run).exception_level = 1;
}

pub(super) fn no_plan(run: &mut LoggedRun) {
    run.run.plan = None;
}

pub(super) fn iterations(run: &mut LoggedRun) {
    plan(run).iterations = 7;
}

pub(super) fn pattern(run: &mut LoggedRun) {
    plan(run).wake = Some(WakePattern::Staggered);
}

pub(super) fn firmware(run: &mut LoggedRun) {
    run.firmware = vec![Stage::default()];
    run.firmware[0].version = Some("v2.1.1(release):x".into());
}

pub(super) fn one_mpidr(run: &mut LoggedRun) {
    run.run.cpus[3].mpidr = Some(Mpidr::new(0x103));
}

pub(super) fn equal_mpidrs(run: &mut LoggedRun) {
    run.run
        .cpus
        .iter_mut()
        .for_each(|cpu| cpu.mpidr = Some(Mpidr::new(9)));
}

pub(super) fn no_mpidrs(run: &mut LoggedRun) {
    run.run.cpus.iter_mut().for_each(|cpu| cpu.mpidr = None);
}

pub(super) fn equal_labels(run: &mut LoggedRun) {
    for cpu in &mut run.run.cpus {
        (cpu.mpidr, cpu.core) = (None, 0);
    }
}

pub(super) fn state(run: &mut LoggedRun) {
    conditions(run).power_state = Some(7);
}

pub(super) fn wake_source(run: &mut LoggedRun) {
    conditions(run).wake_source = WakeSource::Helper;
}

pub(super) fn callers_figures(run: &mut LoggedRun) {
    conditions(run).pmf = false;
}

/// Turns the last CPU in the first scenario into that scenario's helper.
pub(super) fn helper(run: &mut LoggedRun) {
    wake_source(run);
    let first = &mut run.run.scenarios[0];
    first.helper = first.cells.pop().map(|cell| cell.cpu);
}

/// Removes a row from the first scenario.
pub(super) fn lost_row(run: &mut LoggedRun) {
    run.run.scenarios[0].cells.pop();
}

/// Removes the record of a row in the second scenario, but leaves its line.
pub(super) fn line(run: &mut LoggedRun) {
    let cell = &mut run.run.scenarios[1].cells[2];
    cell.counts = None;
    cell.set_figure(Metric::Powerdown, Some(1));
}

/// Removes all rows from the second scenario.
pub(super) fn no_rows(run: &mut LoggedRun) {
    run.run.scenarios[1].cells.clear();
}

/// Removes the Powerdown figure from a row in the second scenario.
pub(super) fn no_powerdown(run: &mut LoggedRun) {
    run.run.scenarios[1].cells[3].set_figure(Metric::Powerdown, None);
}

/// Changes the second scenario to the warm method.
pub(super) fn warm(run: &mut LoggedRun) {
    run.run.scenarios[1].method = Method::Warm;
}

/// Adds a copy of the second scenario that uses the warm method.
pub(super) fn warm_too(run: &mut LoggedRun) {
    let mut warm = run.run.scenarios[1].clone();
    warm.method = Method::Warm;
    run.run.scenarios.push(warm);
}

pub(super) fn three_scenarios(run: &mut LoggedRun) {
    run.run.scenarios.truncate(3);
}

pub(super) fn no_scenarios(run: &mut LoggedRun) {
    run.run.scenarios.clear();
}

pub(super) fn two_cpus(run: &mut LoggedRun) {
    run.run.cpus.truncate(2);
    for scenario in &mut run.run.scenarios {
        scenario.cells.truncate(2);
    }
}
