//! Reads the registers and the memory of the CPU that executes a block.
//!
//! A CPU is identified by VMPIDR_EL2, because QEMU 10.0 passes the index of the CPU that translated
//! the block instead of the CPU that executes it.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::slice;
use std::sync::Mutex;

use crate::declarations as qemu;

/// The MPIDR affinity fields that QEMU machines use, Aff2 to Aff0.
const AFFINITY: u64 = 0xff_ffff;

/// Register handles by name, and a buffer for register values. The handles are valid for every
/// CPU, because all of the machine's CPUs are the same model.
struct Registers {
    handles: Option<HashMap<String, *mut c_void>>,
    bytes: *mut qemu::Bytes,
}

// SAFETY: the QEMU handles and the buffer are used only on the thread that runs the virtual
// CPUs.
unsafe impl Send for Registers {}

static REGISTERS: Mutex<Registers> = Mutex::new(Registers {
    handles: None,
    bytes: std::ptr::null_mut(),
});

/// Registers a callback that lists a CPU's registers when it starts.
pub fn prepare(id: u64) {
    if let Ok(mut registers) = REGISTERS.lock() {
        // SAFETY: The GLib function has no preconditions.
        registers.bytes = unsafe { qemu::g_byte_array_new() };
    }
    // SAFETY: the plugin is being installed and has this ID.
    unsafe { qemu::qemu_plugin_register_vcpu_init_cb(id, cpu_started) };
}

extern "C" fn cpu_started(_: u64, _: u32) {
    let Ok(mut registers) = REGISTERS.lock() else {
        return;
    };
    if registers.handles.is_some() {
        return;
    }
    // SAFETY: QEMU is starting this CPU, so the registers can be listed at this point.
    let array = unsafe { qemu::qemu_plugin_get_registers() };
    // SAFETY: QEMU returns a new array, which is never freed.
    let &qemu::Registers { data, len, .. } = unsafe { &*array };
    // SAFETY: this is the length of the array, and QEMU CPUs have at least one register.
    let list = unsafe { slice::from_raw_parts(data, len as usize) };
    let handle = |register: &qemu::Register| {
        // SAFETY: names are NUL-terminated.
        let name = unsafe { CStr::from_ptr(register.name) };
        (name.to_string_lossy().into_owned(), register.handle)
    };
    registers.handles = Some(list.iter().map(handle).collect());
}

/// Returns the value of one of the executing CPU's registers, or None if the register does not
/// exist. `name` is the register name in the QEMU debugger. Must be called from an executing
/// CPU's callback, which means any [`crate::Plugin`] callback except `translate` and `end`.
pub fn read_register(name: &str) -> Option<u64> {
    let registers = REGISTERS.lock().ok()?;
    let handle = *registers.handles.as_ref()?.get(name)?;
    let bytes = registers.bytes;
    // SAFETY: the array belongs to GLib and only this thread uses it.
    unsafe { qemu::g_byte_array_set_size(bytes, 0) };
    // SAFETY: QEMU returned the handle for a CPU of this model.
    unsafe { qemu::qemu_plugin_read_register(handle, bytes) };
    word(bytes)
}

/// Returns the value of the executing CPU's general-purpose register with this number in an
/// instruction. 31 is XZR.
pub fn read_general_register(number: u32) -> u64 {
    match number {
        31 => 0,
        number => read_register(&format!("x{number}")).unwrap_or(0),
    }
}

/// Returns the first 64 bits in a GLib array, or None if it is empty.
fn word(array: *const qemu::Bytes) -> Option<u64> {
    // SAFETY: QEMU filled the array, and only this thread uses it.
    let &qemu::Bytes { data, len, .. } = unsafe { &*array };
    if len == 0 {
        return None;
    }
    // SAFETY: this is the length of the array.
    let bytes = unsafe { slice::from_raw_parts(data, len as usize) };
    let from_highest = bytes.iter().take(8).rev();
    Some(from_highest.fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

/// Reads 64 bits of memory using the executing CPU's address mapping. Returns None if the
/// address is not mapped.
pub fn read_memory(address: u64) -> Option<u64> {
    let bytes = REGISTERS.lock().ok()?.bytes;
    // SAFETY: the array belongs to GLib and only this thread uses it. A CPU is executing.
    let is_read = unsafe { qemu::qemu_plugin_read_memory_vaddr(address, bytes, 8) };
    word(bytes).filter(|_| is_read)
}

/// Returns the executing CPU's affinity, or `u32::MAX` if QEMU does not provide it.
pub fn identify() -> u32 {
    let register = read_register("VMPIDR_EL2");
    register.map_or(u32::MAX, |value| (value & AFFINITY) as u32)
}
