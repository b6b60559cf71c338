//! A run's records as words and numbers by key.

use std::collections::BTreeMap;

use psci_bench::measure::Counter;
use psci_bench::model::{Instant, Row, Run, Scenario, Skip, Status};
use serde_json::Value;

use super::Fields;

type Records = BTreeMap<String, Vec<Fields>>;

/// Returns a value of the model as the word or number that it is in a record.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value).expect("JSON") {
        Value::String(word) => word,
        Value::Bool(value) => u8::from(value).to_string(),
        other => other.to_string(),
    }
}

/// Names of the instants of a sample.
const INSTANTS: [&str; 12] = [
    "before",
    "s0",
    "s4",
    "s5",
    "s2",
    "s3",
    "s1",
    "due",
    "after",
    "turned_on",
    "entered",
    "seen_off",
];

struct Table(Records);

impl Table {
    fn add(&mut self, kind: &str, fields: &[(&str, Option<String>)]) {
        let known = fields.iter().filter_map(|(key, value)| {
            let value = value.clone()?;
            Some(((*key).to_owned(), value))
        });
        self.0
            .entry(kind.to_owned())
            .or_default()
            .push(known.collect());
    }
}

/// Returns the records of a run by type.
pub fn of_run(run: &Run) -> Records {
    let mut table = Table(Records::new());
    if let Some(head) = &run.head {
        table.add("run", &[("version", Some(head.version.clone()))]);
    }
    if let Some(facts) = &run.facts {
        let erratum = match facts.counter {
            Counter::PhysicalTwice(erratum) => Some(erratum.name().to_owned()),
            _ => None,
        };
        table.add(
            "facts",
            &[
                ("el", Some(facts.exception_level.to_string())),
                ("gic", Some(facts.gic.to_string())),
                ("conduit", Some(word(&facts.conduit))),
                ("state_format", Some(word(&facts.state_format))),
                ("hz", Some(facts.frequency.to_string())),
                ("cost_counter", Some(facts.overheads.counter.to_string())),
                ("cost_empty", Some(facts.overheads.empty.to_string())),
                (
                    "cost_pmf",
                    facts.overheads.pmf_read.map(|it| it.to_string()),
                ),
                ("counter_erratum", erratum),
                ("e2h", facts.e2h.then(|| "1".to_owned())),
                ("counter", Some(facts.counter.name().to_owned())),
                ("timer", Some(word(&facts.timer))),
            ],
        );
    }
    for cpu in &run.cpus {
        let mpidr = cpu.mpidr.map(|it| format!("{it:#x}"));
        let labels = [cpu.cluster, cpu.core].map(|it| Some(it.to_string()));
        let [cluster, core] = labels;
        table.add(
            "cpu",
            &[("mpidr", mpidr), ("cluster", cluster), ("core", core)],
        );
    }
    run.scenarios
        .iter()
        .for_each(|it| of_scenario(&mut table, run, it));
    table.0
}

fn of_scenario(table: &mut Table, run: &Run, scenario: &Scenario) {
    let t = Some(scenario.id.number().to_string());
    let by = Some(word(&scenario.method));
    let helper = scenario.helper.map(|it| it.to_string());
    let status = match scenario.status {
        Status::Passed => "passed",
        Status::Skipped(_) => "skipped",
        Status::Failed(_) => "failed",
        Status::Crashed | Status::Unknown => "unknown",
    };
    let function = match scenario.status {
        Status::Skipped(Skip::NotSupported(function)) => Some(format!("{function:#x}")),
        _ => None,
    };
    let conditions = scenario.conditions.as_ref();
    table.add(
        "test",
        &[
            ("t", t.clone()),
            ("by", by.clone()),
            ("helper", helper.clone()),
            ("tag", Some(scenario.id.tag().to_owned())),
            ("status", Some(status.to_owned())),
            ("function", function),
            ("asked", conditions.map(|it| it.asked.to_string())),
            ("attempts", conditions.map(|it| it.attempts.to_string())),
        ],
    );
    let mpidr = |cpu: u16| run.cpu(cpu).mpidr.map(|it| format!("{it:#x}"));
    let key = |cpu| {
        [
            ("t", t.clone()),
            ("by", by.clone()),
            ("helper", helper.clone()),
            ("mpidr", mpidr(cpu)),
        ]
    };
    for row in &scenario.rows {
        of_row(table, &key(row.cpu), row);
    }
    for point in &scenario.points {
        let figures = &point.figures;
        let mut fields = key(point.cpu).to_vec();
        fields.extend([
            ("how", Some(word(&point.how))),
            ("var", Some(word(&point.variant))),
            ("x", point.x.map(|it| it.to_string())),
            ("metric", Some(word(&point.measure))),
            ("per", Some(point.per.to_string())),
            ("n", Some(figures.n.to_string())),
            ("min", Some(figures.min.to_string())),
            ("med", Some(figures.median.to_string())),
            ("p99", figures.p99.map(|it| it.to_string())),
            ("max", Some(figures.max.to_string())),
            (
                "lost",
                Some(point.lost)
                    .filter(|it| *it > 0)
                    .map(|it| it.to_string()),
            ),
            ("woken_by", point.waker.helper().map(|it| it.to_string())),
        ]);
        table.add("point", &fields);
        if let Some(spread) = &point.spread {
            let counts: Vec<_> = spread.counts.iter().map(u32::to_string).collect();
            fields.push(("c", Some(counts.join(","))));
            table.add("hist", &fields);
        }
    }
}

fn of_row(table: &mut Table, key: &[(&str, Option<String>)], row: &Row) {
    let with = |more: &[(&'static str, Option<String>)]| [key, more].concat();
    let text = |number: Option<u64>| number.map(|it| it.to_string());
    table.add(
        "row",
        &with(&[
            ("woken_by", row.helper.map(|it| it.to_string())),
            ("powerdown", text(row.figures.powerdown)),
            ("latency", text(row.figures.powerdown)),
            ("wakeup", text(row.figures.wakeup)),
            ("cflush", text(row.figures.cache_flush)),
            ("valid", Some(row.valid().to_string())),
        ]),
    );
    for statistic in row.statistics.iter().filter(|it| it.summary.n > 0) {
        let it = &statistic.summary;
        table.add(
            "m",
            &with(&[
                ("metric", Some(word(&statistic.metric))),
                ("n", Some(it.n.to_string())),
                ("min", Some(it.min.to_string())),
                ("med", Some(it.median.to_string())),
                ("max", Some(it.max.to_string())),
            ]),
        );
    }
    for (reason, count) in row.attempts.iter().flat_map(|it| &it.rejected) {
        table.add("x", &with(&[(reason.key(), Some(count.to_string()))]));
    }
    if let Some(reached) = row.reached {
        let state = reached.state.map_or(0, u64::from);
        table.add(
            "reached",
            &with(&[
                ("due", Some(format!("{:#x}", reached.due))),
                ("state", Some(format!("{state:#x}"))),
                ("rose", Some(reached.times.to_string())),
                ("residency_us", Some(reached.residency_us.to_string())),
            ]),
        );
    }
    for sample in &row.samples {
        let mut fields = vec![
            ("k", Some(sample.place.to_string())),
            ("base", Some(sample.instants.base.to_string())),
        ];
        for (name, instant) in INSTANTS.into_iter().zip(Instant::ALL) {
            fields.push((name, sample.instants.at(instant).map(|it| it.to_string())));
        }
        table.add("s", &with(&fields));
    }
}
