//! The watchdog: found, or as if there were none. It never stops a run.

use core::num::NonZeroU64;
use std::string::ToString;

use super::trees::{Model, be, juno, qemu};
use crate::board::board::Board;
use crate::board::ranges::Region;
use crate::board::watchdog::{Watchdog, WatchdogKind};

/// What is found in a tree that is good in any case.
fn found(tree: &Model) -> Option<Watchdog> {
    Board::read(&tree.blob()).expect("a good tree").watchdog
}

fn sp805(base: u64, clock: u64) -> Watchdog {
    let clock = NonZeroU64::new(clock).expect("a clock that runs");
    let kind = WatchdogKind::Sp805 { clock };
    Watchdog { kind, base }
}

/// QEMU's tree with an SBSA watchdog.
fn with_sbsa() -> Model {
    qemu(4).with(
        Model::new("watchdog@2a440000")
            .text("compatible", &["arm,sbsa-gwdt"])
            .cells(
                "reg",
                &[0, 0x2a44_0000, 0, 0x1000, 0, 0x2a45_0000, 0, 0x1000],
            )
            .cells("interrupts", &[0, 27, 4]),
    )
}

/// Juno's tree with an SP805 on a bus, before and after other clocks.
fn with_sp805() -> Model {
    let clock = |name: &str, phandle: u32, hertz: u32| {
        Model::new(name)
            .text("compatible", &["fixed-clock"])
            .cells("#clock-cells", &[0])
            .cells("clock-frequency", &[hertz])
            .cells("phandle", &[phandle])
    };
    let mut tree = juno().with(clock("clk24mhz", 0x21, 24_000_000));
    let bus = tree.at("/bus@7f000000/apb");
    *bus = bus.clone().with(
        Model::new("watchdog@f000")
            .text("compatible", &["arm,sp805", "arm,primecell"])
            .cells("reg", &[0xf000, 0x1000])
            .cells("clocks", &[0x22, 0x21])
            .text("clock-names", &["wdog_clk", "apb_pclk"]),
    );
    tree.with(clock("refclk32khz", 0x22, 32_768))
}

#[test]
fn none_in_most_trees() {
    assert_eq!(found(&qemu(4)), None);
    assert_eq!(found(&juno()), None);
}

#[test]
fn an_sbsa_watchdog_by_its_control_frame() {
    let watchdog = found(&with_sbsa()).expect("a watchdog");
    assert_eq!(watchdog.kind, WatchdogKind::Sbsa);
    let (base, size) = (0x2a44_0000, 0x1000);
    assert_eq!(watchdog.registers(), Region { base, size });
    assert_eq!(watchdog.to_string(), "SBSA watchdog at 0x2a440000");
}

#[test]
fn an_sp805_with_its_clock() {
    let mut tree = with_sp805();
    let watchdog = found(&tree).expect("a watchdog");
    assert_eq!(watchdog, sp805(0x7ff0_f000, 32_768));
    assert_eq!(watchdog.to_string(), "SP805 at 0x7ff0f000");
    let names = "/bus@7f000000/apb/watchdog@f000:clock-names";
    tree.edit(names, b"wdogclk\0apb_pclk\0");
    assert_eq!(found(&tree), Some(watchdog));
    tree.remove(names);
    assert_eq!(found(&tree), Some(watchdog));
}

#[test]
fn what_is_of_no_use_is_as_if_it_were_not_there() {
    let node = "/watchdog@2a440000";
    for (property, value) in [
        ("status", b"disabled\0".to_vec()),
        ("compatible", b"arm,sbsa-gwdt2\0".to_vec()),
        ("reg", be(&[0, 0x2a44_0000, 0, 0xfff])),
        ("reg", be(&[0, 0x2a44_0800, 0, 0x1000])),
        ("reg", be(&[0x1_0000, 0, 0, 0x1000])),
        ("reg", be(&[0, 0x2a44_0000, 0])),
    ] {
        let mut tree = with_sbsa();
        tree.edit(&std::format!("{node}:{property}"), &value);
        assert_eq!(found(&tree), None, "{property} {value:x?}");
    }
    let mut tree = with_sbsa();
    tree.remove("/watchdog@2a440000:reg");
    assert_eq!(found(&tree), None);
}

#[test]
fn an_sp805_needs_a_clock_of_known_frequency() {
    let node = "/bus@7f000000/apb/watchdog@f000";
    for (at, value) in [
        (std::format!("{node}:clocks"), be(&[0x23, 0x21])),
        (std::format!("{node}:clocks"), std::vec![0, 0, 0]),
        (std::format!("{node}:clocks"), be(&[])),
        (
            std::format!("{node}:clock-names"),
            b"apb_pclk\0wdog_clk\0".to_vec(),
        ),
        (
            "/refclk32khz:compatible".into(),
            b"arm,scpi-clocks\0".to_vec(),
        ),
        ("/refclk32khz:clock-frequency".into(), be(&[0])),
        ("/refclk32khz:clock-frequency".into(), be(&[])),
        ("/refclk32khz:status".into(), b"disabled\0".to_vec()),
    ] {
        let mut tree = with_sp805();
        tree.edit(&at, &value);
        assert_eq!(found(&tree), None, "{at} {value:x?}");
    }
    for at in [
        &std::format!("{node}:clocks"),
        "/refclk32khz:clock-frequency",
        "/refclk32khz:phandle",
        "/bus@7f000000/apb:ranges",
    ] {
        let mut tree = with_sp805();
        // Only the watchdog is to be unreachable.
        tree.edit("/chosen:stdout-path", b"/serial@1000\0");
        tree = tree.with(
            Model::new("serial@1000")
                .text("compatible", &["arm,pl011"])
                .cells("reg", &[0, 0x1000, 0, 0x1000]),
        );
        assert!(found(&tree).is_some());
        tree.remove(at);
        assert_eq!(found(&tree), None, "without {at}");
    }
}
