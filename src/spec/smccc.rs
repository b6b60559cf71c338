//! The SMC Calling Convention: its version, and who answers.
//!
//! Source: Arm SMC Calling Convention, DEN0028. A call that is not there
//! returns -1 by version 1.1; of older firmware nothing is sure, and so it is
//! asked nothing. What PSCI_FEATURES says of SMCCC_VERSION tells the two apart.

use core::fmt;

/// Function IDs.
pub mod function {
    /// SMCCC_VERSION (section 7.2).
    pub const VERSION: u32 = 0x8000_0000;
    /// The UID of the service that handles Standard Secure Service Calls, PSCI's among
    /// them (section 6.2).
    pub const SERVICE_UID: u32 = 0x8400_ff01;
    /// The revision of the same.
    pub const SERVICE_REVISION: u32 = 0x8400_ff03;
    /// The UID of the service that handles Vendor Specific Hypervisor Service Calls.
    pub const HYPERVISOR_UID: u32 = 0x8600_ff01;
}

/// The first version by which every call may be tried: major version in bits
/// 30:16, minor in 15:0.
pub const VERSION_1_1: u32 = 0x1_0001;

/// KVM's UID, 28b46fb6-2ec5-11e9-a9ca-4b564d003a74 (Linux,
/// `include/linux/arm-smccc.h`), as W0 to W3 give it.
const KVM: [u32; 4] = [0xb66f_b428, 0xe911_c52e, 0x564b_caa9, 0x743a_004d];

/// Returns true if an answer to [`function::HYPERVISOR_UID`] is KVM's, X0 to X3.
#[must_use]
pub fn is_kvm(answer: [u64; 4]) -> bool {
    answer.map(|x| x as u32) == KVM
}

/// The service that handles PSCI's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The UID as W0 to W3 gave it, the first byte lowest.
    pub uid: [u32; 4],
    /// The revision, major and minor; None without one.
    pub revision: Option<[u32; 2]>,
}

impl Service {
    /// Reads the two calls' answers, X0 to X3 of each; returns None if there is
    /// no such service.
    #[must_use]
    pub fn from_answers(uid: [u64; 4], revision: [u64; 4]) -> Option<Self> {
        let uid = uid.map(|x| x as u32);
        let [major, minor, ..] = revision.map(|x| x as u32);
        // Not there; not touched; nothing written.
        if [u32::MAX, function::SERVICE_UID, 0].contains(&uid[0]) {
            return None;
        }
        let told = (major as i32) >= 0 && (minor as i32) >= 0;
        Some(Self {
            uid,
            revision: told.then_some([major, minor]),
        })
    }
}

impl fmt::Display for Service {
    /// The UID as RFC 9562 writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, word) in self.uid.iter().enumerate() {
            for (at, byte) in word.to_le_bytes().iter().enumerate() {
                if matches!(place * 4 + at, 4 | 6 | 8 | 10) {
                    f.write_str("-")?;
                }
                write!(f, "{byte:02x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// TF-A's answer: UID 5b908d10-63f8-e847-ae2d-c0fb5641f6e2, 0.1.
    const TF_A: [u64; 4] = [0x108d_905b, 0x47e8_f863, 0xfbc0_2dae, 0xe2f6_4156];

    #[test]
    fn a_uid_reads_as_its_source_has_it() {
        let service = Service::from_answers(TF_A, [0, 1, 7, 7]);
        let service = service.expect("this is an answer");
        assert_eq!(service.to_string(), "5b908d10-63f8-e847-ae2d-c0fb5641f6e2");
        assert_eq!(service.revision, Some([0, 1]));
    }

    #[test]
    fn kvm_is_known_by_its_uid() {
        let kvm = Service::from_answers(KVM.map(u64::from), [0; 4]);
        let kvm = kvm.expect("this is an answer");
        assert_eq!(kvm.to_string(), "28b46fb6-2ec5-11e9-a9ca-4b564d003a74");
        assert!(is_kvm(KVM.map(u64::from)));
        assert!(!is_kvm(TF_A) && !is_kvm([u64::MAX, 0, 0, 0]));
    }

    #[test]
    fn no_answer_is_no_uid() {
        let refused = u64::from(u32::MAX);
        for x0 in [u64::MAX, refused, 0, function::SERVICE_UID.into()] {
            assert_eq!(Service::from_answers([x0, 2, 3, 4], [0, 1, 0, 0]), None);
        }
        for revision in [[u64::MAX, 0, 0, 0], [refused, 0, 0, 0]] {
            let service = Service::from_answers(TF_A, revision);
            assert_eq!(service.map(|it| it.revision), Some(None));
        }
    }
}
