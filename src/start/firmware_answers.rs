//! Queries the firmware before the payload accesses the interrupt controller, so that a call that
//! never returns is not mistaken for a faulty device.

use hardware::board::Board;
use hardware::image::BootStage;
use hardware::spec::pmf::{Interface, ReadError};
use hardware::spec::psci::{ReturnCode, StateFormat};
use hardware::spec::smccc::Service;
use smccc::arch::Version;
use smccc::psci::PSCI_SYSTEM_SUSPEND_64;
use suite::measure::{Counter, NoCpuOff};
use suite::plan::{Plan, Timestamps, Use};

use crate::machine::boot_marks;
use crate::machine::call::firmware;
use crate::machine::cpu::registers;
use crate::machine::ending::or_give_up;

/// The firmware's answers to these queries.
pub struct FirmwareAnswers {
    pub psci_version: u32,
    pub smccc: Option<Version>,
    pub service: Option<Service>,
    pub state_format: StateFormat,
    pub pmf: Result<Interface, ReadError>,
    /// The reason why CPU_OFF is not used, if it is already known.
    pub no_cpu_off: Option<NoCpuOff>,
    pub has_statistics: bool,
    pub has_os_initiated: bool,
    pub has_system_suspend: bool,
    /// True for a KVM guest.
    pub is_kvm: bool,
    /// A checksum of further answers, which distinguishes builds of the firmware.
    pub checksum: u32,
}

impl FirmwareAnswers {
    /// Queries the firmware on `board`; `counter` is the counter that the payload uses. What `plan`
    /// rules out is not queried.
    pub fn query(board: &Board<'_>, plan: &Plan, counter: Counter) -> Self {
        let psci_version = or_give_up(
            firmware::version().map_err(ReturnCode::from),
            "PSCI_VERSION: firmware returned ",
        );
        let smccc = firmware::smccc_version();
        let answers = Self {
            psci_version: psci_version.into(),
            smccc,
            service: firmware::identify_service(smccc),
            state_format: firmware::state_format(),
            // PMF reads CNTPCT, so it is useful only if the payload reads CNTPCT too.
            pmf: match counter {
                _ if plan.timestamps == Timestamps::Caller => Err(ReadError::Argument),
                Counter::Virtual => Err(ReadError::NotImplemented),
                Counter::Physical | Counter::PhysicalTwice(_) => {
                    firmware::find_pmf(registers::mpidr())
                }
            },
            no_cpu_off: if plan.cpu_off == Use::Off {
                Some(NoCpuOff::Argument)
            } else if board.forbids_cpu_off {
                Some(NoCpuOff::Forbidden)
            } else {
                (!firmware::has_cpu_off()).then_some(NoCpuOff::NotListed)
            },
            has_statistics: firmware::has_statistics(),
            has_os_initiated: firmware::has_os_initiated(),
            has_system_suspend: firmware::features(PSCI_SYSTEM_SUSPEND_64).is_ok(),
            is_kvm: firmware::is_kvm_host(smccc),
            checksum: firmware::checksum_answers(smccc),
        };
        boot_marks::reach(BootStage::Firmware);
        answers
    }
}
