//! The interrupt translation service (ITS) of a GICv3, set up to deliver one LPI to one CPU (IHI
//! 0069, chapter 5).

use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tock_registers::{LocalRegisterCopy, RegisterLongName, register_bitfields};

use super::bus::Bus;
use super::redistributor::{self, GICR_CONTROL, GICR_CTLR, GICR_PIDR2, is_redistributor};
use super::register::Register;

register_bitfields! { u32,
    GITS_CONTROL [
        ENABLED OFFSET(0),
        /// The ITS is disabled, and all its accesses to memory have completed.
        QUIESCENT OFFSET(31),
    ]
}

register_bitfields! { u64,
    /// GITS_TYPER.
    ITS_TYPE [
        /// Commands identify a redistributor by its address, and otherwise by its number.
        PTA OFFSET(19),
    ],
    /// GITS_CBASER and GITS_BASER<n>, except the address.
    BASE [
        PAGE_SIZE OFFSET(8) NUMBITS(2) [ Kib4 = 0, Kib16 = 1, Kib64 = 2 ],
        TYPE OFFSET(56) NUMBITS(3) [ Devices = 1, Collections = 4 ],
        INNER_CACHE OFFSET(59) NUMBITS(3) [ NonCacheable = 1 ],
        VALID OFFSET(63) NUMBITS(1) [],
    ],
    /// GICR_PROPBASER and GICR_PENDBASER, except the address.
    LPI_BASE [
        /// The number of bits in an INTID, minus one.
        ID_BITS OFFSET(0) NUMBITS(5) [],
        INNER_CACHE OFFSET(7) NUMBITS(3) [ NonCacheable = 1 ],
        /// The pending table is zero.
        PTZ OFFSET(62) NUMBITS(1) [],
    ]
}

const GITS_CTLR: Register<GITS_CONTROL::Register> = Register::at(0x0);
const GITS_TYPER: u64 = 0x8;
const GITS_CBASER: u64 = 0x80;
/// The offset of GITS_CWRITER, a 64-bit register.
pub const GITS_CWRITER: u64 = 0x88;
const GITS_CREADR: u64 = 0x90;
/// GITS_BASER0 to GITS_BASER7.
const GITS_BASER: Range<u64> = 0x100..0x140;
/// The size in bytes of the frame that contains these registers.
pub const FRAME: u64 = 0x1_0000;

const GICR_PROPBASER: u64 = 0x70;
const GICR_PENDBASER: u64 = 0x78;

/// The INTID of the LPI, the lowest possible one.
pub const LPI: u32 = 8192;
/// The number of bits in an INTID, which allows for 8,192 LPIs, the minimum.
const ID_BITS: u64 = 14;

/// The size in bytes of a command.
pub const COMMAND: u64 = 32;
/// The size in bytes of the command queue, one page.
pub const QUEUE: u64 = 4096;

/// The size in bytes of the largest page, and the alignment of the tables.
const BLOCK: usize = 0x1_0000;

/// Byte offsets in [`ItsTables`]. The first block contains several parts.
const TRANSLATIONS: usize = 0x1000;
const PRIORITIES: usize = 0x4000;
const PENDING: usize = BLOCK;
const DEVICES: usize = 2 * BLOCK;
const COLLECTIONS: usize = 3 * BLOCK;
const END: usize = 4 * BLOCK;

/// The maximum number of polls while the ITS changes state or executes commands. In a guest, each
/// one may take tens of microseconds.
const POLLS: u32 = 100_000;

/// The reason why the ITS cannot send LPIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoLpi {
    /// The device tree has no usable ITS.
    NotInTree,
    /// An earlier boot stage has enabled LPIs. The redistributor's tables can then no longer be
    /// replaced.
    InUse,
    /// The registers do not belong to an ITS, or the ITS or the redistributor ignores its settings.
    Unresponsive,
}

impl fmt::Display for NoLpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotInTree => "the device tree has no usable ITS",
            Self::InUse => "an earlier boot stage has enabled LPIs",
            Self::Unresponsive => "the ITS or the redistributor does not respond",
        })
    }
}

/// The memory in which the ITS and a redistributor keep their tables, and the ITS its commands.
///
/// Holding a value proves that the tables are aligned as the registers require and are inside the
/// borrowed words. It does not prove that the words are zero, or that the ITS can access them.
pub struct ItsTables<'m>(&'m [AtomicU64]);

impl<'m> ItsTables<'m> {
    /// The number of bytes from which aligned tables can be cut.
    pub const BYTES: usize = END + BLOCK;

    /// Uses the aligned part of `words`, which must be zero. Returns None if there are too few.
    pub fn new(words: &'m [AtomicU64]) -> Option<Self> {
        let skipped = words.as_ptr().addr().wrapping_neg() % BLOCK;
        let aligned = words.get(skipped / size_of::<u64>()..)?;
        aligned.get(..END / size_of::<u64>()).map(Self)
    }

