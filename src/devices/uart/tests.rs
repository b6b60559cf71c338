//! Each kind of UART, against a fake made from its manual.

mod fake;
mod manuals;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::String;
use std::vec::Vec;

use super::{PATIENCE, PATIENCE_LEFT, Uart, size, status};
use crate::image::UartKind;
use fake::{Manual, Shared};
use manuals::{ALL, CADENCE, IMX, MINI_UART, NS16550, NS16550_HALF, PL011, SBSA};

/// More than any FIFO takes.
fn text() -> Vec<u8> {
    (0..=255).rev().chain(*b"psci-bench\r\n").collect()
}

#[test]
fn every_kind_has_a_manual() {
    for kind in UartKind::ALL {
        assert!(ALL.iter().any(|manual| manual.kind == kind), "{kind:?}");
    }
}

#[test]
fn bytes_leave_in_order_and_none_is_lost() {
    for manual in ALL {
        let bus = manual.set_up();
        let mut uart = manual.driver(&bus);
        text().iter().for_each(|byte| uart.send(*byte));
        // The fake panics where the FIFO overruns.
        uart.wait_idle();
        assert_eq!(bus.0.borrow().line.sent, text(), "{:?}", manual.kind);
        assert_eq!(bus.writes(), [], "{:?}", manual.kind);
    }
}

#[test]
fn idle_is_an_empty_shift_register() {
    for manual in ALL {
        let bus = manual.set_up();
        let mut uart = manual.driver(&bus);
        uart.send(b'x');
        // The FIFO is empty before the byte has left.
        let fake = bus.0.borrow();
        assert!(fake.line.fifo.is_empty() && fake.line.sent.is_empty());
        drop(fake);
        uart.wait_idle();
        let fake = bus.0.borrow();
        assert_eq!(fake.line.sent, b"x", "{:?}", manual.kind);
        assert_eq!(fake.line.shifting, None, "{:?}", manual.kind);
    }
}

/// Fills shift register and FIFO of a line that is held up for so many reads.
fn fill(manual: &Manual, bus: &Shared, reads: u32) {
    let mut fake = bus.0.borrow_mut();
    fake.line.held_up = reads;
    (0..=manual.depth).for_each(|_| fake.line.push(b'x'));
    fake.polls = 0;
}

#[test]
fn room_and_rest_are_waited_for() {
    for manual in ALL {
        let bus = manual.set_up();
        let mut uart = manual.driver(&bus);
        fill(manual, &bus, 1000);
        uart.send(b'y');
        assert!(bus.0.borrow().polls > 1000, "{:?}", manual.kind);
        bus.0.borrow_mut().line.held_up = 1000;
        bus.0.borrow_mut().polls = 0;
        uart.wait_idle();
        assert!(bus.0.borrow().polls > 1000, "{:?}", manual.kind);
        assert_eq!(bus.0.borrow().line.sent.last(), Some(&b'y'));
    }
}

#[test]
fn a_line_that_is_held_up_for_good_ends_the_wait() {
    let bus = SBSA.set_up();
    let mut uart = SBSA.driver(&bus);
    fill(&SBSA, &bus, u32::MAX);
    uart.send(b'y');
    assert_eq!(bus.0.borrow().polls, PATIENCE);
    uart.wait_idle();
    assert_eq!(bus.0.borrow().polls, 2 * PATIENCE);
}

/// Polls since the last time.
fn polls(bus: &Shared) -> u32 {
    std::mem::take(&mut bus.0.borrow_mut().polls)
}

