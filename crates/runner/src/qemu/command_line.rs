//! The QEMU command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::process;

use super::host_cpu;

/// The name of the program, which is looked up in `PATH`.
pub const PROGRAM: &str = "qemu-system-aarch64";
/// Options for a run started by this tool. Lab engines use their own options instead.
const ATTACHED: &str = "-display none -nic none -monitor none";

/// The QEMU command line, divided into the parts that lab engines configure separately.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// `-M`.
    pub machine: String,
    /// `-cpu`.
    pub cpu: String,
    /// `-m`, in MiB.
    pub memory_mib: String,
    /// All options that do not name a file, split into arguments.
    pub options: Vec<String>,
    /// The number of the board's UART among the machine's serial ports.
    pub serial: u32,
    /// The option that specifies the boot file, and the file itself. None if all files are loaded
    /// into memory.
    pub boot: Option<(&'static str, PathBuf)>,
    /// Files to load into memory before the machine starts, and their addresses.
    pub preload: Vec<(PathBuf, u64)>,
    /// Additional arguments for the boot file: the kernel for a guest, or boot arguments.
    pub rest: Vec<OsString>,
}

impl CommandLine {
    /// Returns the parts that describe the machine, for a digest of it.
    pub(super) fn machine_text(&self) -> String {
        let machine = &self.machine;
        let cpu = &self.cpu;
        let memory = &self.memory_mib;
        format!("{machine} {cpu} {memory} {:?}", self.options)
    }

    /// Returns the QEMU arguments.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words = vec![
            "-M",
            &self.machine,
            "-cpu",
            &self.cpu,
            "-m",
            &self.memory_mib,
        ];
        words.extend(ATTACHED.split(' '));
        for _ in 0..self.serial {
            words.extend(["-serial", "null"]);
        }
        words.extend(["-serial", "stdio"]);
        words.extend(self.options.iter().map(String::as_str));
        let mut arguments: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        if let Some((option, file)) = &self.boot {
            arguments.extend([option.into(), file.into()]);
        }
        for (file, address) in &self.preload {
            arguments.extend(preload_option(file, *address));
        }
        arguments.extend_from_slice(&self.rest);
        arguments
    }
}

/// Returns the arguments that load `file` into memory at `address` before the machine starts.
pub fn preload_option(file: &Path, address: u64) -> [OsString; 2] {
    // A comma in a value must be doubled.
    let file = file.to_string_lossy().replace(',', ",,");
    let device = format!("loader,file={file},addr={address:#x},force-raw=on");
    ["-device".into(), device.into()]
}

/// Returns the arguments that start CPU `cpu` at `address`.
pub fn start_option(cpu: u32, address: u64) -> [OsString; 2] {
    let device = format!("loader,addr={address:#x},cpu-num={cpu}");
    ["-device".into(), device.into()]
}

/// Returns the command that starts QEMU with `arguments`. If possible, the kernel kills QEMU when
/// this process is killed, so that a machine that hangs does not use a CPU forever. With `-icount`,
/// all of QEMU runs on a single host CPU: see [`host_cpu`].
pub fn command(arguments: &[OsString]) -> Command {
    let mut words: Vec<OsString> = Vec::new();
    if process::find_program("setpriv").is_some() {
        words.extend(["setpriv", "--pdeathsig", "KILL"].map(OsString::from));
    }
    if arguments.iter().any(|argument| argument == "-icount") {
        words.extend(host_cpu::prefix());
    }
    words.push(PROGRAM.into());
    words.extend_from_slice(arguments);
    let mut words = words.into_iter();
    let mut command = Command::new(words.next().expect("a program name"));
    command.args(words);
    command
}
