//! The image of the payload: built, or given by the user.

use std::ffi::OsString;
use std::num::NonZero;
use std::thread;

use anyhow::Result;
use boards::Conduit;
use host::read_file;
use sha2::{Digest, Sha256};
use suite::plan::Key;

use super::boot::{Boot, BootFile};
use crate::build::boot_arguments::with_default;
use crate::build::firmware::FirmwareBuild;
use crate::build::firmware_kind::FirmwareKind;
use crate::build::image_contents::{ImageOptions, check_place, make_image};
use crate::build::payload::{self, TreeSource};
use crate::build::{GivenStates, image};
use crate::qemu::positions::{self, NamedMemory};
use crate::qemu::run_spec::{Level, Payload, RunSpec};
use crate::qemu::symbols::Symbols;
use crate::qemu::validated_run::ValidatedRun;

/// Boots the image with QEMU's own implementation of PSCI.
pub fn builtin(run: &ValidatedRun<'_>) -> Result<Boot> {
    let mut boot = image(run, run.spec.states)?;
    stamp(run, &mut boot.image, None)?;
    boot.map.image = positions::loaded_at(run.board.memory_base(), &boot.image);
    boot.file = Some(BootFile {
        option: "-kernel",
        contents: boot.image.clone(),
    });
    // If this tool does not provide a tree, QEMU's own tree contains the boot arguments.
    if let (TreeSource::None, Some(args)) = (&run.spec.tree, &run.spec.args) {
        boot.arguments = vec![OsString::from("-append"), args.into()];
    }
    Ok(boot)
}

/// Returns the given image, or builds one, with a memory map that does not yet contain its
/// address. There are no files yet. The device tree contains the idle states in `states`.
pub fn image(run: &ValidatedRun<'_>, states: GivenStates) -> Result<Boot> {
    let spec = run.spec;
    let machine = &run.machine;
    let boot_with_map = |image: Vec<u8>, map: NamedMemory| Boot {
        image,
        map,
        ..Boot::default()
    };
    if let Payload::Image(image) = &spec.payload {
        let map = NamedMemory {
            size: image.len() as u64,
            ..NamedMemory::default()
        };
        return Ok(boot_with_map(image.clone(), map));
    }
    let args = boot_arguments(spec);
    let options = ImageOptions {
        cpus: machine.cpus,
        gic: machine.gic,
        firmware: machine.loader.psci_name(spec.firmware),
        // QEMU without EL2 implements PSCI via HVC, as do hypervisors for their guests.
        conduit: match (spec.firmware, spec.level) {
            (FirmwareKind::Builtin, Level::El1) => Conduit::Hvc,
            _ => run.board.psci.conduit,
        },
        variant: spec.variant,
        states,
        args: args.as_deref(),
        emulated: true,
    };
    let image = make_image(run.workspace, run.board, &options, &spec.tree, None)?;
    // A hypervisor chooses the address.
    if machine.loader.is_on_machine_cpus() {
        let loaded_at = match spec.firmware {
            FirmwareKind::Builtin => positions::loaded_at(run.board.memory_base(), &image),
            FirmwareKind::TfA | FirmwareKind::TfAStock => run.board.load_address,
        };
        check_place(&image, loaded_at, &spec.tree)?;
    }
    let path = payload::elf(run.workspace);
    let elf = read_file::read_own(&path)?;
    let map = NamedMemory {
        size: image.len() as u64,
        payload: Symbols::of(&elf),
        samples: Symbols::variable(&elf, "::run::SAMPLES"),
        ..NamedMemory::default()
    };
    Ok(boot_with_map(image, map))
}

/// Returns the user's boot arguments and how many CPUs of the host QEMU runs on, unless that is
/// unknown or would replace the boot arguments of the user's tree.
fn boot_arguments(spec: &RunSpec) -> Option<String> {
    let given = spec.args.as_deref();
    let is_from_tree = given.is_none() && !matches!(spec.tree, TreeSource::Board);
    let is_known = spec.runs_here || spec.icount;
    if is_from_tree || !is_known {
        return spec.args.clone();
    }
    let host_cpus = if spec.icount {
        0
    } else {
        thread::available_parallelism().map_or(1, NonZero::get)
    };
    Some(with_default(given, Key::HostCpus, &host_cpus.to_string()))
}

/// Stores a digest of the machine and the firmware in the parameter block of `image`. An image
/// of another program has no such block.
pub fn stamp(
    run: &ValidatedRun<'_>,
    image: &mut [u8],
    firmware: Option<&FirmwareBuild>,
) -> Result<()> {
    let mut hasher = Sha256::new();
    hasher.update(run.machine.command_line().machine_text());
    if let Some(firmware) = firmware {
        firmware.add_to(&mut hasher)?;
    }
    let hash = hasher.finalize();
    let (digest, _) = hash.split_first_chunk().expect("a hash has 32 bytes");
    image::set_digest(image, u64::from_le_bytes(*digest));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_told_about_the_clock_unless_the_user_says_it() {
        let of_host = thread::available_parallelism().expect("a number");
        let of_host = format!("host-cpus={of_host}");
        for (options, args, expected) in [
            ("", None, Some(of_host.clone())),
            (
                "",
                Some("only=first"),
                Some(format!("only=first {of_host}")),
            ),
            ("--icount", None, Some("host-cpus=0".to_owned())),
            ("", Some("host-cpus=9"), Some("host-cpus=9".to_owned())),
        ] {
            let spec = RunSpec {
                args: args.map(str::to_owned),
                ..RunSpec::parse(options).expect(options)
            };
            assert_eq!(boot_arguments(&spec), expected);
        }
        let of_user = RunSpec {
            tree: TreeSource::Raw(Vec::new()),
            ..RunSpec::default()
        };
        assert_eq!(boot_arguments(&of_user), None);
        let elsewhere = RunSpec {
            runs_here: false,
            ..RunSpec::default()
        };
        assert_eq!(boot_arguments(&elsewhere), None);
    }
}
