//! The subset of the QEMU TCG plugin interface that this project's plugins use. A plugin implements
//! [`Plugin`] and uses [`export!`] so that QEMU can load it. All calls into QEMU are here: a plugin
//! needs no unsafe code of its own.
//!
//! The declarations follow the interface documentation (docs/devel/tcg-plugins.rst in QEMU). They
//! match version 4, which QEMU 9.2 and later can load. The plugins require QEMU's instruction
//! counting mode, which runs all virtual CPUs in one thread.
//!
//! [`translation`] reads the guest's translation tables.

mod cpus;
mod declarations;
pub mod translation;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, io, ptr, slice};

pub use cpus::{read_general_register, read_memory, read_register};
use declarations as qemu;
pub use declarations::VERSION;

/// A plugin. All methods are called from the same thread.
pub trait Plugin: Send {
    /// Called after QEMU translates a block of instructions and before the block is executed.
    fn translate(&mut self, block: &mut TranslatedBlock);
    /// Called when a block is executed. `block` is the number passed to
    /// [`TranslatedBlock::report`]. `counts` is the number of instructions executed before the
    /// block.
    fn execute(&mut self, block: u32, cpu: u32, counts: InstructionCounts);
    /// Called for a memory access of the instruction at `pc`, which is in the last executed block.
    fn access(&mut self, pc: u64, access: MemoryAccess);
    /// Called before an instruction is executed, with the number passed to
    /// [`TranslatedBlock::report_instruction`].
    fn instruction(&mut self, _number: u32) {}
    /// Called when QEMU exits.
    fn end(&mut self, counts: InstructionCounts);
}

/// The number of instructions executed by all CPUs since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCounts {
    /// The number of instructions in blocks marked with [`TranslatedBlock::count_inside`].
    pub inside: u64,
    /// The number of instructions in all other blocks.
    pub outside: u64,
}

/// A memory access.
#[derive(Clone, Copy, Debug)]
pub struct MemoryAccess {
    /// True for a store.
    pub is_store: bool,
    /// The number of bytes.
    pub size: u64,
    /// The virtual address.
    pub address: u64,
}

static PLUGIN: Mutex<Option<Box<dyn Plugin>>> = Mutex::new(None);

fn with_plugin(act: impl FnOnce(&mut dyn Plugin)) {
    // The lock cannot be poisoned because a panic would have terminated QEMU.
    if let Ok(mut plugin) = PLUGIN.lock()
        && let Some(plugin) = plugin.as_mut()
    {
        act(&mut **plugin);
    }
}

/// A translated block of instructions.
#[derive(Debug)]
pub struct TranslatedBlock(*mut qemu::RawBlock);

impl TranslatedBlock {
    /// Returns the address of the first instruction.
    pub fn address(&self) -> u64 {
        // SAFETY: QEMU passed the block to `translated`, which has not returned.
        unsafe { qemu::qemu_plugin_tb_vaddr(self.0) }
    }

    /// Returns the number of instructions.
    pub fn instruction_count(&self) -> usize {
        // SAFETY: as in `address`.
        unsafe { qemu::qemu_plugin_tb_n_insns(self.0) }
    }

    fn instructions(&self) -> impl Iterator<Item = *mut qemu::RawInstruction> {
        // SAFETY: as in `address`. The index is less than the number of instructions.
        (0..self.instruction_count())
            .map(|index| unsafe { qemu::qemu_plugin_tb_get_insn(self.0, index) })
    }

    /// Returns the instruction at this index in the block, or 0 if the index is too large.
    pub fn word(&self, place: usize) -> u32 {
        let mut word = [0u8; 4];
        let Some(instruction) = self.instructions().nth(place) else {
            return 0;
        };
        let to = word.as_mut_ptr().cast();
        // SAFETY: the instruction belongs to this block, and the buffer is 4 bytes long.
        unsafe { qemu::qemu_plugin_insn_data(instruction, to, 4) };
        u32::from_le_bytes(word)
    }

    /// Adds every executed instruction in the block to [`InstructionCounts::outside`].
    pub fn count(&mut self) {
        for instruction in self.instructions() {
            call(instruction, outside);
        }
    }

