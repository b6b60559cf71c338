//! A job for LAVA, and a device dictionary for QEMU.

use psci_bench::plan::Plan;

use super::engine::Names;
use super::monitors;
use super::qemu::Machine;
use super::yaml::{list, quoted};
use crate::board::{Deploy, Lab};

/// Where the board is, and what gets onto it.
pub(super) enum Way<'w> {
    /// LAVA starts QEMU with these files.
    Qemu(&'w Machine),
    /// LAVA puts the recovery image on the board.
    Board(&'w Lab),
}

/// What a job is made of.
pub(super) struct Job<'j> {
    /// How it is called.
    pub names: &'j Names,
    /// LAVA's name for the board.
    pub device_type: &'j str,
    /// Tags that a device has to have.
    pub tags: &'j [String],
    /// How long it may take.
    pub minutes: u32,
    /// Where the files of the cell are for LAVA; ends without a slash.
    pub url: &'j str,
    /// The recovery image's name there.
    pub file: &'j str,
    /// How it gets onto the board.
    pub way: Way<'j>,
    /// What the payload runs.
    pub plan: &'j Plan,
    /// On how many CPUs.
    pub cpus: u32,
    /// Whether it fails where something is skipped.
    pub deny_skipped: bool,
}

/// The job.
pub(super) fn job(job: &Job<'_>) -> String {
    let Names {
        board, firmware, ..
    } = job.names;
    let minutes = job.minutes;
    let mut out = format!(
        "# psci-bench on {board}, firmware {firmware}: a job for LAVA.\n\
         #\n\
         # To change for your lab: device_type, tags, priority, visibility, and the\n\
         # addresses behind `url`, which have to be where LAVA's dispatcher can read them\n\
         # (cargo xtask lab --url, --device-type, --tags).\n\
         #\n\
         # A job whose test cases fail is a finished job to LAVA: `cargo xtask report\n\
         # --matrix` on its results ends with an exit code by what they say.\n\
         job_name: {}\n\
         device_type: {}\n\
         priority: medium\n\
         visibility: public\n",
        quoted(&format!("psci-bench {board} {firmware}")),
        quoted(job.device_type),
    );
    if !job.tags.is_empty() {
        let tags = list(job.tags.iter().map(String::as_str));
        out.push_str(&format!("tags: {tags}\n"));
    }
    out.push_str(&format!(
        "timeouts:\n  job: {{minutes: {minutes}}}\n  action: {{minutes: {minutes}}}\n  \
         connection: {{minutes: {minutes}}}\n"
    ));
    match &job.way {
        Way::Qemu(machine) => qemu(job, machine, &mut out),
        Way::Board(lab) => board_actions(job, lab, &mut out),
    }
    out.push_str(&format!(
        "    timeout: {{minutes: {minutes}}}\n    \
         # In the order of the output, of which LAVA sees each part once: a scenario, then\n    \
         # a monitor for each number of each CPU's row. The metric is the test suite.\n    \
         monitors:\n"
    ));
    out + &monitors::write(job.plan, job.cpus, job.deny_skipped)
}

fn qemu(job: &Job<'_>, machine: &Machine, out: &mut String) {
    out.push_str(&format!(
        "# What a server's own dictionary makes of qemu.jinja2. The device.yaml beside this\n\
         # file, for lava-run without a server, has all of it already.\n\
         context:\n  arch: arm64\n  machine: {}\n  cpu: {}\n  memory: {}\n  extra_options:\n",
        quoted(&machine.machine),
        quoted(&machine.cpu),
        machine.memory_mib,
    ));
    // The network device that the template adds wants no file of Debian's.
    let rom = "-global virtio-net-pci.romfile=".to_owned();
    for option in machine.options.iter().chain([&rom]) {
        out.push_str(&format!("  - {}\n", quoted(option)));
    }
    out.push_str("actions:\n- deploy:\n    to: tmpfs\n    images:\n");
    for image in &machine.images {
        out.push_str(&format!(
            "      {}:\n        image_arg: {}\n        url: {}\n",
            image.label,
            quoted(&image.argument),
            quoted(&format!("{}/{}", job.url, image.file)),
        ));
    }
    out.push_str(
        "- boot:\n    method: qemu\n    media: tmpfs\n    parameters: {kernel-start-message: ''}\n    \
         # Seen and left there: the monitors begin with it.\n    \
         prompts: ['(?=Booting trusted firmware test framework|psci-bench: INCOMPLETE)']\n\
         - test:\n",
    );
}