/// Flow control without a cable: a whole log costs no more than two waits, and
/// what is left of patience does not make a third.
#[test]
fn a_log_to_a_line_that_is_held_up_costs_two_waits() {
    const BYTES: u32 = 20;
    const { assert!(60_000 * PATIENCE_LEFT <= PATIENCE) };
    let bus = PL011.set_up();
    let mut uart = PL011.driver(&bus);
    fill(&PL011, &bus, u32::MAX);
    for _ in 0..BYTES {
        uart.send(b'y');
    }
    assert_eq!(polls(&bus), PATIENCE + (BYTES - 1) * PATIENCE_LEFT);
    uart.wait_idle();
    assert_eq!(polls(&bus), PATIENCE);
    for _ in 0..BYTES {
        uart.wait_idle();
        uart.send(b'y');
    }
    assert_eq!(polls(&bus), 2 * BYTES * PATIENCE_LEFT);
}

/// Time passes until so many bytes of a full FIFO are left.
fn drain(bus: &Shared, manual: &Manual, left: usize) {
    let mut fake = bus.0.borrow_mut();
    fake.polls = 0;
    fake.line.held_up = 0;
    fake.line.fifo.truncate(manual.depth);
    while fake.line.fifo.len() + usize::from(fake.line.shifting.is_some()) > left {
        fake.line.tick();
    }
}

/// There is room where there was none, or rest: the next wait is a whole one,
/// for either.
#[test]
fn patience_comes_back_with_the_line() {
    for left in [0, 1] {
        let bus = PL011.set_up();
        let mut uart = PL011.driver(&bus);
        fill(&PL011, &bus, u32::MAX);
        uart.send(b'y');
        uart.wait_idle();
        drain(&bus, &PL011, left);
        match left {
            0 => uart.wait_idle(),
            _ => uart.send(b'z'),
        }
        drain(&bus, &PL011, 0);
        fill(&PL011, &bus, 1000);
        uart.send(b'y');
        assert!(polls(&bus) > 1000, "{left}");
        bus.0.borrow_mut().line.held_up = 1000;
        uart.wait_idle();
        assert!(polls(&bus) > 1000, "{left}");
        assert_eq!(bus.0.borrow().line.sent.last(), Some(&b'y'));
    }
}

/// Before the FIFO is full there is room, whether the line moves or not.
#[test]
fn room_alone_is_no_sign_that_the_line_moves() {
    let bus = PL011.set_up();
    let mut uart = PL011.driver(&bus);
    bus.0.borrow_mut().line.held_up = u32::MAX;
    uart.send(b'x');
    uart.wait_idle();
    assert_eq!(polls(&bus), 1 + PATIENCE);
    for _ in 0..4 {
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(polls(&bus), 1 + PATIENCE_LEFT);
    }
    // The line moves again, as a wait for room that ends well shows, and rest.
    fill(&PL011, &bus, PATIENCE_LEFT);
    uart.send(b'y');
    bus.0.borrow_mut().line.held_up = 1000;
    bus.0.borrow_mut().polls = 0;
    uart.wait_idle();
    assert!(polls(&bus) > 1000);
}

/// Takes a UART over from the firmware, loses all settings, and returns the driver's
/// writes that restore them.
fn restored(manual: &'static Manual) -> Vec<(u64, u32)> {
    let bus = manual.set_up();
    let mut uart = manual.driver(&bus);
    let settings = bus.0.borrow().settings.clone();
    uart.restore();
    assert_eq!(bus.writes(), [], "{:?}: nothing was lost", manual.kind);
    bus.lose_power();
    uart.restore();
    assert_eq!(bus.0.borrow().settings, settings, "{:?}", manual.kind);
    let writes = bus.writes();
    uart.restore();
    assert_eq!(bus.writes(), [], "{:?}: all is there again", manual.kind);
    uart.send(b'x');
    uart.wait_idle();
    assert_eq!(bus.0.borrow().line.sent, b"x", "{:?}", manual.kind);
    writes
}

#[test]
fn lost_settings_are_written_in_the_manuals_order() {
    for manual in ALL {
        assert_eq!(restored(manual), manual.restored, "{:?}", manual.kind);
    }
}