    /// Adds every executed instruction in the block to [`InstructionCounts::inside`].
    pub fn count_inside(&mut self) {
        for instruction in self.instructions() {
            call(instruction, inside);
        }
    }

    /// Reports `number` on each execution of the instruction at index `place`.
    pub fn report_instruction(&mut self, place: usize, number: u32) {
        let data = ptr::without_provenance_mut(number as usize);
        let flags = qemu::READS_REGISTERS;
        for instruction in self.instructions().skip(place).take(1) {
            // SAFETY: the instruction belongs to this block. The callback uses the data only as a
            // number.
            unsafe {
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(instruction, reached, flags, data);
            }
        }
    }

    /// Reports `number` on each execution of the block, and reports the block's memory accesses.
    pub fn report(&mut self, number: u32) {
        let data = ptr::without_provenance_mut(number as usize);
        let flags = qemu::READS_REGISTERS;
        let kinds = qemu::LOADS_AND_STORES;
        // SAFETY: as in `address`. The callback uses the data only as a number.
        unsafe { qemu::qemu_plugin_register_vcpu_tb_exec_cb(self.0, executed, flags, data) };
        for instruction in self.instructions() {
            // QEMU translates an instruction that accesses a device once more, into a block of its
            // own that reports only the access. So the access must identify its instruction.
            // SAFETY: the instruction belongs to this block.
            let address = unsafe { qemu::qemu_plugin_insn_vaddr(instruction) };
            let pc = ptr::without_provenance_mut(address as usize);
            // SAFETY: the instruction belongs to this block. The callback uses the data only as a
            // number.
            unsafe {
                qemu::qemu_plugin_register_vcpu_mem_cb(instruction, accessed, flags, kinds, pc);
            }
        }
    }
}

// Instructions are counted with callbacks instead of inline operations. In QEMU 10.0, inline
// operations use wrong addresses if several CPUs share a thread.
static INSIDE: AtomicU64 = AtomicU64::new(0);
static OUTSIDE: AtomicU64 = AtomicU64::new(0);

/// Registers a callback that runs before each execution of an instruction.
fn call(instruction: *mut qemu::RawInstruction, call: qemu::Executed) {
    let flags = qemu::NO_REGISTERS;
    let data = ptr::null_mut();
    // SAFETY: the instruction belongs to a block being translated. The callback does not use the
    // data.
    unsafe { qemu::qemu_plugin_register_vcpu_insn_exec_cb(instruction, call, flags, data) };
}

// No atomic increment is needed because all virtual CPUs run in one thread.
fn increment(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

extern "C" fn inside(_: c_uint, _: *mut c_void) {
    increment(&INSIDE);
}

extern "C" fn outside(_: c_uint, _: *mut c_void) {
    increment(&OUTSIDE);
}

fn counts() -> InstructionCounts {
    InstructionCounts {
        inside: INSIDE.load(Ordering::Relaxed),
        outside: OUTSIDE.load(Ordering::Relaxed),
    }
}

extern "C" fn translated(_: u64, block: *mut qemu::RawBlock) {
    with_plugin(|plugin| plugin.translate(&mut TranslatedBlock(block)));
}

extern "C" fn executed(_: c_uint, number: *mut c_void) {
    let cpu = cpus::identify();
    let counts = counts();
    with_plugin(|plugin| plugin.execute(number.addr() as u32, cpu, counts));
}

extern "C" fn reached(_: c_uint, number: *mut c_void) {
    with_plugin(|plugin| plugin.instruction(number.addr() as u32));
}

extern "C" fn accessed(_: c_uint, info: u32, address: u64, pc: *mut c_void) {
    // SAFETY: QEMU passed the descriptor for this access.
    let is_store = unsafe { qemu::qemu_plugin_mem_is_store(info) };
    // SAFETY: as above.
    let size = 1 << unsafe { qemu::qemu_plugin_mem_size_shift(info) };
    let access = MemoryAccess {
        is_store,
        size,
        address,
    };
    with_plugin(|plugin| plugin.access(pc.addr() as u64, access));
}

extern "C" fn ended(_: u64, _: *mut c_void) {
    with_plugin(|plugin| plugin.end(counts()));
}

/// An error in a plugin argument.
#[derive(Debug)]
pub enum ArgumentError {
    /// The argument with this name is missing.
    Missing(String),
    /// The argument with this name is not a range.
    NotARange(String),
    /// The file specified by the `name` argument cannot be written.
    File {
        /// The argument name.
        name: String,
        /// The path.
        path: String,
        /// The operating system error.
        error: io::Error,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "the {name}= argument is missing"),
            Self::NotARange(name) => {
                write!(f, "{name}=: expected two hexadecimal numbers, A-B")
            }
            Self::File { name, path, error } => write!(f, "{name}={path}: {error}"),
        }
    }
}

