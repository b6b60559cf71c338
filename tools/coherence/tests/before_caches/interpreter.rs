//! Executes the entry code on the host, up to the SCTLR write that turns the caches on. All
//! accesses go through the same cache model that complete runs use.

use std::collections::{BTreeMap, BTreeSet};

use cache_model::{AccessKind, CacheActor, CacheFinding, CacheModel, Maintenance};
use test_support::code::{Code, Flow, flow, signed, writes_sctlr};

/// The address at which the image is loaded.
pub const BASE: u64 = 0x6000_0000;

const CURRENT_EL: u32 = 0xd538_4240;
const CTR: u32 = 0xd53b_0020;
const SCTLR: [u32; 4] = [0, 0xd538_1000, 0xd53c_1000, 0xd53e_1000];
const HCR: u32 = 0xd53c_1100;
const SPSR_EL3: u32 = 0xd53e_4000;
const ELR_EL3: u32 = 0xd53e_4020;
const E2H: u64 = 1 << 34;
const ENABLES: u64 = 1 | 1 << 2;
/// The address of the UART register to which boot marks are written.
pub const UART: u64 = 0x900_0030;
/// The number of the executing CPU in the cache model.
const CPU: u32 = 0;

/// A CPU executing the code from an entry point up to the point where its caches are turned on.
pub struct Cpu<'c> {
    code: &'c Code,
    pub x: [u64; 32],
    pc: u64,
    /// The N, Z, C and V flags.
    flags: [bool; 4],
    pub el: u64,
    /// System registers, keyed by the instruction that reads them into X0.
    pub system: BTreeMap<u32, u64>,
    /// True if HCR_EL2.E2H cannot be cleared.
    pub e2h_stays: bool,
    pub memory: BTreeMap<u64, u64>,
    pub model: CacheModel,
    pub findings: Vec<CacheFinding>,
    pub executed: BTreeSet<u64>,
    /// The bytes sent to the UART at [`UART`].
    pub sent: Vec<u8>,
}

/// Returns the mask of a 64-bit logical immediate (Arm ARM, DecodeBitMasks).
fn bit_mask(word: u32) -> u64 {
    let n = word >> 22 & 1;
    let immr = word >> 16 & 0x3f;
    let imms = word >> 10 & 0x3f;
    let len = 31 - (n << 6 | !imms & 0x3f).leading_zeros();
    let size = 1 << len;
    let rotate = immr & (size - 1);
    let ones = u64::MAX >> (63 - (imms & (size - 1)));
    let mask = u64::MAX >> (64 - size);
    let element = (ones >> rotate | ones.checked_shl(size - rotate).unwrap_or(0)) & mask;
    (0..64)
        .step_by(size as usize)
        .fold(0, |pattern, shift| pattern | element << shift)
}

/// Returns the result of UBFM, which moves a range of bits of `value` and clears all other bits.
fn moved_bits(word: u32, value: u64) -> u64 {
    let rotate = word >> 16 & 0x3f;
    let last = word >> 10 & 0x3f;
    if last >= rotate {
        value >> rotate & u64::MAX >> (63 - (last - rotate))
    } else {
        (value & u64::MAX >> (63 - last)) << (64 - rotate)
    }
}

impl<'c> Cpu<'c> {
    /// Returns a CPU that is about to start at the `entry` symbol in an image whose writable data
    /// is `memory`.
    pub fn new(code: &'c Code, entry: &str, memory: BTreeMap<u64, u64>) -> Self {
        let mut model = CacheModel::new(4);
        // Another CPU may fill its caches at any time.
        model.set_caches(1, true);
        Self {
            code,
            x: [0; 32],
            pc: BASE + code.symbol(entry),
            flags: [false; 4],
            el: 2,
            system: BTreeMap::from([(CTR, 4 << 16)]),
            e2h_stays: false,
            memory,
            model,
            findings: Vec::new(),
            executed: BTreeSet::new(),
            sent: Vec::new(),
        }
    }

