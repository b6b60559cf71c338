//! TF-A's Performance Measurement Framework (PMF), which provides six timestamps per CPU via SMC.
//!
//! Each CPU has one slot for each timestamp. If a call does not reach a capture point, the slot
//! keeps its old value, with no indication that the value is stale. For this reason,
//! `crates/suite/src/measure/capture_sequence.rs` examines only values and their order.

use core::fmt;
use serde::{Deserialize, Serialize};

use super::counter_value::CounterValue;

/// Capture points in the TF-A runtime instrumentation, by timestamp ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Stamp {
    /// 0: entry to every PSCI call.
    EnterPsci = 0,
    /// 1: return from every PSCI call, or the end of the warm boot path.
    ExitPsci = 1,
    /// 2: just before the CPU enters its low-power state.
    EnterHwLowPwr = 2,
    /// 3: just after the low-power state, or at the start of the warm entry point.
    ExitHwLowPwr = 3,
    /// 4: before cache maintenance in a power-down.
    EnterCflush = 4,
    /// 5: after cache maintenance.
    ExitCflush = 5,
}

/// The number of timestamps per CPU.
pub const STAMPS: usize = 6;

impl Stamp {
    /// The capture points, in the order in which a power-down and wake-up reach them.
    pub const IN_TIME: [Self; STAMPS] = [
        Self::EnterPsci,
        Self::EnterCflush,
        Self::ExitCflush,
        Self::EnterHwLowPwr,
        Self::ExitHwLowPwr,
        Self::ExitPsci,
    ];

    /// Returns the TID: 0x41 in bits 31:24, service 1 in bits 15:10, the timestamp ID in bits 7:0.
    pub const fn tid(self) -> u32 {
        0x4100_0400 + self as u32
    }
}

/// UIDs of TF-A services that implement GET_TIMESTAMP, as returned in W0 to W3.
///
/// `services/el3/ven_el3_svc.c`: b6011dca-57c4-407e-83f0-a7eddaf0df6c.
const VENDOR_EL3: [u32; 4] = [0xca1d_01b6, 0x7e40_c457, 0xeda7_f083, 0x6cdf_f0da];
/// `plat/arm/common/arm_sip_svc.c`: 556d75e2-6033-b54b-b575-6279fd1137ff.
const ARM_SIP: [u32; 4] = [0xe275_6d55, 0x4bb5_3360, 0x7962_75b5, 0xff37_11fd];
/// `plat/hisilicon/hikey/hisi_sip_svc.c`: 74df99e5-8276-aa40-9ff8-c08552bc393f.
const HIKEY_SIP: [u32; 4] = [0xe599_df74, 0x40aa_7682, 0x85c0_f89f, 0x3f39_bc52];

/// The function ID that the firmware uses for GET_TIMESTAMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// The vendor-specific EL3 range, used by TF-A 2.11 and later.
    VendorEl3,
    /// The Arm SiP range, used by TF-A up to 2.10.
    ArmSip,
}

impl Interface {
    /// The interfaces, in the order in which they are tried.
    const ALL: [Self; 2] = [Self::VendorEl3, Self::ArmSip];

    /// Returns the SMC64 function ID of GET_TIMESTAMP.
    pub const fn get_timestamp(self) -> u32 {
        match self {
            Self::VendorEl3 => 0xc700_0020,
            Self::ArmSip => 0xc200_0010,
        }
    }

    /// Returns the function ID for querying the service UID (SMCCC, section 6.2). The query is the
    /// same for every service and has no side effects.
    const fn service_uid(self) -> u32 {
        match self {
            Self::VendorEl3 => 0x8700_ff01,
            Self::ArmSip => 0x8200_ff01,
        }
    }

    /// Returns the services that use this function ID for GET_TIMESTAMP.
    const fn services(self) -> &'static [[u32; 4]] {
        match self {
            Self::VendorEl3 => &[VENDOR_EL3],
            Self::ArmSip => &[ARM_SIP, HIKEY_SIP],
        }
    }

    /// Finds the interface through which `read` returns a timestamp. `query_uid` returns X0 to X3
    /// of a UID query. `read` is called only if the UID identifies a known service, because the
    /// same function ID can mean anything in a service from another vendor. For example, 0xc2000010
    /// is PM_SET_MAX_LATENCY on ZynqMP.
    pub fn find(
        query_uid: impl Fn(u32) -> [u64; 4],
        read: impl Fn(Self) -> Result<u64, ReadError>,
    ) -> Result<Self, ReadError> {
        let mut reason = ReadError::NotImplemented;
        for interface in Self::ALL {
            let uid = query_uid(interface.service_uid()).map(|register| register as u32);
            if !interface.services().contains(&uid) {
                continue;
            }
            match read(interface) {
                Ok(_) => return Ok(interface),
                // Keep the error from the newer interface, which is more precise, unless that
                // interface is not implemented.
                Err(error) if reason == ReadError::NotImplemented => reason = error,
                Err(_) => {}
            }
        }
        Err(reason)
    }

    /// Decodes the X0 and X1 values returned by GET_TIMESTAMP.
    ///
    /// TF-A 2.10 to 2.15 returns without writing X0 if the MPIDR is unknown, so an unchanged
    /// function ID is also an error.
    pub fn decode(self, x0: u64, x1: u64) -> Result<u64, ReadError> {
        match x0 as u32 as i32 {
            0 => Ok(x1),
            -1 => Err(ReadError::NotImplemented),
            -22 => Err(ReadError::BadTimestamp),
            code if code as u32 == self.get_timestamp() => Err(ReadError::UnknownCpu),
            code => Err(ReadError::Code(code)),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = match self {
            Self::VendorEl3 => "vendor-specific EL3",
            Self::ArmSip => "Arm SiP",
        };
        write!(f, "{range} call {:#010x}", u64::from(self.get_timestamp()))
    }
}

