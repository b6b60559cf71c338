//! The timer frame: found, or why not. It never stops a run.

use super::trees::{Model, be, juno, qemu};
use crate::board::board::Board;
use crate::board::ranges::Region;
use crate::board::{NoFrame, TimerFrame};

/// What is found in a tree that is good in any case.
fn found(tree: &Model) -> Result<TimerFrame, NoFrame> {
    Board::read(&tree.blob()).expect("a good tree").timer_frame
}

/// Juno's timer: frame 1 is not Secure; one that is stands before it.
fn timer() -> Model {
    Model::new("timer@2a810000")
        .text("compatible", &["arm,armv7-timer-mem"])
        .cells("reg", &[0, 0x2a81_0000, 0, 0x1_0000])
        .cells("#address-cells", &[1])
        .cells("#size-cells", &[1])
        .cells("ranges", &[0, 0, 0x2a82_0000, 0x2_0000])
        .with(
            Model::new("frame@0")
                .cells("reg", &[0, 0x1000])
                .cells("frame-number", &[0])
                .cells("interrupts", &[0, 59, 4])
                .text("status", &["disabled"]),
        )
        .with(
            Model::new("frame@10000")
                .cells("frame-number", &[1])
                // The physical timer's, and the virtual one's.
                .cells("interrupts", &[0, 60, 4, 0, 61, 4])
                .cells("reg", &[0x1_0000, 0x1000, 0x1_1000, 0x1000]),
        )
}

const FRAME: TimerFrame = TimerFrame {
    control: 0x2a81_0000,
    number: 1,
    base: 0x2a83_0000,
    intid: 92,
};

/// The tree with one property of `frame` or, by "", of the timer changed.
fn changed(node: &str, name: &str, value: &[u8]) -> Result<TimerFrame, NoFrame> {
    let mut tree = qemu(2).with(timer());
    let at = std::format!("/timer@2a810000{node}:{name}");
    tree.edit(&at, value);
    found(&tree)
}

const USED: &str = "/frame@10000";

#[test]
fn none_in_most_trees() {
    assert_eq!(found(&qemu(2)), Err(NoFrame::NotInTree));
    assert_eq!(found(&juno()), Err(NoFrame::NotInTree));
}

#[test]
fn the_first_that_is_not_disabled() {
    assert_eq!(found(&qemu(2).with(timer())), Ok(FRAME));
    let [control, base] = FRAME.registers();
    let page = |base| Region { base, size: 0x1000 };
    assert_eq!((control, base), (page(0x2a81_0000), page(0x2a83_0000)));
    let first = changed("/frame@0", "status", b"okay\0").expect("frame 0");
    assert_eq!(
        (first.number, first.base, first.intid),
        (0, 0x2a82_0000, 91)
    );
}

#[test]
fn none_where_all_or_the_whole_timer_are_disabled() {
    for node in ["", USED] {
        let frame = changed(node, "status", b"disabled\0");
        assert_eq!(frame, Err(NoFrame::NotInTree), "{node}");
    }
    let mut childless = timer();
    childless.children.clear();
    assert_eq!(found(&qemu(2).with(childless)), Err(NoFrame::NotInTree));
}

#[test]
fn what_is_wrong_is_named() {
    let cells = |cells: &[u32]| be(cells);
    for (node, name, value) in [
        (USED, "frame-number", cells(&[8])),
        (USED, "frame-number", cells(&[])),
        (USED, "interrupts", cells(&[1, 13, 4])),
        (USED, "interrupts", cells(&[0, 988, 4])),
        (USED, "interrupts", cells(&[0])),
        (USED, "interrupts", cells(&[])),
        (USED, "reg", cells(&[0x1_0000, 0xfff])),
        (USED, "reg", cells(&[0x1_0800, 0x1000])),
        (USED, "reg", cells(&[0x1_0000])),
        (USED, "reg", cells(&[0x2_0000, 0x1000])),
        ("", "reg", cells(&[0, 0x2a81_0000, 0, 0xfff])),
        ("", "reg", cells(&[1 << 16, 0, 0, 0x1000])),
    ] {
        let frame = changed(node, name, &value);
        assert_eq!(frame, Err(NoFrame::Property(name)), "{value:x?}");
    }
    for (property, named) in [
        ("/timer@2a810000:reg", "reg"),
        ("/timer@2a810000:ranges", "reg"),
        ("/timer@2a810000/frame@10000:reg", "reg"),
        ("/timer@2a810000/frame@10000:interrupts", "interrupts"),
    ] {
        let mut tree = qemu(2).with(timer());
        tree.remove(property);
        assert_eq!(found(&tree), Err(NoFrame::Property(named)), "{property}");
    }
    // The last SPI is one.
    let last = changed(USED, "interrupts", &be(&[0, 987, 4]));
    assert_eq!(last.map(|frame| frame.intid), Ok(1019));
}
