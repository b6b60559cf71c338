//! A CPU name derived from MIDR_EL1: implementer in bits 31:24, part number in bits 15:4, variant
//! in bits 23:20 and revision in bits 3:0.

/// Part numbers and names by implementer, as in TF-A and Linux.
const NAMES: [(u64, &str); 9] = [
    (
        0x41,
        "d01 Cortex-A32, d02 Cortex-A34, d03 Cortex-A53, d04 Cortex-A35, d05 Cortex-A55, \
         d06 Cortex-A65, d07 Cortex-A57, d08 Cortex-A72, d09 Cortex-A73, d0a Cortex-A75, \
         d0b Cortex-A76, d0c Neoverse N1, d0d Cortex-A77, d0e Cortex-A76AE, d0f AEM (a model), \
         d40 Neoverse V1, d41 Cortex-A78, d42 Cortex-A78AE, d43 Cortex-A65AE, d44 Cortex-X1, \
         d46 Cortex-A510, d47 Cortex-A710, d48 Cortex-X2, d49 Neoverse N2, d4a Neoverse E1, \
         d4b Cortex-A78C, d4d Cortex-A715, d4e Cortex-X3, d4f Neoverse V2, d80 Cortex-A520, \
         d81 Cortex-A720, d82 Cortex-X4, d83 Neoverse V3AE, d84 Neoverse V3, d85 Cortex-X925, \
         d87 Cortex-A725, d89 Cortex-A720AE, d8e Neoverse N3",
    ),
    (0x42, "516 ThunderX2"),
    (0x43, "0a1 ThunderX, 0af ThunderX2"),
    (0x46, "001 A64FX"),
    (0x48, "d01 Kunpeng 920"),
    (0x4e, "003 Denver 2, 004 Carmel"),
    (
        0x51,
        "800 Kryo 2xx Gold, 801 Kryo 2xx Silver, 802 Kryo 3xx Gold, 803 Kryo 3xx Silver, \
         c00 Falkor",
    ),
    (0xc0, "ac3 Ampere-1"),
    (0x00, "051 QEMU max"),
];

/// Returns the name with variant and revision, such as `Cortex-A57 r1p0`; None for an unknown part.
pub(crate) fn name(midr: u64) -> Option<String> {
    let part = type_of(midr)?;
    Some(format!("{part} r{}p{}", midr >> 20 & 0xf, midr & 0xf))
}

/// Returns the part name, such as `Cortex-A57`; None for an unknown part.
pub fn type_of(midr: u64) -> Option<String> {
    let implementer = midr >> 24 & 0xff;
    let (_, names) = NAMES.iter().find(|(code, _)| *code == implementer)?;
    let part_number = format!("{:03x} ", midr >> 4 & 0xfff);
    let name = names
        .split(", ")
        .find_map(|part| part.strip_prefix(&part_number))?;
    Some(name.to_owned())
}
