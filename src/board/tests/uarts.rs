//! Kinds of UART, and what a tree says of their registers.

use std::string::{String, ToString};

use super::trees::{Model, be, qemu};
use crate::board::console::{Console, Uart};
use crate::image::{EmergencyUart, UartKind};

const NODE: &str = "/pl011@9000000";

/// QEMU's tree with another `compatible`, and with these properties.
fn tree(compatible: &[u8], properties: &[(&str, &[u8])]) -> Model {
    let mut tree = qemu(1);
    tree.edit("/pl011@9000000:compatible", compatible);
    for (name, value) in properties {
        tree.at(NODE).set(name, value);
    }
    tree
}

fn read(compatible: &[u8], properties: &[(&str, &[u8])]) -> Result<Uart, String> {
    let blob = tree(compatible, properties).blob();
    let console = Console::find(&blob).expect("a sound tree");
    console.uart.map_err(|error| error.to_string())
}

fn good(compatible: &[u8], properties: &[(&str, &[u8])]) -> Uart {
    read(compatible, properties).expect("a good UART")
}

#[test]
fn uarts_of_the_16550_family() {
    let plain = Uart {
        kind: UartKind::Ns16550,
        base: 0x0900_0000,
        size: 0x1000,
        reg_shift: 0,
        io_width: 1,
    };
    assert_eq!(good(b"vendor,x\0ns16550a\0", &[]), plain);
    let (two, four) = (be(&[2]), be(&[4]));
    let moved = [
        ("reg-shift", &two[..]),
        ("reg-io-width", &four),
        ("reg-offset", &be(&[0x100])),
    ];
    let uart = Uart {
        base: 0x0900_0100,
        size: 0xf00,
        reg_shift: 2,
        io_width: 4,
        ..plain
    };
    assert_eq!(good(b"ns16550a\0", &moved), uart);
    let halves = [("reg-shift", &be(&[1])[..]), ("reg-io-width", &two)];
    let uart = good(b"ns16550a\0", &halves);
    assert_eq!((uart.reg_shift, uart.io_width), (1, 2));
    let uart = good(b"brcm,bcm2835-aux-uart\0", &[]);
    assert_eq!((uart.reg_shift, uart.io_width), (2, 4));
}

/// `compatible` as boards have it in Linux's device trees.
#[test]
fn other_uarts_have_one_layout() {
    for (compatible, kind) in [
        (&b"arm,pl011\0arm,primecell\0"[..], UartKind::Pl011),
        (b"arm,sbsa-uart\0", UartKind::Sbsa),
        (b"xlnx,zynqmp-uart\0cdns,uart-r1p12\0", UartKind::Cadence),
        (b"xlnx,xuartps\0cdns,uart-r1p8\0", UartKind::Cadence),
        (b"fsl,imx8mp-uart\0fsl,imx6q-uart\0", UartKind::Imx),
        (b"fsl,imx53-uart\0fsl,imx21-uart\0", UartKind::Imx),
        (
            b"fsl,imx93-lpuart\0fsl,imx8ulp-lpuart\0fsl,imx7ulp-lpuart\0",
            UartKind::Lpuart,
        ),
        (b"fsl,imx8qm-lpuart\0fsl,imx8qxp-lpuart\0", UartKind::Lpuart),
        (b"st,stm32h7-uart\0", UartKind::Stm32),
    ] {
        // What is said of a 16550's registers is nothing to them.
        let uart = good(compatible, &[("reg-shift", &be(&[7]))]);
        let read = (uart.kind, uart.reg_shift, uart.io_width);
        assert_eq!(read, (kind, 2, 4));
    }
}

#[test]
fn what_can_not_be_used_is_named() {
    let ns16550 = b"ns16550a\0";
    for (compatible, property, value, expected) in [
        (
            &ns16550[..],
            "reg-shift",
            be(&[5]),
            "reg-shift: 0x5, expected 0 to 4",
        ),
        (
            ns16550,
            "reg-shift",
            be(&[0x100]),
            "reg-shift: 0x100, expected 0 to 4",
        ),
        (
            ns16550,
            "reg-io-width",
            be(&[3]),
            "reg-io-width: 0x3, expected 1, 2 or 4",
        ),
        (
            ns16550,
            "reg-io-width",
            be(&[2]),
            "reg-io-width: 0x2, expected no more than from one register to the next",
        ),
        (ns16550, "big-endian", be(&[]), "big-endian: not supported"),
        (
            b"fsl,ls1021a-lpuart\0",
            "reg-shift",
            be(&[0]),
            "compatible: \"fsl,ls1021a-lpuart\", expected a PL011, 8250, Cadence, i.MX, \
             LPUART32 or STM32H7 UART",
        ),
        (
            b"fsl,imx6q-uart\0",
            "reg",
            be(&[0, 0x900_0000, 0, 0x80]),
            "reg: 0x80, expected room for all registers",
        ),
        (
            b"st,stm32h7-uart\0",
            "reg",
            be(&[0, 0x900_0001, 0, 0x400]),
            "reg: 0x9000001, expected an address aligned to reg-io-width",
        ),
    ] {
        let error = read(compatible, &[(property, &value)]).expect_err("not to be used");
        assert_eq!(error, std::format!("{NODE} {expected}"));
    }
}

#[test]
fn the_parameter_blocks_uart_is_as_a_tree_would_have_it() {
    let block = |kind, base, reg_shift, io_width| {
        Uart::from(&EmergencyUart {
            kind,
            base,
            reg_shift,
            io_width,
        })
    };
    // An old block: neither number was of any use for a PL011.
    let uart = block(UartKind::Pl011, 0x900_0000, 0, 1);
    assert_eq!((uart.reg_shift, uart.io_width, uart.size), (2, 4, 0x4c));
    assert!(uart.is_aligned());
    assert!(!block(UartKind::Pl011, 0x900_0002, 0, 1).is_aligned());
    let uart = block(UartKind::Ns16550, 0x3f8, 1, 2);
    assert_eq!((uart.reg_shift, uart.io_width, uart.size), (1, 2, 16));
    assert!(uart.is_aligned());
    assert!(!block(UartKind::Ns16550, 0x3f9, 1, 2).is_aligned());
    assert!(!block(UartKind::Ns16550, 0x3f8, 1, 4).is_aligned());
}
