//! Options that select the images in a package and name their files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use boards::Uuid;
use boards::image_kinds::{IMAGE_KINDS, ImageKind, NotAUuid, label, parse_uuid};
use clap::{ArgAction, Args};
use fip::{Fip, IMAGE_MAX, Inspected, PACKAGE_MAX};
use host::progress::say;
use host::{files, read_file};
use runner::build::package::GivenImage;
use thiserror::Error;

/// The layout of a FIP.
#[derive(Clone, Copy, Debug, Args)]
pub struct FipLayout {
    /// Align images to N bytes, a power of two [default: 1].
    #[arg(long, value_name = "N", value_parser = number)]
    pub align: Option<u64>,
    /// Platform flags: bits 47:32 of the header flags.
    #[arg(long, value_name = "HEX", value_parser = hexadecimal)]
    pub plat_toc_flags: Option<u16>,
}

/// A malformed option argument.
#[derive(Debug, Error)]
pub(in crate::cli) enum FormError {
    #[error("expected a number of bytes, such as 512 or 0x200")]
    Number,
    #[error("expected 16 bits in hexadecimal")]
    Flags,
    #[error("expected uuid=U,file=F")]
    Blob,
    #[error("expected uuid=U")]
    BareUuid,
    #[error(transparent)]
    Uuid(#[from] NotAUuid),
}

/// Parses a number in the same way as C's `strtoul` and fiptool: decimal, 0x200, or octal with a
/// leading 0.
pub(in crate::cli) fn number(text: &str) -> Result<u64, FormError> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (lower.as_str(), 10),
    };
    let number = u64::from_str_radix(digits, radix);
    number.map_err(|_| FormError::Number)
}

fn hexadecimal(text: &str) -> Result<u16, FormError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let number = u16::from_str_radix(digits, 16);
    number.map_err(|_| FormError::Flags)
}

/// Parses `uuid=U,file=F` or `file=F,uuid=U`.
fn blob(text: &str) -> Result<(Uuid, PathBuf), FormError> {
    let file_and_uuid = || text.strip_prefix("file=")?.rsplit_once(",uuid=");
    let uuid_and_file = || text.strip_prefix("uuid=")?.split_once(",file=");
    let split = file_and_uuid()
        .map(|(file, uuid)| (uuid, file))
        .or_else(uuid_and_file)
        .filter(|(_, file)| !file.is_empty());
    let (uuid, file) = split.ok_or(FormError::Blob)?;
    Ok((parse_uuid(uuid)?, file.into()))
}

/// Parses `uuid=U`.
fn bare_uuid(text: &str) -> Result<(Uuid, PathBuf), FormError> {
    let uuid = text.strip_prefix("uuid=").ok_or(FormError::BareUuid)?;
    Ok((parse_uuid(uuid)?, PathBuf::new()))
}

/// An image in a FIP.
#[derive(Clone, Debug)]
pub struct ImageFile {
    pub option: String,
    pub uuid: Uuid,
    /// The image file; empty if the option does not take a file.
    pub path: PathBuf,
}

/// Images in a FIP. Each image kind has an option, which takes a file if `WITH_FILES` is true.
#[derive(Clone, Debug)]
pub struct FipImageOptions<const WITH_FILES: bool> {
    /// Blobs come last.
    pub files: Vec<ImageFile>,
}

/// Files for images in a FIP.
pub type Images = FipImageOptions<true>;
/// Images in a FIP, without files.
pub type ChosenImages = FipImageOptions<false>;

