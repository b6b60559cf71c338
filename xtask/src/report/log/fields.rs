//! What the fields of a record say, by its type.
//!
//! A key that is not known is kept in `others`, or is a metric or a reason by
//! that word; a value that can not be what its key says is left out, and the
//! record counted as malformed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use psci_bench::measure::Metric;
use psci_bench::model::WakeSource;
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::record::line::Type;
use psci_bench::record::parse::{Record, number, signed};
use psci_bench::spec::caches::Cache;
use psci_bench::spec::words::Word as _;

use self::parts::Parts;
use self::points::Points;
use self::values::{all, flag, other, put, put_plain, text};
use crate::report::model::{
    Cpu, Facts, Instants, Other, Plan, Point, Reached, Row, Sample, Status, Term, Test, Why,
};

mod machine;
mod parts;
mod points;
mod values;

/// The most CPUs that a board is believed to have.
const CPUS_MAX: u32 = 1 << 16;

/// What the records of a run have said so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) version: Option<String>,
    pub(super) model: Option<String>,
    pub(super) labels: Option<String>,
    pub(super) format: Option<u64>,
    pub(super) others: Vec<Other>,
    pub(super) facts: Facts,
    pub(super) plan: Plan,
    /// By index.
    pub(super) cpus: BTreeMap<u32, Cpu>,
    pub(super) tests: Vec<Gathering>,
    by_place: HashMap<(u32, Box<str>, Option<usize>), usize>,
    /// The test of the last record: most are of the same as the one before.
    last: usize,
}

/// One test of it.
#[derive(Debug)]
pub(super) struct Gathering {
    pub(super) test: Test,
    /// The least SEQ of its records.
    pub(super) seq: u32,
    pub(super) rows: Vec<RowParts>,
    by_mpidr: HashMap<u64, usize>,
    last: usize,
    skew: Parts,
    pub(super) points: Points,
}

/// A row, and what it is still made of.
#[derive(Debug)]
pub(super) struct RowParts {
    pub(super) mpidr: u64,
    pub(super) row: Row,
    parts: Vec<(Term<Metric>, Parts)>,
}

impl Gathered {
    /// The CPUs in the board's order, which is MPIDR's, and so that a CPU's
    /// index is the one that records mean. What is known of a CPU whose record
    /// was lost is the MPIDR of its rows.
    pub(super) fn take_cpus(&mut self) -> Vec<Cpu> {
        let known = std::mem::take(&mut self.cpus);
        let rows = self.tests.iter().flat_map(|test| &test.rows);
        let mut lost: Vec<u64> = rows.map(|row| row.mpidr).collect();
        lost.extend(self.tests.iter().flat_map(|test| test.points.mpidrs()));
        lost.sort_unstable();
        lost.dedup();
        let there: BTreeSet<u64> = known.values().filter_map(|cpu| cpu.mpidr).collect();
        lost.retain(|mpidr| !there.contains(mpidr));
        self::machine::in_order(known, &lost)
    }

    /// Takes a record in; false where one of its values can not be.
    pub(super) fn record(&mut self, record: &Record<'_>) -> bool {
        match record.kind {
            Type::Run => all(record, |key, value| self.run(key, value)),
            Type::Facts => all(record, |key, value| {
                self::machine::facts(&mut self.facts, key, value)
            }),
            Type::Plan => all(record, |key, value| {
                self::machine::plan(&mut self.plan, key, value)
            }),
            Type::Cpu => self.cpu(record),
            // The ledger's.
            Type::End => true,
            Type::Point | Type::Histogram => self.point(record),
            kind => self.in_test(kind, record),
        }
    }

    fn run(&mut self, key: &str, value: &str) -> bool {
        match key {
            "version" => text(&mut self.version, value),
            "model" => text(&mut self.model, value),
            "labels" => text(&mut self.labels, value),
            "format" => put(&mut self.format, value),
            "cpus" | "tests" => number(value).is_some(),
            _ => other(&mut self.others, key, value),
        }
    }

    fn cpu(&mut self, record: &Record<'_>) -> bool {
        let index = record.unsigned("i").and_then(|i| u32::try_from(i).ok());
        let Some(index) = index.filter(|index| *index < CPUS_MAX) else {
            return false;
        };
        let cpu = self.cpus.entry(index).or_default();
        all(record, |key, value| match key {
            "i" => true,
            "mpidr" => put(&mut cpu.mpidr, value),
            "midr" => put(&mut cpu.midr, value),
            "cluster" => put_plain(&mut cpu.cluster, value),
            "core" => put_plain(&mut cpu.core, value),
            "thread" => put_plain(&mut cpu.thread, value),
            _ => {
                let bytes = number(value).unwrap_or(0);
                cpu.caches.extend(Cache::from_key(key, bytes));
                true
            }
        })
    }

    /// A record of a scenario outside the suite, of which each has but one
    /// method, so that the record does not say it.
    fn point(&mut self, record: &Record<'_>) -> bool {
        let place = record.unsigned("t").and_then(|t| u32::try_from(t).ok());
        let Some(place) = place else { return false };
        let by = self
            .tests
            .iter()
            .find(|it| it.test.place == Some(place))
            .map_or("warm".to_owned(), |it| it.test.method.word().to_owned());
        self.test(place, &by, None, record.seq)
            .points
            .record(record)
    }

