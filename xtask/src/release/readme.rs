//! The page that says how to use a release.

use anyhow::Result;
use boards::{BoardFile, PackageKind, Verified};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;

use super::board_files::BoardFiles;
use super::release_file::ReleaseFile;

const TEMPLATE: &str = include_str!("README.md.j2");

/// How a run ends.
const ENDS: &str = "The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or \
    `INCOMPLETE`, and the machine turns off.";

/// The texts about one machine.
#[derive(Serialize)]
struct Entry {
    name: String,
    title: String,
    copy: String,
    uart: String,
    connect: String,
    read: String,
    note: String,
}

/// Returns the page. `build` identifies the payload.
pub(super) fn readme(boards: &[BoardFile], build: u32) -> Result<ReleaseFile> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let entries: Vec<Entry> = boards.iter().map(entry).collect();
    let page = environment.render_str(
        TEMPLATE,
        context! {
            version => env!("CARGO_PKG_VERSION"),
            build => format!("{build:08x}"),
            ends => ENDS,
            efi => context! { connect => connect("efi"), read => read("efi") },
            boards => Serde(entries),
        },
    )?;
    Ok(ReleaseFile::new("README.md", page))
}

fn entry(board: &BoardFile) -> Entry {
    let verified = match board.verified() {
        Verified::Hardware => "measured on this board.",
        Verified::Emulated => "tested on QEMU.",
        Verified::No => "not yet tested on this board: all values are from documents.",
    };
    let note = board.note.iter().map(|note| format!(" {note}"));
    Entry {
        name: board.name.clone(),
        title: board.title.clone(),
        copy: copy(board),
        uart: format!("UART {}", board.uart.emergency()),
        connect: connect(&board.name),
        read: read(&board.name),
        note: verified.to_owned() + &note.collect::<String>(),
    }
}

/// Describes how to follow a run.
fn connect(name: &str) -> String {
    format!(
        "run `./psci-report follow /dev/ttyUSB0 --log {name}.log`, with `--baud` if its speed is not 115200."
    )
}

/// Describes how to read a run.
fn read(name: &str) -> String {
    format!(
        "the report is printed at the end; `./psci-report report {name}.log --format html -o \
         {name}.html` makes a page with charts."
    )
}

