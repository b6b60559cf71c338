//! The values of a record's fields; false for one that cannot be what its key
//! says.

use psci_bench::record::parse::{Record, number};

use crate::report::model::Other;

/// Gives all fields of `record` to `take`; false where one was not sound.
pub(super) fn all(record: &Record<'_>, mut take: impl FnMut(&str, &str) -> bool) -> bool {
    let fields = record.fields();
    fields.fold(true, |sound, (key, value)| take(key, value) & sound)
}

/// A number, decimal or by `0x` hexadecimal.
pub(super) fn put<T: TryFrom<u64>>(to: &mut Option<T>, value: &str) -> bool {
    *to = number(value).and_then(|number| T::try_from(number).ok());
    to.is_some()
}

/// The same for a value that is there in any case.
pub(super) fn put_plain<T: TryFrom<u64>>(to: &mut T, value: &str) -> bool {
    let number = number(value).and_then(|number| T::try_from(number).ok());
    number.map(|number| *to = number).is_some()
}

/// A word.
pub(super) fn text(to: &mut Option<String>, value: &str) -> bool {
    *to = Some(value.to_owned());
    true
}

/// Returns whether a flag, `0` or `1`, is set.
pub(super) fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// A field that is kept as it is.
pub(super) fn other(to: &mut Vec<Other>, key: &str, value: &str) -> bool {
    to.push((key.to_owned(), value.to_owned()));
    true
}
