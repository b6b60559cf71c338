//! The machines that have frozen figures.

use std::time::Duration;

use boards::GicVersion;
use runner::qemu::Level;
use runner::qemu::run_spec::RunSpec;

/// A machine and the exception level at which the payload is entered.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub gic: GicVersion,
    pub level: Level,
    pub cpus: u32,
}

impl Machine {
    /// Returns all machines, which have 1, 4, 8 or 32 CPUs. A GICv2 supports at most 8 CPUs.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (gic, counts) in [
            (GicVersion::V2, &[1, 4, 8][..]),
            (GicVersion::V3, &[1, 4, 8, 32]),
        ] {
            for level in [Level::El1, Level::El2] {
                all.extend(counts.iter().map(|&cpus| Self { gic, level, cpus }));
            }
        }
        all
    }

    /// Returns the name of the file that contains the figures for this machine.
    pub fn file(&self) -> String {
        let level = match self.level {
            Level::El1 => 1,
            Level::El2 => 2,
        };
        format!("gic{}-el{level}-smp{}.txt", self.gic.number(), self.cpus)
    }

    /// Returns a run of the six scenarios with the instruction clock.
    pub fn spec(&self) -> RunSpec {
        RunSpec {
            smp: Some(self.cpus),
            gic: Some(self.gic),
            level: self.level,
            icount: true,
            args: Some("iterations=5".into()),
            timeout: Duration::from_secs(600),
            ..RunSpec::default()
        }
    }
}