impl std::error::Error for ArgumentError {}

/// The plugin arguments in `name=value` form.
pub struct PluginArguments(Vec<String>);

impl PluginArguments {
    /// Returns the value of the `name` argument.
    ///
    /// # Errors
    /// Returns an error if the argument is missing.
    pub fn get(&self, name: &str) -> Result<&str, ArgumentError> {
        let mut pairs = self.0.iter().filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        found
            .map(|(_, value)| value)
            .ok_or_else(|| ArgumentError::Missing(name.to_owned()))
    }

    /// Parses the `name=A-B` argument, where A and B are hexadecimal numbers.
    ///
    /// # Errors
    /// Returns an error if the argument is missing or malformed.
    pub fn range(&self, name: &str) -> Result<std::ops::Range<u64>, ArgumentError> {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let numbers = self.get(name)?.split_once('-');
        let range = numbers.and_then(|(start, end)| Some(number(start)?..number(end)?));
        range.ok_or_else(|| ArgumentError::NotARange(name.to_owned()))
    }
}

/// Installs the plugin created by `make`. Used by [`export!`].
///
/// # Safety
/// The arguments must be the ones that QEMU passes to `qemu_plugin_install`.
pub unsafe fn install<P: Plugin + 'static>(
    id: u64,
    (count, words): (c_int, *const *const c_char),
    make: impl FnOnce(&PluginArguments) -> Result<P, ArgumentError>,
) -> c_int {
    let words = match count {
        1.. => {
            // SAFETY: QEMU passes `count` strings.
            unsafe { slice::from_raw_parts(words, count as usize) }
        }
        _ => &[],
    };
    let word = |word: &*const c_char| {
        // SAFETY: each string is NUL-terminated.
        unsafe { CStr::from_ptr(*word) }
            .to_string_lossy()
            .into_owned()
    };
    let made = make(&PluginArguments(words.iter().map(word).collect()));
    let plugin = match made {
        Ok(plugin) => plugin,
        Err(error) => {
            eprintln!("plugin: {error}");
            return -1;
        }
    };
    *PLUGIN.lock().expect("an unpoisoned lock") = Some(Box::new(plugin));
    // SAFETY: this is the ID that QEMU passed.
    unsafe { qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
    // SAFETY: as above.
    unsafe { qemu::qemu_plugin_register_atexit_cb(id, ended, ptr::null_mut()) };
    cpus::prepare(id);
    0
}

/// Exports a QEMU plugin. The argument is a function that creates a [`Plugin`] from
/// [`PluginArguments`].
#[macro_export]
macro_rules! export {
    ($make:expr) => {
        /// The interface version. Read by QEMU.
        // SAFETY: QEMU expects this name, and nothing else uses it.
        #[unsafe(no_mangle)]
        pub static qemu_plugin_version: std::ffi::c_int = $crate::VERSION;

        /// Installs the plugin. Called by QEMU.
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        extern "C" fn qemu_plugin_install(
            id: u64,
            _: *const std::ffi::c_void,
            count: std::ffi::c_int,
            words: *const *const std::ffi::c_char,
        ) -> std::ffi::c_int {
            // SAFETY: QEMU calls this with the arguments that it passes to plugins.
            unsafe { $crate::install(id, (count, words), $make) }
        }
    };
}
