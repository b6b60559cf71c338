//! Records the firmware blocks that CPUs execute, their memory accesses, and the state of the
//! caches.
//!
//! The plugin promises that a record that ends with its end event is complete. If a write fails, it
//! writes nothing more, so the end event is missing.
//!
//! Arguments: `out=FILE` is the output file for the record. `blocks=A-B` is the address range of
//! the firmware code. In `level=A-B`, A is the address of the firmware function that starts a
//! power-down, whose argument is the power level. `lose=N` omits the Nth block execution from the
//! record, for use in tests. `record_format.rs` describes the record, and
//! `tools/profiler/src/attribution/record.rs` reads it.

mod record_format;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;

use qemu_plugin::translation::{Attributes, MemoryType, is_tlbi};
use qemu_plugin::{
    ArgumentError, InstructionCounts, MemoryAccess, Plugin, PluginArguments, TranslatedBlock,
    read_general_register, read_register,
};

use self::record_format::{
    ACCESS, BLOCK, CONTROL, END, EXECUTION, IS_CACHEABLE, IS_STORE, POWER_LEVEL,
};

/// SCTLR_EL3.M.
const MMU: u64 = 1;
/// The exception level whose translation tables the firmware uses.
const EL3: u64 = 3;
/// The number of bytes that DC ZVA writes on QEMU's CPUs.
const ZEROED: u64 = 64;

/// An instruction that needs its own callback.
#[derive(Clone, Copy)]
enum Special {
    /// A DC ZVA at this address, and the register that contains its operand.
    Zero(u64, u32),
    /// A TLBI.
    Invalidate,
    /// The start of a power-down.
    PowerDown,
}

/// Decodes an instruction that needs its own callback (Arm ARM, C5.3).
fn special(pc: u64, word: u32) -> Option<Special> {
    match word {
        _ if word & 0xffff_ffe0 == 0xd50b_7420 => Some(Special::Zero(pc, word & 0x1f)),
        _ if is_tlbi(word) => Some(Special::Invalidate),
        _ => None,
    }
}

struct ProfilePlugin {
    blocks: Range<u64>,
    power_down: u64,
    out: BufWriter<File>,
    error: Option<io::Error>,
    defined: u32,
    executed: u64,
    lose: Option<u64>,
    specials: Vec<Special>,
    attributes: Attributes,
    /// The CPU that executed the last block, and the number of the block.
    last: (u32, u32),
    /// SCTLR_EL3 of each CPU, as recorded.
    controls: Vec<(u32, u64)>,
    /// SCTLR_EL3 of the CPU that executed the last block.
    control: u64,
}

fn make(arguments: &PluginArguments) -> Result<ProfilePlugin, ArgumentError> {
    let path = arguments.get("out")?;
    let file = File::create(path).map_err(|error| ArgumentError::File {
        name: "out".to_owned(),
        path: path.to_owned(),
        error,
    })?;
    Ok(ProfilePlugin {
        blocks: arguments.range("blocks")?,
        power_down: arguments.range("level")?.start,
        out: BufWriter::new(file),
        error: None,
        defined: 0,
        executed: 0,
        lose: arguments
            .get("lose")
            .ok()
            .and_then(|number| number.parse().ok()),
        specials: Vec::new(),
        attributes: Attributes::default(),
        last: (u32::MAX, u32::MAX),
        controls: Vec::new(),
        control: 0,
    })
}

impl ProfilePlugin {
    fn write(&mut self, kind: u8, (cpu, number): (u32, u32), numbers: [u64; 2]) {
        // After a failed write, for example because the disk is full, do not try again.
        // Later writes would also fail, each after a delay.
        if self.error.is_some() {
            return;
        }
        let first = u64::from(kind) | u64::from(cpu & 0xff_ffff) << 8 | u64::from(number) << 32;
        let words = [first, numbers[0], numbers[1]];
        for word in words {
            if let Err(error) = self.out.write_all(&word.to_le_bytes()) {
                self.error = Some(error);
                return;
            }
        }
    }

    /// Records SCTLR_EL3 if it has changed since the CPU's last block.
    fn update_control(&mut self, cpu: u32) {
        let control = read_register("SCTLR_EL3").unwrap_or(0);
        self.control = control;
        let mut controls = self.controls.iter_mut();
        match controls.find(|(controlled_cpu, _)| *controlled_cpu == cpu) {
            Some((_, old)) if *old == control => return,
            Some((_, old)) => *old = control,
            None => self.controls.push((cpu, control)),
        }
        self.write(CONTROL, (cpu, 0), [control, 0]);
    }
}

impl Plugin for ProfilePlugin {
    fn translate(&mut self, block: &mut TranslatedBlock) {
        let address = block.address();
        if !self.blocks.contains(&address) {
            return block.count();
        }
        let len = block.instruction_count();
        self.write(BLOCK, (0, self.defined), [address, len as u64]);
        block.count_inside();
        block.report(self.defined);
        self.defined += 1;
        for place in 0..len {
            let pc = address + 4 * place as u64;
            let found = if pc == self.power_down {
                Some(Special::PowerDown)
            } else {
                special(pc, block.word(place))
            };
            if let Some(special) = found {
                block.report_instruction(place, self.specials.len() as u32);
                self.specials.push(special);
            }
        }
    }

    fn execute(&mut self, block: u32, cpu: u32, counts: InstructionCounts) {
        // A block that is executed again and again does not change SCTLR_EL3: QEMU ends a block
        // after a write to the register.
        if self.last != (cpu, block) {
            self.update_control(cpu);
            self.last = (cpu, block);
        }
        self.executed += 1;
        if self.lose != Some(self.executed) {
            self.write(EXECUTION, (cpu, block), [counts.inside, counts.outside]);
        }
    }

    fn access(&mut self, pc: u64, access: MemoryAccess) {
        let mut flags = 0;
        if access.is_store {
            flags |= IS_STORE;
        }
        let has_mmu = self.control & MMU != 0;
        if has_mmu && self.attributes.memory(EL3, access.address, |_| ()) == MemoryType::Cacheable {
            flags |= IS_CACHEABLE;
        }
        self.write(
            ACCESS,
            (0, access.size as u32),
            [access.address, pc | flags],
        );
    }

    fn instruction(&mut self, number: u32) {
        match self.specials[number as usize] {
            Special::Zero(pc, register) => {
                let operand = read_general_register(register);
                let access = MemoryAccess {
                    is_store: true,
                    size: ZEROED,
                    address: operand & !(ZEROED - 1),
                };
                self.access(pc, access);
            }
            Special::Invalidate => self.attributes.clear(),
            Special::PowerDown => {
                let level = read_general_register(0);
                self.write(POWER_LEVEL, (0, 0), [level, 0]);
            }
        }
    }

    fn end(&mut self, counts: InstructionCounts) {
        // Do not write an end marker if the record is incomplete.
        if self.error.is_none() {
            self.write(END, (0, 0), [counts.inside, counts.outside]);
        }
        let flushed = self.out.flush().err();
        if let Some(error) = self.error.take().or(flushed) {
            eprintln!("plugin: the record is incomplete: {error}");
        }
    }
}

qemu_plugin::export!(make);
