//! The files for a board, and the page that explains what to do with them.

use anyhow::Result;
use boards::Qemu;
use itertools::Itertools as _;
use minijinja::context;

use super::plan::BuildPlan;
use crate::template::render;

const PAGE: &str = include_str!("readme.md.j2");

/// A file for the board and what to do with it.
pub(super) struct BoardEntry {
    /// The path in the output folder.
    pub(super) path: String,
    pub(super) data: Vec<u8>,
    /// A sentence that explains what to do with the file.
    pub(super) install: String,
}

impl BoardEntry {
    pub(super) fn new(path: impl Into<String>, data: Vec<u8>, install: impl Into<String>) -> Self {
        let path = path.into();
        let install = install.into();
        Self {
            path,
            data,
            install,
        }
    }
}

/// Returns the page that describes `files`.
pub(super) fn readme(plan: &BuildPlan<'_>, files: &[BoardEntry]) -> Result<String> {
    let board = plan.request.board;
    let rows = files.iter().map(|file| {
        let path = &file.path;
        let install = file.install.replace('|', "\\|");
        context! { path, bytes => file.data.len(), install }
    });
    let firmware = board.firmware(&board.default_firmware)?;
    let qemu = board.qemu.as_ref().filter(|_| board.is_virtual());
    let lack = plan
        .lacks_power_down
        .as_ref()
        .map(|missing_feature| format!("{missing_feature}."));
    let notes = board.note.iter().chain(&firmware.note).chain(&lack);
    let values = context! {
        title => &board.title,
        tf_a => &plan.tf_a.version,
        timestamps => capitalized(&plan.timestamps.describe()),
        debug => plan.request.debug,
        make => plan.request.make.iter().map(|variable| format!("`{variable}`")).join(", "),
        files => rows.collect::<Vec<_>>(),
        command => qemu.map(|qemu| command(plan, qemu)),
        uart => board.uart.emergency().to_string(),
        baud => board.uart.follow_option(),
        el3_uart => board.uart.el3_base.map(|base| format!("{base:#x}")),
        source => plan.source.clone(),
        notes => notes.cloned().collect::<Vec<_>>(),
    };
    render(PAGE, values)
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns the command that starts QEMU.
fn command(plan: &BuildPlan<'_>, qemu: &Qemu) -> String {
    let request = &plan.request;
    let mut machine = qemu.machine.clone();
    if qemu.adjustable {
        machine += &format!(
            ",secure=on,virtualization=on,gic-version={}",
            request.gic.number()
        );
    }
    let cpu = &qemu.cpu;
    let cpus = request.cpus;
    let memory = qemu.memory_mib;
    let mut words = vec![
        format!("qemu-system-aarch64 -M {machine} -cpu {cpu} -smp {cpus} -m {memory}"),
        "-nic none -nographic -bios flash.bin".into(),
    ];
    words.extend(qemu.arguments.iter().cloned());
    if plan.stock.is_some_and(|stock| stock.preloaded) {
        let at = request.board.load_address;
        words.push(format!(
            "-device loader,file=bl33.bin,addr={at:#x},force-raw=on"
        ));
    }
    words.join(" ")
}
