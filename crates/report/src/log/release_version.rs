//! Firmware versions, ordered by release: `v2.9` comes before `v2.10`.

use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;

/// A version such as `v2.13`, `2.13-rc0` or `v2.13.0-120-g1a2b3c4`, ordered by release. A single
/// number without a `v` is not a version. Parsing one shows only that the text has this form, not
/// that there is such a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseVersion {
    /// The numbers between dots, without trailing zeros.
    numbers: Vec<u32>,
    stage: ReleaseStage,
    /// The number of commits after the tag, as counted by `git describe`.
    pub(crate) commits: u32,
    /// The text after the parts that are understood.
    rest: String,
}

/// The stage of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ReleaseStage {
    /// A suffix whose meaning is unknown.
    Other,
    Candidate(u32),
    Final,
}

impl ReleaseVersion {
    /// Parses a version. Returns None if `text` is not a version.
    pub fn parse(text: &str) -> Option<Self> {
        let version = text.strip_prefix('v').unwrap_or(text);
        let (release, suffix) = version.split_once('-').unwrap_or((version, ""));
        if version == text && !release.contains('.') {
            return None;
        }
        let mut numbers: Vec<u32> = release
            .split('.')
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        while numbers.len() > 1 && numbers.last() == Some(&0) {
            numbers.pop();
        }
        let mut parts = suffix.split('-').peekable();
        let candidate = parts
            .peek()
            .and_then(|part| part.strip_prefix("rc"))
            .and_then(|number| number.parse().ok());
        if candidate.is_some() {
            parts.next();
        }
        let commits = parts.peek().and_then(|part| part.parse().ok());
        if commits.is_some() {
            parts.next();
        }
        let rest = parts.join("-");
        let stage = match (candidate, commits) {
            (Some(candidate), _) => ReleaseStage::Candidate(candidate),
            (None, None) if !rest.is_empty() => ReleaseStage::Other,
            (None, _) => ReleaseStage::Final,
        };
        Some(Self {
            numbers,
            stage,
            commits: commits.unwrap_or(0),
            rest,
        })
    }

    /// Returns the version in a name such as `juno-v2.13`; None if there is none.
    pub fn find(name: &str) -> Option<&str> {
        static VERSION: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?:^|[^A-Za-z0-9.])(v?\d+(?:\.\d+)+(?:-rc\d+)?)(?:$|[^A-Za-z0-9])")
                .expect("a pattern")
        });
        let captures = VERSION.captures_iter(name).last()?;
        captures.get(1).map(|version| version.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::ReleaseVersion;

    #[test]
    fn versions_are_in_the_order_of_releases() {
        let ordered = [
            "v2.9-rc0",
            "v2.9-rc0-16-g666aec401",
            "2.9-rc10",
            "v2.9",
            "2.9.1",
            "v2.10-lts",
            "2.10",
            "v2.10.0-7-gabc",
            "v3",
        ];
        let versions = ordered.map(|text| ReleaseVersion::parse(text).expect(text));
        assert!(versions.is_sorted(), "{versions:?}");
        assert_eq!(
            ReleaseVersion::parse("v2.9"),
            ReleaseVersion::parse("2.9.0")
        );
        // Builds with different suffixes are different releases.
        for (one, other) in [
            ("v2.10-lts", "v2.10-beta"),
            ("v2.10-7-gabc", "v2.10-7-gdef"),
        ] {
            assert_ne!(ReleaseVersion::parse(one), ReleaseVersion::parse(other));
        }
        for text in ["", "v", "current release", "2..9", "v2.x", "2017-01-31"] {
            assert_eq!(ReleaseVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn version_is_found_in_a_name() {
        for (name, expected) in [
            ("v2.13", Some("v2.13")),
            ("juno-v2.13-rc1", Some("v2.13-rc1")),
            ("2.9_to_2.10", Some("2.10")),
            ("2017-01-31", None),
            ("rev2.9", None),
            ("psci-performance-juno", None),
        ] {
            assert_eq!(ReleaseVersion::find(name), expected, "{name}");
        }
    }
}
