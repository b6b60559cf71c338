//! The mutations. Each function makes one change and returns a description of it.

use std::ops::Range;

use fdt_blob::{Blob, BlobToken, cells};

/// A plausible device tree size.
const TREE_SIZE: u64 = 0x1000;

/// Addresses on the QEMU `virt` machine to which registers are moved.
const ADDRESSES: &[(&str, u64)] = &[
    ("address 0", 0),
    ("the distributor", 0x800_0000),
    ("the redistributors", 0x80a_0000),
    ("the UART", 0x900_0000),
    ("the RTC", 0x901_0000),
    ("the secure UART", 0x904_0000),
    ("virtio", 0xa00_0000),
    ("nothing", 0xf00_0000),
    ("memory", 0x4000_0000),
    ("the image", 0x6000_0000),
    ("the boot stack", 0x6002_d000),
    ("the memory's end", 0x7fff_f000),
    ("beyond memory", 0x1_0000_0000),
    ("beyond 48 bits", 0x1_0000_0000_0000),
    ("the last page", 0xffff_ffff_ffff_f000),
];

/// A pseudo-random number generator (SplitMix64). The field is the generator state, initially the
/// seed.
pub struct FuzzRandom(pub u64);

impl FuzzRandom {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Returns a random number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.word().checked_rem(end as u64).unwrap_or(0) as usize
    }

    /// Returns a random element of `all`, which must not be empty.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Returns the indices of the tokens after the root that satisfy `is_wanted`.
fn tokens(tree: &Blob, is_wanted: impl Fn(&BlobToken) -> bool) -> Vec<usize> {
    let all = tree.tokens.iter().enumerate().skip(1);
    all.filter(|it| is_wanted(it.1)).map(|it| it.0).collect()
}

/// Returns the token range of a random node.
fn choose_node(tree: &Blob, random: &mut FuzzRandom) -> Range<usize> {
    let begin = random.pick(&tokens(tree, |token| matches!(token, BlobToken::Begin(_))));
    begin..tree.end(begin)
}

/// Returns the index of a random property that satisfies `wanted`, and a string that consists of
/// the node name and the property name.
fn choose(
    tree: &Blob,
    random: &mut FuzzRandom,
    wanted: impl Fn(&str, &[u8]) -> bool,
) -> Option<(usize, String)> {
    let is = |token: &BlobToken| matches!(token, BlobToken::Property(name, value) if wanted(name, value));
    let all = tokens(tree, is);
    let at = (!all.is_empty()).then(|| random.pick(&all))?;
    let mut before = tree.tokens[..at].iter().rev();
    let node = before.find_map(|token| match token {
        BlobToken::Begin(node) => Some(node.as_str()),
        _ => None,
    });
    match &tree.tokens[at] {
        BlobToken::Property(name, _) => Some((
            at,
            format!("{} {name}", node.expect("every property is in a node")),
        )),
        _ => None,
    }
}

fn value(tree: &mut Blob, at: usize) -> Option<&mut Vec<u8>> {
    match &mut tree.tokens[at] {
        BlobToken::Property(_, value) => Some(value),
        _ => None,
    }
}

pub fn delete_property(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (at, what) = choose(tree, random, |_, _| true)?;
    tree.tokens.remove(at);
    Some(what)
}

pub fn delete_node(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let node = choose_node(tree, random);
    let what = format!("{:?}", tree.tokens[node.start]);
    tree.tokens.drain(node);
    Some(what)
}

pub fn duplicate_node(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let node = choose_node(tree, random);
    let what = format!("{:?}", tree.tokens[node.start]);
    let copy = tree.tokens[node.clone()].to_vec();
    tree.tokens.splice(node.end..node.end, copy);
    Some(what)
}

fn is_text(value: &[u8]) -> bool {
    value.len() > 1 && value[0].is_ascii_graphic() && value.ends_with(&[0])
}

