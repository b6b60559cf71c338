//! The parts of a QEMU command line, as lab engines want them: each engine has
//! words of its own for machine, CPU and memory, and starts the rest as it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A file that QEMU starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// What it is called in the files for the engines.
    pub label: &'static str,
    /// Its name in the cell.
    pub file: &'static str,
    /// Where it is now.
    pub from: PathBuf,
    /// QEMU's arguments for it, with `{LABEL}` where its path goes.
    pub argument: String,
}

/// A QEMU command line, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// `-M`.
    pub machine: String,
    /// `-cpu`.
    pub cpu: String,
    /// `-m`.
    pub memory_mib: String,
    /// All others, an option with its value each. What engines see to
    /// themselves is left out: display, network, monitor and serial port.
    pub options: Vec<String>,
    /// The files.
    pub images: Vec<Image>,
}

/// Options that engines have of their own.
const THEIRS: [&str; 4] = ["-display", "-nic", "-monitor", "-serial"];
/// Options that have no value.
const ALONE: [&str; 1] = ["-no-reboot"];

impl Machine {
    /// Takes `arguments` apart.
    pub(super) fn of(arguments: &[OsString]) -> Result<Self> {
        let mut machine = Self {
            machine: String::new(),
            cpu: String::new(),
            memory_mib: String::new(),
            options: Vec::new(),
            images: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(option) = words.next() {
            let option = text(option)?;
            if ALONE.contains(&option) {
                machine.options.push(option.to_owned());
                continue;
            }
            let value = words
                .next()
                .with_context(|| format!("{option} has no value"))?;
            match option {
                "-M" => machine.machine = text(value)?.to_owned(),
                "-cpu" => machine.cpu = text(value)?.to_owned(),
                "-m" => machine.memory_mib = text(value)?.to_owned(),
                "-bios" | "-kernel" => machine.images.push(Image {
                    label: "firmware",
                    file: "firmware.bin",
                    from: PathBuf::from(value),
                    argument: format!("{option} {{firmware}}"),
                }),
                "-device" if text(value)?.starts_with("loader,file=") => {
                    machine.images.push(loaded(text(value)?)?);
                }
                option if THEIRS.contains(&option) => {}
                option => machine.options.push(format!("{option} {}", text(value)?)),
            }
        }
        // Engines split them at blanks.
        let all = [&machine.machine, &machine.cpu, &machine.memory_mib];
        let values = machine
            .options
            .iter()
            .map(|it| it.split_once(' ').map_or("", |it| it.1));
        for value in all.into_iter().map(String::as_str).chain(values) {
            if value.contains([' ', '\'', '"', '\\']) {
                bail!("{value:?}: a lab's QEMU cannot be given this");
            }
        }
        Ok(machine)
    }
}

fn text(word: &OsString) -> Result<&str> {
    word.to_str()
        .with_context(|| format!("{}: this is not text", word.display()))
}

/// A file that is put into memory: `loader,file=FILE,…`.
fn loaded(value: &str) -> Result<Image> {
    let rest = value.strip_prefix("loader,file=").unwrap_or(value);
    let (file, rest) = rest
        .split_once(",addr=")
        .with_context(|| format!("{value:?} has no address"))?;
    Ok(Image {
        label: "payload",
        file: "payload.bin",
        from: Path::new(&file.replace(",,", ",")).to_path_buf(),
        argument: format!("-device loader,file={{payload}},addr={rest}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_line() {
        let line = "-M virt,secure=on -cpu max -smp 4 -m 1024 -display none -nic none -monitor \
                    none -serial stdio -no-reboot -fw_cfg name=a,string=b,,c -bios /x/boot.bin \
                    -device loader,file=/x/a,,b,addr=0x100,force-raw=on";
        let machine = Machine::of(&words(line)).expect("taken apart");
        assert_eq!(machine.machine, "virt,secure=on");
        assert_eq!(
            (machine.cpu.as_str(), machine.memory_mib.as_str()),
            ("max", "1024")
        );
        let expected = ["-smp 4", "-no-reboot", "-fw_cfg name=a,string=b,,c"];
        assert_eq!(machine.options, expected);
        let images: Vec<_> = machine
            .images
            .iter()
            .map(|it| (it.from.to_str().unwrap_or_default(), it.argument.as_str()))
            .collect();
        let expected = [
            ("/x/boot.bin", "-bios {firmware}"),
            (
                "/x/a,b",
                "-device loader,file={payload},addr=0x100,force-raw=on",
            ),
        ];
        assert_eq!(images, expected);
    }

    #[test]
    fn what_no_engine_takes() {
        assert!(Machine::of(&words("-smp")).is_err());
        let spaced = ["-global", "a=b c"].map(OsString::from);
        let error = Machine::of(&spaced).expect_err("a blank").to_string();
        assert!(error.contains("cannot be given"), "{error}");
    }
}
