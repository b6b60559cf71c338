//! Arguments of `cargo xtask lab`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::TreeArguments;
use crate::board::MINUTES_MAX;
use crate::build::firmware::{Variant, fault};
use crate::lab::{Engine, words};
use crate::report::jobs::check_name;

/// A file, and what the firmware in it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The name, if one is given.
    pub name: Option<String>,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A path may have a `=`: what is before it is a name if it can be one.
        let (name, path) = match text.split_once('=') {
            Some((name, path)) if !name.contains('/') => (Some(check_name(name)?), path),
            _ => (None, text),
        };
        if path.is_empty() {
            return Err("there is no file's name".to_owned());
        }
        let path = PathBuf::from(path);
        Ok(Self { name, path })
    }
}

/// Arguments of `lab`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  done
  2  bad input or use, or something could not be fetched or built; no cell is
     half written

Examples:
  cargo xtask lab -o lab                                # QEMU, for LAVA
  cargo xtask lab --engine labgrid -o lab               # and for labgrid
  cargo xtask lab --board juno --base v2.12=old.zip --base v2.13=new.zip \\
      --url https://files.example.com/lab -o lab        # two firmware builds
  cargo xtask lab --board n1sdp --base n1sdp-recovery.zip --tags rack-2 -o lab
  cargo xtask lab --board hikey960 --engine labgrid --place hikey960-1 \\
      --base fip.bin -o lab
  cargo xtask lab --variant coherency=hw --variant coherency=sw -o lab
  docs/ci/lab.sh lab                                    # run them all here
  cargo xtask report --matrix lab                       # one report of them all")]
pub struct LabArguments {
    /// The board, a folder of platforms/; several with commas between.
    #[arg(
        long,
        value_name = "NAME,…",
        default_value = "qemu",
        value_delimiter = ','
    )]
    pub board: Vec<String>,
    /// The lab engine.
    #[arg(long, value_name = "ENGINE", default_value = "lava")]
    pub engine: Engine,
    /// Put the payload into this recovery image (a zip), or FIP, of the
    /// board's; several make a cell each. NAME is what the firmware in it is
    /// called in reports [default: the file's name].
    #[arg(long, value_name = "[NAME=]ZIP|FIP")]
    pub base: Vec<NamedFile>,
    /// On QEMU: how TF-A is built, as in `cargo xtask qemu`; several make a
    /// cell each.
    #[arg(long, value_name = "KEY=VALUE,…", conflicts_with = "base")]
    pub variant: Vec<Variant>,
    /// On QEMU: build this checkout of TF-A.
    #[arg(long, value_name = "DIR", conflicts_with = "base")]
    pub tf_a: Option<PathBuf>,
    /// On QEMU: the fault that TF-A is to have, as in `cargo xtask qemu`.
    #[arg(long, value_name = "FAULT", value_parser = fault::check, conflicts_with = "base")]
    pub fault: Option<String>,
    /// On QEMU: count instructions instead of time.
    #[arg(long, conflicts_with = "base")]
    pub icount: bool,
    /// What the firmware is called in reports, where there is but one.
    #[arg(long, value_name = "NAME", value_parser = check_name)]
    pub name: Option<String>,
    /// What the payload's device tree says. `end=` is as the engine needs it,
    /// unless --args says otherwise; with --dtb, --args take the place of the
    /// boot arguments in it.
    #[command(flatten)]
    pub tree: TreeArguments,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// Key of the non-trusted firmware, for a --base that is signed.
    #[arg(long, value_name = "PEM")]
    pub nt_fw_key: Option<PathBuf>,
    /// Where LAVA's dispatcher finds the folder that -o is here, such as
    /// https://files.example.com/lab [default: file:// and its path].
    #[arg(long, value_name = "URL", value_parser = words::url)]
    pub url: Option<String>,
    /// LAVA's name for the board [default: as the board file says].
    #[arg(long, value_name = "TYPE", value_parser = words::device_type)]
    pub device_type: Option<String>,
    /// Tags that LAVA's device has to have.
    #[arg(long, value_name = "TAG,…", value_delimiter = ',', value_parser = words::tag)]
    pub tags: Vec<String>,
    /// labgrid's place [default: the board's name; on QEMU none, labgrid starts
    /// it].
    #[arg(long, value_name = "PLACE", value_parser = words::printable)]
    pub place: Option<String>,
    /// How long a job may take [default: as the board file says, 10 on QEMU; but
    /// at least as long as the plan needs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MINUTES_MAX)))]
    pub minutes: Option<u32>,
    /// Have the jobs fail where a scenario, or a CPU's row of one, is skipped.
    #[arg(long)]
    pub deny_skipped: bool,
    /// Replace cells that are there, as long as they have no results and nothing
    /// else that is not from here.
    #[arg(long)]
    pub force: bool,
    /// The directory to write the cells to, each a folder.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_files() {
        let parsed = |text: &str| text.parse::<NamedFile>();
        let file = |name: Option<&str>, path: &str| {
            Ok(NamedFile {
                name: name.map(str::to_owned),
                path: path.into(),
            })
        };
        assert_eq!(parsed("a.zip"), file(None, "a.zip"));
        assert_eq!(parsed("v2.13=a=b.zip"), file(Some("v2.13"), "a=b.zip"));
        assert_eq!(parsed("./a=b.zip"), file(None, "./a=b.zip"));
        assert!(parsed("=a.zip").is_err());
        assert!(parsed("a b=a.zip").is_err());
        assert!(parsed("a=").is_err());
    }
}
