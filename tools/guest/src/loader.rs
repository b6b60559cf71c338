//! A Linux host with KVM, with the payload as its guest.

use std::time::Duration;

use anyhow::Result;
use runner::build::firmware_kind::FirmwareKind;
use runner::build::payload::TreeSource;
use runner::qemu::boot::payload_image::{image, stamp};
use runner::qemu::boot::{Boot, BootBuilder, BootFile};
use runner::qemu::loader::Loader;
use runner::qemu::validated_run::ValidatedRun;

use crate::kvm_host::{self, KvmHost};

/// With `-icount`, an instruction takes `1 << ICOUNT_SHIFT` nanoseconds. Linux, whose timers have
/// fixed periods, would take too long to boot if it took 16 ns. One tick of the counter is 16
/// instructions.
const ICOUNT_SHIFT: u32 = 0;

/// Linux, whose initial file system contains the image, starts the payload as a KVM guest.
#[derive(Clone, Copy, Debug)]
pub struct LinuxWithKvm;

impl Loader for LinuxWithKvm {
    fn psci_name(&self, _firmware: FirmwareKind) -> &'static str {
        "kvm"
    }

    fn title(&self, _firmware: FirmwareKind) -> &'static str {
        "KVM on an emulated Linux host"
    }

    fn uses_el2(&self) -> bool {
        true
    }

    fn icount_shift(&self) -> u32 {
        ICOUNT_SHIFT
    }

    fn linger(&self) -> Option<Duration> {
        Some(kvm_host::LINGER)
    }

    fn is_on_machine_cpus(&self) -> bool {
        false
    }

    fn find_failure(&self, log: &[u8]) -> Option<String> {
        let exit = kvm_host::find_failure(log)?;
        Some(format!(
            "the guest printed its last line, but its VMM exited {exit}"
        ))
    }

    fn explain_silence(&self, log: &str) -> Option<String> {
        let last_line = kvm_host::last_words(log).unwrap_or("nothing");
        Some(format!(
            "the last line from the payload's Linux host: {last_line}"
        ))
    }
}

impl BootBuilder for LinuxWithKvm {
    fn build_boot(&self, run: &ValidatedRun<'_>) -> Result<Boot> {
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
}