/// The reason why GET_TIMESTAMP did not return a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadError {
    /// -1. The firmware does not implement the function or has no service that is known to
    /// implement it.
    NotImplemented,
    /// -22. Unknown timestamp or service.
    BadTimestamp,
    /// X0 still contained the function ID, so the MPIDR was not accepted.
    UnknownCpu,
    /// Any other code.
    Code(i32),
    /// The boot arguments rule out PMF.
    Argument,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotImplemented => "the firmware does not implement it",
            Self::BadTimestamp => "no such timestamp (-22)",
            Self::UnknownCpu => "X0 unchanged: MPIDR not accepted",
            Self::Code(code) => return write!(f, "code {code}"),
            Self::Argument => "timestamps=caller was given",
        })
    }
}

/// A CPU's timestamps as CNTPCT values, indexed by timestamp ID. A timestamp that the firmware has
/// never written is None.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps([Option<CounterValue>; STAMPS]);

impl Stamps {
    /// Returns the timestamps with these numbers of ticks, by timestamp ID. 0 stands for a
    /// timestamp that was never written.
    pub fn new(ticks: [u64; STAMPS]) -> Self {
        Self(ticks.map(CounterValue::new))
    }

    /// Returns a timestamp.
    pub const fn at(&self, stamp: Stamp) -> Option<CounterValue> {
        self.0[stamp as usize]
    }

    /// Sets a timestamp to a number of ticks. 0 stands for a timestamp that was never written.
    pub const fn set(&mut self, stamp: Stamp, ticks: u64) {
        self.0[stamp as usize] = CounterValue::new(ticks);
    }
}

#[cfg(test)]
mod tests {
    use core::cell::RefCell;
    use std::vec::Vec;

    use super::*;

    /// Returns the interface found on firmware with these services, and the function IDs called.
    /// Each service implements GET_TIMESTAMP.
    fn found(vendor_el3: [u32; 4], sip: [u32; 4]) -> (Option<Interface>, Vec<u32>) {
        let query_uid = |function| match function {
            0x8700_ff01 => vendor_el3.map(u64::from),
            0x8200_ff01 => sip.map(u64::from),
            _ => panic!("{function:#x} is not a query"),
        };
        let called = RefCell::new(Vec::new());
        let record_and_read = |interface: Interface| {
            called.borrow_mut().push(interface.get_timestamp());
            Ok(7)
        };
        let found = Interface::find(query_uid, record_and_read).ok();
        (found, called.into_inner())
    }

    #[test]
    fn a_function_of_an_unknown_service_is_not_called() {
        use Interface::{ArmSip, VendorEl3};
        const UNKNOWN: [u32; 4] = [u32::MAX, 0, 0, 0];
        // The ZynqMP SiP service: 5c9b1b2a-0586-2340-a61b-b925822de3a5.
        const ZYNQMP: [u32; 4] = [0x2a1b_9b5c, 0x4023_8605, 0x25b9_1ba6, 0xa5e3_2d82];
        let new = 0xc700_0020;
        let old = 0xc200_0010;
        for (vendor_el3, sip, interface, called) in [
            (VENDOR_EL3, ARM_SIP, Some(VendorEl3), &[new][..]),
            (UNKNOWN, ARM_SIP, Some(ArmSip), &[old]),
            (UNKNOWN, HIKEY_SIP, Some(ArmSip), &[old]),
            (UNKNOWN, ZYNQMP, None, &[]),
            (ARM_SIP, VENDOR_EL3, None, &[]),
            (UNKNOWN, UNKNOWN, None, &[]),
            ([0; 4], [0x8200_ff01, 0, 0, 0], None, &[]),
        ] {
            let expected = (interface, called.to_vec());
            assert_eq!(found(vendor_el3, sip), expected, "{vendor_el3:x?} {sip:x?}");
        }
    }

    #[test]
    fn next_interface_is_used_if_one_fails() {
        use ReadError::{BadTimestamp, NotImplemented};
        let both = |function| match function {
            0x8700_ff01 => VENDOR_EL3.map(u64::from),
            _ => ARM_SIP.map(u64::from),
        };
        for (new, old, expected) in [
            (Err(NotImplemented), Ok(7), Ok(Interface::ArmSip)),
            (Err(BadTimestamp), Err(NotImplemented), Err(BadTimestamp)),
            (Err(NotImplemented), Err(BadTimestamp), Err(BadTimestamp)),
        ] {
            let read = |interface| match interface {
                Interface::VendorEl3 => new,
                Interface::ArmSip => old,
            };
            assert_eq!(Interface::find(both, read), expected);
        }
    }

    #[test]
    fn only_zero_is_success() {
        use Interface::{ArmSip, VendorEl3};
        use ReadError::{BadTimestamp, Code, NotImplemented, UnknownCpu};
        for (pmf, x0, expected) in [
            (VendorEl3, 0, Ok(77)),
            (VendorEl3, u64::MAX, Err(NotImplemented)),
            (VendorEl3, 0xffff_ffea, Err(BadTimestamp)),
            (VendorEl3, 0xc700_0020, Err(UnknownCpu)),
            (ArmSip, 0xc200_0010, Err(UnknownCpu)),
            (VendorEl3, 5, Err(Code(5))),
        ] {
            assert_eq!(pmf.decode(x0, 77), expected);
        }
    }
}
