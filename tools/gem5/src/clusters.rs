//! How many CPUs each cluster has.

use std::fmt;
use std::str::FromStr;

use hardware::board::Mpidr;
use thiserror::Error;

/// The number of clusters on TF-A's `fvp` platform (FVP_CLUSTER_COUNT), and the number of CPUs in
/// each (FVP_MAX_CPUS_PER_CLUSTER).
const CLUSTERS_MAX: usize = 2;
const CPUS_MAX: u64 = 4;

/// The number of CPUs in each cluster, in the form `4,4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clusters(Vec<u64>);

/// Text that is not a list of clusters that TF-A supports.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected the number of CPUs in one or two clusters, each 1 to {CPUS_MAX}, such as 4,4")]
pub(crate) struct ClustersError;

impl Clusters {
    /// Returns the MPIDRs of the CPUs in each cluster: Aff1 is the cluster, Aff0 the CPU.
    pub(crate) fn mpidrs(&self) -> Vec<Vec<Mpidr>> {
        let cluster = |(cluster, cpus): (u64, &u64)| {
            let mpidr = |cpu| Mpidr::new(cluster << 8 | cpu);
            (0..*cpus).map(mpidr).collect()
        };
        (0..).zip(&self.0).map(cluster).collect()
    }
}

impl FromStr for Clusters {
    type Err = ClustersError;

    fn from_str(text: &str) -> Result<Self, ClustersError> {
        let counts: Result<Vec<u64>, _> = text.split(',').map(str::parse).collect();
        let counts = counts.map_err(|_| ClustersError)?;
        let is_good = counts.len() <= CLUSTERS_MAX
            && counts.iter().all(|count| (1..=CPUS_MAX).contains(count));
        is_good.then_some(Self(counts)).ok_or(ClustersError)
    }
}

impl fmt::Display for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&counts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_those_that_tf_a_supports() {
        for good in ["1", "4", "4,4", "1,2"] {
            assert_eq!(good.parse::<Clusters>().expect(good).to_string(), good);
        }
        for bad in ["", "0", "5", "4,0", "4,4,4", "4 4", "-1", "a"] {
            assert_eq!(bad.parse::<Clusters>(), Err(ClustersError), "{bad}");
        }
        let two: Clusters = "2,1".parse().expect("two clusters");
        let [first, second] = [vec![0, 1], vec![0x100]].map(|cluster| {
            let mpidrs = cluster.into_iter().map(Mpidr::new);
            mpidrs.collect::<Vec<_>>()
        });
        assert_eq!(two.mpidrs(), [first, second]);
    }
}
