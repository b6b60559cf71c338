//! A CPU's name by its MIDR_EL1: implementer in bits 31:24, part number in
//! bits 15:4, variant in bits 23:20 and revision in bits 3:0.

/// Names by implementer and part number, as TF-A and Linux know them.
const NAMES: [(u8, u16, &str); 52] = [
    (0x41, 0xd01, "Cortex-A32"),
    (0x41, 0xd02, "Cortex-A34"),
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd06, "Cortex-A65"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd0e, "Cortex-A76AE"),
    (0x41, 0xd0f, "AEM (a model)"),
    (0x41, 0xd40, "Neoverse V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd43, "Cortex-A65AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse N2"),
    (0x41, 0xd4a, "Neoverse E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd83, "Neoverse V3AE"),
    (0x41, 0xd84, "Neoverse V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd89, "Cortex-A720AE"),
    (0x41, 0xd8e, "Neoverse N3"),
    (0x42, 0x516, "ThunderX2"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "Kunpeng 920"),
    (0x4e, 0x003, "Denver 2"),
    (0x4e, 0x004, "Carmel"),
    (0x51, 0x800, "Kryo 2xx Gold"),
    (0x51, 0x801, "Kryo 2xx Silver"),
    (0x51, 0x802, "Kryo 3xx Gold"),
    (0x51, 0x803, "Kryo 3xx Silver"),
    (0x51, 0xc00, "Falkor"),
    (0xc0, 0xac3, "Ampere-1"),
    (0x00, 0x051, "QEMU max"),
];

/// The CPU's name, and its revision as errata notices write it.
pub(super) fn name(midr: u64) -> Option<String> {
    let implementer = midr >> 24 & 0xff;
    let part = midr >> 4 & 0xfff;
    let same = |it: &&(u8, u16, &str)| (u64::from(it.0), u64::from(it.1)) == (implementer, part);
    let (_, _, name) = NAMES.iter().find(same)?;
    Some(format!("{name} r{}p{}", midr >> 20 & 0xf, midr & 0xf))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_by_implementer_and_part() {
        for (midr, expected) in [
            (0x411f_d070, Some("Cortex-A57 r1p0")),
            (0x410f_d034, Some("Cortex-A53 r0p4")),
            (0x7fff_ffff, None),
        ] {
            assert_eq!(name(midr).as_deref(), expected);
        }
    }
}
