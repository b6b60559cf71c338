//! Which rows are of one CPU.

use anyhow::{Result, bail, ensure};

use crate::report::model::{Cpu, Run};

/// How rows are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyed {
    /// By MPIDR, which both have.
    Mpidr,
    /// By cluster and core.
    Labels,
    /// Not at all: labels of one side name several rows. All is compared
    /// sorted.
    Ambiguous,
}

impl Keyed {
    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mpidr => "mpidr",
            Self::Labels => "labels",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// What a row of the baseline is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowIs {
    /// The CPU with this MPIDR.
    Mpidr(u64),
    /// The CPU with this cluster and core.
    Label(u32, u32),
}

impl std::str::FromStr for RowIs {
    type Err = String;

    /// `0x101`, or `1.0`.
    fn from_str(text: &str) -> Result<Self, String> {
        let of = || -> Option<Self> {
            if let Some(digits) = text.strip_prefix("0x") {
                let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
                let number = plain.then(|| u64::from_str_radix(digits, 16).ok())?;
                return number.map(Self::Mpidr);
            }
            let number = |text: &str| {
                let plain = text.bytes().all(|b| b.is_ascii_digit());
                plain.then(|| text.parse().ok()).flatten()
            };
            let (cluster, core) = text.split_once('.')?;
            Some(Self::Label(number(cluster)?, number(core)?))
        };
        of().ok_or_else(|| {
            format!("{text:?} is no MPIDR, such as 0x101, and no label, such as 1.0")
        })
    }
}

/// Tells `baseline` which CPUs its rows are, in their order.
///
/// # Errors
/// When there are not as many rows, or a CPU is named twice.
pub(super) fn name_rows(baseline: &mut Run, rows: &[RowIs]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let there = baseline.cpus.len();
    ensure!(
        rows.len() == there,
        "--rows-are names {} CPUs, and the baseline {} has {there} rows",
        rows.len(),
        baseline.source.input
    );
    for (place, it) in rows.iter().enumerate() {
        ensure!(
            !rows.iter().take(place).any(|before| before == it),
            "--rows-are names a CPU twice: the {}th is one before",
            place + 1
        );
    }
    for (cpu, it) in baseline.cpus.iter_mut().zip(rows) {
        match *it {
            RowIs::Mpidr(mpidr) => cpu.mpidr = Some(mpidr),
            RowIs::Label(cluster, core) => {
                (cpu.cluster, cpu.core, cpu.thread) = (cluster, core, 0);
            }
        }
    }
    Ok(())
}

/// CPUs of both sides: how they are keyed, and the pairs of indexes.
pub(super) struct Pairs {
    pub(super) keyed: Keyed,
    /// The run's, and the baseline's.
    pub(super) pairs: Vec<(usize, usize)>,
}

/// What a CPU is found by on the other side.
type Key = fn(&Run, &Cpu) -> Option<(u64, u64)>;

impl Pairs {
    /// Pairs the CPUs of `new` and `old`.
    ///
    /// # Errors
    /// When not one CPU is on both sides.
    pub(super) fn of(new: &Run, old: &Run) -> Result<Self> {
        let all_have = |run: &Run| run.cpus.iter().all(|cpu| cpu.mpidr.is_some());
        let (keyed, key): (Keyed, Key) = if all_have(new) && all_have(old) {
            (Keyed::Mpidr, |_, cpu| Some((cpu.mpidr?, 0)))
        } else if is_ambiguous(new) || is_ambiguous(old) {
            let pairs = Vec::new();
            let keyed = Keyed::Ambiguous;
            return Ok(Self { keyed, pairs });
        } else {
            (Keyed::Labels, |run, cpu| {
                Some((cpu.cluster.into(), run.core_number(cpu)))
            })
        };
        let mut pairs = Vec::new();
        for (own, cpu) in new.cpus.iter().enumerate() {
            let wanted = key(new, cpu);
            let same = |it: &Cpu| key(old, it) == wanted;
            pairs.extend(old.cpus.iter().position(same).map(|at| (own, at)));
        }
        if pairs.is_empty() {
            bail!(
                "{} and the baseline {} have no CPU in common, by {}: are they of one board?",
                new.source.input,
                old.source.input,
                if keyed == Keyed::Mpidr {
                    "MPIDR"
                } else {
                    "cluster and core"
                }
            );
        }
        Ok(Self { keyed, pairs })
    }

    /// The baseline's index of a CPU of the run.
    pub(super) fn old(&self, new: usize) -> Option<usize> {
        self.pairs.iter().find(|it| it.0 == new).map(|it| it.1)
    }
}

/// The baseline with the run's labels, where its own are those of a table and
/// each of its CPUs is known by its MPIDR.
pub(super) fn with_labels(new: &Run, old: &Run, pairs: &Pairs) -> Run {
    let mut named = old.clone();
    if pairs.keyed == Keyed::Mpidr && old.integrity.tables {
        for (own, at) in &pairs.pairs {
            if let (Some(cpu), Some(to)) = (new.cpus.get(*own), named.cpus.get_mut(*at)) {
                (to.cluster, to.core, to.thread) = (cpu.cluster, cpu.core, cpu.thread);
            }
        }
    }
    named
}

/// Whether rows without an MPIDR have the same labels.
fn is_ambiguous(run: &Run) -> bool {
    run.threads() > 1 && run.cpus.iter().any(|cpu| cpu.mpidr.is_none())
}
