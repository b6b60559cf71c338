//! The image: the payload's ELF flattened, a device tree behind it, and both
//! told to the header and the parameter block.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use object::LittleEndian;
use object::elf::{EM_AARCH64, ET_DYN, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use psci_bench::image::{
    BASE_MAX, Conduit, EmergencyUart, HEADER_SIZE, PARAMETER_BLOCK_SIZE, ParameterBlock,
    TREE_ALIGN, TREE_MAX, set_image_size,
};

use crate::board;
use crate::board::working_memory::working_memory;
use crate::setup::read_file;

const PAGE: u64 = 4096;
/// For so many CPUs an image without a tree claims memory.
const BARE_CPUS: usize = 32;
/// The largest image there is, in bytes.
pub const FILE_MAX: usize = BASE_MAX + TREE_ALIGN + TREE_MAX;
/// What a device tree begins with (Devicetree Specification v0.4, section 5.2).
const TREE_MAGIC: [u8; 4] = 0xd00d_feed_u32.to_be_bytes();

/// What the image is told besides its device tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emergency {
    /// The UART to speak through while no device tree is understood.
    pub uart: Option<EmergencyUart>,
    /// How to call SYSTEM_OFF then.
    pub conduit: Option<Conduit>,
}

impl Emergency {
    /// What `board` has.
    #[must_use]
    pub fn of_board(board: &board::Board, conduit: board::Conduit) -> Self {
        Self {
            uart: Some(board.uart.get_ref().emergency()),
            conduit: Some(match conduit {
                board::Conduit::Smc => Conduit::Smc,
                board::Conduit::Hvc => Conduit::Hvc,
            }),
        }
    }

    /// What the device tree `tree` has.
    #[must_use]
    pub fn of_tree(tree: &[u8]) -> Self {
        let Ok(console) = psci_bench::board::Console::find(tree) else {
            return Self::default();
        };
        Self {
            uart: console.uart.ok().map(|uart| EmergencyUart {
                kind: uart.kind,
                base: uart.base,
                reg_shift: uart.reg_shift,
                io_width: uart.io_width,
            }),
            conduit: console.conduit.ok(),
        }
    }
}

/// The bytes that the segments of `elf` have in memory, from the first on.
///
/// # Errors
/// When it is not an ELF file of which a flat image can be made.
pub fn flatten(elf: &[u8]) -> Result<Vec<u8>> {
    let wrong = |what: &str| anyhow!("the payload's ELF file: {what}");
    let header =
        FileHeader64::<LittleEndian>::parse(elf).map_err(|error| wrong(&error.to_string()))?;
    let endian = header.endian().map_err(|error| wrong(&error.to_string()))?;
    if header.e_machine(endian) != EM_AARCH64 || header.e_type(endian) != ET_DYN {
        return Err(wrong("not a position-independent AArch64 executable"));
    }
    let segments = header
        .program_headers(endian, elf)
        .map_err(|error| wrong(&error.to_string()))?
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_LOAD && segment.p_memsz(endian) > 0);
    let mut flat = Vec::new();
    for segment in segments {
        let from = segment.p_vaddr(endian);
        let size = segment.p_memsz(endian);
        let data = segment
            .data(endian, elf)
            .map_err(|()| wrong("a segment lies outside the file"))?;
        if data.len() as u64 > size {
            return Err(wrong("a segment has more bytes in the file than in memory"));
        }
        let end = from.checked_add(size).filter(|end| *end <= BASE_MAX as u64);
        let Some(end) = end else {
            return Err(wrong(&format!(
                "a segment of {size} bytes at {from:#x} does not fit into {BASE_MAX} bytes"
            )));
        };
        let (from, end) = (from as usize, end as usize);
        let gap = from.checked_sub(flat.len());
        match gap {
            _ if flat.is_empty() && from != 0 => {
                return Err(wrong("the first segment is not the lowest, at 0"));
            }
            None => return Err(wrong("segments overlap, or are out of order")),
            Some(gap) if gap >= PAGE as usize => {
                return Err(wrong(&format!(
                    "there is a hole of {gap} bytes below {from:#x}"
                )));
            }
            Some(_) => {}
        }
        flat.resize(from, 0);
        flat.extend(data);
        // .bss and all: the file holds its zeros.
        flat.resize(end, 0);
    }
    let block = ParameterBlock::read(&flat).map_err(|error| wrong(&error.to_string()))?;
    if block.tree_offset != 0 || block.tree_size != 0 {
        return Err(wrong("its parameter block names a device tree already"));
    }
    Ok(flat)
}

