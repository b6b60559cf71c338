//! Explains where a boot stopped, based on its last mark.

use hardware::image::BootStage;

/// Each scenario is followed by a line that contains one of these strings: TFTF's last line, or a
/// scenario's record.
const ENDED: [&str; 2] = ["  TEST COMPLETE", "{\"scenario\":"];

/// Explains the last mark in `log`: how far the boot got, the likely cause if it stopped there, and
/// the next step. Returns None if there are no marks, or if a scenario ended after the last mark.
pub fn explain_marks(log: &str) -> Option<String> {
    let last_end = ENDED.iter().filter_map(|mark| log.rfind(mark)).max();
    let stage = BootStage::last_in(&log[last_end.unwrap_or(0)..])?;
    let [reached, cause, next] = explanation(stage);
    let letter = stage.letter();
    Some(format!(
        "the last boot mark is <{letter}>: {reached}. Likely cause: {cause}. Next: {next}"
    ))
}

/// Returns how far the boot got, the likely cause if it stopped there, and the next step.
const fn explanation(stage: BootStage) -> [&'static str; 3] {
    match stage {
        BootStage::Entry => [
            "the image started but stopped during its cache maintenance",
            "the image was not loaded completely, or the memory after it is not non-secure RAM",
            "check the load address, and whether it is followed by enough RAM for the header's image_size",
        ],
        BootStage::Caches => [
            "caches are off, but the MMU is not on or the emergency UART is not mapped",
            "relocations or translation tables were written to memory that is not RAM, or the emergency \
             UART is not at its address",
            "check the load address, whether it is followed by enough RAM for the header's image_size, \
             and the UART's address",
        ],
        BootStage::Mmu => [
            "the MMU and caches are on, but no device tree was found",
            "no tree is appended, and X0, X2 and X3 do not contain the address of one",
            "append a tree: cargo xtask image --board NAME, or --dtb FILE",
        ],
        BootStage::Trapped => [
            "the same as with <M>, but the firmware traps writes to TCR2, SCTLR2 or GCSCR",
            "no tree is appended, and X0, X2 and X3 do not contain the address of one",
            "append a tree: cargo xtask image --board NAME, or --dtb FILE",
        ],
        BootStage::Tree => [
            "a device tree was found, but it or the boot arguments were not accepted",
            "the tree's console is not the UART that is being read, or the tree is damaged",
            "check /chosen/stdout-path in the tree; read the line that follows the mark",
        ],
        BootStage::Board => [
            "the device tree was accepted, but the firmware has not responded",
            "the firmware did not return from a query, such as PSCI_FEATURES or the probe for PMF, \
             or the psci node has the wrong method",
            "read the line that follows the mark and the firmware's own messages",
        ],
        BootStage::Firmware => [
            "the firmware has responded, but the interrupt controller or the timer does not work",
            "the tree's GIC addresses or timer interrupts are wrong, or the firmware does not \
             share the GIC",
            "read the line that follows the mark: it names the GIC or the timer. If there is none, \
             an access to the GIC never ended",
        ],
        BootStage::Gic => [
            "the interrupt controller and the timer work, but CPU_ON has not been called",
            "the firmware did not return from reading a PMF timestamp, or only the lead's \
             power-down is measured",
            "read the firmware's own messages; try --args only=psci_version_parallel",
        ],
        BootStage::CpuOn => [
            "CPU_ON was called, but no suspend has followed",
            "CPU_ON did not return, or the CPU did not arrive",
            "check the MPIDRs in /cpus, and whether the firmware can power on these CPUs",
        ],
        BootStage::Suspend => [
            "a suspend call was made, but nothing has been printed since",
            "the power_state is wrong for this firmware, or nothing wakes the CPU",
            "try --args \"only=first end=park\", then a shallower state with core= and deepest=, and a \
             longer sleep=",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mark_is_explained() {
        assert_eq!(explain_marks("NOTICE:  BL31: built\r\n"), None);
        let explanation = explain_marks("<E><C><M>\r\n<T>\r\n").expect("marks");
        assert!(explanation.starts_with("the last boot mark is <T>: a device tree was found"));
        // Only in the second log does a mark follow the end of the scenario.
        let on = "<O>\r\n<RT_INSTR:a\t0/>\r\n  TEST COMPLETE\r\n";
        assert_eq!(explain_marks(&format!("{on}> Executing 'B'\r\n")), None);
        let explanation = explain_marks(&format!("> Executing 'A'\r\n{on}<S>\r\n")).expect("marks");
        assert!(explanation.contains("<S>"));
    }

    /// docs/first-boot.md contains the same text, with one row for each stage.
    #[test]
    fn the_page_has_a_row_for_each_stage() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/first-boot.md");
        let page = std::fs::read_to_string(file).expect("the page");
        for stage in BootStage::ALL {
            let row = format!(
                "| `<{}>` | {} |",
                stage.letter(),
                explanation(stage).join(" | ")
            );
            assert!(page.contains(&row), "{row}");
        }
    }
}