    /// Returns the addresses of the tables.
    pub fn addresses(&self) -> Range<u64> {
        self.address(0)..self.address(END)
    }

    fn address(&self, offset: usize) -> u64 {
        (self.0.as_ptr().addr() + offset) as u64
    }

    fn set(&self, offset: usize, value: u64) {
        if let Some(word) = self.0.get(offset / size_of::<u64>()) {
            word.store(value.to_le(), Ordering::Relaxed);
        }
    }

    /// Writes commands to the queue, starting with the first.
    fn write_commands(&self, commands: impl Iterator<Item = Command>) {
        for (command_index, command) in commands.take((QUEUE / COMMAND) as usize).enumerate() {
            for (index, word) in command.into_iter().enumerate() {
                self.set(
                    COMMAND as usize * command_index + size_of::<u64>() * index,
                    word,
                );
            }
        }
    }
}

/// The first three of a command's four words; the last one is zero. The device, the event and the
/// collection are number 0.
type Command = [u64; 3];

/// Marks an entry as valid in a command's third word.
const VALID: u64 = 1 << 63;

/// Sends the event's LPI.
const INT: Command = [0x03, 0, 0];

/// Returns the commands that map the event to the LPI and the LPI to the redistributor `target`.
fn mapping_commands(tables: &ItsTables<'_>, target: u64) -> [Command; 4] {
    [
        // MAPD: the device has two events, the minimum.
        [0x08, 0, VALID | tables.address(TRANSLATIONS)],
        // MAPC.
        [0x09, 0, VALID | target],
        // MAPTI.
        [0x0a, u64::from(LPI) << 32, 0],
        // SYNC.
        [0x05, 0, target],
    ]
}