    fn in_test(&mut self, kind: Type, record: &Record<'_>) -> bool {
        // Leading keys come first, in this order.
        let mut fields = record.fields().peekable();
        let place = fields.next_if(|field| field.0 == "t");
        let by = fields.next_if(|field| field.0 == "by");
        let place = place.and_then(|field| field.1.parse::<u32>().ok());
        let (Some(place), Some((_, by))) = (place, by) else {
            return false;
        };
        // Where the scenario is measured once for each of several.
        let helper = fields.next_if(|field| field.0 == "helper");
        let helper = helper.and_then(|field| field.1.parse().ok());
        let gathering = self.test(place, by, helper, record.seq);
        let mpidr = match fields.next_if(|field| field.0 == "mpidr") {
            Some((_, value)) => match number(value) {
                Some(mpidr) => Some(mpidr),
                None => return false,
            },
            None => None,
        };
        let Some(mpidr) = mpidr else {
            return match kind {
                Type::Test => {
                    let test = &mut gathering.test;
                    fields.fold(true, |sound, (key, value)| {
                        test_field(test, key, value) & sound
                    })
                }
                Type::Summary => match fields.next_if_eq(&("metric", "skew")) {
                    Some(_) => fields.fold(true, |sound, (key, value)| {
                        gathering.skew.set(key, value) & sound
                    }),
                    // A later one of the whole test.
                    None => true,
                },
                _ => false,
            };
        };
        let parts = gathering.row(mpidr);
        match kind {
            Type::Sample => {
                let at = fields.next_if(|field| field.0 == "k");
                let at = at.and_then(|field| field.1.parse().ok());
                at.is_some_and(|at| {
                    let sample = sample(&mut parts.row.samples, at);
                    instants(sample, &mut fields)
                })
            }
            Type::Event => {
                let event = parts.row.event.get_or_insert_default();
                instants(event, &mut fields)
            }
            Type::Summary => {
                let Some((_, metric)) = fields.next_if(|field| field.0 == "metric") else {
                    return false;
                };
                let of = parts.of(Term::of(metric));
                fields.fold(true, |sound, (key, value)| of.set(key, value) & sound)
            }
            kind => fields.fold(true, |sound, (key, value)| {
                row_field(&mut parts.row, kind, key, value) & sound
            }),
        }
    }

    fn test(&mut self, place: u32, by: &str, helper: Option<usize>, seq: u32) -> &mut Gathering {
        let same = |it: &&mut Gathering| {
            let test = &it.test;
            test.place == Some(place) && test.method.word() == by && test.helper == helper
        };
        if self
            .tests
            .get_mut(self.last)
            .as_ref()
            .is_none_or(|it| !same(it))
        {
            let count = self.tests.len();
            let key = (place, by.into(), helper);
            self.last = *self.by_place.entry(key).or_insert(count);
            if self.last == count {
                let mut gathering = Gathering::new(place, Term::of(by), seq);
                gathering.test.helper = helper;
                self.tests.push(gathering);
            }
        }
        // It is there: found, or just pushed.
        let index = self.last.min(self.tests.len().saturating_sub(1));
        let it = &mut self.tests[index];
        it.seq = it.seq.min(seq);
        it
    }
}

impl Gathering {
    fn new(place: u32, method: Term<Method>, seq: u32) -> Self {
        // The tag is what counts; until it is read, the place has to do.
        let scenario = match ScenarioId::from_number(place.into()) {
            Some(id) => Term::Known(id),
            None => Term::Other(format!("scenario_{place}").into()),
        };
        Self {
            test: Test {
                place: Some(place),
                ..Test::new(scenario, method)
            },
            seq,
            rows: Vec::new(),
            by_mpidr: HashMap::new(),
            last: 0,
            skew: Parts::default(),
            points: Points::default(),
        }
    }

    fn row(&mut self, mpidr: u64) -> &mut RowParts {
        if self
            .rows
            .get(self.last)
            .is_none_or(|row| row.mpidr != mpidr)
        {
            let count = self.rows.len();
            self.last = *self.by_mpidr.entry(mpidr).or_insert(count);
            if self.last == count {
                self.rows.push(RowParts {
                    mpidr,
                    row: Row::default(),
                    parts: Vec::new(),
                });
            }
        }
        let index = self.last.min(self.rows.len().saturating_sub(1));
        &mut self.rows[index]
    }

    /// Makes what is complete of parts.
    pub(super) fn settle(&mut self) {
        self.test.skew = self.skew.whole();
        for row in &mut self.rows {
            let whole = |(metric, parts): (_, Parts)| Some((metric, parts.whole()?));
            row.row.summaries = std::mem::take(&mut row.parts)
                .into_iter()
                .filter_map(whole)
                .collect();
        }
    }
}

