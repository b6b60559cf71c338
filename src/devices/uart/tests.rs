//! Each kind of UART, against a fake made from its manual.

mod fake;
mod manuals;

use std::vec::Vec;

use super::{PATIENCE, PATIENCE_LEFT, Uart, size, status};
use crate::image::UartKind;
use manuals::{ALL, CADENCE, IMX, NS16550, PL011, STM32};

#[test]
fn bytes_leave_in_order_and_none_is_lost() {
    for kind in UartKind::ALL {
        assert!(ALL.iter().any(|manual| manual.kind == kind), "{kind:?}");
    }
    // More than any FIFO takes.
    let text: Vec<u8> = (0..=255).rev().chain(*b"psci-bench\r\n").collect();
    for manual in ALL {
        let (bus, mut uart) = manual.set_up();
        uart.send(b'x');
        // The FIFO is empty before the byte has left.
        assert!(bus.0.borrow().line.has_empty_fifo() && bus.sent().is_empty());
        uart.wait_idle();
        assert_eq!(bus.sent(), b"x", "{:?}", manual.kind);
        // The fake panics where the FIFO overruns.
        text.iter().for_each(|byte| uart.send(*byte));
        uart.wait_idle();
        assert_eq!(bus.sent()[1..], text, "{:?}", manual.kind);
        assert_eq!(bus.writes(), [], "{:?}", manual.kind);
    }
    // Only a 16550 leaves its width to the board.
    Uart::new(CADENCE.set_up().0, UartKind::Cadence, 0, 1).send(b'x');
}

#[test]
fn room_and_rest_are_waited_for() {
    for manual in ALL {
        let (bus, mut uart) = manual.set_up();
        bus.fill(1000);
        uart.send(b'y');
        assert!(bus.polls() > 1000, "{:?}", manual.kind);
        bus.hold_up(1000);
        uart.wait_idle();
        assert!(bus.polls() > 1000, "{:?}", manual.kind);
        assert_eq!(bus.sent().last(), Some(&b'y'));
    }
}

/// Flow control without a cable: a whole log costs no more than two waits, and
/// what is left of patience does not make a third.
#[test]
fn a_log_to_a_line_that_is_held_up_costs_two_waits() {
    const BYTES: u32 = 20;
    const { assert!(60_000 * PATIENCE_LEFT <= PATIENCE) };
    let (bus, mut uart) = PL011.set_up();
    bus.fill(u32::MAX);
    (0..BYTES).for_each(|_| uart.send(b'y'));
    assert_eq!(bus.polls(), PATIENCE + (BYTES - 1) * PATIENCE_LEFT);
    uart.wait_idle();
    assert_eq!(bus.polls(), PATIENCE);
    for _ in 0..BYTES {
        uart.wait_idle();
        uart.send(b'y');
    }
    assert_eq!(bus.polls(), 2 * BYTES * PATIENCE_LEFT);
}

/// There is room where there was none, or rest: the next wait is a whole one,
/// for either.
#[test]
fn patience_comes_back_with_the_line() {
    for left in [0, 1] {
        let (bus, mut uart) = PL011.set_up();
        bus.fill(u32::MAX);
        uart.send(b'y');
        uart.wait_idle();
        bus.drain(left);
        match left {
            0 => uart.wait_idle(),
            _ => uart.send(b'z'),
        }
        bus.drain(0);
        bus.fill(1000);
        uart.send(b'y');
        assert!(bus.polls() > 1000, "{left}");
        bus.hold_up(1000);
        uart.wait_idle();
        assert!(bus.polls() > 1000, "{left}");
        assert_eq!(bus.sent().last(), Some(&b'y'));
    }
}

/// Before the FIFO is full there is room, whether the line moves or not.
#[test]
fn room_alone_is_no_sign_that_the_line_moves() {
    let (bus, mut uart) = PL011.set_up();
    bus.hold_up(u32::MAX);
    for patience in [PATIENCE, PATIENCE_LEFT, PATIENCE_LEFT] {
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(bus.polls(), 1 + patience);
    }
    // The line moves again, as a wait for room that ends well shows, and rest.
    bus.fill(PATIENCE_LEFT);
    uart.send(b'y');
    bus.hold_up(1000);
    uart.wait_idle();
    assert!(bus.polls() > 1000);
}

/// The fake panics where the manual forbids the order of the writes.
#[test]
fn lost_settings_are_restored() {
    for manual in ALL {
        let (bus, mut uart) = manual.set_up();
        let settings = bus.0.borrow().settings.clone();
        uart.restore();
        assert_eq!(bus.writes(), [], "{:?}: nothing was lost", manual.kind);
        bus.lose_power();
        uart.restore();
        assert_eq!(bus.0.borrow().settings, settings, "{:?}", manual.kind);
        bus.writes();
        uart.restore();
        assert_eq!(bus.writes(), [], "{:?}: all is there again", manual.kind);
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(bus.sent(), b"x", "{:?}", manual.kind);
        // One setting that is lost is enough.
        for (offset, reset, firmware) in manual.settings {
            bus.0.borrow_mut().settings.insert(*offset, *reset);
            uart.restore();
            let kept = bus.0.borrow().settings[offset];
            assert_eq!(kept, *firmware, "{:?} at {offset:#x}", manual.kind);
        }
    }
}

/// LCR_H after the divisors, UBMR after UBIR, and UE alone at last. DLAB, which the
/// firmware left on, is not put back, and SRST as 0, as QEMU has it at boot, is a reset.
#[test]
fn settings_are_written_in_the_manuals_order_and_without_harm() {
    let pl011 = [
        (0x30, 0),
        (0x24, 13),
        (0x28, 1),
        (0x2c, 0x70),
        (0x30, 0x301),
    ];
    let imx = [
        (0x84, 5),
        (0x80, 0),
        (0x84, 5),
        (0x88, 0x704),
        (0x8c, 0x8000),
    ];
    let imx_last = [(0x90, 0xa01), (0xa4, 0xf), (0xa8, 0x68), (0x80, 1)];
    let stm32 = [(0, 0), (0x0c, 0x22b), (0x2c, 1), (4, 0), (8, 0x1000)];
    let stm32_last = [(0, 0x2000_000c), (0, 0x2000_000d)];
    for (manual, changed, writes) in [
        (&PL011, &[][..], pl011.to_vec()),
        (&NS16550, &[(3, 0x83)], [(3, 0x03), (4, 0x0b)].to_vec()),
        (&IMX, &[(0x84, 1 << 2)], [&imx[..], &imx_last].concat()),
        (&STM32, &[], [&stm32[..], &stm32_last].concat()),
    ] {
        let (bus, mut uart) = manual.changed(changed);
        bus.lose_power();
        uart.restore();
        assert_eq!(bus.writes(), writes, "{:?}", manual.kind);
    }
}

#[test]
fn a_transmitter_that_is_off_is_turned_on() {
    for manual in ALL {
        let bus = manual.off();
        let mut uart = manual.driver(&bus);
        uart.send(b'x');
        uart.wait_idle();
        // A loss of power is followed by the same state.
        bus.lose_power();
        uart.restore();
        uart.send(b'y');
        uart.wait_idle();
        assert_eq!(bus.sent(), b"xy", "{:?}", manual.kind);
    }
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
        let last = offsets.chain([manual.data, status(kind, shift)]).max();
        let end = last.expect("one at least") + u64::from(manual.io_width);
        assert!(end <= size(kind, shift), "{kind:?}");
    }
}