    /// Sets the current exception level's SCTLR to the value that a loader leaves behind.
    pub fn set_caches(&mut self, is_on: bool) {
        let value = if is_on { ENABLES } else { 0 };
        self.system.insert(SCTLR[self.el as usize], value);
        self.model.set_caches(CPU, is_on);
    }

    fn actor(&self) -> CacheActor {
        let control = SCTLR
            .get(self.el as usize)
            .and_then(|register| self.system.get(register));
        let is_on = control.is_some_and(|value| value & ENABLES == ENABLES);
        let access = if is_on {
            AccessKind::Cached
        } else {
            AccessKind::Uncached
        };
        CacheActor {
            cpu: CPU,
            pc: self.pc - BASE,
            access,
        }
    }

    fn load(&mut self, address: u64) -> u64 {
        assert!(
            address.is_multiple_of(8),
            "{address:#x} at {:#x}",
            self.pc - BASE
        );
        self.findings
            .extend(self.model.load(self.actor(), address, 8));
        self.memory.get(&address).copied().unwrap_or(0)
    }

    fn load_half(&mut self, address: u64) -> u64 {
        let word = self.load(address & !7);
        word >> (8 * (address & 7)) & 0xffff
    }

    fn store(&mut self, address: u64, value: u64) {
        assert!(
            address.is_multiple_of(8),
            "{address:#x} at {:#x}",
            self.pc - BASE
        );
        self.model.store(self.actor(), address, 8);
        self.memory.insert(address, value);
    }

    fn set_flags(&mut self, value: u64, carry: bool, overflow: bool) {
        self.flags = [value >> 63 == 1, value == 0, carry, overflow];
    }