/// Describes how the image comes onto the board.
fn copy(board: &BoardFile) -> String {
    let files = BoardFiles::of(board);
    let folder = &files.folder;
    let image = format!("{folder}{}", files.image);
    let Some(package) = &board.package else {
        let address = board.load_address;
        return format!("make `{image}` BL33; the firmware starts it at {address:#x}.");
    };
    let (file, install) = (&package.file, &package.install);
    let tool = package.tool.iter().map(|tool| format!("{tool}. "));
    let tool: String = tool.collect();
    match package.kind {
        PackageKind::Fip => {
            let align = match package.align {
                1 => String::new(),
                align => format!("--align {align} "),
            };
            format!(
                "`fiptool update {align}--nt-fw {image} {file}` replaces BL33 in your {file}. \
                 {tool}{install}"
            )
        }
        PackageKind::Raw => format!("the board boots `{image}`. {install}"),
        PackageKind::Fit => {
            let source = files.fit.map_or(String::new(), |[source, _]| source);
            format!("`mkimage -f {folder}{source} {file}` makes {file}. {install}")
        }
        PackageKind::Vendor => {
            format!(
                "`{image}` is the payload. The file that the board boots is made by {tool}{install}"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn each_kind_of_package_has_five_lines() {
        let boards = [
            "hikey960",
            "poplar",
            "qemu-sbsa",
            "rk3399",
            "rpi4",
            "zynqmp",
        ];
        let boards = boards.map(|name| boards::load(name).expect("a board"));
        let page = readme(&boards, 0x1234).expect("a page").data;
        let page = String::from_utf8(page).expect("a text");
        let (head, of_boards) = page.split_at(page.find("\n## hikey960").expect("a board"));
        assert!(head.contains("build 00001234"), "{head}");
        let lines = of_boards.matches("\n* **").count();
        assert_eq!(lines, 5 * boards.len(), "{of_boards}");
        expect![[r#"

            ## hikey960: HiKey960

            * **Copy:** `fiptool update --align 512 --nt-fw boards/hikey960/bl33.bin fip.bin` replaces BL33 in your fip.bin. sudo fastboot flash fip fip.bin
            * **Connect:** UART pl011 at 0xfff32000; run `./psci-report follow /dev/ttyUSB0 --log hikey960.log`, with `--baud` if its speed is not 115200.
            * **Run:** start the machine. The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or `INCOMPLETE`, and the machine turns off.
            * **Read:** the report is printed at the end; `./psci-report report hikey960.log --format html -o hikey960.html` makes a page with charts.
            * **Note:** not yet tested on this board: all values are from documents. The counter has 1.92 MHz, 521 ns a tick (plat_get_syscnt_freq2 in hikey960_common.c): a PSCI_VERSION is a few ticks. The console is that of boards from version 2 on; version 1 has it at 0xfdf05000 (docs/plat/hikey960.rst). SYSTEM_OFF ends in a panic of the firmware.

            ## poplar: Poplar

            * **Copy:** `fiptool update --nt-fw boards/poplar/bl33.bin fip.bin` replaces BL33 in your fip.bin. Poplar's l-loader makes fastboot.bin of it. Build l-loader with fip.bin and bl1.bin in its atf/, and copy the fastboot.bin that it makes to a FAT partition on a USB stick; start with S3 pressed.
            * **Connect:** UART pl011 at 0xf8b00000; run `./psci-report follow /dev/ttyUSB0 --log poplar.log`, with `--baud` if its speed is not 115200.
            * **Run:** start the machine. The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or `INCOMPLETE`, and the machine turns off.
            * **Read:** the report is printed at the end; `./psci-report report poplar.log --format html -o poplar.html` makes a page with charts.
            * **Note:** not yet tested on this board: all values are from documents. The counter has 24 MHz (SYS_COUNTER_FREQ_IN_TICKS).

            ## qemu-sbsa: QEMU sbsa-ref

            * **Copy:** make `boards/qemu-sbsa/bl33.bin` BL33; the firmware starts it at 0x10020000000.
            * **Connect:** UART pl011 at 0x60000000; run `./psci-report follow /dev/ttyUSB0 --log qemu-sbsa.log`, with `--baud` if its speed is not 115200.
            * **Run:** start the machine. The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or `INCOMPLETE`, and the machine turns off.
            * **Read:** the report is printed at the end; `./psci-report report qemu-sbsa.log --format html -o qemu-sbsa.html` makes a page with charts.
            * **Note:** tested on QEMU.

            ## rk3399: Rockchip RK3399, ROCKPro64

            * **Copy:** `mkimage -f boards/rk3399/psci-bench.its psci-bench.itb` makes psci-bench.itb. Load it from U-Boot's prompt and start it by bootm. u-boot.itb, which SPL loads, holds BL31 as well and is U-Boot's to make.
            * **Connect:** UART ns16550 at 0xff1a0000; run `./psci-report follow /dev/ttyUSB0 --log rk3399.log`, with `--baud` if its speed is not 115200.
            * **Run:** start the machine. The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or `INCOMPLETE`, and the machine turns off.
            * **Read:** the report is printed at the end; `./psci-report report rk3399.log --format html -o rk3399.html` makes a page with charts.
            * **Note:** not yet tested on this board: all values are from documents. The UART runs at 1,500,000 baud.

            ## rpi4: Raspberry Pi 4

            * **Copy:** the board boots `boards/rpi4/kernel8.img`. Copy it to the SD card's first FAT partition, with bl31.bin; config.txt: arm_64bit=1, enable_uart=1, enable_gic=1, armstub=bl31.bin, kernel=kernel8.img.
            * **Connect:** UART ns16550 at 0xfe215040; run `./psci-report follow /dev/ttyUSB0 --log rpi4.log`, with `--baud` if its speed is not 115200.
            * **Run:** start the machine. The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or `INCOMPLETE`, and the machine turns off.
            * **Read:** the report is printed at the end; `./psci-report report rpi4.log --format html -o rpi4.html` makes a page with charts.
            * **Note:** not yet tested on this board: all values are from documents. TF-A adds the psci node to the device tree that the GPU's firmware hands over; this file has one of its own. There stdout-path is serial0, the PL011 in Linux's tree: a bare image prints on that, and one with this file's tree on the mini UART.

            ## zynqmp: AMD Zynq UltraScale+ ZCU102

            * **Copy:** `boards/zynqmp/bl33.bin` is the payload. The file that the board boots is made by AMD's bootgen, with the payload as an A53 partition at EL2 (load and startup 0x8000000). Copy it to the SD card's first FAT partition.
            * **Connect:** UART cadence at 0xff000000; run `./psci-report follow /dev/ttyUSB0 --log zynqmp.log`, with `--baud` if its speed is not 115200.
            * **Run:** start the machine. The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or `INCOMPLETE`, and the machine turns off.
            * **Read:** the report is printed at the end; `./psci-report report zynqmp.log --format html -o zynqmp.html` makes a page with charts.
            * **Note:** not yet tested on this board: all values are from documents.
        "#]].assert_eq(of_boards);
    }
}
