//! The format of the plugin's record: a sequence of events, each of which is three little-endian
//! 64-bit words. `tools/profiler`, which reads the record, includes this file.
//!
//! The first word contains the kind in bits 7:0, the CPU in bits 31:8 and a number in bits 63:32.
//! The kind determines what the number and the other two words mean:
//! * 0 is a new block: its number, its address and its instruction count.
//! * 1 is an execution: the block number, and the numbers of instructions that all CPUs have
//!   executed so far inside and outside the firmware.
//! * 2 is a memory access by the block that was executed last: its size, its address, and the
//!   address of the instruction. Bit 0 of the instruction's address is set for a store, and bit 1
//!   for an access to Normal Cacheable memory with the MMU on.
//! * 3 is the end of the record: the two instruction counts, as for an execution.
//! * 4 is the value of SCTLR_EL3 in the CPU's next executions.
//! * 5 is the power level of a power-down that the block that was executed last starts.

pub const BLOCK: u8 = 0;
pub const EXECUTION: u8 = 1;
pub const ACCESS: u8 = 2;
pub const END: u8 = 3;
pub const CONTROL: u8 = 4;
pub const POWER_LEVEL: u8 = 5;

/// Flags in the address of the instruction that accesses memory.
pub const IS_STORE: u64 = 1;
pub const IS_CACHEABLE: u64 = 2;
