//! Plain calls to the firmware via SMC or HVC (SMCCC, DEN0028).

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

use hardware::image::Conduit;
use hardware::spec::smccc::sign_extend_status;
use smccc::Call;

/// The conduit for all calls, as the number of a [`Conduit`], or an invalid number if the conduit
/// is unknown.
static CONDUIT: AtomicU32 = AtomicU32::new(u32::MAX);

pub fn set_conduit(conduit: Option<Conduit>) {
    let number = conduit.map_or(u32::MAX, |conduit| conduit as u32);
    CONDUIT.store(number, Ordering::Relaxed);
}

pub fn conduit() -> Option<Conduit> {
    let number = CONDUIT.load(Ordering::Relaxed) as usize;
    Conduit::ALL.get(number).copied()
}

/// Calls the firmware with up to three arguments and returns X0 to X3.
///
/// X4 to X18 are treated as clobbered. This includes X18: SMCCC 1.0 firmware need not preserve it,
/// and compilers do use it. Does nothing if no conduit is known.
pub fn call(function: u32, arguments: [u64; 3]) -> [u64; 4] {
    let [mut x1, mut x2, mut x3] = arguments;
    let mut x0 = u64::from(function);
    macro_rules! issue {
        ($instruction:literal) => {
            // SAFETY: the call follows SMCCC: all registers that it may change are listed, and the
            // firmware does not write to the payload's memory. Not `nomem`, because stores
            // before a CPU_ON call must not be moved past it.
            unsafe {
                asm!(
                    $instruction,
                    inout("x0") x0, inout("x1") x1, inout("x2") x2, inout("x3") x3,
                    lateout("x4") _, lateout("x5") _, lateout("x6") _, lateout("x7") _,
                    lateout("x8") _, lateout("x9") _, lateout("x10") _, lateout("x11") _,
                    lateout("x12") _, lateout("x13") _, lateout("x14") _, lateout("x15") _,
                    lateout("x16") _, lateout("x17") _, lateout("x18") _,
                    options(nostack)
                )
            }
        };
    }
    match conduit() {
        Some(Conduit::Smc) => issue!("smc #0"),
        Some(Conduit::Hvc) => issue!("hvc #0"),
        None => {}
    }
    [x0, x1, x2, x3]
}

/// The conduit in the form that the smccc crate expects. That crate's own calls assume that X18 is
/// preserved, and its 32-bit calls assume the same of X8 to X17. No function called here takes more
/// than three arguments or returns more than four values.
pub struct ByConduit;

impl Call for ByConduit {
    fn call32(function: u32, [w1, w2, w3, ..]: [u32; 7]) -> [u32; 8] {
        let results = call(function, [w1, w2, w3].map(u64::from));
        let [w0, w1, w2, w3] = results.map(|register| register as u32);
        [w0, w1, w2, w3, 0, 0, 0, 0]
    }

    fn call64(function: u32, [x1, x2, x3, ..]: [u64; 17]) -> [u64; 18] {
        let [x0, x1, x2, x3] = call(function, [x1, x2, x3]);
        let x0 = sign_extend_status(function, x0);
        [x0, x1, x2, x3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    }
}
