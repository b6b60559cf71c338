//! The CPU that executes a block.

#[cfg(feature = "api-2")]
pub use by_register::*;

#[cfg(not(feature = "api-2"))]
pub fn prepare(_: u64) {}

#[cfg(not(feature = "api-2"))]
pub fn identify(index: u32) -> u32 {
    index
}

/// By VMPIDR_EL2, as the index is wrong in QEMU 10.0: it is that of the CPU that translated
/// the block.
#[cfg(feature = "api-2")]
mod by_register {
    use std::ffi::{CStr, c_void};
    use std::sync::atomic::{AtomicPtr, Ordering};
    use std::{ptr, slice};

    use crate::qemu;

    /// The affinity fields of MPIDR that QEMU's machines use: Aff2 to Aff0.
    const AFFINITY: u64 = 0xff_ffff;

    static REGISTER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    static BYTES: AtomicPtr<qemu::Bytes> = AtomicPtr::new(ptr::null_mut());

    pub fn prepare(id: u64) {
        // SAFETY: GLib's function has no condition.
        BYTES.store(unsafe { qemu::g_byte_array_new() }, Ordering::Relaxed);
        // SAFETY: the plugin is being installed, and has this ID.
        unsafe { qemu::qemu_plugin_register_vcpu_init_cb(id, begun) };
    }

    extern "C" fn begun(_: u64, _: u32) {
        // SAFETY: QEMU is beginning this CPU, where the registers may be asked for.
        let registers = unsafe { qemu::qemu_plugin_get_registers() };
        // SAFETY: QEMU returns a new array, which is never freed: one for each CPU.
        let registers = unsafe { &*registers };
        let len = registers.len as usize;
        // SAFETY: the array has so many registers.
        for register in unsafe { slice::from_raw_parts(registers.data, len) } {
            // SAFETY: names end with zero.
            if unsafe { CStr::from_ptr(register.name) } == c"VMPIDR_EL2" {
                // All CPUs of the machine are of one model.
                REGISTER.store(register.handle, Ordering::Relaxed);
            }
        }
    }

    /// Returns the affinity of the CPU that executes; `u32::MAX` if QEMU does not return it.
    pub fn identify(_: u32) -> u32 {
        let register = REGISTER.load(Ordering::Relaxed);
        if register.is_null() {
            return u32::MAX;
        }
        let bytes = BYTES.load(Ordering::Relaxed);
        // SAFETY: the array is GLib's, and of this thread alone.
        unsafe { qemu::g_byte_array_set_size(bytes, 0) };
        // SAFETY: the register is of a CPU of this model; a callback that reads registers runs.
        unsafe { qemu::qemu_plugin_read_register(register, bytes) };
        // SAFETY: the array is as QEMU has filled it.
        let bytes = unsafe { &*bytes };
        if bytes.len < 8 {
            return u32::MAX;
        }
        // SAFETY: there are at least 8 bytes.
        let value = unsafe { bytes.data.cast::<u64>().read_unaligned() };
        (value & AFFINITY) as u32
    }
}
