//! Tests each UART type using a fake based on its manual.

mod fake;
mod manuals;

use super::{
    Layout, PATIENCE, PATIENCE_LEFT, Uart, UartDescription, UartKind, mark_register, registers,
    status,
};
use crate::devices::fake::pairs;
use fake::Fake;
use fake::State::{Full, Rest, Room};
use manuals::{IMX, NS16550, PL011, all};

#[test]
fn status_bits_match_the_manual() {
    for kind in UartKind::ALL {
        assert!(
            all().any(|manual_kind| manual_kind.kind == kind),
            "{kind:?}"
        );
    }
    for manual in all() {
        let mut uart = manual.uart(manual.firmware);
        let rows = core::mem::take(&mut uart.bus.status);
        for (state, registers) in rows {
            uart.bus.status = [(state, registers)].into();
            uart.bus.state = state;
            let has_room = uart.has(&uart.model.has_room);
            assert_eq!(has_room, state != Full, "{:?}", manual.kind);
            let is_idle = uart.has(&uart.model.is_idle);
            assert_eq!(is_idle, state == Rest, "{:?}", manual.kind);
            // A single poll suffices if the UART has room and is idle.
            if state == Rest {
                uart.bus.polls();
                assert!(uart.accepts_bytes() && uart.bus.polls() <= 2);
            }
        }
    }
}

#[test]
fn a_transmitter_that_is_off_is_turned_on_and_bytes_are_sent() {
    for manual in all() {
        let mut uart = manual.uart(manual.reset);
        let turn_on = pairs(manual.turn_on);
        assert_eq!(uart.bus.writes(), turn_on, "{:?}", manual.kind);
        (0..=255).for_each(|byte| uart.send(byte));
        uart.wait_idle();
        assert!(uart.bus.sent.iter().copied().eq(0..=255));
        assert_eq!(uart.bus.writes(), [], "{:?}", manual.kind);
        // The result is the same after a power loss.
        uart.bus.lose_power();
        uart.restore();
        for (register, value) in turn_on {
            assert_eq!(uart.bus.settings[&register], value, "{:?}", manual.kind);
        }
        // The firmware's settings do not change.
        assert_eq!(manual.uart(manual.firmware).bus.writes(), []);
    }
}

/// Returns true if sending a byte and waiting for idle each take exactly 1000 polls.
fn waits(uart: &mut Uart<Fake>) -> bool {
    // Without a FIFO, the UART has room only when it is idle.
    let has_fifo = uart.bus.status.iter().any(|(state, _)| *state == Room);
    let (with_room, busy) = if has_fifo { (Room, Room) } else { (Rest, Full) };
    (uart.bus.state, uart.bus.held_up) = (with_room, (Full, 1000));
    uart.bus.polls();
    uart.send(b'y');
    let room = uart.bus.polls();
    (uart.bus.state, uart.bus.held_up) = (Rest, (busy, 1000));
    uart.wait_idle();
    room > 1000 && uart.bus.polls() > 1000 && uart.bus.sent.last() == Some(&b'y')
}

/// With flow control but no cable, printing a log takes less time than three full waits.
#[test]
fn log_to_a_stalled_line_costs_two_waits() {
    const BYTES: u32 = 20;
    const { assert!(60_000 * PATIENCE_LEFT <= PATIENCE) };
    let mut uart = PL011.uart(PL011.firmware);
    uart.bus.state = Full;
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

/// Once the UART has room or becomes idle, the next wait of either kind gets its full timeout
/// again.
#[test]
fn timeout_is_restored_when_the_line_recovers() {
    for manual in all() {
        let mut uart = manual.uart(manual.firmware);
        assert!(waits(&mut uart), "{:?}", manual.kind);
    }
    for state in [Rest, Room] {
        let mut uart = PL011.uart(PL011.firmware);
        uart.bus.state = Full;
        uart.send(b'y');
        uart.wait_idle();
        uart.bus.state = state;
        match state {
            Rest => uart.wait_idle(),
            _ => uart.send(b'z'),
        }
        assert!(waits(&mut uart), "{state:?}");
    }
}

/// The UART has room until the FIFO is full, even if no bytes are sent.
#[test]
fn room_does_not_show_that_bytes_are_sent() {
    let mut uart = PL011.uart(PL011.firmware);
    uart.bus.state = Room;
    for patience in [PATIENCE, PATIENCE_LEFT, PATIENCE_LEFT] {
        uart.send(b'x');
        uart.wait_idle();
        assert_eq!(uart.bus.polls(), 1 + patience);
    }
}

#[test]
fn lost_settings_are_restored_in_the_manuals_order() {
    for manual in all() {
        let mut uart = manual.uart(manual.firmware);
        uart.restore();
        assert_eq!(uart.bus.writes(), [], "{:?}: no settings lost", manual.kind);
        uart.bus.lose_power();
        uart.restore();
        let writes = pairs(manual.restore);
        assert_eq!(uart.bus.writes(), writes, "{:?}", manual.kind);
        uart.restore();
        assert_eq!(uart.bus.writes(), [], "{:?}: all restored", manual.kind);
        // Losing a single setting triggers a restore.
        for (offset, value) in pairs(manual.reset) {
            let kept = uart.bus.settings.insert(offset, value);
            uart.restore();
            let restored = uart.bus.settings.get(&offset).copied();
            assert_eq!(restored, kept, "{:?} at {offset:#x}", manual.kind);
        }
    }
    // DLAB is not restored even if the firmware left it set. SRST is not restored because its boot
    // value in QEMU is 0, and writing 0 resets the UART.
    for (manual, settings, index, restored) in [
        (&NS16550, "3=83 4=b", 0, (3, 0x03)),
        (&IMX, "80=1 84=4 88=0 8c=0 90=0 a4=0 a8=0", 1, (0x84, 5)),
    ] {
        let mut uart = manual.uart(settings);
        uart.bus.lose_power();
        uart.bus.writes();
        uart.restore();
        assert_eq!(uart.bus.writes()[index], restored);
    }
}

#[test]
fn size_covers_all_registers() {
    for (kind, reg_shift, size, polled) in [
        (UartKind::Pl011, 2, 0x4c, 0x18),
        (UartKind::Ns16550, 0, 8, 5),
        (UartKind::Ns16550, 4, 0x80, 80),
    ] {
        let uart = UartDescription::new(kind, 0, Layout::new(reg_shift, 1));
        assert_eq!((registers(&uart).size, status(&uart)), (size, polled));
    }
    for manual in all() {
        let settings = pairs(manual.reset);
        let registers_used = settings.into_iter().map(|(register, _)| register);
        let last = registers_used
            .chain([manual.data])
            .max()
            .expect("at least one register");
        let end = u64::from(last) + u64::from(manual.io_width);
        assert!(end <= registers(&manual.description()).size);
    }
}

/// Code without a driver can send a byte with a single write.
#[test]
fn uart_that_needs_several_writes_per_byte_gets_no_marks() {
    for manual in all() {
        let register = mark_register(manual.kind).map(u32::from);
        let expected = manual.before_byte.is_empty().then_some(manual.data);
        assert_eq!(register, expected, "{:?}", manual.kind);
    }
}

#[test]
fn the_documentation_lists_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/boards.md");
    let text = std::fs::read_to_string(path).expect("the documentation");
    let rows = UartKind::ALL.map(|kind| {
        let descriptor = kind.descriptor();
        std::format!("| `\"{}\"` | {} |\n", descriptor.name, descriptor.about)
    });
    let table = rows.concat();
    assert!(text.contains(&table), "{path} lacks\n{table}");
}
