//! Finds loads that may return stale values on hardware with caches. Passes all CPUs' memory
//! accesses and cache maintenance operations to a [`CacheModel`].
//!
//! The plugin promises to check every load from RAM, including those of table walks, and to end its
//! output with a line that shows that the output is complete.
//!
//! Arguments: `out=FILE` is the output file for findings. `entry=A-B` is the address range of the
//! payload image. At the payload's first instruction, all other memory is treated as possibly dirty
//! in any cache, because an earlier stage may have left it that way. In `loss=A-B`, A is the
//! address of the firmware instruction at which a CPU loses power. `memory=A-B` and `secure=A-B`
//! specify the machine's RAM, and `cluster=A-B` is the range of CPU numbers in the first cluster;
//! all clusters have the same size. `tools/coherence/src/findings.rs` reads the findings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;

use cache_model::{AccessKind, CacheActor, CacheFault, CacheFinding, CacheModel, Maintenance};
use qemu_plugin::translation::{Attributes, DescriptorLoad, MemoryType, is_tlbi};
use qemu_plugin::{
    ArgumentError, InstructionCounts, MemoryAccess, Plugin, PluginArguments, TranslatedBlock,
    read_general_register, read_register,
};

/// The maximum number of CPUs for each value of Aff1 in the model, which supports CPU numbers below
/// 64. QEMU's machines have up to 16 CPUs per Aff1 value.
const PER_AFF1: u32 = 16;
/// SCTLR_ELx.M and C.
const ENABLES: u64 = 1 | 1 << 2;

/// A barrier or a maintenance instruction.
#[derive(Clone, Copy)]
enum Special {
    Barrier,
    /// `DMB`.
    Order,
    /// `TLBI`.
    Translations,
    /// Maintenance by address, with the register that contains the address.
    Line(Maintenance, u32),
    /// Maintenance by set and way, with the register that contains the operand.
    SetWay(u32),
    /// A 64-byte `DC ZVA`.
    Zero(u32),
}

/// Decodes a barrier or maintenance instruction (Arm ARM, C5.3).
fn special(word: u32) -> Option<Special> {
    use Maintenance::{Clean, CleanInvalidate, Invalidate};
    let register = word & 0x1f;
    // Bits 11:8 must be ISH or SY, because only these options cover all relevant domains and access
    // types.
    if matches!(word, 0xd503_3b9f | 0xd503_3f9f) {
        return Some(Special::Barrier);
    }
    // A DMB or DSB for the same domains, covering either stores only or all accesses.
    if matches!(word & 0xffff_faff, 0xd503_3abf | 0xd503_3a9f) {
        return Some(Special::Order);
    }
    if is_tlbi(word) {
        return Some(Special::Translations);
    }
    // SYS #op1, C7, Cm, #op2.
    if word & 0xfff8_f000 != 0xd508_7000 {
        return None;
    }
    let op1 = word >> 16 & 7;
    let cm = word >> 8 & 0xf;
    let op2 = word >> 5 & 7;
    match (op1, cm, op2) {
        (0, 6, 1) => Some(Special::Line(Invalidate, register)),
        (3, 10 | 12 | 13, 1) => Some(Special::Line(Clean, register)),
        (3, 14, 1) => Some(Special::Line(CleanInvalidate, register)),
        (0, 10 | 14, 2) => Some(Special::SetWay(register)),
        (3, 4, 1) => Some(Special::Zero(register)),
        _ => None,
    }
}

/// The block currently being executed.
#[derive(Clone, Copy, Default)]
struct Now {
    cpu: u32,
    level: u64,
    /// True if the MMU and the caches are on.
    is_on: bool,
}

struct Coherence {
    out: String,
    image: Range<u64>,
    /// The machine's RAM, non-secure and secure.
    ram: [Range<u64>; 2],
    model: CacheModel,
    /// Block addresses.
    blocks: Vec<u64>,
    /// Barrier and maintenance instructions with their addresses.
    specials: Vec<(u64, Special)>,
    has_entered: bool,
    /// The address of the firmware instruction at which a CPU loses power, and the number of times
    /// that instruction was executed.
    power_loss: u64,
    losses: u64,
    /// The addresses of all executed barriers and maintenance instructions.
    maintained: BTreeSet<u64>,
    attributes: Attributes,
    now: Now,
    /// Findings keyed by everything except the address, with the first address and the count.
    findings: BTreeMap<(CacheFault, CacheActor, Option<CacheActor>), (u64, u64)>,
    executed: u64,
}

fn make(arguments: &PluginArguments) -> Result<Coherence, ArgumentError> {
    let cluster = arguments.range("cluster")?;
    Ok(Coherence {
        out: arguments.get("out")?.to_owned(),
        image: arguments.range("entry")?,
        ram: [arguments.range("memory")?, arguments.range("secure")?],
        model: CacheModel::new((cluster.end - cluster.start) as u32),
        blocks: Vec::new(),
        specials: Vec::new(),
        has_entered: false,
        power_loss: arguments.range("loss")?.start,
        losses: 0,
        maintained: BTreeSet::new(),
        attributes: Attributes::default(),
        now: Now::default(),
        findings: BTreeMap::new(),
        executed: 0,
    })
}