impl RowParts {
    fn of(&mut self, metric: Term<Metric>) -> &mut Parts {
        let found = self.parts.iter().position(|it| it.0 == metric);
        let index = found.unwrap_or_else(|| {
            self.parts.push((metric, Parts::default()));
            self.parts.len() - 1
        });
        &mut self.parts[index].1
    }
}

/// The instants of the sample at `place`. They come in order, but for those
/// that only the second copy has.
fn sample(samples: &mut Vec<Sample>, place: u32) -> &mut Instants {
    let index = match samples.last() {
        Some(last) if last.place == place => samples.len() - 1,
        Some(last) if last.place > place => {
            let found = samples.binary_search_by_key(&place, |sample| sample.place);
            found.unwrap_or_else(|index| {
                samples.insert(index, of_place(place));
                index
            })
        }
        _ => {
            samples.push(of_place(place));
            samples.len() - 1
        }
    };
    &mut samples[index].instants
}

fn of_place(place: u32) -> Sample {
    Sample {
        place,
        instants: Instants::default(),
    }
}

fn instants<'l>(to: &mut Instants, fields: &mut dyn Iterator<Item = (&'l str, &'l str)>) -> bool {
    let mut sound = true;
    for (key, value) in fields {
        if key == "base" {
            sound &= put(&mut to.base, value);
        } else if let Some(point) = Point::of(key) {
            match signed(value) {
                Some(ticks) => to.set(point, ticks),
                None => sound = false,
            }
        }
    }
    sound
}

fn test_field(test: &mut Test, key: &str, value: &str) -> bool {
    match key {
        "tag" => {
            test.scenario = Term::of(value);
            true
        }
        "status" => {
            test.status = Status::of(value);
            true
        }
        "pmf" => {
            test.pmf = flag(value);
            test.pmf.is_some()
        }
        "state" => put(&mut test.power_state, value),
        // The first edition's word for a frame.
        "timers_stop" => {
            let stops = flag(value);
            test.wake_source = match stops {
                Some(true) => WakeSource::Frame,
                _ => WakeSource::OwnTimers,
            };
            stops.is_some()
        }
        "waker" => {
            let known = WakeSource::from_word(value);
            test.wake_source = known.unwrap_or_default();
            test.says_wake_source = known.is_some();
            known.is_some()
        }
        "asked" => put(&mut test.asked, value),
        "attempts" => put(&mut test.attempts, value),
        "sleep" => put(&mut test.sleep, value),
        "trials" => put(&mut test.trials, value),
        "why" => {
            test.why.get_or_insert_default().word = value.to_owned();
            true
        }
        "why_cpu" | "valid" | "step" | "cause" | "reason" | "stamp" | "fault" | "ticks"
        | "intid" | "call" | "answer" => {
            other(&mut test.why.get_or_insert_default().details, key, value)
        }
        key if OF_SKIPS.contains(&key) => {
            other(&mut test.why.get_or_insert_default().details, key, value)
        }
        _ => other(&mut test.others, key, value),
    }
}

/// What belongs to the reason that a scenario, or a row, is skipped.
const OF_SKIPS: [&str; 6] = ["error", "function", "no_frame", "takes", "cpu", "from"];

fn row_field(row: &mut Row, kind: Type, key: &str, value: &str) -> bool {
    match (kind, key) {
        (Type::Row, "valid") => put(&mut row.valid, value),
        (Type::Row, "rejected") => put(&mut row.rejected, value),
        (Type::Row, "woken_by") => put(&mut row.helper, value),
        (Type::Row, "skipped") => why(&mut row.skipped, "skipped", key, value),
        (Type::Row, key) if OF_SKIPS.contains(&key) => why(&mut row.skipped, "skipped", key, value),
        (Type::Row, _) => {
            row.verified = true;
            figure(&mut row.figures, key, value)
        }
        (Type::Cold, _) => figure(&mut row.cold, key, value),
        (Type::Rejected, _) => {
            let count = number(value).and_then(|count| u32::try_from(count).ok());
            row.reasons
                .extend(count.map(|count| (Term::of(key), count)));
            count.is_some()
        }
        (Type::First, _) => why(&mut row.first_rejection, "reason", key, value),
        (Type::Lost, _) => why(&mut row.lost, "step", key, value),
        (Type::Reached, _) => reached(row.reached.get_or_insert_default(), key, value),
        _ => true,
    }
}

fn figure(figures: &mut Vec<(Term<Metric>, u64)>, key: &str, value: &str) -> bool {
    let ticks = number(value);
    figures.extend(ticks.map(|ticks| (Term::of(key), ticks)));
    ticks.is_some()
}

fn why(to: &mut Option<Why>, word: &str, key: &str, value: &str) -> bool {
    let why = to.get_or_insert_default();
    if key == word {
        value.clone_into(&mut why.word);
        return true;
    }
    other(&mut why.details, key, value)
}

fn reached(to: &mut Reached, key: &str, value: &str) -> bool {
    match key {
        "due" => put(&mut to.due, value),
        "state" => {
            let sound = put(&mut to.state, value);
            to.state = to.state.filter(|state| *state != 0);
            sound
        }
        "rose" => put(&mut to.rose, value),
        "residency_us" => put(&mut to.residency_us, value),
        _ => true,
    }
}
