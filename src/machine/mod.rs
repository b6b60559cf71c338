//! The bare-metal half: all hardware access and all unsafe code.
//!
//! | part | task |
//! |---|---|
//! | `boot` | the three entry points, the vectors, exceptions |
//! | `cpu` | registers, single instructions, cache lines, the cycle counter |
//! | `memory` | translation tables, stacks, working memory, device registers |
//! | `call` | SMC and HVC: plain, timed, and in loops |
//! | `time` | timers, and waits that use them |
//! | `gic`, `timer_frame`, `watchdog` | the interrupt controller; board devices |
//! | `allocator` | the heap |
//! | `console`, `boot_marks`, `ending`, `panic` | the UART, boot stages, ending a run |
//! | `round` | a measurement round on all CPUs |

pub mod allocator;
pub mod boot;
pub mod boot_marks;
pub mod call;
pub mod console;
pub mod cpu;
pub mod ending;
pub mod gic;
pub mod memory;
mod panic;
pub mod round;
pub mod time;
pub mod timer_frame;
pub mod watchdog;

/// Defines the payload's main function, which the entry code calls.
macro_rules! entry {
    ($main:path) => {
        #[unsafe(export_name = "payload_main")]
        fn payload_main(state: $crate::machine::boot::entries::BootState) -> ! {
            $main(state)
        }
    };
}
pub(crate) use entry;
