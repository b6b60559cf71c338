//! Each kind of UART, against a fake of what its manual says.

mod fake;
mod manuals;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::String;
use std::vec::Vec;

use super::{PATIENCE, PATIENCE_LEFT, Uart, size, status};
use crate::image::UartKind;
use fake::{Manual, Shared};
use manuals::{ALL, CADENCE, IMX, LPUART, MINI_UART, NS16550, NS16550_HALF, PL011, SBSA, STM32};

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
        let early = bus.0.borrow().line.fifo.is_empty() && bus.0.borrow().line.sent.is_empty();
        assert!(
            early,
            "{:?}: the FIFO is empty before the byte has left",
            manual.kind
        );
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
fn a_log_that_nobody_takes_costs_two_waits() {
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
    // It does again: seen by a wait for room that ends well, and by rest.
    fill(&PL011, &bus, PATIENCE_LEFT);
    uart.send(b'y');
    bus.0.borrow_mut().line.held_up = 1000;
    bus.0.borrow_mut().polls = 0;
    uart.wait_idle();
    assert!(polls(&bus) > 1000);
}

/// Takes over from the firmware, loses all, and returns what the driver wrote
/// to have it again.
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
fn what_is_lost_is_written_in_the_manuals_order() {
    let off_and_lcr_h_last = [
        (0x30, 0),
        (0x24, 13),
        (0x28, 1),
        (0x2c, 0x70),
        (0x30, 0x301),
    ];
    assert_eq!(restored(&PL011), off_and_lcr_h_last);
    assert_eq!(restored(&SBSA), []);
    assert_eq!(restored(&NS16550), [(3, 0x03), (4, 0x0b)]);
    assert_eq!(restored(&NS16550_HALF), [(6, 0x03), (8, 0x0b)]);
    assert_eq!(restored(&MINI_UART), [(0x0c, 0x03), (0x10, 0)]);
    let off_first = [(0, 0), (0x04, 0x20), (0x18, 124), (0x34, 6), (0, 0x114)];
    assert_eq!(restored(&CADENCE), off_first);
    let ubmr_behind_ubir = [
        (0x80, 0),
        (0x84, 0x4027),
        (0x88, 0x704),
        (0x8c, 0x8000),
        (0x90, 0xa01),
        (0xa4, 0xf),
        (0xa8, 0x68),
        (0x80, 1),
    ];
    assert_eq!(restored(&IMX), ubmr_behind_ubir);
    let off_first = [(0x18, 0), (0x10, 0x0300_0034), (0x18, 0x000c_0000)];
    assert_eq!(restored(&LPUART), off_first);
    let enabled_last = [
        (0x00, 0),
        (0x0c, 0x22b),
        (0x2c, 1),
        (0x04, 0),
        (0x08, 0x1000),
        (0x00, 0x2000_000c),
        (0x00, 0x2000_000d),
    ];
    assert_eq!(restored(&STM32), enabled_last);
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
    let turned_on = |manual: &'static Manual| {
        let bus = manual.off();
        let mut uart = manual.driver(&bus);
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(bus.0.borrow().line.sent, b"x", "{:?}", manual.kind);
        let writes = bus.writes();
        // It is how the UART is to be after a loss, too.
        bus.lose_power();
        uart.restore();
        uart.send(b'y');
        uart.wait_idle();
        assert_eq!(bus.0.borrow().line.sent, b"xy", "{:?}", manual.kind);
        writes
    };
    assert_eq!(turned_on(&PL011), [(0x30, 0x301)]);
    assert_eq!(turned_on(&SBSA), []);
    assert_eq!(turned_on(&NS16550), []);
    assert_eq!(turned_on(&CADENCE), [(0, 0x118)]);
    assert_eq!(turned_on(&IMX), [(0x80, 1), (0x84, 5)]);
    assert_eq!(turned_on(&LPUART), [(0x18, 1 << 19)]);
    assert_eq!(turned_on(&STM32), [(0, 9)]);
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
    let other = |manual: &'static Manual, io_width: u8| {
        let bus: Shared = manual.set_up();
        let shift = manual.reg_shift;
        fault(|| Uart::new(bus.clone(), manual.kind, shift, io_width).send(b'x'))
    };
    for (manual, width) in [
        (&MINI_UART, 1),
        (&MINI_UART, 2),
        (&NS16550, 4),
        (&NS16550_HALF, 1),
    ] {
        let said = other(manual, width);
        assert!(said.contains("access to"), "{said}");
    }
    // Only a 16550 leaves its width to the board.
    let bus = CADENCE.set_up();
    Uart::new(bus, UartKind::Cadence, 0, 1).send(b'x');
}

#[test]
fn what_is_polled_is_a_register_of_the_device() {
    assert_eq!(status(UartKind::Pl011, 2), 0x18);
    assert_eq!(status(UartKind::Ns16550, 0), 5);
    assert_eq!(status(UartKind::Ns16550, 2), 20);
    for manual in ALL {
        let (kind, shift) = (manual.kind, manual.reg_shift);
        assert!(status(kind, shift) + u64::from(manual.io_width) <= size(kind, shift));
    }
}

#[test]
fn a_device_is_as_large_as_its_registers() {
    assert_eq!(size(UartKind::Pl011, 2), 0x4c);
    assert_eq!(size(UartKind::Ns16550, 0), 8);
    assert_eq!(size(UartKind::Ns16550, 4), 0x80);
    for manual in ALL {
        let offsets = manual.settings.iter().map(|setting| setting.0);
        let last = offsets.chain([manual.data]).max().expect("one at least");
        let end = last + u64::from(manual.io_width);
        assert!(
            end <= size(manual.kind, manual.reg_shift),
            "{:?}",
            manual.kind
        );
    }
}
