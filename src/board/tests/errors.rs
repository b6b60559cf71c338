//! Trees that describe no board: each is refused by node and property.

use std::string::{String, ToString};
use std::vec;

use super::trees::{Model, be, juno, qemu};
use crate::board::board::Board;
use crate::board::cpu::Cpu;

/// What reading the tree and its CPUs says.
fn said(tree: &Model) -> String {
    let blob = tree.blob();
    match Board::read(&blob) {
        Err(error) => error.to_string(),
        Ok(board) => {
            let mut cpus = vec![Cpu::default(); board.cpu_count];
            let error = board.cpus(false, &mut cpus).expect_err("a bad tree");
            error.to_string()
        }
    }
}

/// What is said of QEMU's tree with one property set.
fn qemu_with(at: &str, value: &[u8]) -> String {
    let mut tree = qemu(4);
    tree.edit(at, value);
    said(&tree)
}

fn qemu_without(at: &str) -> String {
    let mut tree = qemu(4);
    tree.remove(at);
    said(&tree)
}

fn check(found: &str, expected: &str) {
    assert_eq!(found, expected);
}

#[test]
fn cpus_without_psci() {
    let mut tree = qemu(4);
    tree.remove("/psci");
    tree.edit("/cpus/cpu@2:enable-method", b"spin-table\0");
    check(
        &said(&tree),
        "no node compatible with arm,psci-1.0, and CPUs with enable-method = \"spin-table\": the \
         firmware has no PSCI",
    );
}

#[test]
fn what_must_be_there() {
    for (at, expected) in [
        (
            "/psci",
            "no node compatible with arm,psci-1.0 or arm,psci-0.2: the firmware has no PSCI",
        ),
        ("/psci:method", "/psci method: missing"),
        (
            "/pl011@9000000",
            "/chosen stdout-path: no node has the path \"/pl011@9000000\"",
        ),
        ("/pl011@9000000:reg", "/pl011@9000000 reg: missing"),
        (
            "/pl011@9000000:compatible",
            "/pl011@9000000 compatible: missing",
        ),
        ("/intc@8000000:reg", "/intc@8000000 reg: missing"),
        (
            "/intc@8000000:#interrupt-cells",
            "/intc@8000000 #interrupt-cells: missing",
        ),
        ("/timer", "no node compatible with arm,armv8-timer"),
        ("/timer:interrupts", "/timer interrupts: missing"),
        (
            "/memory@40000000",
            "no memory node with a size: boot loaders fill that in",
        ),
        ("/cpus", "no node /cpus"),
        ("/cpus:#address-cells", "/cpus #address-cells: missing"),
        ("/cpus/cpu@2:reg", "/cpus/cpu@2 reg: missing"),
        (
            "/cpus/cpu@2:phandle",
            "/cpus/cpu-map/cluster0/core2 cpu: no CPU has the phandle 0x1002",
        ),
        (
            "/cpus/cpu-map/cluster0/core1",
            "/cpus cpu-map: the CPU with MPIDR 0x1 is left out",
        ),
        (
            "/cpus/cpu-map/cluster0",
            "/cpus cpu-map: the CPU with MPIDR 0x0 is left out",
        ),
    ] {
        check(&qemu_without(at), expected);
    }
    let mut tree = qemu(1);
    tree.remove("/chosen");
    tree.remove("/aliases");
    check(
        &said(&tree),
        "no stdout-path in /chosen and no alias serial0, so the console is not known",
    );
    let mut tree = qemu(1);
    tree.edit("/cpus/cpu@0:status", b"disabled\0");
    check(&said(&tree), "no CPU under /cpus that is not disabled");
}