fn board_actions(job: &Job<'_>, lab: &Lab, out: &mut String) {
    let url = quoted(&format!("{}/{}", job.url, job.file));
    let console = lab.console.as_ref();
    // With two connections, each has a namespace of its own.
    let space = |name: &str| match console {
        Some(_) => format!("    namespace: {name}\n"),
        None => String::new(),
    };
    out.push_str(&format!("actions:\n- deploy:\n{}", space("recovery")));
    match lab.deploy {
        Deploy::Vemsd => out.push_str(&format!(
            "    to: vemsd\n    recovery_image:\n      url: {url}\n      compression: zip\n"
        )),
        Deploy::Flasher => out.push_str(&format!(
            "    to: flasher\n    images:\n      recovery_image:\n        url: {url}\n        \
             compression: zip\n"
        )),
    }
    out.push_str(&format!(
        "- boot:\n{}    method: minimal\n",
        space("recovery")
    ));
    if let Some(prompt) = &lab.prompt {
        out.push_str(&format!(
            "    parameters: {{kernel-start-message: ''}}\n    prompts: {}\n",
            list([prompt.as_str()])
        ));
    }
    if let Some(console) = console {
        out.push_str(&format!(
            "- boot:\n    namespace: {console}\n    method: new_connection\n    \
             # The connection of BL33's UART in the lab's device dictionary.\n    \
             connection: {console}\n"
        ));
    }
    out.push_str("- test:\n");
    if let Some(console) = console {
        out.push_str(&format!(
            "    namespace: {console}\n    connection-namespace: {console}\n"
        ));
    }
}

/// The device dictionary of this QEMU, for `lava-run` without a server.
pub(super) fn device(machine: &Machine) -> String {
    let mut options = vec![
        format!("-M {}", machine.machine),
        format!("-cpu {}", machine.cpu),
        format!("-m {}", machine.memory_mib),
        "-display none -nic none -monitor none -serial stdio".to_owned(),
    ];
    options.extend(machine.options.iter().cloned());
    let options: String = options
        .iter()
        .map(|option| format!("          - {}\n", quoted(option)))
        .collect();
    format!(
        "# QEMU as a device of LAVA's, for lava-run without a server. A server has\n\
         # dictionaries of its own: device.jinja2 beside this file is one.\n\
         device_type: qemu\n\
         available_architectures: [arm64]\n\
         # LAVA wants these to be there.\n\
         constants: {{failure_retry: 1, boot_retry: null, kernel-start-message: ''}}\n\
         commands: {{}}\n\
         parameters: {{}}\n\
         timeouts: {{actions: {{}}, connections: {{}}}}\n\
         actions:\n  deploy:\n    connections: {{serial: null}}\n    methods:\n      \
         image: {{parameters: {{}}}}\n  boot:\n    connections: {{serial: null}}\n    methods:\n      \
         qemu:\n        parameters:\n          command: {}\n          options:\n{options}",
        crate::qemu::PROGRAM
    )
}

/// The same for a server: what the job's context does not say.
pub(super) const DICTIONARY: &str = "\
{# QEMU as a device of a LAVA server: copy it to
   /etc/lava-server/dispatcher-config/devices/NAME.jinja2 for each that there is to
   be. All that this board needs is in the context of the job. #}
{% extends 'qemu.jinja2' %}
{% set mac_addr = '52:54:00:12:34:58' %}
";