    fn holds(&self, condition: u32) -> bool {
        let [n, z, c, v] = self.flags;
        let holds = match condition >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => c && !z,
            5 => n == v,
            6 => n == v && !z,
            _ => true,
        };
        holds != (condition & 1 == 1 && condition != 15)
    }

    /// Executes code until the caches are on, then loads the image and the stored words through the
    /// caches. Returns false if the path ended earlier.
    pub fn run(&mut self) -> bool {
        let halt = self.code.symbol("halt");
        for _ in 0..1_000_000 {
            let at = self.pc - BASE;
            let word = self.code.word(at);
            self.executed.insert(at);
            if at == halt {
                return false;
            }
            let own = self.el < 3 && word & !0x1f == SCTLR[self.el as usize] & !0x0020_0000;
            if own && self.x[word as usize & 0x1f] & ENABLES == ENABLES {
                let actor = CacheActor {
                    access: AccessKind::Cached,
                    ..self.actor()
                };
                for address in self.memory.keys().copied().collect::<Vec<_>>() {
                    self.findings.extend(self.model.load(actor, address, 8));
                }
                return true;
            }
            self.step(word);
        }
        panic!("no end of {:#x}", self.pc - BASE);
    }

    fn step(&mut self, word: u32) {
        let register = |shift: u32| (word >> shift & 0x1f) as usize;
        let d = register(0);
        let n = register(5);
        let m = register(16);
        self.x[31] = 0;
        let next = self.pc + 4;
        let target = |offset: i64| self.pc.wrapping_add_signed(offset);
        self.pc = match flow(word) {
            Flow::Jump(offset) => target(offset),
            Flow::Call(offset) => {
                let called = target(offset);
                self.x[30] = next;
                called
            }
            Flow::Return => self.x[n],
            Flow::Either(offset) => {
                // CBZ and CBNZ with a W register test only its lower half.
                let is_half = matches!(word >> 24, 0x34 | 0x35);
                let value = self.x[d]
                    & if is_half {
                        u64::from(u32::MAX)
                    } else {
                        u64::MAX
                    };
                let is_taken = match word >> 24 {
                    0x54 => self.holds(word & 0xf),
                    // CBZ, CBNZ; TBZ, TBNZ.
                    0x34 | 0xb4 => value == 0,
                    0x35 | 0xb5 => value != 0,
                    byte => {
                        let bit = word >> 31 << 5 | word >> 19 & 0x1f;
                        value >> bit & 1 == u64::from(byte & 1)
                    }
                };
                if is_taken { target(offset) } else { next }
            }
            Flow::On if word == 0xd69f_03e0 => {
                self.el = self.system.get(&SPSR_EL3).map_or(0, |spsr| spsr >> 2 & 3);
                self.system.get(&ELR_EL3).copied().unwrap_or(0)
            }
            Flow::On => {
                self.compute(word, d, n, m);
                next
            }
        };
    }

    fn compute(&mut self, word: u32, d: usize, n: usize, m: usize) {
        let first = self.x[n];
        let second = self.x[m];
        let amount = word >> 10 & 0x3f;
        match word >> 23 {
            // ADR, ADRP.
            _ if word & 0x1f00_0000 == 0x1000_0000 => {
                let offset = signed((word >> 5 & 0x7_ffff) << 2 | word >> 29 & 3, 21);
                self.x[d] = match word >> 31 {
                    0 => self.pc.wrapping_add_signed(offset),
                    _ => (self.pc & !0xfff).wrapping_add_signed(offset << 12),
                };
            }
            // ADD, SUB, with or without flags: immediates, then registers.
            0x122 | 0x162 | 0x1a2 | 0x1e2 => {
                let value = u64::from(word >> 10 & 0xfff) << (12 * (word >> 22 & 1));
                self.add(word, d, first, value);
            }
            // LSL is the only supported shift.
            0x116 | 0x156 | 0x196 | 0x1d6 if word >> 21 & 3 == 0 => {
                self.add(word, d, first, second << amount);
            }
            // AND, ORR, EOR, ANDS: immediates, then registers.
            0x124 | 0x164 | 0x1a4 | 0x1e4 => self.logic(word, d, first, bit_mask(word)),
            0x114 | 0x154 | 0x1d4 if word >> 22 & 1 == 0 => {
                let shifted = second << amount;
                let is_inverted = word >> 21 & 1 == 1;
                let value = if is_inverted { !shifted } else { shifted };
                self.logic(word, d, first, value);
            }
            // MOVZ, MOVK.
            0x1a5 => self.x[d] = u64::from(word >> 5 & 0xffff) << (16 * (word >> 21 & 3)),
            0x1e5 => {
                let shift = 16 * (word >> 21 & 3);
                let value = u64::from(word >> 5 & 0xffff) << shift;
                self.x[d] = self.x[d] & !(0xffff << shift) | value;
            }
            // UBFM: LSL, LSR, UBFX.
            0x1a6 => self.x[d] = moved_bits(word, first),
            // CSEL, CSINC.
            0x135 if word >> 21 & 3 == 0 => {
                let other = second + u64::from(word >> 10 & 1);
                self.x[d] = if self.holds(word >> 12 & 0xf) {
                    first
                } else {
                    other
                };
            }
            // LSLV, LSRV.
            0x135 if word >> 11 & 0x1f == 4 => {
                self.x[d] = if is_right_shift(word) {
                    first >> (second & 63)
                } else {
                    first << (second & 63)
                };
            }
            _ if word >> 24 == 0xd5 => self.system(word, d),
            // LDRH without an offset.
            _ if word >> 10 == 0x1e_5000 => self.x[d] = self.load_half(first),
            // STRB, STRH, and STR of a W register, without an offset.
            _ if matches!(word >> 10, 0xe_4000 | 0x1e_4000 | 0x2e_4000) => {
                assert_eq!(first, UART, "narrow store at {:#x}", self.pc - BASE);
                self.sent.push(self.x[d] as u8);
            }
            _ => self.access(word, d, n, second),
        }
    }

    fn add(&mut self, word: u32, d: usize, first: u64, second: u64) {
        let is_sub = word >> 30 & 1 == 1;
        let (value, carry) = if is_sub {
            (first.wrapping_sub(second), first >= second)
        } else {
            first.overflowing_add(second)
        };
        if word >> 29 & 1 == 1 {
            let other = if is_sub { !second } else { second };
            let overflow = (first ^ value) & (other ^ value) & 1 << 63 != 0;
            self.set_flags(value, carry, overflow);
        }
        self.x[d] = value;
    }

    fn logic(&mut self, word: u32, d: usize, first: u64, second: u64) {
        let value = match word >> 29 & 3 {
            1 => first | second,
            2 => first ^ second,
            _ => first & second,
        };
        if word >> 29 & 3 == 3 {
            self.set_flags(value, false, false);
        }
        self.x[d] = value;
    }

    fn system(&mut self, word: u32, d: usize) {
        let is_read = word >> 21 & 1 == 1;
        let key = word & !0x1f | 0x0020_0000;
        match word {
            // DSB ISH and SY; other DSBs do not complete maintenance.
            0xd503_3b9f | 0xd503_3f9f => self.model.barrier(CPU),
            // Hints, ISB, MSR (immediate), TLBI, IC.
            _ if word >> 16 == 0xd503 || word >> 16 == 0xd500 => {}
            _ if word & 0xffff_ffe0 == 0xd508_7620 => {
                self.model.maintain(CPU, Maintenance::Invalidate, self.x[d]);
            }
            _ if word & 0xffff_ffe0 == 0xd50b_7e20 => {
                self.model
                    .maintain(CPU, Maintenance::CleanInvalidate, self.x[d]);
            }
            _ if word & 0xfff8_0000 == 0xd508_0000 => {}
            _ if is_read && key == CURRENT_EL => self.x[d] = self.el << 2,
            _ if is_read => self.x[d] = self.system.get(&key).copied().unwrap_or(0),
            _ => {
                let stuck = if key == HCR && self.e2h_stays { E2H } else { 0 };
                self.system.insert(key, self.x[d] | stuck);
                if writes_sctlr(word) && key == SCTLR[self.el as usize] {
                    self.model.set_caches(CPU, false);
                }
            }
        }
    }

    /// Executes LDR, STR, LDP and STP of X registers, in the forms used by the entry code.
    fn access(&mut self, word: u32, d: usize, n: usize, index: u64) {
        let base = self.x[n];
        let post = signed(word >> 12 & 0x1ff, 9);
        let is_load = word >> 22 & 1 == 1;
        let (address, after, second) = match word >> 21 {
            0x7c8..0x7cc => (base + 8 * u64::from(word >> 10 & 0xfff), base, None),
            0x7c0 | 0x7c2 if word >> 10 & 3 == 1 => (base, base.wrapping_add_signed(post), None),
            0x7c1 | 0x7c3 if word >> 12 & 0xf == 7 => (base + 8 * index, base, None),
            0x544..=0x54b => {
                let offset = 8 * signed(word >> 15 & 0x7f, 7);
                let pair = Some((word >> 10 & 0x1f) as usize);
                let moved = base.wrapping_add_signed(offset);
                match word >> 23 & 3 {
                    1 => (base, moved, pair),
                    _ => (moved, base, pair),
                }
            }
            _ => panic!(
                "{word:08x} at {:#x}: add it to the interpreter",
                self.pc - BASE
            ),
        };
        for (place, register) in [(address, Some(d)), (address + 8, second)] {
            match register {
                Some(register) if is_load => self.x[register] = self.load(place),
                Some(register) => self.store(place, self.x[register]),
                None => {}
            }
        }
        self.x[n] = if is_load && n == d { self.x[n] } else { after };
    }
}

fn is_right_shift(word: u32) -> bool {
    word >> 10 & 3 == 1
}