#[test]
fn one_setting_that_is_lost_is_enough() {
    for manual in ALL {
        for (offset, reset, firmware) in manual.settings {
            if reset == firmware {
                continue;
            }
            let bus = manual.set_up();
            let mut uart = manual.driver(&bus);
            bus.0.borrow_mut().settings.insert(*offset, *reset);
            uart.restore();
            assert_ne!(bus.writes(), [], "{:?} at {offset:#x}", manual.kind);
            let kept = bus.0.borrow().settings.get(offset).copied();
            assert_eq!(kept, Some(*firmware), "{:?} at {offset:#x}", manual.kind);
        }
    }
}

/// Firmware that left DLAB on: the byte would be a divisor's.
#[test]
fn dlab_is_not_put_back() {
    let bus = NS16550.set_up();
    bus.0.borrow_mut().settings.insert(3, 0x83);
    let mut uart = NS16550.driver(&bus);
    bus.lose_power();
    uart.restore();
    assert_eq!(bus.writes(), [(3, 0x03), (4, 0x0b)]);
}

#[test]
fn a_transmitter_that_is_off_is_turned_on() {
    for manual in ALL {
        let bus = manual.off();
        let mut uart = manual.driver(&bus);
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(bus.0.borrow().line.sent, b"x", "{:?}", manual.kind);
        assert_eq!(bus.writes(), manual.turned_on, "{:?}", manual.kind);
        // A loss of power is followed by the same state.
        bus.lose_power();
        uart.restore();
        uart.send(b'y');
        uart.wait_idle();
        assert_eq!(bus.0.borrow().line.sent, b"xy", "{:?}", manual.kind);
    }
}

/// As hw/char/imx_serial.c of QEMU has it at boot: TXEN, and SRST as 0, which
/// must not be written back.
#[test]
fn a_reset_bit_is_never_written() {
    let bus = IMX.set_up();
    bus.0.borrow_mut().settings.insert(0x84, 1 << 2);
    let mut uart = IMX.driver(&bus);
    assert_eq!(bus.writes(), [(0x84, 5)]);
    bus.lose_power();
    uart.restore();
    assert!(bus.writes().contains(&(0x84, 5)));
}

/// Returns the panic of the fake.
fn fault(run: impl FnOnce()) -> String {
    let error = catch_unwind(AssertUnwindSafe(run)).expect_err("the fake accepts it");
    let text = error.downcast_ref::<String>();
    text.cloned().expect("a formatted message")
}

#[test]
fn accesses_of_another_width_are_seen() {
    for (manual, width) in [
        (&MINI_UART, 1),
        (&MINI_UART, 2),
        (&NS16550, 4),
        (&NS16550_HALF, 1),
    ] {
        let (bus, shift) = (manual.set_up(), manual.reg_shift);
        let said = fault(|| Uart::new(bus, manual.kind, shift, width).send(b'x'));
        assert!(said.contains("access to"), "{said}");
    }
    // Only a 16550 leaves its width to the board.
    let bus = CADENCE.set_up();
    Uart::new(bus, UartKind::Cadence, 0, 1).send(b'x');
}

#[test]
fn size_covers_all_registers() {
    for (kind, reg_shift, bytes, polled) in [
        (UartKind::Pl011, 2, 0x4c, 0x18),
        (UartKind::Ns16550, 0, 8, 5),
        (UartKind::Ns16550, 2, 0x20, 20),
        (UartKind::Ns16550, 4, 0x80, 80),
    ] {
        assert_eq!(size(kind, reg_shift), bytes, "{kind:?} {reg_shift}");
        assert_eq!(status(kind, reg_shift), polled, "{kind:?} {reg_shift}");
    }
    for manual in ALL {
        let (kind, shift) = (manual.kind, manual.reg_shift);
        let offsets = manual.settings.iter().map(|setting| setting.0);
        let others = [manual.data, status(kind, shift)];
        let last = offsets.chain(others).max().expect("one at least");
        assert!(
            last + u64::from(manual.io_width) <= size(kind, shift),
            "{kind:?}"
        );
    }
}