/// Returns how memory is accessed with the caches on.
fn access_kind(memory: MemoryType) -> AccessKind {
    match memory {
        MemoryType::Cacheable => AccessKind::Cached,
        MemoryType::NonCacheable | MemoryType::Device => AccessKind::Uncached,
    }
}

impl Coherence {
    fn is_ram(&self, address: u64) -> bool {
        self.ram.iter().any(|range| range.contains(&address))
    }

    /// Returns the actor for an access to RAM, or None for other memory.
    fn actor(&mut self, pc: u64, address: u64) -> Option<CacheActor> {
        if !self.is_ram(address) {
            return None;
        }
        let Now {
            cpu, level, is_on, ..
        } = self.now;
        if !is_on {
            return Some(CacheActor {
                cpu,
                pc,
                access: AccessKind::Uncached,
            });
        }
        let mut walks = Vec::new();
        let memory = self
            .attributes
            .memory(level, address, |table_access| walks.push(table_access));
        for DescriptorLoad { address, memory } in walks {
            if self.is_ram(address) {
                let access = access_kind(memory);
                let found = self.model.load(CacheActor { cpu, pc, access }, address, 8);
                self.note(found);
            }
        }
        let access = access_kind(memory);
        Some(CacheActor { cpu, pc, access })
    }

    fn note(&mut self, finding: Option<CacheFinding>) {
        if let Some(finding) = finding {
            let key = (finding.fault, finding.reader, finding.writer);
            let first = (finding.address, 0);
            let (_, count) = self.findings.entry(key).or_insert(first);
            *count += 1;
        }
    }
}

impl Plugin for Coherence {
    fn translate(&mut self, block: &mut TranslatedBlock) {
        for place in 0..block.instruction_count() {
            if let Some(special) = special(block.word(place)) {
                block.report_instruction(place, self.specials.len() as u32);
                self.specials
                    .push((block.address() + 4 * place as u64, special));
            }
        }
        block.report(self.blocks.len() as u32);
        self.blocks.push(block.address());
    }

    fn execute(&mut self, block: u32, affinity: u32, _: InstructionCounts) {
        self.executed += 1;
        let cpu = (affinity >> 8) * PER_AFF1 + (affinity & 0xff);
        let address = self.blocks[block as usize];
        let level = read_register("cpsr").unwrap_or(0) >> 2 & 3;
        let name = ["SCTLR", "SCTLR", "SCTLR_EL2", "SCTLR_EL3"][level as usize];
        let control = read_register(name).unwrap_or(0);
        let is_on = control & ENABLES == ENABLES;
        if address == self.power_loss {
            self.model.reset(cpu);
            self.losses += 1;
        }
        self.model.set_caches(cpu, is_on);
        if !self.has_entered && address == self.image.start {
            self.has_entered = true;
            let [memory, _] = &self.ram;
            self.model
                .mark_left_dirty(memory.start..self.image.start, false);
            self.model
                .mark_left_dirty(self.image.end..memory.end, false);
        }
        self.now = Now { cpu, level, is_on };
    }

    fn access(&mut self, pc: u64, access: MemoryAccess) {
        let Some(actor) = self.actor(pc, access.address) else {
            return;
        };
        if access.is_store {
            self.model.store(actor, access.address, access.size);
        } else {
            let found = self.model.load(actor, access.address, access.size);
            self.note(found);
        }
    }

    fn instruction(&mut self, number: u32) {
        let (pc, special) = self.specials[number as usize];
        let cpu = self.now.cpu;
        self.maintained.insert(pc);
        match special {
            Special::Barrier => self.model.barrier(cpu),
            Special::Order => self.model.order(cpu),
            Special::Translations => self.attributes.clear(),
            Special::Line(operation, at) => {
                let address = read_general_register(at);
                if self.is_ram(address) {
                    self.model.maintain(cpu, operation, address);
                }
            }
            Special::SetWay(at) => {
                let operand = read_general_register(at);
                // Flush loops count down, so they end with set 0 in way 0.
                if operand & !0xe == 0 {
                    self.model.flush(cpu, (operand >> 1 & 7) as u32 + 1);
                }
            }
            Special::Zero(at) => {
                let address = read_general_register(at) & !63;
                if let Some(actor) = self.actor(pc, address) {
                    self.model.store(actor, address, 64);
                }
            }
        }
    }

    fn end(&mut self, _: InstructionCounts) {
        let text = |actor: &CacheActor| {
            let access = if actor.access == AccessKind::Cached {
                "cached"
            } else {
                "uncached"
            };
            let affinity = ((actor.cpu / PER_AFF1) << 8) | (actor.cpu % PER_AFF1);
            format!("{affinity} {:#x} {access}", actor.pc)
        };
        let mut all = String::new();
        for ((fault, reader, writer), (address, count)) in &self.findings {
            let writer = writer.as_ref().map_or("- - -".to_owned(), text);
            all += &format!("{fault:?} {} {writer} {address:#x} {count}\n", text(reader));
        }
        all += &format!(
            "end {} {} {}\n",
            self.executed,
            self.maintained.len(),
            self.losses
        );
        if let Err(error) = fs::write(&self.out, all) {
            eprintln!("plugin: {}: {error}", self.out);
        }
    }
}

qemu_plugin::export!(make);
