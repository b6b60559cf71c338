//! Untimed firmware calls.

use hardware::board::Mpidr;
use hardware::spec;
use hardware::spec::pmf::{Interface, ReadError, Stamp, Stamps};
use hardware::spec::psci::{ReturnCode, StateFormat, accept_positive};
use hardware::spec::smccc::{
    HYPERVISOR_UID, SERVICE_REVISION, SERVICE_UID, Service, VERSION_1_1, is_kvm,
};
use hardware::spec::stat::{Ladder, Statistics};
use smccc::error::SUCCESS;
use smccc::psci::{self, AffinityState, Error, LowestAffinityLevel, SuspendMode};
use smccc::{arch, arch::Version};
use suite::crc::CRC_32;

use crate::machine::call::conduit::{ByConduit, call};

/// Returns the return code of a call that returns SUCCESS or an error.
pub fn code_of(result: Result<(), Error>) -> i32 {
    result.map_or_else(|error| ReturnCode::from(error).0, |()| SUCCESS)
}

pub fn version() -> Result<psci::Version, Error> {
    psci::version::<ByConduit>()
}

pub fn features(function: u32) -> Result<u32, Error> {
    psci::psci_features::<ByConduit>(function)
}

/// Calls SMCCC_VERSION; returns None if PSCI_FEATURES does not list it.
pub fn smccc_version() -> Option<Version> {
    features(arch::SMCCC_VERSION).ok()?;
    arch::version::<ByConduit>().ok()
}

/// Identifies the software that handles PSCI calls, if the query is safe according to `smccc`.
pub fn identify_service(smccc: Option<Version>) -> Option<Service> {
    smccc.filter(|version| *version >= VERSION_1_1)?;
    let uid = call(SERVICE_UID, [0; 3]);
    Service::from_answers(uid, call(SERVICE_REVISION, [0; 3]))
}

/// Returns true if this is a KVM guest and the query is safe according to `smccc`.
pub fn is_kvm_host(smccc: Option<Version>) -> bool {
    let may_ask = smccc.is_some_and(|version| version >= VERSION_1_1);
    may_ask && is_kvm(call(HYPERVISOR_UID, [0; 3]))
}

/// Returns the `power_state` format, or the original format if the firmware does not report one.
pub fn state_format() -> StateFormat {
    features(psci::PSCI_CPU_SUSPEND_64).map_or(StateFormat::Original, StateFormat::from_features)
}

pub fn cpu_on(cpu: Mpidr, entry: u64, context: u64) -> Result<(), Error> {
    let target = cpu.number();
    accept_positive(psci::cpu_on::<ByConduit>(target, entry, context))
}

/// Calls CPU_OFF; returns only if the call fails.
pub fn cpu_off() -> Result<(), Error> {
    psci::cpu_off::<ByConduit>()
}

pub fn affinity_info(cpu: Mpidr) -> Result<AffinityState, Error> {
    psci::affinity_info::<ByConduit>(cpu.number(), LowestAffinityLevel::All)
}

pub fn has_os_initiated() -> bool {
    let suspend = features(psci::PSCI_CPU_SUSPEND_64);
    suspend.is_ok_and(spec::psci::has_os_initiated) && features(psci::PSCI_SET_SUSPEND_MODE).is_ok()
}

pub fn set_suspend_mode(mode: SuspendMode) -> Result<(), Error> {
    accept_positive(psci::set_suspend_mode::<ByConduit>(mode))
}

/// Returns false if PSCI_FEATURES (PSCI 1.0 and later) does not list CPU_OFF.
pub fn has_cpu_off() -> bool {
    let has_features = version().is_ok_and(|version| version.major >= 1);
    !has_features || features(psci::PSCI_CPU_OFF) != Err(Error::NotSupported)
}

/// Returns a checksum of the firmware's feature answers: the features of each PSCI function,
/// of the SMCCC functions, and the SoC's identity. Builds that differ in an option have different
/// answers even if their versions are the same.
pub fn checksum_answers(smccc: Option<Version>) -> u32 {
    let mut crc = CRC_32.digest();
    let mut add = |answer: u64| crc.update(&(answer as u32).to_le_bytes());
    if version().is_ok_and(|version| version.major >= 1) {
        for function in PSCI_FUNCTIONS {
            for base in [psci::PSCI_VERSION, psci::PSCI_CPU_SUSPEND_64 & !0xff] {
                add(call(psci::PSCI_FEATURES, [u64::from(base | function), 0, 0])[0]);
            }
        }
    }
    if smccc.is_some_and(|version| version >= VERSION_1_1) {
        for function in ARCH_FUNCTIONS {
            add(call(arch::SMCCC_ARCH_FEATURES, [u64::from(function), 0, 0])[0]);
        }
        if arch::features::<ByConduit>(arch::SMCCC_ARCH_SOC_ID).is_ok() {
            for kind in [0, 1] {
                add(call(arch::SMCCC_ARCH_SOC_ID, [kind, 0, 0])[0]);
            }
        }
    }
    crc.finalize()
}

/// The numbers of PSCI's functions, with room for those of later versions.
const PSCI_FUNCTIONS: core::ops::Range<u32> = 0..0x20;
const ARCH_FUNCTIONS: [u32; 4] = [
    arch::SMCCC_ARCH_SOC_ID,
    arch::SMCCC_ARCH_WORKAROUND_1,
    arch::SMCCC_ARCH_WORKAROUND_2,
    arch::SMCCC_ARCH_WORKAROUND_3,
];

pub fn has_statistics() -> bool {
    let functions = [psci::PSCI_STAT_COUNT_64, psci::PSCI_STAT_RESIDENCY_64];
    functions.iter().all(|function| features(*function).is_ok())
}

/// Reads the statistics for each state in `ladder`, for the nodes that this CPU's requests power
/// down.
pub fn read_statistics(own: Mpidr, ladder: &Ladder) -> Statistics {
    let mut statistics = Statistics::default();
    for (index, rung) in ladder.rungs() {
        let arguments = [own.number(), u64::from(rung.state), 0];
        let read = |function| call(function, arguments)[0];
        statistics.counts[index] = read(psci::PSCI_STAT_COUNT_64);
        statistics.residencies[index] = read(psci::PSCI_STAT_RESIDENCY_64);
    }
    statistics
}

/// Calls SYSTEM_OFF; returns only if the firmware does not turn the machine off.
pub fn system_off() {
    let _ = psci::system_off::<ByConduit>();
}

pub fn system_reset() {
    let _ = psci::system_reset::<ByConduit>();
}

/// Reads one of this CPU's timestamps. Only the calling CPU's own timestamps are guaranteed to be
/// up to date. The flags are 0, because bit 0 would discard data that is not yet in memory.
pub fn read_timestamp(pmf: Interface, own: Mpidr, stamp: Stamp) -> Result<u64, ReadError> {
    let arguments = [u64::from(stamp.tid()), own.number(), 0];
    let [x0, x1, ..] = call(pmf.get_timestamp(), arguments);
    pmf.decode(x0, x1)
}

pub fn read_timestamps(pmf: Interface, own: Mpidr) -> Result<Stamps, ReadError> {
    let mut stamps = Stamps::default();
    for stamp in Stamp::IN_TIME {
        stamps.set(stamp, read_timestamp(pmf, own, stamp)?);
    }
    Ok(stamps)
}

pub fn find_pmf(own: Mpidr) -> Result<Interface, ReadError> {
    Interface::find(
        |function| call(function, [0; 3]),
        |interface| read_timestamp(interface, own, Stamp::EnterPsci),
    )
}
