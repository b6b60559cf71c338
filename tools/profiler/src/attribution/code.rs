//! The BL31 code, read from its ELF file: functions, instructions and the timestamp memory.

use std::collections::HashMap;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use hardware::spec::pmf::Stamp;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::attribution::decode;
use crate::profile::event::{Event, EventCounts};

/// The BL31 code.
#[derive(Debug)]
pub struct Code {
    base: u64,
    instructions: Vec<FirmwareInstruction>,
    /// The addresses and names of functions and labels, sorted.
    functions: Vec<(u64, String)>,
    /// For each function, the index of the first function with the same name.
    numbers: Vec<u32>,
    /// The memory that contains the timestamps of all CPUs.
    timestamps: Range<u64>,
    /// The offset of the first CPU's runtime instrumentation timestamps, and the stride between
    /// CPUs.
    slots: (u64, u64),
    /// The address where a CPU resumes after a power-down.
    pub(crate) warm_entry: u64,
    /// The address of the function that starts a power-down. Its argument is the power level.
    pub power_down: u64,
}

/// An instruction, with precomputed data that is needed for each executed block.
#[derive(Clone, Copy, Debug)]
struct FirmwareInstruction {
    word: u32,
    function: FunctionRange,
    /// The address of the first `mrs Xt, cntpct_el0` at or after the instruction.
    counter_read: Option<u64>,
    /// The address of the first event at or after the instruction, and the event.
    event: Option<(u64, Event)>,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionRange {
    /// The number of the function. Clones of a function have the same number.
    pub number: u32,
    /// The address of its first instruction.
    pub start: u64,
    /// The address after its last instruction.
    pub end: u64,
}

impl Code {
    /// Reads the ELF file at `elf`.
    ///
    /// # Errors
    /// Returns an error if the file has no symbols or was built without PMF.
    pub fn read(elf: &[u8]) -> Result<Self> {
        let file = object::File::parse(elf).context("no ELF file")?;
        let mut symbols = Vec::new();
        for symbol in file.symbols() {
            let name = symbol.name().context("a symbol's name")?;
            if !name.is_empty() && !name.starts_with('$') {
                let is_function = symbol.kind() == SymbolKind::Text;
                symbols.push((symbol.address(), is_function, name));
            }
        }
        if symbols.is_empty() {
            bail!("no symbols; build it without -s, and do not strip it");
        }
        let address = |symbol: &str| {
            let no_symbol = || format!("no {symbol} symbol; build it with ENABLE_PMF=1");
            let mut all = symbols.iter();
            let found = all.find(|(_, _, name)| *name == symbol);
            found.map(|(address, ..)| *address).with_context(no_symbol)
        };
        let timestamps = address("__PMF_TIMESTAMP_START__")?..address("__PMF_TIMESTAMP_END__")?;
        let slot = address("pmf_ts_mem_rt_instr_svc")? - timestamps.start;
        let stride = address("__PMF_PERCPU_TIMESTAMP_END__")? - timestamps.start;
        let warm_entry = address("bl31_warm_entrypoint")?;
        // TF-A 2.13 renamed the function.
        let power_down =
            address("psci_pwrdown_cpu_start").or_else(|_| address("psci_pwrdown_cpu"))?;
        let text = file
            .sections()
            .find(|section| section.kind() == SectionKind::Text)
            .context("no code section")?;
        let base = text.address();
        let bytes = text.data()?;
        let addresses = base..base + bytes.len() as u64;
        // If an address has several names, sort the function names first.
        symbols.sort_by_key(|&(address, is_function, name)| (address, !is_function, name));
        symbols.dedup_by_key(|(address, ..)| *address);
        let mut functions = Vec::new();
        for (address, _, name) in symbols {
            if addresses.contains(&address) {
                functions.push((address, plain(name).to_owned()));
            }
        }
        let (words, _) = bytes.as_chunks::<4>();
        let mut first = HashMap::new();
        let names = functions.iter().zip(0..);
        let numbers =
            names.map(|((_, name), first_index)| *first.entry(name.clone()).or_insert(first_index));
        let mut code = Self {
            base,
            numbers: numbers.collect(),
            instructions: Vec::new(),
            functions,
            timestamps,
            slots: (slot, stride),
            warm_entry,
            power_down,
        };
        code.set_instructions(words.iter().map(|word| u32::from_le_bytes(*word)));
        Ok(code)
    }

    /// Returns code that consists of these words. `functions` contains the address and the name of
    /// each function, and `timestamps` is the timestamp memory of one CPU.
    #[cfg(test)]
    pub(crate) fn synthetic(
        base: u64,
        words: &[u32],
        functions: &[(u64, &str)],
        timestamps: Range<u64>,
    ) -> Self {
        let named = functions
            .iter()
            .map(|(address, name)| (*address, (*name).to_owned()));
        let stride = timestamps.end - timestamps.start;
        let mut code = Self {
            base,
            instructions: Vec::new(),
            functions: named.collect(),
            numbers: (0..functions.len() as u32).collect(),
            timestamps,
            slots: (0, stride),
            warm_entry: 0,
            power_down: 0,
        };
        code.set_instructions(words.iter().copied());
        code
    }

