//! Plain calls to the firmware by SMC or HVC (SMCCC, DEN0028).

use core::arch::asm;

use psci_bench::image::Conduit;

/// Calls the firmware with up to three arguments and returns X0 to X3.
///
/// X4 to X18 count as lost, also the last one, which firmware that follows
/// SMCCC 1.0 need not keep, and of which compilers do make use.
pub fn call(conduit: Conduit, function: u32, arguments: [u64; 3]) -> [u64; 4] {
    let [mut x1, mut x2, mut x3] = arguments;
    let mut x0 = u64::from(function);
    macro_rules! issue {
        ($instruction:literal) => {
            // SAFETY: the call follows SMCCC: what it may change is listed,
            // and the firmware does not write to the payload's memory. Not
            // `nomem`: CPU_ON publishes what was stored before.
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
    match conduit {
        Conduit::Smc => issue!("smc #0"),
        Conduit::Hvc => issue!("hvc #0"),
    }
    [x0, x1, x2, x3]
}