/// The image of the flat payload `base`: with `tree` appended, if any, and
/// room for `cpus` CPUs claimed in its header.
///
/// # Errors
/// When `base` is no payload, or something is too large.
pub fn assemble(
    mut base: Vec<u8>,
    tree: Option<&[u8]>,
    emergency: Emergency,
    cpus: usize,
) -> Result<Vec<u8>> {
    if base.len() > BASE_MAX {
        bail!("the payload has {} bytes, more than {BASE_MAX}", base.len());
    }
    let refused = |error| anyhow!("the payload's image: {error}");
    // Of what is too short the tree would become a part.
    ParameterBlock::read(&base).map_err(refused)?;
    let mut block = ParameterBlock {
        uart: emergency.uart,
        conduit: emergency.conduit,
        base_size: base.len() as u64,
        ..ParameterBlock::default()
    };
    if let Some(tree) = tree {
        if tree.len() > TREE_MAX {
            bail!(
                "the device tree has {} bytes, more than {TREE_MAX}",
                tree.len()
            );
        }
        base.resize(base.len().next_multiple_of(TREE_ALIGN), 0);
        block.tree_offset = base.len() as u64;
        block.tree_size = tree.len() as u64;
        base.extend(tree);
    }
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX);
    let need = base.len() as u64 + working_memory(cpus);
    set_image_size(&mut base, need.next_multiple_of(PAGE)).map_err(refused)?;
    block.write(&mut base).map_err(refused)?;
    Ok(base)
}

/// The image of the flat payload `base` for all boards: without a tree, and
/// without a UART to use while there is none.
///
/// # Errors
/// As [`assemble`].
pub fn bare(base: Vec<u8>) -> Result<Vec<u8>> {
    assemble(base, None, Emergency::default(), BARE_CPUS)
}

/// Returns the released payload in the file `path`, without any tree.
pub fn released(option: &str, path: Option<&Path>) -> Result<Option<Vec<u8>>> {
    let Some(path) = path else {
        return Ok(None);
    };
    let file = read_file::read(option, path, FILE_MAX)?;
    let at = || format!("{option} {}", path.display());
    Ok(Some(strip(file).with_context(at)?))
}

/// The flat payload in the image `file`, from which the device tree is taken
/// if it carries one.
///
/// # Errors
/// When it is no image, or is not whole.
pub fn strip(mut file: Vec<u8>) -> Result<Vec<u8>> {
    let block = ParameterBlock::read(&file).map_err(|error| anyhow!("{error}"))?;
    let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let (base, tree) = (size(block.base_size), size(block.tree_offset));
    let ends = match (tree, size(block.tree_size)) {
        (0, 0) => base,
        (_, tree_size) => {
            let aligned = base.checked_next_multiple_of(TREE_ALIGN) == Some(tree);
            if !aligned
                || file
                    .get(tree..)
                    .is_none_or(|rest| !rest.starts_with(&TREE_MAGIC))
            {
                bail!("its parameter block names a device tree that is not where it says");
            }
            tree.saturating_add(tree_size)
        }
    };
    if !(HEADER_SIZE + PARAMETER_BLOCK_SIZE..=BASE_MAX).contains(&base) {
        bail!("its parameter block says that the payload has {base} bytes, which cannot be");
    }
    if ends != file.len() {
        let is = file.len();
        bail!("it has {is} bytes, and {ends} by its parameter block: it is not whole");
    }
    file.truncate(base);
    Ok(file)
}

#[cfg(test)]
mod tests;