impl<const WITH_FILES: bool> clap::FromArgMatches for FipImageOptions<WITH_FILES> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let image_file = |kind: &ImageKind| {
            let path = match WITH_FILES {
                true => matches.get_one::<PathBuf>(kind.option)?.clone(),
                false => matches.get_flag(kind.option).then(PathBuf::new)?,
            };
            let (option, uuid) = (format!("--{}", kind.option), kind.uuid);
            Some(ImageFile { option, uuid, path })
        };
        let given = matches.get_many::<(Uuid, PathBuf)>("blob");
        let blobs = given.into_iter().flatten().cloned().map(|(uuid, path)| {
            let option = format!("--blob uuid={uuid}");
            ImageFile { option, uuid, path }
        });
        let files = IMAGE_KINDS
            .iter()
            .filter_map(image_file)
            .chain(blobs)
            .collect();
        Ok(Self { files })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const WITH_FILES: bool> Args for FipImageOptions<WITH_FILES> {
    fn augment_args(command: clap::Command) -> clap::Command {
        // `options_help` lists these options compactly.
        let new = |name: &'static str| clap::Arg::new(name).long(name).hide(true);
        let options = IMAGE_KINDS.iter().map(|kind| {
            let option = new(kind.option);
            match WITH_FILES {
                true => option
                    .value_name("FILE")
                    .value_parser(clap::value_parser!(PathBuf)),
                false => option.action(ArgAction::SetTrue),
            }
        });
        let blob_option = new("blob").action(ArgAction::Append);
        let blob_option = match WITH_FILES {
            true => blob_option.value_name("uuid=U,file=F").value_parser(blob),
            false => blob_option.value_name("uuid=U").value_parser(bare_uuid),
        };
        command.args(options.chain([blob_option]))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// Returns a line that lists the image options, with or without files. clap wraps it.
pub(super) fn options_help(with_files: bool) -> String {
    let (heading, blob) = match with_files {
        true => ("Images, each with a FILE", "uuid=U,file=F"),
        false => ("Images", "uuid=U"),
    };
    let options = IMAGE_KINDS
        .iter()
        .map(|kind| kind.option)
        .map(|option| format!("--{option} "))
        .collect::<String>();
    format!("{heading}: {options}--blob {blob}\n")
}

/// Returns the FIP at `path`, or an error if firmware would not accept it. Prints warnings.
pub(super) fn open(what: &str, path: &Path) -> Result<Fip> {
    let file = read_file::read(what, path, PACKAGE_MAX)?;
    let (fip, warning) = Fip::read(&file).with_context(|| format!("{what} {}", path.display()))?;
    warning.iter().for_each(|warning| warn(path, warning));
    Ok(fip)
}

/// Returns the FIP at `path`, for inspection or repair. Prints any faults as warnings.
pub(super) fn inspect(path: &Path) -> Result<Fip> {
    const WHAT: &str = "the FIP";
    let file = read_file::read(WHAT, path, PACKAGE_MAX)?;
    let inspected = Fip::inspect(&file).with_context(|| format!("{WHAT} {}", path.display()));
    let Inspected { fip, faults, rest } = inspected?;
    let warnings = faults.iter().chain(&rest);
    warnings.for_each(|warning| warn(path, warning));
    Ok(fip)
}

fn warn(path: &Path, warning: &str) {
    say(&format!("warning: {}: {warning}", path.display()));
}

/// Reads the images, none of which may be `out`, the output file.
pub(super) fn load(images: &Images, out: (&str, &Path)) -> Result<Vec<GivenImage>> {
    let mut given = Vec::new();
    for image in &images.files {
        let option = &image.option;
        files::check_not_input(out, (option, Some(&image.path)))?;
        given.push(GivenImage {
            option: format!("{option} {}", image.path.display()),
            uuid: image.uuid,
            data: read_file::read(option, &image.path, IMAGE_MAX)?,
        });
    }
    Ok(given)
}

/// Writes the package, and warns about what firmware does not find in it.
pub(super) fn save(out: (&str, &Path), fip: &Fip) -> Result<()> {
    for image in fip.images.iter().filter(|image| image.data.is_empty()) {
        let label = label(image.uuid);
        warn(out.1, &format!("{label} is empty and has no entry"));
    }
    if fip.images.is_empty() {
        warn(out.1, "the package has no images");
    }
    files::write(&[(out, &fip.build()?)])
}
