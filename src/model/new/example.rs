//! A machine that is made up, for tests.

use alloc::vec::Vec;

use super::{Cpu, Head, Run};
use crate::board::LabelSource;
use crate::devices::timer_frame::NoFrame;
use crate::devices::watchdog::reach::NoWatchdog;
use crate::image::Conduit;
use crate::measure::{Counter, Facts, Identity, Overheads};
use crate::plan::{Plan, ScenarioSet};
use crate::spec::caches::Caches;
use crate::spec::pmf::Interface;
use crate::spec::psci::StateFormat;
use crate::spec::smccc::Service;
use crate::spec::timer::TimerName;

/// CNTFRQ_EL0 of QEMU's virt machine.
pub(crate) const FREQUENCY: u64 = 62_500_000;

/// A Cortex-A53 that is clocked at 1.2 GHz.
pub(crate) fn cortex_a53() -> Identity {
    // 32 KiB of each kind, and 1 MiB of both.
    let mut ccsidr = |selector| match selector {
        0 | 1 => 0x700f_e01a,
        _ => 0x70ff_e07a,
    };
    Identity {
        midr: 0x410f_d034,
        caches: Caches::read(0x0a20_0023, false, &mut ccsidr),
        frequency: FREQUENCY,
        clock_mhz: Some(1200),
    }
}

pub(crate) fn facts() -> Facts {
    Facts {
        frequency: FREQUENCY,
        counter: Counter::Physical,
        timer: TimerName::Cntp,
        timer_intid: 30,
        frame: Err(NoFrame::NotInTree),
        exception_level: 2,
        e2h: false,
        gic: 3,
        conduit: Conduit::Smc,
        psci_version: 0x1_0001,
        smccc: Some(0x1_0005),
        service: Some(Service {
            uid: [0x108d_905b, 0x47e8_f863, 0xfbc0_2dae, 0xe2f6_4156],
            revision: Some([0, 1]),
        }),
        state_format: StateFormat::Original,
        pmf: Ok(Interface::VendorEl3),
        lead: 0,
        own: cortex_a53(),
        watchdog: Err(NoWatchdog::NotInTree),
        stat: false,
        pmu: false,
        zero: true,
        kvm: false,
        os_initiated: false,
        system_suspend: false,
        outer_cache: None,
        overheads: Overheads {
            counter: 1,
            empty: 1,
            pmf_read: Some(41),
        },
    }
}

/// A run without scenarios, on clusters of four CPUs each.
pub(crate) fn run(cpus: u16) -> Run {
    let cpu = |index: u16| Cpu {
        mpidr: Some(u64::from(index / 4) << 8 | u64::from(index % 4)),
        cluster: index / 4,
        core: index % 4,
        thread: 0,
        identity: Some(cortex_a53()),
    };
    Run {
        head: Some(Head {
            format: 2,
            version: "0.1.0".into(),
            model: "linux,dummy-virt".into(),
            labels: LabelSource::CpuMap,
            cpus,
        }),
        facts: Some(facts()),
        plan: Some(Plan {
            scenarios: ScenarioSet::SUITE,
            ..Plan::default()
        }),
        cpus: (0..cpus).map(cpu).collect::<Vec<_>>(),
        scenarios: Vec::new(),
        end: None,
    }
}
