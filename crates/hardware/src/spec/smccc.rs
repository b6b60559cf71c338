//! The SMC Calling Convention version and the identity of the software that handles calls.
//!
//! See Arm SMC Calling Convention, DEN0028. From version 1.1 on, unimplemented calls return -1.
//! Older firmware does not guarantee this, so the queries in this module are not sent to it.
//! PSCI_FEATURES reports SMCCC_VERSION only in version 1.1 and later.

use core::fmt;
use serde::{Deserialize, Serialize};

use smccc::arch::Version;
use smccc::psci;

/// The UID of the software that handles PSCI calls (section 6.2).
pub const SERVICE_UID: u32 = 0x8400_ff01;
/// The revision of the software that handles PSCI calls.
pub const SERVICE_REVISION: u32 = 0x8400_ff03;
/// The UID of the software that handles Vendor Specific Hypervisor Service Calls.
pub const HYPERVISOR_UID: u32 = 0x8600_ff01;

/// The first version in which it is safe to make a call that may be unimplemented.
pub const VERSION_1_1: Version = Version { major: 1, minor: 1 };

/// Sign-extends X0 if the `smccc` crate expects a 64-bit return code. Some firmware zero-extends
/// the code from W0 instead.
pub const fn sign_extend_status(function: u32, x0: u64) -> u64 {
    match function {
        psci::PSCI_CPU_SUSPEND_64
        | psci::PSCI_CPU_ON_64
        | psci::PSCI_MIGRATE_64
        | psci::PSCI_CPU_DEFAULT_SUSPEND_64
        | psci::PSCI_SYSTEM_SUSPEND_64
        | psci::PSCI_SYSTEM_RESET2_64
        | psci::PSCI_MEM_PROTECT_CHECK_RANGE_64 => x0 as i32 as u64,
        _ => x0,
    }
}

/// KVM's UID, 28b46fb6-2ec5-11e9-a9ca-4b564d003a74 (Linux, `include/linux/arm-smccc.h`), as
/// returned in W0 to W3.
const KVM: [u32; 4] = [0xb66f_b428, 0xe911_c52e, 0x564b_caa9, 0x743a_004d];

/// Returns true if X0 to X3, as returned by [`HYPERVISOR_UID`], contain KVM's UID.
pub fn is_kvm(answer: [u64; 4]) -> bool {
    answer.map(|register| register as u32) == KVM
}

/// The software that handles PSCI calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The UID as returned in W0 to W3. The first byte is the least significant.
    pub uid: [u32; 4],
    /// The major and minor revision, if available.
    pub revision: Option<[u32; 2]>,
}

impl Service {
    /// Returns the service identified by X0 to X3 from the UID and revision queries, or None if the
    /// queries do not identify a service.
    pub fn from_answers(uid_call: [u64; 4], revision_call: [u64; 4]) -> Option<Self> {
        let uid = uid_call.map(|register| register as u32);
        let [major, minor, ..] = revision_call.map(|register| register as u32);
        // The call is not implemented, left X0 unchanged, or returned no value.
        if [u32::MAX, SERVICE_UID, 0].contains(&uid[0]) {
            return None;
        }
        let has_revision = (major as i32) >= 0 && (minor as i32) >= 0;
        Some(Self {
            uid,
            revision: has_revision.then_some([major, minor]),
        })
    }
}

impl fmt::Display for Service {
    /// Writes the UID in RFC 9562 format.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, bc, de, rest] = self.uid.map(u32::swap_bytes);
        let [b, d] = [bc, de].map(|word| word >> 16);
        let [c, e] = [bc, de].map(|word| word & 0xffff);
        write!(f, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:04x}{rest:08x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TF-A's service: UID 5b908d10-63f8-e847-ae2d-c0fb5641f6e2, revision 0.1.
    const TF_A: [u64; 4] = [0x108d_905b, 0x47e8_f863, 0xfbc0_2dae, 0xe2f6_4156];

    #[test]
    fn status_alone_is_sign_extended() {
        let negative = u64::from(-2i32 as u32);
        let signed = -2i64 as u64;
        for (function, x0) in [
            (psci::PSCI_CPU_SUSPEND_64, signed),
            (psci::PSCI_SYSTEM_RESET2_64, signed),
            (psci::PSCI_MEM_PROTECT_CHECK_RANGE_64, signed),
            // Functions whose result is not a 64-bit return code, so X0 is left unchanged.
            (psci::PSCI_AFFINITY_INFO_64, negative),
            (psci::PSCI_STAT_RESIDENCY_64, negative),
        ] {
            assert_eq!(sign_extend_status(function, negative), x0, "{function:#x}");
            assert_eq!(sign_extend_status(function, 1), 1, "{function:#x}");
        }
    }

    #[test]
    fn a_service_is_known_by_its_uid_if_there_is_one() {
        let refused = u64::from(u32::MAX);
        let kvm = KVM.map(u64::from);
        let tf_a = "5b908d10-63f8-e847-ae2d-c0fb5641f6e2 Some([0, 1])";
        let by_kvm = "28b46fb6-2ec5-11e9-a9ca-4b564d003a74 None";
        for (uid, revision, expected) in [
            (TF_A, [0, 1, 7, 7], tf_a),
            (kvm, [u64::MAX, 0, 0, 0], by_kvm),
            (kvm, [refused, 0, 0, 0], by_kvm),
        ] {
            let service = Service::from_answers(uid, revision).expect("a service");
            assert_eq!(std::format!("{service} {:?}", service.revision), expected);
            assert_eq!(is_kvm(uid), uid == kvm);
        }
        for x0 in [u64::MAX, refused, 0, SERVICE_UID.into()] {
            assert_eq!(Service::from_answers([x0, 2, 3, 4], [0, 1, 0, 0]), None);
        }
    }
}
