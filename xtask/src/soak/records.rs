//! The machine records of one log, both copies merged.

use std::collections::{BTreeMap, BTreeSet};

use psci_bench::record::line::Type;
use psci_bench::record::parse::Record;

/// Keys and values of a record, with those of its continuations.
pub(super) type Fields = BTreeMap<String, String>;

/// The facts that a soak takes from a log's records.
#[derive(Debug, Default)]
pub(super) struct Records {
    merged: BTreeMap<(&'static str, Vec<String>), Fields>,
    /// True if each is there in at least one copy.
    pub(super) whole: bool,
}

/// The leading keys of the types that are of use here; None of others.
fn leading(kind: Type) -> Option<&'static [&'static str]> {
    match kind {
        Type::Facts | Type::Plan => Some(&[]),
        Type::Cpu => Some(&["i"]),
        Type::Test => Some(&["t", "by", "helper"]),
        Type::Row | Type::Rejected | Type::Lost => Some(&["t", "by", "helper", "mpidr"]),
        Type::Point => Some(&["t", "mpidr", "how", "var", "x", "metric"]),
        _ => None,
    }
}

impl Records {
    /// Those of `log` that are sound.
    pub(super) fn of(log: &[u8]) -> Self {
        let mut records = Self::default();
        let mut seen = BTreeSet::new();
        let mut count = None;
        let lines = log.split(|byte| *byte == b'\n');
        for record in lines.flat_map(Record::all_in).filter_map(Result::ok) {
            seen.insert(u64::from(record.seq));
            if record.kind == Type::End {
                count = record.unsigned("records");
            }
            let Some(keys) = leading(record.kind) else {
                continue;
            };
            let value = |key: &&str| record.get(key).unwrap_or_default().to_owned();
            let place = (record.kind.word(), keys.iter().map(value).collect());
            let own = record.fields().filter(|field| !keys.contains(&field.0));
            let fields = records.merged.entry(place).or_default();
            fields.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
        }
        records.whole = count.is_some_and(|count| (0..count).all(|seq| seen.contains(&seq)));
        records
    }

    /// The values of the leading keys of all records of a type, and the
    /// fields behind each.
    pub(super) fn all(&self, kind: Type) -> impl Iterator<Item = (&[String], &Fields)> {
        self.within(kind, &[])
    }

    /// Of those, the ones whose first leading values are these.
    pub(super) fn within<'r>(
        &'r self,
        kind: Type,
        first: &'r [String],
    ) -> impl Iterator<Item = (&'r [String], &'r Fields)> {
        let records = self.merged.range((kind.word(), first.to_vec())..);
        let own = records
            .take_while(move |(place, _)| place.0 == kind.word() && place.1.starts_with(first));
        own.map(|(place, fields)| (place.1.as_slice(), fields))
    }

    /// The fields of the record of a type with these leading values.
    pub(super) fn get(&self, kind: Type, leading: &[String]) -> Option<&Fields> {
        self.merged.get(&(kind.word(), leading.to_vec()))
    }
}

/// The largest number that is believed: no run counts more, and sums of
/// such numbers do not overflow.
const COUNT_MAX: u64 = 1 << 40;

/// The number in the field `key`.
pub(super) fn number(fields: &Fields, key: &str) -> Option<u64> {
    count(fields.get(key)?)
}

/// The number that `digits` are.
pub(super) fn count(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|count| *count <= COUNT_MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use psci_bench::record::crc::Crc32;

    /// The records that `bodies` are, in two copies, each with its `end`.
    pub(in crate::soak) fn log(bodies: &[&str]) -> Vec<u8> {
        let mut copy = String::new();
        let end = format!("end records={} crcs=0x0", bodies.len());
        for (seq, body) in bodies.iter().copied().chain([end.as_str()]).enumerate() {
            let body = format!("@PB {seq:04} {body} ");
            copy.push_str(&format!("{body}{:08x}\r\n", Crc32::of(body.as_bytes())));
        }
        format!("noise\r\n{copy}{copy}").into_bytes()
    }

    #[test]
    fn both_copies_make_one() {
        let good = log(&[
            "plan iterations=5 warmup=2",
            "test t=1 by=tftf tag=x asked=5",
            "test t=1 by=tftf attempts=7",
            "row t=1 by=tftf mpidr=0x1 valid=5 rejected=0",
        ]);
        let records = Records::of(&good);
        assert!(records.whole);
        let test = ["1", "tftf", ""].map(str::to_owned);
        let test = records.get(Type::Test, &test).expect("a test");
        assert_eq!(
            (number(test, "asked"), number(test, "attempts")),
            (Some(5), Some(7))
        );
        assert_eq!(records.all(Type::Row).count(), 1);

        // A record that one copy lacks is in the other.
        let text = String::from_utf8_lossy(&good);
        let cut = text.replacen("0002 test", "0002 tset", 1);
        assert!(Records::of(cut.as_bytes()).whole);
        let cut = text.replace("0002 test", "0002 tset");
        assert!(!Records::of(cut.as_bytes()).whole);
        assert!(!Records::of(b"psci-bench 0.1.0\r\n").whole);
    }
}
