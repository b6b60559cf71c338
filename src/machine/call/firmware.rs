//! Calls of the firmware that are not timed.

use psci_bench::image::Conduit;
use psci_bench::spec::pmf::{Interface, ReadError, STAMPS, Stamp, Stamps};
use psci_bench::spec::psci::{
    self, AFFINITY_MASK, Affinity, Error, StateFormat, SuspendMode, function,
};
use psci_bench::spec::smccc::{self, Service};
use psci_bench::spec::stat::{Ladder, Statistics};

use crate::machine::call::conduit::call;

/// The firmware behind one conduit.
#[derive(Clone, Copy)]
pub struct Firmware {
    /// The instruction that calls it.
    pub conduit: Conduit,
    /// PMF, or the reason why it cannot be read.
    pub pmf: Result<Interface, ReadError>,
}

impl Firmware {
    /// Returns the firmware of this conduit, without PMF.
    pub const fn new(conduit: Conduit) -> Self {
        Self {
            conduit,
            pmf: Err(ReadError::NotImplemented),
        }
    }

    fn psci(self, function: u32, arguments: [u64; 3]) -> Result<u32, Error> {
        psci::decode(call(self.conduit, function, arguments)[0])
    }

    /// Calls PSCI_VERSION: major in bits 31:16, minor in 15:0.
    pub fn version(self) -> Result<u32, Error> {
        self.psci(function::VERSION, [0; 3])
    }

    /// Calls PSCI_FEATURES for one function.
    pub fn features(self, of: u32) -> Result<u32, Error> {
        self.psci(function::FEATURES, [u64::from(of), 0, 0])
    }

    /// Calls SMCCC_VERSION; None where PSCI_FEATURES does not list it.
    pub fn smccc_version(self) -> Option<u32> {
        self.features(smccc::function::VERSION).ok()?;
        self.psci(smccc::function::VERSION, [0; 3]).ok()
    }

    /// Identifies the software that handles PSCI's calls, where `smccc` makes that
    /// safe.
    pub fn identify_service(self, smccc: Option<u32>) -> Option<Service> {
        smccc.filter(|version| *version >= smccc::VERSION_1_1)?;
        let ask = |function| call(self.conduit, function, [0; 3]);
        let uid = ask(smccc::function::SERVICE_UID);
        Service::from_answers(uid, ask(smccc::function::SERVICE_REVISION))
    }

    /// Says that this is a guest of KVM, where `smccc` makes it safe to find out.
    pub fn is_kvm_host(self, smccc: Option<u32>) -> bool {
        let may_ask = smccc.is_some_and(|version| version >= smccc::VERSION_1_1);
        let uid = smccc::function::HYPERVISOR_UID;
        may_ask && smccc::is_kvm(call(self.conduit, uid, [0; 3]))
    }

    /// Returns the layout of `power_state`; the original one where the firmware does
    /// not report it.
    pub fn state_format(self) -> StateFormat {
        self.features(function::CPU_SUSPEND)
            .map_or(StateFormat::Original, StateFormat::from_features)
    }

    /// Calls CPU_ON.
    pub fn cpu_on(self, mpidr: u64, entry: u64, context: u64) -> Result<u32, Error> {
        self.psci(function::CPU_ON, [mpidr & AFFINITY_MASK, entry, context])
    }

    /// Calls CPU_OFF; returns only when the firmware refuses.
    pub fn cpu_off(self) -> Result<u32, Error> {
        self.psci(function::CPU_OFF, [0; 3])
    }

    /// Calls AFFINITY_INFO at level 0.
    pub fn affinity_info(self, mpidr: u64) -> Result<Affinity, Error> {
        self.psci(function::AFFINITY_INFO, [mpidr & AFFINITY_MASK, 0, 0])
            .map(Affinity::from)
    }

    /// Says that CPU_SUSPEND has an OS-initiated mode.
    pub fn has_os_initiated(self) -> bool {
        let features = self.features(function::CPU_SUSPEND);
        features.is_ok_and(SuspendMode::is_advertised)
            && self.features(function::SET_SUSPEND_MODE).is_ok()
    }

    /// Calls SET_SUSPEND_MODE.
    pub fn set_suspend_mode(self, mode: SuspendMode) -> Result<(), Error> {
        self.psci(function::SET_SUSPEND_MODE, [mode as u64, 0, 0])
            .map(|_| ())
    }

    /// Says that the firmware has PSCI_STAT_COUNT and PSCI_STAT_RESIDENCY.
    pub fn has_statistics(self) -> bool {
        let functions = [function::STAT_COUNT, function::STAT_RESIDENCY];
        functions.iter().all(|f| self.features(*f).is_ok())
    }

    /// Reads the statistics of the states of `ladder`, for the nodes that this CPU's
    /// requests power down.
    pub fn read_statistics(self, mpidr: u64, ladder: &Ladder) -> Statistics {
        let mut statistics = Statistics::default();
        for (place, rung) in ladder.rungs() {
            let read = |function| {
                let arguments = [mpidr & AFFINITY_MASK, u64::from(rung.state), 0];
                call(self.conduit, function, arguments)[0]
            };
            statistics.counts[place] = read(function::STAT_COUNT);
            statistics.residencies[place] = read(function::STAT_RESIDENCY);
        }
        statistics
    }

    /// Calls SYSTEM_OFF; returns only when the firmware does not.
    pub fn system_off(self) {
        let _ = self.psci(function::SYSTEM_OFF, [0; 3]);
    }

    /// Calls SYSTEM_RESET; returns only when the firmware does not.
    pub fn system_reset(self) {
        let _ = self.psci(function::SYSTEM_RESET, [0; 3]);
    }

    /// Reads one timestamp of the CPU whose MPIDR is given, which must be the
    /// caller: only there are the values sure to be the newest. Flags are 0:
    /// bit 0 would throw away what is not yet in memory.
    pub fn read_timestamp(
        self,
        pmf: Interface,
        mpidr: u64,
        stamp: Stamp,
    ) -> Result<u64, ReadError> {
        let arguments = [u64::from(stamp.tid()), mpidr & AFFINITY_MASK, 0];
        let [x0, x1, ..] = call(self.conduit, pmf.get_timestamp(), arguments);
        pmf.decode(x0, x1)
    }

    /// Reads all six timestamps.
    pub fn read_timestamps(self, pmf: Interface, mpidr: u64) -> Result<Stamps, ReadError> {
        let mut stamps = [0; STAMPS];
        for stamp in Stamp::IN_TIME {
            stamps[stamp as usize] = self.read_timestamp(pmf, mpidr, stamp)?;
        }
        Ok(Stamps(stamps))
    }

    /// Finds the interface of PMF that the firmware has.
    pub fn find_pmf(self, mpidr: u64) -> Result<Interface, ReadError> {
        let mut first = None;
        for interface in Interface::ALL {
            match self.read_timestamp(interface, mpidr, Stamp::EnterPsci) {
                Ok(_) => return Ok(interface),
                // The newer interface's answer tells more, unless it only
                // says that it is not there.
                Err(error) => match first {
                    None | Some(ReadError::NotImplemented) => first = Some(error),
                    Some(_) => {}
                },
            }
        }
        Err(first.unwrap_or(ReadError::NotImplemented))
    }
}
