//! Options that name images of packages.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::board::Uuid;
use crate::board::image_kinds::{KINDS, Kind, parse_uuid};

/// The layout of a FIP.
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
pub(super) fn number(text: &str) -> Result<u64, String> {
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
    Ok((parse_uuid(uuid)?, file.into()))
}

/// `uuid=U`.
fn bare_uuid(text: &str) -> Result<Uuid, String> {
    let uuid = text.strip_prefix("uuid=");
    parse_uuid(uuid.ok_or("this has the form uuid=U")?)
}

/// An image of a FIP, and the file that it is in.
#[derive(Clone, Debug)]
pub struct ImageFile {
    /// The option that names it.
    pub option: String,
    /// The UUID in a FIP.
    pub uuid: Uuid,
    /// The file.
    pub path: PathBuf,
}

/// Files for images of a FIP, by an option a kind.
#[derive(Clone, Debug)]
pub struct Images {
    /// Blobs come last.
    pub files: Vec<ImageFile>,
}

impl clap::FromArgMatches for Images {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let of_kind = |kind: &Kind| {
            Some(ImageFile {
                option: format!("--{}", kind.option),
                uuid: kind.uuid,
                path: matches.get_one::<PathBuf>(kind.option)?.clone(),
            })
        };
        let blobs = matches.get_many::<(Uuid, PathBuf)>("blob");
        let blobs = blobs.into_iter().flatten();
        let blobs = blobs.map(|(uuid, path)| ImageFile {
            option: format!("--blob uuid={uuid}"),
            uuid: *uuid,
            path: path.clone(),
        });
        let files = KINDS.iter().filter_map(of_kind).chain(blobs);
        let files = files.collect();
        Ok(Self { files })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Images {
    fn augment_args(command: clap::Command) -> clap::Command {
        let path = clap::value_parser!(PathBuf);
        let blob = blob_option("uuid=U,file=F").value_parser(blob);
        image_options(command, blob, |option| {
            option.value_name("FILE").value_parser(path.clone())
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// Images of a FIP, by an option a kind.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Their UUIDs in a FIP.
    pub uuids: Vec<Uuid>,
}

impl clap::FromArgMatches for Chosen {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let kinds = KINDS.iter().filter(|kind| matches.get_flag(kind.option));
        let blobs = matches.get_many::<Uuid>("blob").into_iter().flatten();
        let uuids = kinds.map(|kind| kind.uuid).chain(blobs.copied()).collect();
        Ok(Self { uuids })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Chosen {
    fn augment_args(command: clap::Command) -> clap::Command {
        let blob = blob_option("uuid=U").value_parser(bare_uuid);
        image_options(command, blob, |option| option.action(ArgAction::SetTrue))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

fn blob_option(value: &'static str) -> clap::Arg {
    let option = clap::Arg::new("blob").long("blob").value_name(value);
    let option = option.action(ArgAction::Append);
    option.help("The image with this UUID")
}

/// Adds an option for each kind, which `finish` completes, and `blob` for the others.
fn image_options(
    command: clap::Command,
    blob: clap::Arg,
    finish: impl Fn(clap::Arg) -> clap::Arg,
) -> clap::Command {
    let options = KINDS.iter().map(|kind| {
        let option = clap::Arg::new(kind.option).long(kind.option);
        finish(option.help(kind.title))
    });
    let all = options.chain([blob]);
    command.args(all.map(|option| option.help_heading("Images")))
}
