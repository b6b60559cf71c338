//! The interrupt controller, a GICv2 or GICv3, and the addresses of its frames.
//!
//! See the Linux bindings *interrupt-controller/arm,gic.yaml* and *arm,gic-v3.yaml*.

use alloc::vec::Vec;

use super::fdt::number;
use super::node::Node;
use super::ranges::{self, Region};
use crate::text::format_error::Result;

/// The maximum number of redistributor regions. The largest known machines have four.
pub const REDISTRIBUTOR_REGIONS_MAX: usize = 8;

/// The interrupt controller's frames. Sizes are limited to the registers in use because a tree can
/// specify a larger frame than the hardware has. A redistributor region is limited to the size
/// needed for 512 CPUs with GICv4 frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gic {
    /// GICv2 or older, with a memory-mapped CPU interface.
    V2 {
        /// GICD, 4 KiB.
        distributor: Region,
        /// GICC, 256 bytes to 4 KiB. Registers beyond the first 4 KiB are not used.
        cpu_interface: Region,
    },
    /// GICv3 or later, with the CPU interface in system registers.
    V3 {
        /// GICD, 64 KiB.
        distributor: Region,
        /// 1 to [`REDISTRIBUTOR_REGIONS_MAX`] GICR regions, in tree order.
        redistributors: Vec<Region>,
        /// The distance in bytes between redistributors. `None` if it is determined by GICR_TYPER.
        stride: Option<u64>,
    },
}

/// `compatible` strings for GICs, with GICv3 first.
pub(crate) const COMPATIBLE: &str = "arm,gic-v3 \
    arm,gic-400 arm,cortex-a15-gic arm,cortex-a9-gic arm,cortex-a7-gic arm,cortex-a5-gic \
    arm,gic-v2 arm,eb11mp-gic brcm,brahma-b15-gic qcom,msm-qgic2";

/// The `compatible` string of an ITS.
pub(crate) const ITS_COMPATIBLE: &str = "arm,gic-v3-its";

/// Limits on the size (in bytes) and alignment of a register frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameLimits {
    /// The size below which a frame is rejected.
    pub least: u64,
    /// The size to which a larger frame is limited.
    pub most: u64,
    /// The alignment, a power of two.
    pub align: u64,
}

const fn limits(least: u64, most: u64, align: u64) -> FrameLimits {
    FrameLimits { least, most, align }
}

/// The GICD of a GICv2.
pub const GICD_V2: FrameLimits = limits(0x1000, 0x1000, 4);
/// The GICC of a GICv2.
pub const GICC_V2: FrameLimits = limits(0x100, 0x1000, 4);
/// The GICD of a GICv3.
pub const GICD_V3: FrameLimits = limits(0x1_0000, 0x1_0000, 0x1_0000);
/// A redistributor region. Each redistributor is at least [`FrameLimits::least`] bytes long.
pub const GICR: FrameLimits = limits(0x2_0000, 0x800_0000, 0x1_0000);

/// The control frame of an ITS, which is followed by a frame for devices.
pub const GITS: FrameLimits = limits(0x1_0000, 0x1_0000, 0x1_0000);

impl FrameLimits {
    /// Checks a frame. The error contains the invalid size or base and describes the expected
    /// value.
    pub fn check(&self, frame: &Region) -> core::result::Result<(), (u64, &'static str)> {
        if frame.size < self.least {
            Err((frame.size, "a size that covers the GIC's registers"))
        } else if frame.base & (self.align - 1) != 0 {
            Err((frame.base, "an aligned GIC frame"))
        } else {
            Ok(())
        }
    }
}

/// A controller and the format of its interrupt specifiers.
pub(crate) struct Controller {
    pub gic: Gic,
    /// Number of cells in a specifier.
    pub interrupt_cells: usize,
    pub phandle: Option<u32>,
}

impl Controller {
    /// Returns true if the GIC may have an ITS.
    pub fn has_its(&self) -> bool {
        matches!(self.gic, Gic::V3 { .. })
    }
}

/// Reads the controller at `node`.
pub(crate) fn read(node: Node<'_>) -> Result<Controller> {
    let gic = match node.compatible_with(COMPATIBLE) {
        Some(0) => version_3(node)?,
        _ => Gic::V2 {
            distributor: frame(node, 0, &GICD_V2)?,
            cpu_interface: frame(node, 1, &GICC_V2)?,
        },
    };
    let cells = "#interrupt-cells";
    let interrupt_cells = match node.u32(cells)? {
        Some(count @ 3..=4) => count as usize,
        None => return Err(node.missing(cells)),
        Some(count) => return Err(node.wrong_value(cells, count.into(), "3 or 4")),
    };
    Ok(Controller {
        gic,
        interrupt_cells,
        phandle: node.phandle()?,
    })
}

fn version_3(node: Node<'_>) -> Result<Gic> {
    let distributor = frame(node, 0, &GICD_V3)?;
    let regions = "#redistributor-regions";
    let count = node.u32(regions)?.unwrap_or(1) as usize;
    if count == 0 || count > REDISTRIBUTOR_REGIONS_MAX {
        return Err(node.wrong_value(regions, count as u64, "1 to 8"));
    }
    let redistributor = |index| frame(node, index, &GICR);
    let redistributors = (1..=count).map(redistributor).collect::<Result<_>>()?;
    Ok(Gic::V3 {
        distributor,
        redistributors,
        stride: stride(node)?,
    })
}

/// Reads the registers of the ITS at `node`. Returns None if they cannot be used.
pub(crate) fn read_its(node: Node<'_>) -> Option<Region> {
    frame(node, 0, &GITS).ok()
}

/// Reads the stride. A value of 0 in the tree means that no stride is specified.
fn stride(node: Node<'_>) -> Result<Option<u64>> {
    const NAME: &str = "redistributor-stride";
    let Some(value) = node.value(NAME) else {
        return Ok(None);
    };
    if value.len() != 4 && value.len() != 8 {
        return Err(node.wrong_length(NAME, value.len(), "8"));
    }
    let stride = number(value);
    let least = 0x2_0000;
    if stride != 0 && (stride < least || !stride.is_multiple_of(0x1_0000)) {
        let expected = "a multiple of 64 KiB, at least 128 KiB";
        return Err(node.wrong_value(NAME, stride, expected));
    }
    Ok(Some(stride).filter(|stride| *stride != 0))
}

/// Reads entry `index` in `reg`, limited to the bytes in use.
fn frame(node: Node<'_>, index: usize, limits: &FrameLimits) -> Result<Region> {
    let region = ranges::region(node, index)?;
    if let Err((value, expected)) = limits.check(&region) {
        return Err(node.wrong_value("reg", value, expected));
    }
    let size = region.size.min(limits.most);
    Ok(Region { size, ..region })
}
