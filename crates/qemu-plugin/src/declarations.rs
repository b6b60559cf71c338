//! QEMU functions and types. The type sizes are those of a 64-bit host.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// The version of the interface declared here.
pub const VERSION: c_int = 4;

/// An opaque block being translated.
#[repr(C)]
#[derive(Debug)]
pub struct RawBlock([u8; 0]);

/// An opaque instruction in a block being translated.
#[repr(C)]
pub struct RawInstruction([u8; 0]);

/// A CPU register.
#[repr(C)]
pub struct Register {
    pub handle: *mut c_void,
    pub name: *const c_char,
    pub feature: *const c_char,
}

/// A GLib array of registers.
#[repr(C)]
pub struct Registers {
    pub data: *const Register,
    pub len: c_uint,
}

/// A GLib array of bytes.
#[repr(C)]
pub struct Bytes {
    pub data: *const u8,
    pub len: c_uint,
}

pub const NO_REGISTERS: c_int = 0;
pub const READS_REGISTERS: c_int = 1;
pub const LOADS_AND_STORES: c_int = 3;

pub type Translated = extern "C" fn(u64, *mut RawBlock);
pub type Executed = extern "C" fn(c_uint, *mut c_void);
pub type Accessed = extern "C" fn(c_uint, u32, u64, *mut c_void);
pub type CpuStarted = extern "C" fn(u64, c_uint);
pub type Ended = extern "C" fn(u64, *mut c_void);

unsafe extern "C" {
    pub fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, call: Translated);
    pub fn qemu_plugin_register_atexit_cb(id: u64, call: Ended, data: *mut c_void);
    pub fn qemu_plugin_tb_n_insns(block: *const RawBlock) -> usize;
    pub fn qemu_plugin_tb_vaddr(block: *const RawBlock) -> u64;
    pub fn qemu_plugin_tb_get_insn(block: *const RawBlock, index: usize) -> *mut RawInstruction;
    pub fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut RawBlock,
        call: Executed,
        flags: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut RawInstruction,
        call: Executed,
        flags: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut RawInstruction,
        call: Accessed,
        flags: c_int,
        kinds: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_mem_is_store(access: u32) -> bool;
    pub fn qemu_plugin_mem_size_shift(access: u32) -> c_uint;
    pub fn qemu_plugin_insn_vaddr(instruction: *const RawInstruction) -> u64;
    pub fn qemu_plugin_insn_data(
        instruction: *const RawInstruction,
        to: *mut c_void,
        len: usize,
    ) -> usize;
    pub fn qemu_plugin_read_memory_vaddr(address: u64, bytes: *mut Bytes, len: usize) -> bool;
    pub fn qemu_plugin_register_vcpu_init_cb(id: u64, call: CpuStarted);
    pub fn qemu_plugin_get_registers() -> *const Registers;
    pub fn qemu_plugin_read_register(handle: *mut c_void, bytes: *mut Bytes) -> c_int;
    pub fn g_byte_array_new() -> *mut Bytes;
    pub fn g_byte_array_set_size(bytes: *mut Bytes, len: c_uint) -> *mut Bytes;
}
