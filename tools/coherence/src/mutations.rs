//! Mutations of the payload image, each of which removes or moves one instruction.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSymbol};

/// How a mutation must be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killer {
    /// The checker reports this fault.
    Checker(&'static str),
    /// The checker finds nothing, but a CPU takes an exception and the payload dumps it.
    Dump,
    /// Only a test program detects the mutation.
    Tests {
        /// The folder of the test program.
        program: &'static str,
        /// Why no run can detect the mutation.
        reason: &'static str,
    },
}

/// The change to an image.
#[derive(Clone, Copy, Debug)]
enum ImageChange {
    /// The nth occurrence of this instruction after the symbol becomes a NOP.
    Remove(u32, usize),
    /// After the symbol, the first calls to two functions are swapped.
    Swap(&'static str, &'static str),
    /// The instruction at the symbol becomes a UDF.
    Undefine,
    /// The nth call to a function after the symbol becomes a NOP.
    Uncall(&'static str, usize),
}

/// A mutation.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// The change is made after this symbol.
    pub at: &'static str,
    /// A description of the change.
    pub name: &'static str,
    change: ImageChange,
    /// How the mutation must be detected.
    pub killer: Killer,
}

/// The maximum distance in bytes from a symbol to the instruction that the mutation changes.
const NEAR: u64 = 0x160;
const NOP: u32 = 0xd503_201f;
const DSB_SY: u32 = 0xd503_3f9f;
const ISB: u32 = 0xd503_3fdf;
/// `dc ivac, x3`.
const IVAC: u32 = 0xd508_7623;
const TLBI_E2: u32 = 0xd50c_871f;
const IC_IALLU: u32 = 0xd508_751f;

const NO_TLB: Killer = Killer::Tests {
    program: "tests/entries",
    reason: "neither QEMU nor the model has a stale TLB or instruction cache",
};
const OTHERS: Killer = Killer::Tests {
    program: "tests/before_caches",
    reason: "in a run, no other CPU has its caches on at that time",
};

const fn remove(
    at: &'static str,
    name: &'static str,
    word: u32,
    nth: usize,
    killer: Killer,
) -> Mutation {
    let change = ImageChange::Remove(word, nth);
    Mutation {
        at,
        name,
        change,
        killer,
    }
}

/// All mutations: one for each maintenance instruction executed in a run under TF-A, and one for
/// each handover that could happen too early.
pub const ALL: &[Mutation] = &[
    Mutation {
        at: "left_el3",
        name: "no invalidate before the first store",
        change: ImageChange::Uncall("invalidate_written", 0),
        killer: Killer::Checker("Overwritten"),
    },
    Mutation {
        at: "left_el3",
        name: "no invalidate after the last store",
        change: ImageChange::Uncall("invalidate_written", 1),
        killer: OTHERS,
    },
    remove(
        "invalidate_written",
        "no DSB before DC IVAC",
        DSB_SY,
        0,
        OTHERS,
    ),
    remove(
        "invalidate_written",
        "no DC IVAC",
        IVAC,
        0,
        Killer::Checker("Overwritten"),
    ),
    remove(
        "invalidate_written",
        "no DSB after DC IVAC",
        DSB_SY,
        1,
        Killer::Checker("Overwritten"),
    ),
    remove("cpu_setup", "no TLBI", TLBI_E2, 0, NO_TLB),
    remove("cpu_setup", "no IC IALLU", IC_IALLU, 0, NO_TLB),
    remove("cpu_setup", "no DSB before SCTLR.M", DSB_SY, 0, NO_TLB),
    remove("cpu_setup", "no ISB before SCTLR.M", ISB, 0, NO_TLB),
    remove("cpu_setup", "no ISB after SCTLR.M", ISB, 1, NO_TLB),
    Mutation {
        at: "secondary_entry",
        name: "channel loaded before the caches are on, at CPU_ON",
        change: ImageChange::Swap("cpu_setup", "find_channel"),
        killer: Killer::Checker("NotCleaned"),
    },
    Mutation {
        at: "wake_entry",
        name: "channel loaded before the caches are on, at a wake-up",
        change: ImageChange::Swap("cpu_setup", "find_channel"),
        killer: Killer::Checker("NotCleaned"),
    },
    Mutation {
        at: "secondary_ready",
        name: "undefined instruction",
        change: ImageChange::Undefine,
        killer: Killer::Dump,
    },
];

fn word(image: &[u8], at: u64) -> Option<u32> {
    let bytes = image.get(at as usize..at as usize + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn put(image: &mut [u8], at: u64, word: u32) {
    if let Some(bytes) = image.get_mut(at as usize..at as usize + 4) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

/// Returns a `bl` instruction that branches from one offset to another.
fn call(from: u64, to: u64) -> u32 {
    0x9400_0000 | (to.wrapping_sub(from) >> 2) as u32 & 0x03ff_ffff
}

impl Mutation {
    /// Returns `image`, whose symbols are in the ELF file at `elf`, with this mutation applied.
    pub fn apply(&self, image: &[u8], elf: &[u8]) -> Result<Vec<u8>> {
        let file = object::File::parse(elf)?;
        let symbols: HashMap<&str, u64> = file
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
            .collect();
        let symbol = |name: &str| {
            let found = symbols.get(name).copied();
            found.with_context(|| format!("the payload has no symbol {name}"))
        };
        let begin = symbol(self.at)?;
        let find = |is_match: &dyn Fn(u64, u32) -> bool, index: usize| {
            let places = (begin..begin + NEAR).step_by(4);
            let mut found = places.filter(|address| {
                word(image, *address).is_some_and(|word| is_match(*address, word))
            });
            found
                .nth(index)
                .with_context(|| format!("{}: {}: instruction not found", self.at, self.name))
        };
        let mut mutant = image.to_vec();
        match self.change {
            ImageChange::Remove(word, nth) => {
                let at = find(&|_, instruction| instruction == word, nth)?;
                put(&mut mutant, at, NOP);
            }
            ImageChange::Undefine => put(&mut mutant, begin, 0),
            ImageChange::Uncall(name, nth) => {
                let to = symbol(name)?;
                let at = find(&|address, word| word == call(address, to), nth)?;
                put(&mut mutant, at, NOP);
            }
            ImageChange::Swap(one, other) => {
                let (one, other) = (symbol(one)?, symbol(other)?);
                let first = find(&|address, word| word == call(address, one), 0)?;
                let second = find(&|address, word| word == call(address, other), 0)?;
                put(&mut mutant, first, call(first, other));
                put(&mut mutant, second, call(second, one));
            }
        }
        if mutant == image {
            bail!("{}: {}: the image is unchanged", self.at, self.name);
        }
        Ok(mutant)
    }
}
