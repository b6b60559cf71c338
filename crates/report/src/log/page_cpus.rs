//! The clusters and cores of CPUs that a page identifies by number.
//!
//! Up to v2.8, tables have one column for the CPU, and a sentence says which numbers are in which
//! cluster: `CPUs 0-3 refer to CPUs in the little cluster (A53)`. The cluster's number comes from
//! the board file, which lists the CPU types by cluster.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use itertools::Itertools as _;
use regex::{Captures, Regex};

use super::published_rows::PublishedEntry;

/// CPUs in one cluster, with consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberedCluster {
    cluster: u16,
    first: u16,
    last: u16,
}

/// The CPU numbers in each cluster; empty if a page does not say which cluster each of them is in.
/// No number is in two clusters. A number on the page may still be in none.
#[derive(Debug, Default)]
pub(super) struct PageCpus(Vec<NumberedCluster>);

impl PageCpus {
    /// Finds the sentence about clusters in a page for `board`.
    pub(super) fn of(page: &str, board: Option<&str>) -> Self {
        static CLUSTER: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"(?x) \b CPUs? \s+ (\d{1,3}) (?: \s* (?: - | \u{2013} | to ) \s* (\d{1,3}) )?
                \s+ (?: refers? \s+ to | are | is ) \s [^.(]*?
                \b cluster (?: \s+ \( ([^)]*) \) | \s+ (\d{1,3}) )",
            )
            .expect("a pattern")
        });
        let types = cpu_types(board);
        let mut clusters = Vec::new();
        for captures in CLUSTER.captures_iter(page) {
            match numbered_cluster(&captures, &types) {
                Some(cluster) => clusters.push(cluster),
                None => return Self::default(),
            }
        }
        clusters.sort_by_key(|cluster| cluster.first);
        if are_apart(&clusters) {
            Self(clusters)
        } else {
            Self::default()
        }
    }

    /// Replaces the CPU in the first entry of each row with its cluster and core. Returns true if a
    /// cluster is unknown; it then counts as 0.
    ///
    /// # Errors
    /// Returns an error that starts with `LINE:COLUMN: ` if an entry is not a CPU, or is the same
    /// one as an earlier entry.
    pub(super) fn label(&self, rows: &mut [Vec<PublishedEntry>]) -> Result<bool> {
        let mut has_unknown = false;
        let mut labels = BTreeSet::new();
        for row in rows {
            let Some(entry) = row.first().cloned() else {
                continue;
            };
            let ((line, column), text) = (entry.position, &entry.text);
            let (label, is_known) = self.label_of(text).with_context(|| {
                let example = "4, or cluster 1 core 0";
                format!("{line}:{column}: {text:?} is not a CPU on this page, such as {example}")
            })?;
            ensure!(
                labels.insert(label),
                "{line}:{column}: {text:?} is a CPU that already has a row in this table"
            );
            let entry_with = |number: u16| PublishedEntry {
                text: number.to_string(),
                position: entry.position,
            };
            row.splice(..1, [entry_with(label.0), entry_with(label.1)]);
            has_unknown |= !is_known;
        }
        Ok(has_unknown)
    }

    /// Returns the cluster and core for a CPU's number, or for text such as `cluster 1 core 0`, and
    /// true if the cluster is known.
    fn label_of(&self, text: &str) -> Option<((u16, u16), bool)> {
        static CPU: LazyLock<Regex> = LazyLock::new(|| {
            let pattern = r"(?x)^ (?: cpu \x20* | core \x20* | cluster \x20* )? (\d+)
                (?: [\x20.,:/]+ (?: core \x20* | cpu \x20* )? (\d+) )? $";
            Regex::new(pattern).expect("a pattern")
        });
        let lowercase = text.to_lowercase();
        let captures = CPU.captures(&lowercase)?;
        let number = captures[1].parse().ok()?;
        if let Some(core) = captures.get(2) {
            return Some(((number, core.as_str().parse().ok()?), true));
        }
        if lowercase.starts_with("cluster") {
            return None;
        }
        if self.0.is_empty() {
            return Some(((0, number), false));
        }
        let mut clusters = self.0.iter();
        let its_cluster =
            clusters.find(|cluster| (cluster.first..=cluster.last).contains(&number))?;
        let core = number - its_cluster.first;
        Some(((its_cluster.cluster, core), true))
    }
}

