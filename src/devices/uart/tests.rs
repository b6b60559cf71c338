//! Each kind of UART, against a fake made from its manual.

mod fake;
mod manuals;

use std::vec::Vec;

use super::{PATIENCE, PATIENCE_LEFT, Uart, registers, status};
use crate::devices::fake::pairs;
use crate::image::{Uart as Description, UartKind};
use fake::groups;
use manuals::{IMX, NS16550, PL011, all};

#[test]
fn bytes_leave_in_order_and_none_is_lost() {
    for kind in UartKind::ALL {
        assert!(all().any(|manual| manual.kind == kind), "{kind:?}");
    }
    // More than any FIFO takes; the fake panics where the FIFO overruns.
    let text: Vec<u8> = (0..=255).rev().collect();
    for manual in all() {
        // A transmitter that is off is turned on.
        for mut uart in [manual.off(), manual.set_up(&[])] {
            let turned_on = uart.bus.writes();
            text.iter().for_each(|byte| uart.send(*byte));
            uart.wait_idle();
            assert_eq!(uart.bus.sent, text, "{:?}", manual.kind);
            assert_eq!(uart.bus.writes(), [], "{:?}", manual.kind);
            // The FIFO is empty before the byte has left.
            uart.send(b'x');
            assert!(uart.bus.queue.len() == 1);
            uart.wait_idle();
            assert_eq!(uart.bus.sent.last(), Some(&b'x'), "{:?}", manual.kind);
            // A loss of power is followed by the same state.
            uart.bus.lose_power();
            uart.restore();
            uart.send(b'y');
            let is_on = |it: &(u32, u32)| uart.bus.settings[&it.0] == it.1;
            assert!(turned_on.iter().all(is_on));
        }
    }
}

/// Returns true if 'y' is sent after waits of 1000 polls for room, then for rest.
fn waits(uart: &mut Uart<fake::Fake>) -> bool {
    uart.bus.fill(1000);
    uart.send(b'y');
    let room = uart.bus.polls();
    uart.bus.hold_up(1000);
    uart.wait_idle();
    room > 1000 && uart.bus.polls() > 1000 && uart.bus.sent.last() == Some(&b'y')
}

/// Flow control without a cable: a whole log costs no more than two waits, and
/// what is left of patience does not make a third.
#[test]
fn a_log_to_a_line_that_is_held_up_costs_two_waits() {
    const BYTES: u32 = 20;
    const { assert!(60_000 * PATIENCE_LEFT <= PATIENCE) };
    let mut uart = PL011.set_up(&[]);
    uart.bus.fill(u32::MAX);
    (0..BYTES).for_each(|_| uart.send(b'y'));
    assert_eq!(uart.bus.polls(), PATIENCE + (BYTES - 1) * PATIENCE_LEFT);
    uart.wait_idle();
    assert_eq!(uart.bus.polls(), PATIENCE);
    for _ in 0..BYTES {
        uart.wait_idle();
        uart.send(b'y');
    }
    assert_eq!(uart.bus.polls(), 2 * BYTES * PATIENCE_LEFT);
}

/// After room where there was none, or rest, the next wait is a whole one, for either.
#[test]
fn patience_comes_back_with_the_line() {
    for manual in all() {
        assert!(waits(&mut manual.set_up(&[])), "{:?}", manual.kind);
    }
    for left in [0, 1] {
        let mut uart = PL011.set_up(&[]);
        uart.bus.fill(u32::MAX);
        uart.send(b'y');
        uart.wait_idle();
        uart.bus.drain(left);
        match left {
            0 => uart.wait_idle(),
            _ => uart.send(b'z'),
        }
        uart.bus.drain(0);
        assert!(waits(&mut uart), "{left}");
    }
}

/// Before the FIFO is full there is room, whether the line moves or not.
#[test]
fn room_alone_is_no_sign_that_the_line_moves() {
    let mut uart = PL011.set_up(&[]);
    uart.bus.hold_up(u32::MAX);
    for patience in [PATIENCE, PATIENCE_LEFT, PATIENCE_LEFT] {
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(uart.bus.polls(), 1 + patience);
    }
}

#[test]
fn lost_settings_are_restored_in_the_manuals_order() {
    for manual in all() {
        let mut uart = manual.set_up(&[]);
        uart.restore();
        assert_eq!(uart.bus.writes(), [], "{:?}: nothing was lost", manual.kind);
        uart.bus.lose_power();
        uart.restore();
        let restores = pairs(manual.restores);
        assert_eq!(uart.bus.writes(), restores, "{:?}", manual.kind);
        uart.restore();
        assert_eq!(uart.bus.writes(), [], "{:?}: all is there", manual.kind);
        // One setting that is lost is enough.
        for it in groups(manual.settings) {
            uart.bus.settings.insert(it[0], it[1]);
            uart.restore();
            let kept = uart.bus.settings[&it[0]];
            assert_eq!(kept, it[2], "{:?} at {:#x}", manual.kind, it[0]);
        }
    }
    // DLAB, which the firmware left on, is not put back; SRST as 0, as QEMU has it at
    // boot, is a reset.
    for (manual, change, place, restored) in [
        (&NS16550, (3, 0x83), 0, (3, 0x03)),
        (&IMX, (0x84, 4), 1, (0x84, 5)),
    ] {
        let mut uart = manual.set_up(&[change]);
        uart.bus.lose_power();
        uart.bus.writes();
        uart.restore();
        assert_eq!(uart.bus.writes()[place], restored);
    }
}

#[test]
fn size_covers_all_registers() {
    for (kind, reg_shift, size, polled) in [
        (UartKind::Pl011, 2, 0x4c, 0x18),
        (UartKind::Ns16550, 0, 8, 5),
        (UartKind::Ns16550, 4, 0x80, 80),
    ] {
        let uart = Description::new(kind, 0, (reg_shift, 1));
        assert_eq!((registers(&uart).size, status(&uart)), (size, polled));
    }
    for manual in all() {
        let offsets = groups(manual.settings).map(|setting| setting[0]);
        let last = offsets.chain([manual.data]).max().expect("one at least");
        let end = u64::from(last) + u64::from(manual.io_width);
        assert!(end <= registers(&manual.description()).size);
    }
}
