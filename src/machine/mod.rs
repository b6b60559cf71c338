//! The bare-metal half: all that touches hardware, and all the unsafe code.
//!
//! | room | what it does |
//! |---|---|
//! | `boot`, `mmu`, `exception`, `probe` | from reset to Rust with MMU, caches and vectors on |
//! | `memory`, `stacks`, `loaded` | what is mapped: working memory, the CPUs' stacks, what a loader left |
//! | `cpu`, `slot` | this CPU, and what all know of the machine; what one shares with the lead |
//! | `mmio`, `console`, `panic` | a device's registers; the way out |
//! | `call`, `firmware`, `timed` | SMC and HVC: plain, PSCI and PMF, timed |
//! | `micro`, `pmu` | loops, timed as a whole; the cycle counter |
//! | `counter`, `timer`, `frame`, `gic`, `wait` | time, wake-ups, interrupts, naps |
//! | `overhead`, `dirty` | what measuring costs; dirty lines, for a power-down to write back |
//! | `stress`, `latency` | load on the memory system; a timer's interrupts meanwhile, the only ones that are taken |
//! | `watchdog` | a reset, where no other CPU sees that the lead does not come back |
//! | `act`, `help`, `secondary` | one CPU's part in a round; wake-ups by SGI |
//! | `orders`, `conduct` | the orders of a round; the lead's conduct of it |
//! | `watch` | who sees it when the lead does not come back |

pub mod act;
pub mod boot;
pub mod call;
pub mod conduct;
pub mod console;
pub mod counter;
pub mod cpu;
pub mod dirty;
mod early_heap;
pub mod exception;
pub mod firmware;
pub mod frame;
pub mod gic;
pub mod help;
mod latency;
pub mod loaded;
pub mod memory;
mod micro;
pub mod mmio;
pub mod mmu;
pub mod orders;
pub mod overhead;
pub mod panic;
pub mod pmu;
mod probe;
pub mod secondary;
pub mod slot;
pub mod stacks;
pub mod stress;
pub mod timed;
pub mod timer;
pub mod wait;
pub mod watch;
pub mod watchdog;