#[test]
fn values_that_are_not_accepted() {
    let gic_reg = |d: u32, r: u32| be(&[0, 0x800_0000 + d, 0, 0x1_0000, 0, 0x80a_0000, 0, r]);
    for (at, value, expected) in [
        (
            "/psci:compatible",
            b"arm,psci\0".to_vec(),
            "/psci compatible: PSCI 0.1 with its own function IDs; arm,psci-0.2 or arm,psci-1.0 is needed",
        ),
        (
            "/psci:method",
            b"svc\0".to_vec(),
            "/psci method: \"svc\", expected smc or hvc",
        ),
        (
            "/psci:method",
            b"smc".to_vec(),
            "/psci method: not a string of printable ASCII characters",
        ),
        (
            "/psci:status",
            b"disabled\0".to_vec(),
            "no node compatible with arm,psci-1.0 or arm,psci-0.2: the firmware has no PSCI",
        ),
        (
            "/pl011@9000000:compatible",
            b"qcom,geni-debug-uart\0".to_vec(),
            "/pl011@9000000 compatible: \"qcom,geni-debug-uart\", expected a PL011, 8250, Cadence, i.MX, LPUART32 or STM32H7 UART",
        ),
        (
            "/pl011@9000000:status",
            b"disabled\0".to_vec(),
            "/pl011@9000000 status: \"disabled\", expected okay, as the console is on it",
        ),
        (
            "/:status",
            b"disabled\0".to_vec(),
            "/ status: \"disabled\", expected okay, as the console is on it",
        ),
        (
            "/pl011@9000000:reg",
            be(&[0, 0x900_0000, 0, 0x40]),
            "/pl011@9000000 reg: 0x40, expected room for all registers",
        ),
        (
            "/pl011@9000000:reg",
            be(&[0, 0x900_0000, 0, 0]),
            "/pl011@9000000 reg: the region at 0x9000000 has no size",
        ),
        (
            "/pl011@9000000:reg",
            be(&[0, 0x900_0002, 0, 0x1000]),
            "/pl011@9000000 reg: 0x9000002, expected an address aligned to reg-io-width",
        ),
        (
            "/pl011@9000000:reg",
            be(&[u32::MAX, 0xffff_f000, 0, 0x1001]),
            "/pl011@9000000 reg: 0x1001 bytes at 0xfffffffffffff000 exceed 64-bit addresses",
        ),
        (
            "/pl011@9000000:reg",
            be(&[0, 0x900_0000, 0x1000]),
            "/pl011@9000000 reg: 12 bytes, expected whole entries of address and size",
        ),
        (
            "/pl011@9000000:reg",
            vec![],
            "/pl011@9000000 reg: 0 bytes, expected more entries",
        ),
        (
            "/pl011@9000000:reg-offset",
            be(&[u32::MAX]),
            "/pl011@9000000 reg: 0x1000, expected room for all registers",
        ),
        (
            "/pl011@9000000:reg-offset",
            b"\0".to_vec(),
            "/pl011@9000000 reg-offset: 1 bytes, expected 4",
        ),
        (
            "/chosen:stdout-path",
            b"serial1:9600\0".to_vec(),
            "/chosen stdout-path: no node has the path \"serial1\"",
        ),
        (
            "/chosen:bootargs",
            b"quiet\xe9\0".to_vec(),
            "/chosen bootargs: not a string of printable ASCII characters",
        ),
        (
            "/intc@8000000:reg",
            gic_reg(0x1000, 0x2_0000),
            "/intc@8000000 reg: 0x8001000, expected a frame aligned as the GIC's are",
        ),
        (
            "/intc@8000000:reg",
            gic_reg(0, 0x1_0000),
            "/intc@8000000 reg: 0x10000, expected a size with room for the GIC's registers",
        ),
        (
            "/intc@8000000:#redistributor-regions",
            be(&[9]),
            "/intc@8000000 #redistributor-regions: 0x9, expected 1 to 8",
        ),
        (
            "/intc@8000000:#redistributor-regions",
            be(&[2]),
            "/intc@8000000 reg: 32 bytes, expected more entries",
        ),
        (
            "/intc@8000000:redistributor-stride",
            be(&[0, 0x2_1000]),
            "/intc@8000000 redistributor-stride: 0x21000, expected a multiple of 64 KiB, at least 128 KiB",
        ),
        (
            "/intc@8000000:#interrupt-cells",
            be(&[1]),
            "/intc@8000000 #interrupt-cells: 0x1, expected 3 or 4",
        ),
        (
            "/timer:interrupts",
            be(&[1, 13, 4, 1, 14]),
            "/timer interrupts: 20 bytes, expected whole specifiers of the GIC",
        ),
        (
            "/timer:interrupts",
            be(&[1, 13, 4, 0, 14, 4]),
            "/timer interrupts: 0x0, expected interrupt type 1 (PPI)",
        ),
        (
            "/timer:interrupts",
            be(&[1, 13, 4, 1, 16, 4]),
            "/timer interrupts: 0x10, expected a PPI from 0 to 15",
        ),
        (
            "/timer:interrupts",
            be(&[1, 13, 4]),
            "/timer interrupts: 12 bytes, expected a timer that is not secure",
        ),
        (
            "/timer:interrupts-extended",
            be(&[9, 1, 13, 4, 9, 1, 14, 4]),
            "/timer interrupts-extended: 0x9, expected the phandle of the GIC",
        ),
        (
            "/memory@40000000:reg",
            be(&[0; 33 * 4]),
            "/memory@40000000 reg: more than 32 of them",
        ),
        (
            "/cpus:#address-cells",
            be(&[3]),
            "/cpus #address-cells: 0x3, expected 1 or 2",
        ),
        (
            "/cpus/cpu@1:reg",
            be(&[0, 1]),
            "/cpus/cpu@1 reg: 8 bytes, expected as many cells as #address-cells",
        ),
        (
            "/cpus/cpu@1:reg",
            be(&[0x8000_0001]),
            "/cpus/cpu@1 reg: 0x80000001, expected affinity fields only, 0xff00ffffff",
        ),
        (
            "/cpus/cpu@3:reg",
            be(&[1]),
            "/cpus reg (of the CPUs): 0x1 is there twice",
        ),
        (
            "/cpus/cpu@3:enable-method",
            b"spin-table\0".to_vec(),
            "/cpus/cpu@3 enable-method: \"spin-table\", expected psci",
        ),
        (
            "/cpus/cpu-map/cluster0/core2:cpu",
            be(&[0x1001]),
            "/cpus/cpu-map/cluster0/core2 cpu: 0x1001 is there twice",
        ),
        (
            "/cpus/cpu-map/cluster0/core2:cpu",
            be(&[0x8005]),
            "/cpus/cpu-map/cluster0/core2 cpu: no CPU has the phandle 0x8005",
        ),
    ] {
        check(&qemu_with(at, &value), expected);
    }
}

