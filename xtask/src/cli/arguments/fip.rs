//! Arguments of `cargo xtask fip`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use super::TreeArguments;
use crate::board::Uuid;
use crate::board::image_kinds::{KINDS, Kind};

/// A command of `fip`.
#[derive(Debug, Subcommand)]
pub enum FipVerb {
    /// Pack images into a new FIP, which is the same for the same images.
    #[command(after_help = "Examples:
  cargo xtask fip create --out fip.bin --tb-fw bl2.bin --soc-fw bl31.bin --nt-fw bl33.bin
  cargo xtask fip create --out fip.bin --align 512 --scp-fw scp_bl2.bin --nt-fw bl33.bin

The options are those of TF-A's fiptool.")]
    Create {
        /// The file to write.
        #[arg(long, value_name = "FIP")]
        out: PathBuf,
        /// How it is laid out.
        #[command(flatten)]
        layout: Layout,
        /// The images.
        #[command(flatten)]
        images: Images,
    },
    /// Check a FIP, and list what is in it.
    #[command(after_help = "Example:
  cargo xtask fip info fip.bin")]
    Info {
        /// The file to read.
        fip: PathBuf,
    },
    /// Write each image of a FIP to a file, named by its option or its UUID.
    #[command(after_help = "Example:
  cargo xtask fip unpack fip.bin --out images")]
    Unpack {
        /// The file to read.
        fip: PathBuf,
        /// The directory to write to, which is made if it is not there.
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Also over files that are there.
        #[arg(long)]
        force: bool,
    },
    /// Add images to a FIP, or replace those that are there.
    ///
    /// All others stay, those of unknown kinds with their flags, too.
    #[command(after_help = "Example:
  cargo xtask fip update fip.bin --nt-fw bl33.bin --out new.bin")]
    Update {
        /// The file to read.
        fip: PathBuf,
        /// The file to write [default: the one that is read].
        #[arg(long, value_name = "FIP")]
        out: Option<PathBuf>,
        /// Also where BL33 has a certificate, which is that of the old one.
        #[arg(long)]
        force: bool,
        /// How it is laid out.
        #[command(flatten)]
        layout: Layout,
        /// The images.
        #[command(flatten)]
        images: Images,
    },
    /// Take images out of a FIP.
    #[command(after_help = "Example:
  cargo xtask fip remove fip.bin --nt-fw --blob uuid=54464222-a4cf-4bf8-b1b6-cee7dade539e")]
    Remove {
        /// The file to read.
        fip: PathBuf,
        /// The file to write [default: the one that is read].
        #[arg(long, value_name = "FIP")]
        out: Option<PathBuf>,
        /// Align each image to so many bytes, a power of two.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = number)]
        align: u64,
        /// The images.
        #[command(flatten)]
        images: Chosen,
    },
    /// Make the FIP that a board boots, with the payload as BL33.
    ///
    /// With --base it is your FIP with BL33 replaced. Without, the images
    /// that platforms/BOARD/board.toml requires have to be given.
    #[command(after_help = "Examples:
  cargo xtask fip build --board juno --base fip.bin -o new.bin
  cargo xtask fip build --board juno -o fip.bin --tb-fw bl2.bin --soc-fw bl31.bin \\
      --scp-fw scp_bl2.bin --fw-config fw.dtb --tb-fw-config tb_fw.dtb --hw-config hw.dtb
  cargo xtask fip build --board n1sdp --part mcp_fw.bin -o mcp_fw.bin \\
      --blob uuid=54464222-a4cf-4bf8-b1b6-cee7dade539e,file=mcp_ram.bin
  cargo xtask fip build --board qemu --base fip.bin --nt-fw-key nt.pem -o new.bin")]
    Build(Box<BuildArguments>),
}

/// Arguments of `fip build`.
#[derive(Debug, Args)]
pub struct BuildArguments {
    /// The board: a folder of platforms/.
    #[arg(long, value_name = "NAME")]
    pub board: String,
    /// The file to write.
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Replace BL33 in this FIP, and leave the rest of it as it is, aligned as
    /// it is.
    #[arg(long, value_name = "FIP")]
    pub base: Option<PathBuf>,
    /// Make this further file of the board, which is without the payload.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["base", "payload", "nt_fw_key", "dtb", "args", "smp", "gic"])]
    pub part: Option<String>,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// The key of the non-trusted firmware, in PEM form, to make BL33's new
    /// certificate with: where the FIP has certificates. Its counter is the old
    /// one's, which is in --base, or --nt-fw-cert where there is no --base.
    #[arg(long, value_name = "PEM")]
    pub nt_fw_key: Option<PathBuf>,
    /// Align each image to so many bytes, a power of two [default: as the
    /// board file says, and at least as in --base].
    #[arg(long, value_name = "N", value_parser = number)]
    pub align: Option<u64>,
    /// What the payload's device tree says.
    #[command(flatten)]
    pub tree: TreeArguments,
    /// The images.
    #[command(flatten)]
    pub images: Images,
}

