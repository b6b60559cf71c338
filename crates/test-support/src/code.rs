//! The linked image's code: its words and symbols, and the paths through it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSymbol};
use runner::build::payload;
use runner::setup::workspace::Workspace;

/// The program's code, indexed by address, and its symbols.
#[derive(Clone)]
pub struct Code {
    /// The words by address.
    pub words: BTreeMap<u64, u32>,
    /// The addresses of the symbols.
    pub symbols: BTreeMap<String, u64>,
}

impl Code {
    /// Builds the payload and loads its code.
    pub fn load() -> Self {
        let workspace = Workspace::find().expect("the workspace");
        let path = payload::build(&workspace).expect("the payload builds");
        let file = fs::read(path).expect("the ELF file");
        let elf = object::File::parse(&*file).expect("an ELF file");
        let symbols = elf.symbols();
        Self {
            words: text(&elf),
            symbols: symbols
                .filter_map(|symbol| Some((symbol.name().ok()?.to_string(), symbol.address())))
                .collect(),
        }
    }

    /// Returns the address of a symbol.
    pub fn symbol(&self, name: &str) -> u64 {
        let found = self.symbols.get(name);
        *found.unwrap_or_else(|| panic!("no symbol {name}"))
    }

    /// Returns the word at an address.
    pub fn word(&self, address: u64) -> u32 {
        let found = self.words.get(&address);
        *found.unwrap_or_else(|| panic!("no code at {address:#x}"))
    }

    /// Returns the words between two symbols.
    pub fn between(&self, begin: &str, end: &str) -> Vec<u32> {
        let range = self.symbol(begin)..self.symbol(end);
        self.words.range(range).map(|(_, word)| *word).collect()
    }

    /// Returns the addresses of all words that satisfy `is`.
    pub fn places(&self, is: impl Fn(u32) -> bool) -> Vec<u64> {
        let found = self.words.iter().filter(|(_, word)| is(**word));
        found.map(|(address, _)| *address).collect()
    }

    /// Returns a copy in which `words` replace those at `at`.
    pub fn with(&self, at: u64, words: &[u32]) -> Self {
        let mut code = self.clone();
        code.words
            .extend((at..).step_by(4).zip(words.iter().copied()));
        code
    }

    /// Returns true for a word that turns the MMU and the caches on. Every SCTLR write does this,
    /// with two exceptions. After an entry at EL3, one write keeps the caches off at the next level,
    /// where the same path continues (a test in `tests/entries` checks this). Other writes, at the
    /// start of each entry point, turn the caches off.
    pub fn turns_caches_on(&self, at: u64, word: u32) -> bool {
        let leaving = self.symbol("leave_el3")..self.symbol("left_el3");
        let turning_off = self.symbol("turn_caches_off")..self.symbol("caches_are_off");
        let enforcing = self.symbol("enforce_entry_state")..self.symbol("entry_state_enforced");
        let keeps_off = [leaving, turning_off, enforcing];
        writes_sctlr(word) && !keeps_off.iter().any(|range| range.contains(&at))
    }

    /// Follows every path from the `entry` symbol. `step` receives an address, the word at that
    /// address and a state, and returns the state after the word, or None if the path ends there.
    pub fn follow<S: Clone + Ord>(
        &self,
        entry: &str,
        first: S,
        mut step: impl FnMut(u64, u32, S) -> Result<Option<S>>,
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        // An address, and the stack of return addresses.
        let mut pending = vec![(self.symbol(entry), first, Vec::new())];
        while let Some(place) = pending.pop() {
            if !seen.insert(place.clone()) {
                continue;
            }
            let (at, before, mut callers) = place;
            let word = self.word(at);
            let Some(state) = step(at, word, before)? else {
                continue;
            };
            let target = |offset: i64| at.wrapping_add_signed(offset);
            let next = match flow(word) {
                Flow::On => at + 4,
                Flow::Jump(offset) => target(offset),
                Flow::Either(offset) => {
                    pending.push((target(offset), state.clone(), callers.clone()));
                    at + 4
                }
                Flow::Call(offset) => {
                    callers.push(at + 4);
                    target(offset)
                }
                Flow::Return => callers.pop().context("return without a call")?,
            };
            pending.push((next, state, callers));
        }
        Ok(())
    }
}

/// Returns a program's code words by address.
fn text(file: &object::File<'_>) -> BTreeMap<u64, u32> {
    let text = file.section_by_name(".text").expect(".text");
    let (words, _) = text.data().expect("code").as_chunks::<4>();
    let words_by_address = (text.address()..).step_by(4).zip(words);
    words_by_address
        .map(|(address, word)| (address, u32::from_le_bytes(*word)))
        .collect()
}

/// Returns true for `msr sctlr_el1`, `msr sctlr_el2` or `msr sctlr_el3`.
pub fn writes_sctlr(word: u32) -> bool {
    matches!(word & !0x1f, 0xd518_1000 | 0xd51c_1000 | 0xd51e_1000)
}

/// Sign-extends the low `bits` of `value`.
pub fn signed(value: u32, bits: u32) -> i64 {
    i64::from(value << (32 - bits)) << 32 >> (64 - bits)
}

/// Where execution continues after a word (Arm ARM, C4.1.65 "Branches, Exception Generating and
/// System instructions").
pub enum Flow {
    /// Execution continues at the next word.
    On,
    /// Execution continues at this offset.
    Jump(i64),
    /// Execution continues either at this offset or at the next word.
    Either(i64),
    /// Execution continues at this offset, and at the next word after the call returns.
    Call(i64),
    /// Execution continues in the caller.
    Return,
}

/// Returns where execution continues after `word`.
pub fn flow(word: u32) -> Flow {
    match word {
        w if w >> 26 == 0b00_0101 => Flow::Jump(signed(w, 26) * 4),
        w if w >> 26 == 0b10_0101 => Flow::Call(signed(w, 26) * 4),
        // B.cond, CBZ, CBNZ: a 19-bit offset that starts at bit 5.
        w if w >> 24 == 0x54 || w >> 25 & 0x3f == 0b01_1010 => {
            Flow::Either(signed(w >> 5 & 0x7_ffff, 19) * 4)
        }
        // TBZ, TBNZ: a 14-bit offset.
        w if w >> 25 & 0x3f == 0b01_1011 => Flow::Either(signed(w >> 5 & 0x3fff, 14) * 4),
        w if w & 0xffff_fc1f == 0xd65f_0000 => Flow::Return,
        _ => Flow::On,
    }
}