#[test]
fn without_cpu_map_labels_must_fit() {
    let mut tree = qemu(2);
    tree.remove("/cpus/cpu-map");
    tree.edit("/cpus:#address-cells", &be(&[2]));
    tree.edit("/cpus/cpu@0:reg", &be(&[0, 0]));
    tree.edit("/cpus/cpu@1:reg", &be(&[1, 0]));
    check(
        &said(&tree),
        "/cpus/cpu@1 reg: 0x100000000, expected Aff3 of 0 where there is no cpu-map",
    );
}

#[test]
fn names_in_cpu_map() {
    for (name, shown) in [
        ("core", "core"),
        ("core01", "core01"),
        ("core+1", "core+1"),
        ("core65535", "core65535"),
        ("core-a-very-long-name", "core-a-very-long-name"),
    ] {
        let mut tree = qemu(4);
        let core = tree.at("/cpus/cpu-map/cluster0/core1");
        core.name = name.to_string();
        let expected = std::format!(
            "/cpus/cpu-map/cluster0: \"{shown}\", expected a name of kind and number, such as core0"
        );
        check(&said(&tree), &expected);
    }
    let mut tree = qemu(4);
    let core = tree.at("/cpus/cpu-map/cluster0/core1");
    core.properties.clear();
    core.children.push(Model::new("thread0"));
    check(
        &said(&tree),
        "/cpus/cpu-map/cluster0/core1/thread0 cpu: missing",
    );
}