/// Reads a sentence about a cluster. Returns None if it does not say which cluster, or if a number
/// is too large.
fn numbered_cluster(captures: &Captures<'_>, types: &[String]) -> Option<NumberedCluster> {
    let number = |group| captures.get(group)?.as_str().parse::<u16>().ok();
    let first = number(1)?;
    let last = number(2).unwrap_or(first);
    let cluster = match number(4) {
        Some(cluster) => cluster,
        None => cluster_of_type(captures.get(3)?.as_str().trim(), types)?,
    };
    Some(NumberedCluster {
        cluster,
        first,
        last,
    })
}

/// Returns the number of the only cluster of CPUs with this type.
fn cluster_of_type(short: &str, types: &[String]) -> Option<u16> {
    let mut fitting = types.iter().positions(|cpu_type| is_type(cpu_type, short));
    let cluster = fitting.next()?;
    if fitting.next().is_some() {
        return None;
    }
    u16::try_from(cluster).ok()
}

/// Returns true if no cluster has two entries, and no number is in two of `sorted`.
fn are_apart(sorted: &[NumberedCluster]) -> bool {
    let mut clusters = sorted.iter().map(|cluster| cluster.cluster);
    let mut neighbors = sorted.array_windows();
    clusters.all_unique()
        && sorted.iter().all(|cluster| cluster.first <= cluster.last)
        && neighbors.all(|[lower, upper]| lower.last < upper.first)
}

/// Returns the CPU type of each of a board's clusters; empty if the types are unknown.
fn cpu_types(board: Option<&str>) -> Vec<String> {
    let mut types = Vec::new();
    if let Some(name) = board
        && let Ok(board) = boards::load(name)
        && let Some(publish) = board.publish
    {
        for cluster in publish.clusters {
            types.push(cluster.cpu);
        }
    }
    types
}

/// Returns true if a page's name for a CPU type, such as `A53`, is that of `full`.
fn is_type(full: &str, short: &str) -> bool {
    let full = full.to_ascii_lowercase();
    let short = short.to_ascii_lowercase();
    full == short || full.rsplit_once('-').is_some_and(|(_, name)| name == short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_about_clusters_places_each_cpu() {
        let juno = "CPUs 0-3 refer to CPUs in the little cluster (A53) and\nCPUs 4-5 refer to CPUs \
                    in the big cluster (A57). In all cases CPU 4 is the lead CPU.";
        let numbered = "CPU 0 is in cluster 1, and CPUs 1 to 2 are in cluster 0.";
        for (page, board, text, label) in [
            (juno, Some("juno"), "0", Some((1, 0))),
            (juno, Some("juno"), "3", Some((1, 3))),
            (juno, Some("juno"), "5", Some((0, 1))),
            (juno, Some("juno"), "6", None),
            (juno, Some("juno"), "1.2", Some((1, 2))),
            (juno, None, "5", Some((0, 5))),
            (juno, Some("n1sdp"), "5", Some((0, 5))),
            (numbered, None, "CPU 0", Some((1, 0))),
            (numbered, None, "2", Some((0, 1))),
            ("", None, "12", Some((0, 12))),
            ("", None, "Cluster 1 core 3", Some((1, 3))),
            ("", None, "cluster 1, CPU 0", Some((1, 0))),
            ("", None, "A57", None),
            ("", None, "", None),
            ("", None, "70000", None),
        ] {
            let labeled = PageCpus::of(page, board).label_of(text);
            assert_eq!(labeled.map(|(label, _)| label), label, "{page}: {text}");
        }
    }
}