    /// Sets the instructions. The functions must already be set.
    fn set_instructions(
        &mut self,
        words: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator,
    ) {
        let mut counter_read = None;
        let mut event = None;
        let mut address = self.base + 4 * words.len() as u64;
        for word in words.rev() {
            address -= 4;
            if word & !0x1f == 0xd53b_e020 {
                counter_read = Some(address);
            }
            if let Some(found) = decode::event(word) {
                event = Some((address, found));
            }
            self.instructions.push(FirmwareInstruction {
                word,
                function: self.find_function(address),
                counter_read,
                event,
            });
        }
        self.instructions.reverse();
    }

    /// Returns the address range of the code.
    pub fn addresses(&self) -> Range<u64> {
        self.base..self.base + 4 * self.instructions.len() as u64
    }

    fn instruction(&self, address: u64) -> Option<&FirmwareInstruction> {
        let instruction_index = address.checked_sub(self.base)? / 4;
        self.instructions.get(instruction_index as usize)
    }

    fn word(&self, address: u64) -> u32 {
        self.instruction(address)
            .map_or(0, |instruction| instruction.word)
    }

    /// Returns the function at `address`.
    pub(crate) fn function(&self, address: u64) -> FunctionRange {
        match self.instruction(address) {
            Some(found) => found.function,
            None => self.find_function(address),
        }
    }

    fn find_function(&self, address: u64) -> FunctionRange {
        let functions = &self.functions;
        let next = functions.partition_point(|(start, _)| *start <= address);
        let function_index = next.saturating_sub(1);
        FunctionRange {
            number: self.numbers.get(function_index).copied().unwrap_or(0),
            start: functions.get(function_index).map_or(0, |(start, _)| *start),
            end: functions.get(next).map_or(u64::MAX, |(start, _)| *start),
        }
    }

    /// Returns a function's name.
    pub(crate) fn name(&self, function: u32) -> &str {
        let found = self.functions.get(function as usize);
        found.map_or("?", |(_, name)| name)
    }

    /// Returns true for BL, BLR, and the pointer authentication variants of BLR.
    pub(crate) fn is_call(&self, address: u64) -> bool {
        let word = self.word(address);
        word >> 26 == 0b10_0101 || word & 0xfeff_f000 == 0xd63f_0000
    }

    /// Returns true for ERET, ERETAA and ERETAB, which return to the payload.
    pub(crate) fn is_exit(&self, address: u64) -> bool {
        self.word(address) & 0xffff_f000 == 0xd69f_0000
    }

    /// Returns the address of the first `mrs Xt, cntpct_el0` at or after `address`.
    pub(crate) fn counter_read_from(&self, address: u64) -> Option<u64> {
        self.instruction(address)?.counter_read
    }

    /// Returns the events in a range of addresses.
    pub(crate) fn events(&self, addresses: Range<u64>) -> EventCounts {
        let mut counts = EventCounts::default();
        let mut address = addresses.start;
        while let Some(instruction) = self.instruction(address)
            && let Some((at, event)) = instruction.event
            && at < addresses.end
        {
            counts[event] += 1;
            address = at + 4;
        }
        counts
    }

    /// Returns true for a block that stays in one function even if it is executed repeatedly. Such
    /// blocks do not read the counter, and do not start or end where the call stack changes.
    pub(crate) fn is_plain(&self, address: u64, len: u64) -> bool {
        let end = address + 4 * len;
        let counter_read = self.counter_read_from(address);
        end <= self.function(address).end
            && counter_read.is_none_or(|read_address| end <= read_address)
            && address != self.warm_entry
            && !self.is_call(address.wrapping_sub(4))
            && !self.is_call(end - 4)
            && !self.is_exit(end - 4)
    }

    /// Returns the runtime instrumentation timestamp that is stored at an address.
    pub(crate) fn stamp(&self, address: u64) -> Option<Stamp> {
        if !self.timestamps.contains(&address) {
            return None;
        }
        let (slot, stride) = self.slots;
        let offset = address - self.timestamps.start;
        let stamp_index = offset.checked_sub(slot)? % stride / 8;
        let mut stamps = Stamp::IN_TIME.into_iter();
        stamps.find(|stamp| *stamp as u64 == stamp_index)
    }
}

/// Returns a function's name without the suffixes that compilers add to clones.
fn plain(name: &str) -> &str {
    let clones = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."];
    let ends = clones.iter().filter_map(|suffix| name.find(suffix));
    &name[..ends.min().unwrap_or(name.len())]
}