#[test]
fn buses_on_the_way_to_the_console() {
    let change = |at: &str, value: &[u8]| {
        let mut tree = juno();
        tree.edit(at, value);
        said(&tree)
    };
    let apb = "/bus@7f000000/apb";
    for (property, value, expected) in [
        (
            "ranges",
            be(&[0, 3, 0xf0_0000, 0x1_0000]),
            "/bus@7f000000/apb ranges: no entry holds 0x1000 bytes at 0x80000",
        ),
        (
            "ranges",
            be(&[0, 3, 0xf0_0000, 0x8_0800]),
            "/bus@7f000000/apb ranges: no entry holds 0x1000 bytes at 0x80000",
        ),
        (
            "ranges",
            be(&[0, 3, 0xf0_0000]),
            "/bus@7f000000/apb ranges: 12 bytes, expected whole entries of both addresses and size",
        ),
        (
            "ranges",
            be(&[0, u32::MAX, 0xffff_0000, 0x10_0000]),
            "/bus@7f000000/apb ranges: 0x100000 bytes at 0xffffffffffff0000 exceed 64-bit addresses",
        ),
        (
            "#address-cells",
            be(&[3]),
            "/bus@7f000000/apb #address-cells: 0x3, expected 1 or 2 (a device behind PCI cannot be used)",
        ),
        (
            "#size-cells",
            be(&[0]),
            "/bus@7f000000/apb #size-cells: 0x0, expected 1 or 2",
        ),
        (
            "status",
            b"disabled\0".to_vec(),
            "/bus@7f000000/apb status: \"disabled\", expected okay, as the console is on it",
        ),
    ] {
        check(&change(&std::format!("{apb}:{property}"), &value), expected);
    }
    let mut tree = juno();
    tree.remove("/bus@7f000000:ranges");
    check(
        &said(&tree),
        "/bus@7f000000 ranges: missing, so what is on this bus has no address for the CPUs",
    );
}

#[test]
fn more_than_there_is_room_for() {
    let mut tree = juno();
    let node = tree.at("/reserved-memory");
    for n in 0..64u32 {
        let child = Model::new(&std::format!("r@{n:x}")).cells("reg", &[0, n << 12, 0, 0x1000]);
        node.children.push(child);
    }
    check(
        &said(&tree),
        "/reserved-memory/r@3f reg: more than 64 of them",
    );

    let blob = qemu(1).blob_reserving(&[(1, 1); 65]);
    let error = Board::read(&blob).expect_err("65 reservations").to_string();
    check(&error, "/ (memory reservation block): more than 64 of them");
    let blob = qemu(1).blob_reserving(&[(u64::MAX, 1)]);
    let error = Board::read(&blob).expect_err("it wraps").to_string();
    check(
        &error,
        "/ (memory reservation block): 0x1 bytes at 0xffffffffffffffff exceed 64-bit addresses",
    );

    check(&said(&qemu(513)), "/cpus: more than 512 of them");

    let mut tree = qemu(2);
    for n in 1..2047u32 {
        let node = Model::new(&std::format!("cluster{n}"));
        tree.at("/cpus/cpu-map").children.push(node);
    }
    check(&said(&tree), "/cpus/cpu-map: more than 2048 of them");

    let mut tree = juno();
    for n in 0..15u32 {
        let state = Model::new(&std::format!("s{n}"))
            .text("compatible", &["arm,idle-state"])
            .cells("arm,psci-suspend-param", &[n]);
        tree.at("/cpus/idle-states").children.push(state);
    }
    check(
        &said(&tree),
        "/cpus/idle-states/s14 arm,psci-suspend-param: more than 16 of them",
    );

    let blob = qemu(4).blob();
    let board = Board::read(&blob).expect("a good tree");
    let error = board.cpus(false, &mut [Cpu::default(); 3]);
    check(
        &error.expect_err("too short").to_string(),
        "no room for 4 CPUs",
    );
}

#[test]
fn levels_of_idle_states() {
    let state = "/cpus/idle-states/cluster-sleep-0";
    let mut tree = juno();
    tree.at(state).set("psci-bench,power-level", &be(&[4]));
    check(
        &said(&tree),
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x4, expected 0 to 3",
    );
    let mut tree = juno();
    tree.at(state).set("psci-bench,power-level", &be(&[1]));
    tree.at(state)
        .set("arm,psci-suspend-param", &be(&[0x1_0000]));
    check(
        &said(&tree),
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x1, expected the level of the \
         other node with it",
    );
}

#[test]
fn a_long_path_keeps_its_end() {
    let mut tree = qemu(1);
    let mut uart = tree.at("/pl011@9000000").clone();
    uart.properties.retain(|(name, _)| name != "compatible");
    let name = "a-rather-long-name-of-a-bus@12345678";
    let bus = Model::new(name).with(Model::new(name).with(uart));
    tree.children.push(bus);
    tree.remove("/chosen:stdout-path");
    let path = std::format!("/{name}/{name}/pl011@9000000\0");
    tree.edit("/aliases:serial0", path.as_bytes());
    let kept = &path.trim_end_matches('\0')[path.len() - 1 - 57..];
    check(&said(&tree), &std::format!("...{kept} compatible: missing"));
}