/// Enables LPIs in this CPU's redistributor at `address`, and fills the command queue with commands
/// that each send [`LPI`] to this CPU. Every increment of GITS_CWRITER by [`COMMAND`], modulo
/// [`QUEUE`], then sends one. Many GICs cannot disable LPIs again.
///
/// The GIC accesses the tables as non-cacheable memory, because it may not be coherent with the
/// CPU's caches. `clean` must write the tables back to memory and invalidate their cache lines.
///
/// # Errors
/// Returns an error if the ITS cannot be used.
pub fn enable_lpi(
    its: &mut dyn Bus,
    redistributor: &mut dyn Bus,
    address: u64,
    tables: &ItsTables<'_>,
    clean: &dyn Fn(&ItsTables<'_>),
) -> Result<(), NoLpi> {
    if !is_redistributor(Register::<()>::at(GICR_PIDR2 as u32).get(its)) {
        return Err(NoLpi::Unresponsive);
    }
    let control = GICR_CTLR.read(redistributor);
    if control.is_set(GICR_CONTROL::ENABLE_LPIS) {
        return Err(NoLpi::InUse);
    }
    stop(its)?;
    let is_by_address = read::<ITS_TYPE::Register>(its, GITS_TYPER).is_set(ITS_TYPE::PTA);
    let target = if is_by_address {
        address
    } else {
        redistributor::read_number(redistributor) << 16
    };
    // One byte for each LPI: priority 0xa0, like all interrupts; bit 1 is RES1; enabled.
    tables.set(PRIORITIES, 0xa3);
    let commands = mapping_commands(tables, target);
    tables.write_commands(commands.into_iter());
    clean(tables);
    enable_in_redistributor(redistributor, tables)?;
    set_table_addresses(its, tables)?;
    its.write_double(GITS_CWRITER, 0);
    GITS_CTLR.modify(its, GITS_CONTROL::ENABLED::SET);
    let written = commands.len() as u64 * COMMAND;
    its.write_double(GITS_CWRITER, written);
    if !(0..POLLS).any(|_| its.read_double(GITS_CREADR) == written) {
        stop(its)?;
        return Err(NoLpi::Unresponsive);
    }
    tables.write_commands(core::iter::repeat(INT));
    clean(tables);
    Ok(())
}

/// Stops an ITS that an earlier boot stage may have left running.
fn stop(its: &mut dyn Bus) -> Result<(), NoLpi> {
    GITS_CTLR.modify(its, GITS_CONTROL::ENABLED::CLEAR);
    let is_quiescent = |_| GITS_CTLR.read(its).is_set(GITS_CONTROL::QUIESCENT);
    let has_stopped = (0..POLLS).any(is_quiescent);
    has_stopped.then_some(()).ok_or(NoLpi::Unresponsive)
}

fn enable_in_redistributor(
    redistributor: &mut dyn Bus,
    tables: &ItsTables<'_>,
) -> Result<(), NoLpi> {
    let non_cacheable = LPI_BASE::INNER_CACHE::NonCacheable;
    let priorities = non_cacheable + LPI_BASE::ID_BITS.val(ID_BITS - 1);
    let pending = non_cacheable + LPI_BASE::PTZ::SET;
    redistributor.write_double(
        GICR_PROPBASER,
        tables.address(PRIORITIES) | priorities.value,
    );
    redistributor.write_double(GICR_PENDBASER, tables.address(PENDING) | pending.value);
    GICR_CTLR.modify(redistributor, GICR_CONTROL::ENABLE_LPIS::SET);
    let control = GICR_CTLR.read(redistributor);
    let is_enabled = control.is_set(GICR_CONTROL::ENABLE_LPIS);
    is_enabled.then_some(()).ok_or(NoLpi::Unresponsive)
}

/// Gives the ITS its command queue, and a block of memory for each table that it needs. Returns an
/// error if the ITS does not accept them.
fn set_table_addresses(its: &mut dyn Bus, tables: &ItsTables<'_>) -> Result<(), NoLpi> {
    let base = (BASE::VALID::SET + BASE::INNER_CACHE::NonCacheable).value;
    its.write_double(GITS_CBASER, base | tables.address(0));
    for register in GITS_BASER.step_by(size_of::<u64>()) {
        let offset = match read::<BASE::Register>(its, register).read_as_enum(BASE::TYPE) {
            Some(BASE::TYPE::Value::Devices) => DEVICES,
            Some(BASE::TYPE::Value::Collections) => COLLECTIONS,
            None => continue,
        };
        // An ITS may support only some page sizes.
        let mut page_sizes = [
            (BASE::PAGE_SIZE::Kib64, 0),
            (BASE::PAGE_SIZE::Kib16, 3),
            (BASE::PAGE_SIZE::Kib4, 15),
        ]
        .into_iter();
        let is_accepted = page_sizes.any(|(size, last_page)| {
            its.write_double(
                register,
                base | tables.address(offset) | size.value | last_page,
            );
            read::<BASE::Register>(its, register).matches_all(size + BASE::VALID::SET)
        });
        if !is_accepted {
            return Err(NoLpi::Unresponsive);
        }
    }
    Ok(())
}

/// Reads a 64-bit register as fields.
fn read<R: RegisterLongName>(bus: &mut dyn Bus, offset: u64) -> LocalRegisterCopy<u64, R> {
    LocalRegisterCopy::new(bus.read_double(offset))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::vec::Vec;

    use super::*;
    use crate::devices::fake::{Access, FakeDevice, plain};

    const PIDR2: u32 = GICR_PIDR2 as u32;
    const CWRITER: u32 = GITS_CWRITER as u32;
    const CREADR: u32 = GITS_CREADR as u32;
    const PTA: u32 = 1 << 19;
    /// A redistributor's address.
    const ADDRESS: u64 = 0x80a_0000;

    fn words() -> Vec<AtomicU64> {
        let words = ItsTables::BYTES / size_of::<u64>();
        (0..words).map(|_| AtomicU64::new(0)).collect()
    }

    /// An ITS that executes commands at once and supports one page size, given as in GITS_BASER.
    fn its(typer: u32, page_size: u32) -> FakeDevice {
        let registers = [
            (PIDR2, 0x3b),
            (0x0, 1 << 31),
            (0x8, typer),
            // Entries of eight bytes: devices, virtual CPUs and collections.
            (0x104, 0x0107_0000),
            (0x10c, 0x0207_0000),
            (0x114, 0x0407_0000),
        ];
        FakeDevice::with(&registers, move |registers, access| match access {
            Access::Write(0x0, value) => plain(
                registers,
                Access::Write(0x0, value & 1 | (!value & 1) << 31),
            ),
            Access::Write(CWRITER, value) => {
                plain(registers, Access::Write(CREADR, value));
                plain(registers, Access::Write(CWRITER, value))
            }
            Access::Write(at @ (0x100 | 0x110), value) => {
                let value = value & !0x300 | page_size << 8;
                plain(registers, Access::Write(at, value))
            }
            // The type and the entry size are fixed.
            Access::Write(at @ (0x104 | 0x114), value) => {
                let fixed = registers[&at] & 0x071f_0000;
                plain(registers, Access::Write(at, value & !0x071f_0000 | fixed))
            }
            other => plain(registers, other),
        })
    }

    fn redistributor() -> FakeDevice {
        FakeDevice::new(&[(0x8, 3 << 8)])
    }

    fn enable(its: &mut FakeDevice, redistributor: &mut FakeDevice) -> Result<(), NoLpi> {
        let words = words();
        let tables = ItsTables::new(&words).expect("enough words");
        enable_lpi(its, redistributor, ADDRESS, &tables, &|_| ())
    }

    #[test]
    fn tables_are_aligned_and_inside_their_words() {
        let words = words();
        let tables = ItsTables::new(&words).expect("enough words");
        let all = words.as_ptr_range();
        let used = tables.addresses();
        assert!(used.start.is_multiple_of(0x1_0000) && used.end - used.start == 0x4_0000);
        assert!(all.start.addr() as u64 <= used.start && used.end <= all.end.addr() as u64);
        assert!(ItsTables::new(&words[..words.len() - 8192]).is_none());
        assert!(ItsTables::new(&[]).is_none());
    }

    #[test]
    fn one_event_is_mapped_and_then_each_command_sends_it() {
        for (typer, target) in [(0, 3 << 16), (PTA, ADDRESS)] {
            let words = words();
            let tables = ItsTables::new(&words).expect("enough words");
            let base = tables.addresses().start;
            let word = |offset: usize| tables.0[offset / 8].load(Ordering::Relaxed);
            let command = |index: usize| [0, 8, 16, 24].map(|offset| word(32 * index + offset));
            let cleaned = Cell::new(0);
            // Before the ITS reads them, the commands map the event.
            let clean = |_: &ItsTables<'_>| {
                let is_first = cleaned.replace(cleaned.get() + 1) == 0;
                if is_first {
                    assert_eq!(command(0), [0x08, 0, VALID + base + 0x1000, 0]);
                    assert_eq!(command(1), [0x09, 0, VALID | target, 0]);
                    assert_eq!(command(2), [0x0a, 8192 << 32, 0, 0]);
                    assert_eq!(command(3), [0x05, 0, target, 0]);
                }
            };
            let mut its = its(typer, 2);
            let mut gicr = redistributor();
            let done = enable_lpi(&mut its, &mut gicr, ADDRESS, &tables, &clean);
            assert_eq!((done, cleaned.get()), (Ok(()), 2));
            for index in 0..128 {
                assert_eq!(command(index), [3, 0, 0, 0], "{index}");
            }
            assert_eq!((word(0x1000), word(0x4000)), (0, 0xa3));
            // GICR_PROPBASER, GICR_PENDBASER, GICR_CTLR.
            let [low, high] = [base as u32, (base >> 32) as u32];
            let expected = [
                (0x70, low + 0x408d),
                (0x74, high),
                (0x78, low + 0x1_0080),
                (0x7c, high | 1 << 30),
                (0x0, 1),
            ];
            assert_eq!(gicr.writes(), expected);
        }
    }

    #[test]
    fn each_table_gets_64_kib_in_pages_of_any_size() {
        for (page_size, last_page) in [(2, 0), (1, 3), (0, 15)] {
            let words = words();
            let tables = ItsTables::new(&words).expect("enough words");
            let mut its = its(0, page_size);
            let mut gicr = redistributor();
            enable_lpi(&mut its, &mut gicr, ADDRESS, &tables, &|_| ()).expect("enabled");
            let low = tables.addresses().start as u32;
            let mut register_value = |register: u64| its.read_double(register) as u32;
            let page = page_size << 8 | last_page;
            assert_eq!(register_value(0x100), low + 0x2_0000 + page);
            assert_eq!(
                (register_value(0x108), register_value(0x118)),
                (0, 0),
                "not needed"
            );
            assert_eq!(register_value(0x110), low + 0x3_0000 + page);
            assert_eq!(register_value(0x80), low);
        }
    }

    #[test]
    fn what_cannot_be_used_is_left_alone() {
        // LPIs that an earlier stage enabled.
        let mut good = its(0, 2);
        let mut enabled = FakeDevice::new(&[(0x0, 1)]);
        assert_eq!(enable(&mut good, &mut enabled), Err(NoLpi::InUse));
        assert_eq!((good.writes(), enabled.writes()), (Vec::new(), Vec::new()));
        // Another device.
        let mut other = FakeDevice::new(&[]);
        assert_eq!(
            enable(&mut other, &mut redistributor()),
            Err(NoLpi::Unresponsive)
        );
        assert_eq!(other.writes(), []);
        // An ITS that stays active, one that executes nothing, and a redistributor without LPIs.
        let mut busy = FakeDevice::new(&[(PIDR2, 0x3b), (0x0, 1)]);
        assert_eq!(
            enable(&mut busy, &mut redistributor()),
            Err(NoLpi::Unresponsive)
        );
        let mut idle = FakeDevice::with(&[(PIDR2, 0x3b)], |registers, access| match access {
            Access::Read(0x0) => 1 << 31,
            other => plain(registers, other),
        });
        assert_eq!(
            enable(&mut idle, &mut redistributor()),
            Err(NoLpi::Unresponsive)
        );
        let mut without = FakeDevice::with(&[], |registers, access| match access {
            Access::Read(0x0) => 0,
            other => plain(registers, other),
        });
        assert_eq!(enable(&mut good, &mut without), Err(NoLpi::Unresponsive));
    }
}