pub fn change_string(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    const OTHERS: &[&str] = &["", "\n", "x", "disabled", "hvc", "smc", "/", "\x7f"];
    let (at, what) = choose(tree, random, |_, value| is_text(value))?;
    let other = random.pick(OTHERS);
    *value(tree, at)? = other.bytes().chain([0]).collect();
    Some(format!("{what}: {other:?}"))
}

/// Flips one to three bits.
pub fn flip(bytes: &mut [u8], random: &mut FuzzRandom) -> String {
    let mut flipped = String::new();
    for _ in 0..=random.below(3) {
        let bit = random.below(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        flipped.push_str(&format!(" bit {bit}"));
    }
    flipped
}

pub fn flip_bits(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (at, what) = choose(tree, random, |_, value| !value.is_empty())?;
    let flipped = flip(value(tree, at)?, random);
    Some(what + &flipped)
}

pub fn change_cell(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let is_cells = |_: &str, value: &[u8]| value.len() >= 4 && !is_text(value);
    let (at, what) = choose(tree, random, is_cells)?;
    let by = random.pick(&[1u32, u32::MAX]);
    let value = value(tree, at)?;
    let (cells, _) = value.as_chunks_mut::<4>();
    let cell = random.below(cells.len());
    let old = u32::from_be_bytes(cells[cell]);
    cells[cell] = old.wrapping_add(by).to_be_bytes();
    Some(format!("{what} cell {cell} by {}", by as i32))
}

/// Swaps the values of two properties with the same name.
pub fn exchange_values(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (one, what) = choose(tree, random, |_, _| true)?;
    let BlobToken::Property(name, first) = tree.tokens[one].clone() else {
        return None;
    };
    let (other, with) = choose(tree, random, |other, value| name == other && first != value)?;
    let second = std::mem::replace(value(tree, other)?, first);
    *value(tree, one)? = second;
    Some(format!("{what} and {with}"))
}

pub fn change_state(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let all = [0, 1, 0x1_0000, 0x101_0000, 0x201_0000, 1 << 30, u32::MAX];
    let (at, what) = choose(tree, random, |name, _| name == "arm,psci-suspend-param")?;
    let state = random.pick(&all);
    *value(tree, at)? = cells(&[state]);
    Some(format!("{what} {state:#x}"))
}

/// Changes one half of a 16-byte `reg` entry: half 0 is the address, half 1 the size.
fn change_reg(
    tree: &mut Blob,
    random: &mut FuzzRandom,
    half: usize,
    number: u64,
) -> Option<String> {
    let is_reg = |name: &str, value: &[u8]| name == "reg" && value.len() >= 16;
    let (at, what) = choose(tree, random, is_reg)?;
    let (entries, _) = value(tree, at)?.as_chunks_mut::<16>();
    let entry = random.below(entries.len());
    entries[entry][half * 8..][..8].copy_from_slice(&number.to_be_bytes());
    Some(format!("{what} entry {entry}: {number:#x}"))
}

pub fn move_reg(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (name, base) = random.pick(ADDRESSES);
    Some(change_reg(tree, random, 0, base)? + ", " + name)
}

pub fn resize_reg(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let sizes = [0, 1, 0xfff, 0x1000, 0x10_0000, 1 << 32, 1 << 47, u64::MAX];
    let size = random.pick(&sizes);
    change_reg(tree, random, 1, size)
}

/// Returns the cells of a `reg` property that covers one page at `base`.
fn page(base: u64) -> String {
    format!("{:x} {:x} 0 1000", base >> 32, base as u32)
}

pub fn add_watchdog(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (name, base) = random.pick(ADDRESSES);
    let (kind, clock) = random.pick(&[("arm,sbsa-gwdt", 0), ("arm,sp805", 0x77)]);
    let (first, second) = (page(base), page(base.wrapping_add(0x1000)));
    let watchdog = format!("compatible \"{kind}\nreg {first} {second}\nclocks {clock:x}");
    let clock = "compatible \"fixed-clock\nclock-frequency f4240\nphandle 77";
    tree.add_text(format!("+watchdog\n{watchdog}\n-\n+clock\n{clock}").as_bytes());
    Some(format!("{kind} at {name}, {base:#x}"))
}

pub fn add_frame(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (control, frame) = (random.pick(ADDRESSES), random.pick(ADDRESSES));
    let (control_page, frame_page) = (page(control.1), page(frame.1));
    let timer = format!(
        "+timer-mem\ncompatible \"arm,armv7-timer-mem\nreg {control_page}\nranges\n\
         #address-cells 2\n#size-cells 2\n\
         +frame\nframe-number 0\ninterrupts 0 5 4\nreg {frame_page}"
    );
    tree.add_text(timer.as_bytes());
    Some(format!("control at {}, frame at {}", control.0, frame.0))
}

pub fn change_console(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    const KINDS: &[&str] = &[
        "arm,pl011",
        "arm,sbsa-uart",
        "ns16550a",
        "snps,dw-apb-uart",
        "cdns,uart-r1p12",
        "fsl,imx6q-uart",
        "fsl,imx7ulp-lpuart",
        "st,stm32h7-uart",
        "qcom,geni-debug-uart",
    ];
    let (kind, (name, base)) = (random.pick(KINDS), random.pick(ADDRESSES));
    let console = format!("+console\ncompatible \"{kind}\nreg {}", page(base));
    tree.add_text(console.as_bytes());
    let (at, _) = choose(tree, random, |name, _| name == "stdout-path")?;
    *value(tree, at)? = b"/console\0".to_vec();
    Some(format!("{kind} at {name}, {base:#x}"))
}

pub fn reserve_memory(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let (name, base) = random.pick(ADDRESSES);
    let size = random.pick(&[0, 0x1000, 0x1000_0000, 1 << 63, u64::MAX]);
    tree.reservations.push((base, size));
    Some(format!("{name}, {size:#x} bytes"))
}

pub fn change_bootargs(tree: &mut Blob, random: &mut FuzzRandom) -> Option<String> {
    let all: [&[u8]; 8] = [
        b"\0iterations=9\0",
        b"quiet",
        b" iterations=4\0",
        b" samples=all\0",
        b" end=park\0",
        b" warmup=1\0\0\0",
        b" \xff\0",
        &[b' '; 70_000],
    ];
    let (at, _) = choose(tree, random, |name, _| name == "bootargs")?;
    let added = random.pick(&all);
    let value = value(tree, at)?;
    value.pop();
    value.extend(added);
    Some(format!("{:.40}", String::from_utf8_lossy(added)))
}

/// Overwrites the 8-byte field at `at` in the parameter block with a number that is too large, or
/// that looks like an offset or a size.
pub fn change_field(block: &mut [u8], random: &mut FuzzRandom, at: usize) -> String {
    let field = &mut block[at..][..8];
    let old = u64::from_le_bytes(field.try_into().expect("eight bytes"));
    let (_, address) = random.pick(ADDRESSES);
    let any = random.word();
    let near = [
        old.wrapping_sub(8),
        old.wrapping_add(8),
        old.wrapping_neg(),
        address,
    ];
    let usual = [0, 1, 8, TREE_SIZE, 0x20_0000, any & 0x3_fff8];
    let large = [1 << 63, u64::MAX - 7, u64::MAX, any];
    let new = random.pick(&[&near[..], &usual, &large].concat());
    field.copy_from_slice(&new.to_le_bytes());
    format!("{new:#x}")
}

/// Sets byte `at` of the parameter block to a small or random number.
pub fn change_byte(block: &mut [u8], random: &mut FuzzRandom, at: usize) -> String {
    let any = random.word() as u8;
    block[at] = random.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, any]);
    format!("byte {at:#x} is {:#x}", block[at])
}