/// How a FIP is laid out.
#[derive(Clone, Copy, Debug, Args)]
pub struct Layout {
    /// Align each image to so many bytes, a power of two.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number)]
    pub align: u64,
    /// The platform's flags in the header, bits 47:32, in hexadecimal.
    #[arg(long, value_name = "HEX", value_parser = hexadecimal)]
    pub plat_toc_flags: Option<u16>,
}

/// As C's `strtoul` and so fiptool has it: decimal, 0x200, or octal from 0.
fn number(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (lower.as_str(), 10),
    };
    let number = u64::from_str_radix(digits, radix);
    number.map_err(|_| "this is no number of bytes, such as 512 or 0x200".into())
}

fn hexadecimal(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let number = u16::from_str_radix(digits, 16);
    number.map_err(|_| "these are 16 bits in hexadecimal".into())
}

/// `uuid=U,file=F` or `file=F,uuid=U`.
fn blob(text: &str) -> Result<(Uuid, PathBuf), String> {
    let uuid_first = text.strip_prefix("uuid=");
    let uuid_first = uuid_first.and_then(|rest| rest.split_once(",file="));
    let file_first = text.strip_prefix("file=");
    let file_first = file_first.and_then(|rest| rest.rsplit_once(",uuid="));
    let split = uuid_first.or(file_first.map(|(file, uuid)| (uuid, file)));
    let split = split.filter(|(_, file)| !file.is_empty());
    let (uuid, file) = split.ok_or("this has the form uuid=U,file=F")?;
    Ok((uuid.parse()?, file.into()))
}

/// `uuid=U`.
fn bare_uuid(text: &str) -> Result<Uuid, String> {
    let uuid = text.strip_prefix("uuid=");
    uuid.ok_or("this has the form uuid=U")?.parse()
}

/// An image of a FIP, and the file that it is in.
#[derive(Clone, Debug)]
pub struct ImageFile {
    /// What it was asked for by.
    pub option: String,
    /// How a FIP names it.
    pub uuid: Uuid,
    /// Where it is.
    pub path: PathBuf,
}

/// Files for images of a FIP, by an option a kind.
#[derive(Clone, Debug, Default)]
pub struct Images {
    /// Blobs come last.
    pub files: Vec<ImageFile>,
}

impl clap::FromArgMatches for Images {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let mut images = Self::default();
        images.update_from_arg_matches(matches)?;
        Ok(images)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        for kind in &KINDS {
            if let Some(path) = matches.get_one::<PathBuf>(kind.option) {
                self.files.push(ImageFile {
                    option: format!("--{}", kind.option),
                    uuid: kind.uuid,
                    path: path.clone(),
                });
            }
        }
        let blobs = matches.get_many::<(Uuid, PathBuf)>("blob");
        for (uuid, path) in blobs.into_iter().flatten() {
            self.files.push(ImageFile {
                option: format!("--blob uuid={uuid}"),
                uuid: *uuid,
                path: path.clone(),
            });
        }
        Ok(())
    }
}

impl Args for Images {
    fn augment_args(command: clap::Command) -> clap::Command {
        let blob = clap::Arg::new("blob")
            .value_name("uuid=U,file=F")
            .value_parser(blob)
            .action(ArgAction::Append)
            .help("The image with this UUID");
        image_arguments(command, blob, |kind| {
            option(kind)
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// Images of a FIP, by an option a kind.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// How a FIP names them.
    pub uuids: Vec<Uuid>,
}

impl clap::FromArgMatches for Chosen {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let mut chosen = Self::default();
        chosen.update_from_arg_matches(matches)?;
        Ok(chosen)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        let named = |kind: &&Kind| matches.get_flag(kind.option);
        let known = KINDS.iter().filter(named).map(|kind| kind.uuid);
        self.uuids.extend(known);
        let blobs = matches.get_many::<Uuid>("blob");
        self.uuids.extend(blobs.into_iter().flatten());
        Ok(())
    }
}

impl Args for Chosen {
    fn augment_args(command: clap::Command) -> clap::Command {
        let blob = clap::Arg::new("blob")
            .value_name("uuid=U")
            .value_parser(bare_uuid)
            .action(ArgAction::Append)
            .help("The image with this UUID");
        image_arguments(command, blob, |kind| {
            option(kind).action(ArgAction::SetTrue)
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

fn option(kind: &Kind) -> clap::Arg {
    clap::Arg::new(kind.option)
        .long(kind.option)
        .help(kind.title)
}

/// `command` with an option for each kind, and `blob` for the others.
fn image_arguments(
    command: clap::Command,
    blob: clap::Arg,
    option: impl Fn(&'static Kind) -> clap::Arg,
) -> clap::Command {
    let options = KINDS.iter().map(option);
    let all = options.chain([blob.long("blob")]);
    command.args(all.map(|option| option.help_heading("Images")))
}
