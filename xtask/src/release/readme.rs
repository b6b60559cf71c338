//! The page that explains how to use a release.

use anyhow::Result;
use boards::{BoardFile, PackageKind, Verified};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;

use super::board_files::BoardFiles;
use host::folder::FolderFile;

const TEMPLATE: &str = include_str!("README.md.j2");

/// How a run ends.
const ENDS: &str = "The run ends with a line that begins with `psci-bench: PASS`, `FAIL` or \
    `INCOMPLETE`, and the machine turns off.";

/// The instructions for one machine.
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
pub(super) fn readme(boards: &[BoardFile], build: u32) -> Result<FolderFile> {
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
            efi => context! { connect => connect("efi", ""), read => read("efi") },
            boards => Serde(entries),
        },
    )?;
    Ok(FolderFile::new("README.md", page))
}

fn entry(board: &BoardFile) -> Entry {
    let verified = match board.verified() {
        Verified::Hardware => "measured on this board.",
        Verified::Emulated => "tested on QEMU.",
        Verified::No => "not yet tested on this board: all values come from documentation.",
    };
    let note = board.note.iter().map(|note| format!(" {note}"));
    Entry {
        name: board.name.clone(),
        title: board.title.clone(),
        copy: copy(board),
        uart: format!("UART {}", board.uart.emergency()),
        connect: connect(&board.name, &board.uart.follow_option()),
        read: read(&board.name),
        note: verified.to_owned() + &note.collect::<String>(),
    }
}

/// Describes how to follow a run.
fn connect(name: &str, baud: &str) -> String {
    let advice = match baud.is_empty() {
        true => ", with `--baud` if the UART does not run at 115200 baud",
        false => "",
    };
    format!("run `./psci-report follow /dev/ttyUSB0{baud} --log {name}.log`{advice}.")
}

/// Describes how to read a run.
fn read(name: &str) -> String {
    format!(
        "the report is printed at the end; `./psci-report report {name}.log --format html -o \
         {name}.html` makes a page with charts."
    )
}

/// Describes how to get the image onto the board.
fn copy(board: &BoardFile) -> String {
    let files = BoardFiles::of(board);
    let folder = &files.folder;
    let image = format!("{folder}{}", files.image);
    let Some(package) = &board.package else {
        let address = board.load_address;
        return format!("use `{image}` as BL33; the firmware starts it at {address:#x}.");
    };
    let (file, install) = (&package.file, &package.install);
    let tool = package.tool.iter();
    let tool = tool.map(|tool| format!("To build the file that the board boots, use {tool}. "));
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
            format!("`mkimage -f {folder}{source} {file}` creates {file}. {install}")
        }
        PackageKind::Vendor => {
            format!("`{image}` is the payload. {tool}{install}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_board_has_five_lines() {
        let boards = boards::names().map(|name| boards::load(name).expect("a board"));
        let boards: Vec<BoardFile> = boards.collect();
        let page = readme(&boards, 0x1234).expect("a page").data;
        let page = String::from_utf8(page).expect("text");
        let (head, of_boards) = page.split_at(page.find("\n## armada-8k").expect("a board"));
        assert!(head.contains("build 00001234"), "{head}");
        for (board, text) in boards.iter().zip(of_boards.split("\n## ").skip(1)) {
            let heading = format!("{}: {}\n\n* **Copy:** ", board.name, board.title);
            assert!(text.starts_with(&heading), "{text}");
            assert_eq!(text.trim_end().lines().count(), 2 + 5, "{text}");
        }
        let follow = "follow /dev/ttyUSB0 --baud 1500000 --log rk3399.log`.";
        assert!(of_boards.contains(follow), "{of_boards}");
    }

    #[test]
    fn what_to_copy_depends_on_the_package() {
        let fiptool = "`fiptool update --align 512 --nt-fw boards/hikey/bl33.bin fip.bin` replaces \
            BL33 in your fip.bin. To build the file that the board boots, use a tool. Install.";
        for (name, expected) in [
            ("hikey", fiptool),
            (
                "rk3399",
                "`mkimage -f boards/rk3399/psci-bench.its psci-bench.itb` creates psci-bench.itb. \
                 Install.",
            ),
            (
                "rpi4",
                "the board boots `boards/rpi4/kernel8.img`. Install.",
            ),
            (
                "zynqmp",
                "`boards/zynqmp/bl33.bin` is the payload. To build the file that the board boots, \
                 use a tool. Install.",
            ),
        ] {
            let mut board = boards::load(name).expect("a board");
            let package = board.package.as_mut().expect("a package");
            package.install = "Install.".to_owned();
            package.tool = Some("a tool".to_owned());
            assert_eq!(copy(&board), expected);
        }
        let mut board = boards::load("juno").expect("a board");
        board.package = None;
        let expected = "use `boards/juno/bl33.bin` as BL33; the firmware starts it at 0xe0000000.";
        assert_eq!(copy(&board), expected);
    }
}
