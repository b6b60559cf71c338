//! A Linux host with KVM, with the payload as its guest.

use anyhow::Result;

use super::boot::{Boot, BootFile};
use super::payload_image::{image, stamp};
use crate::build::payload::TreeSource;
use crate::qemu::kvm_host::{self, KvmHost};
use crate::qemu::validated_run::ValidatedRun;

/// Boots Linux, whose initial file system contains the image and starts the guest.
pub fn kvm(run: &ValidatedRun<'_>) -> Result<Boot> {
    let guest = image(run, run.spec.states)?;
    let mut image = guest.image;
    stamp(run, &mut image, None)?;
    // If this tool does not provide a tree, the tree that the VMM generates contains the boot
    // arguments.
    let args = match run.spec.tree {
        TreeSource::None => run.spec.args.as_deref(),
        _ => None,
    };
    let vmm = kvm_host::qemu_command(run.machine.gic, run.machine.cpus, args);
    let linux = KvmHost::ready(run.workspace)?;
    Ok(Boot {
        file: Some(BootFile {
            option: "-initrd",
            contents: linux.initramfs(&vmm, &[(kvm_host::IMAGE, &image)])?,
        }),
        arguments: linux.arguments().into(),
        map: guest.map,
        ..Boot::default()
    })
}
