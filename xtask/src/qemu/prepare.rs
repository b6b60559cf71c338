//! Builds everything that a run needs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use boards::{BoardFile, Conduit, LoadedFile, Stock};
use host::hex::hex;
use host::interrupt;
use host::progress::say_once;
use host::side_by_side;
use host::temporary;
use report::follow::RunWatcher;
use report::follow::stream::{self, MachineEnding, TimeLimits};
use sha2::{Digest, Sha256};
use suite::model::Verdict;
use tempfile::TempDir;

use super::command_line::{self, CommandLine};
use super::diagnosis::{self, diagnose};
use super::efi;
use super::guest_samples::GuestSamples;
use super::kvm_host::{self, KvmHost};
use super::machine::QemuMachine;
use super::machine_process::MachineProcess;
use super::monitor::Socket;
use super::other_program;
use super::positions::{self, NamedMemory};
use super::run_result::RunResult;
use super::run_spec::{Level, Payload, RunSpec};
use super::symbols::Symbols;
use crate::build::GivenStates;
use crate::build::firmware::{self, FirmwareBuild, Platform, Timestamps, Variant};
use crate::build::firmware_kind::FirmwareKind;
use crate::build::image_contents::{ImageWish, check_place, make_image};
use crate::build::payload::{self, TreeSource};
use crate::build::tf_a::{TF_A, TfA};
use crate::build::{self, bl32, flash, image};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, U_BOOT, scratch};

/// A run that has been fully prepared and can be repeated.
#[derive(Debug)]
pub struct Prepared {
    firmware: FirmwareKind,
    timeout: Duration,
    line: CommandLine,
    map: NamedMemory,
    /// The first address in memory.
    memory: u64,
    /// TF-A, if BL33 is an image that can be replaced.
    stages: Option<Stages>,
    /// BL33, or the payload if there is no TF-A; empty for a guest or an EFI application.
    image: Vec<u8>,
    /// The PATH used to find QEMU, unless the installed QEMU is used.
    path: Option<OsString>,
    /// The temporary folder for the files that the machine boots from.
    _dir: TempDir,
}

/// The file that a machine boots from, and the files that belong to it.
#[derive(Default)]
struct Boot {
    files: BootFiles,
    rest: Vec<OsString>,
    map: NamedMemory,
    stages: Option<Stages>,
    image: Vec<u8>,
}

/// The files that a machine boots from.
#[derive(Default)]
struct BootFiles {
    /// The file given to `-bios`, `-kernel` or `-initrd`, if there is one.
    file: Option<Vec<u8>>,
    /// Files to load into memory before the machine starts, and their addresses.
    in_memory: Vec<(Vec<u8>, u64)>,
}

impl BootFiles {
    /// Writes the files to `dir` and adds them to the command line.
    fn write(&self, dir: &Path, line: &mut CommandLine) -> Result<()> {
        if let (Some(bytes), Some((_, place))) = (&self.file, &mut line.boot) {
            *place = dir.join("boot.bin");
            temporary(fs::write(place, bytes))?;
        }
        line.preload.clear();
        for (number, (bytes, address)) in self.in_memory.iter().enumerate() {
            let file = dir.join(format!("memory{number}.bin"));
            temporary(fs::write(&file, bytes))?;
            line.preload.push((file, *address));
        }
        Ok(())
    }
}

/// TF-A without BL33, and how it is started.
#[derive(Clone, Debug)]
struct Stages {
    build: FirmwareBuild,
    stock: Option<Stock>,
    load_address: u64,
}

impl Stages {
    /// Returns the files that boot with `image` as BL33.
    fn with_image(&self, image: Vec<u8>) -> Result<BootFiles> {
        let loads = self.stock.iter().flat_map(|stock| &stock.loads);
        let read = |file: &LoadedFile| Ok((self.build.read(&file.from)?, file.address));
        let mut in_memory: Vec<_> = loads.map(read).collect::<Result<_>>()?;
        if !in_memory.is_empty() {
            in_memory.push((image, self.load_address));
            let file = None;
            return Ok(BootFiles { file, in_memory });
        }
        let (file, in_memory) = flash::build(&self.build, self.stock.as_ref(), image)?;
        let in_memory = in_memory.map(|image| (image, self.load_address));
        Ok(BootFiles {
            file: Some(file),
            in_memory: in_memory.into_iter().collect(),
        })
    }
}

/// A validated request for a run, along with the machine.
struct Asked<'a> {
    workspace: &'a Workspace,
    board: &'a BoardFile,
    machine: QemuMachine<'a>,
    spec: &'a RunSpec,
}

/// Prepares a run, executes it without showing it, and determines its verdict.
pub fn run(spec: &RunSpec) -> Result<RunResult> {
    prepare(spec)?.run(&AtomicBool::new(false), &mut RunWatcher::default())
}

/// Installs anything that is missing, and builds anything that is out of date.
pub fn prepare(spec: &RunSpec) -> Result<Prepared> {
    let workspace = Workspace::find()?;
    // A read-only target folder is an error only if something must be built.
    let _ = scratch::remove_left(&workspace);
    let board = boards::load(&spec.board)?;
    let machine = machine(&board, spec)?;
    let tf_a = locate(&workspace, spec)?;
    machine.check_version(&workspace)?;
    machine.check_model(&workspace)?;
    if let Some(why) = &machine.recipe.no_cpu_off {
        say_once(&format!("warning: CPUs will not be turned off: {why}"));
    }
    let is_other = machine.cpu != machine.recipe.cpu;
    if let Some(doubt) = diagnosis::doubt(spec.firmware, machine.cpu).filter(|_| is_other) {
        say_once(&format!("warning: {doubt}"));
    }
    let asked = Asked {
        workspace: &workspace,
        board: &board,
        machine,
        spec,
    };
    let mut needs = needs(spec.firmware).to_vec();
    if spec.firmware.is_tf_a() && tf_a.is_none() && !TF_A.is_there(&workspace) {
        needs.push(Need::DpkgSource);
    }
    setup::check_no_install(&workspace, &[&needs[..], &[Need::RustTarget]].concat())?;
    // Install packages while the payload is being built.
    let (boot, ()) = side_by_side(
        || match spec.firmware {
            FirmwareKind::Builtin => asked.on_builtin(),
            FirmwareKind::TfA | FirmwareKind::TfAStock => asked.on_tf_a(tf_a),
            FirmwareKind::Kvm => asked.on_kvm(),
            FirmwareKind::Efi | FirmwareKind::EfiAcpi => asked.on_edk2(),
            FirmwareKind::UBoot => asked.on_u_boot(tf_a),
        },
        || setup::ensure(&workspace, &needs),
    )?;
    let dir = temporary(tempfile::tempdir())?;
    let mut line = asked
        .machine
        .command_line(boot.files.file.as_ref().map(|_| PathBuf::new()));
    line.rest = boot.rest;
    boot.files.write(dir.path(), &mut line)?;
    // A signal during a build must prevent the machine from starting.
    interrupt::check()?;
    Ok(Prepared {
        firmware: spec.firmware,
        timeout: spec.timeout,
        line,
        map: boot.map,
        memory: board.memory_base(),
        stages: boot.stages,
        image: boot.image,
        path: None,
        _dir: dir,
    })
}

/// Returns the TF-A source requested by `spec`, if it requests one.
fn locate(workspace: &Workspace, spec: &RunSpec) -> Result<Option<TfA>> {
    let Some(dir) = &spec.tf_a else {
        return Ok(None);
    };
    let found = TfA::locate(workspace, Some(dir))?;
    let title = spec.tf_a_title.clone();
    Ok(Some(TfA {
        title: title.unwrap_or(found.title),
        ..found
    }))
}

/// Returns the packages that a run with `firmware` needs. Installing them all together is faster
/// than installing them one at a time.
fn needs(firmware: FirmwareKind) -> &'static [Need] {
    match firmware {
        FirmwareKind::Builtin | FirmwareKind::Kvm => &[Need::Qemu],
        FirmwareKind::Efi | FirmwareKind::EfiAcpi => &[Need::Qemu, Need::Aavmf],
        FirmwareKind::TfA | FirmwareKind::TfAStock => {
            &[Need::Qemu, Need::CrossCompiler, Need::Make]
        }
        FirmwareKind::UBoot => &[Need::Qemu, Need::CrossCompiler, Need::Make, Need::UBoot],
    }
}

/// Returns the machine requested by `spec`, if `board` supports it.
fn machine<'m>(board: &'m BoardFile, spec: &'m RunSpec) -> Result<QemuMachine<'m>> {
    let recipe = board.qemu.as_ref();
    let recipe = recipe.with_context(|| format!("QEMU does not emulate {}", board.title))?;
    // By default, an emulated Linux host and its guest have fewer CPUs and a different CPU model
    // than the board.
    let (cpu, cpus) = match spec.firmware {
        FirmwareKind::Kvm => (kvm_host::CPU, kvm_host::CPUS),
        _ => (recipe.cpu.as_str(), recipe.cpus),
    };
    let machine = QemuMachine {
        recipe,
        cpu: spec.cpu.as_deref().unwrap_or(cpu),
        cpus: spec.smp.unwrap_or(cpus),
        gic: spec.gic.unwrap_or(board.default_gic()),
        spec,
    };
    if spec.firmware.has_efi() && !recipe.adjustable {
        let (name, machine) = (spec.firmware.name(), &recipe.machine);
        bail!(
            "--firmware {name}: Debian does not package it for QEMU's {machine}; use --board qemu"
        );
    }
    let described = board.firmware(spec.firmware.described())?;
    let stock = described.stock.as_ref();
    if let Some(why) = stock.and_then(|stock| stock.not_on_qemu.as_ref()) {
        let name = spec.firmware.name();
        let others = board.firmware.keys().filter(|other| *other != name);
        let others = others.map(String::as_str).collect::<Vec<_>>().join(", ");
        bail!("--firmware {name}: QEMU cannot run it, because {why}; use --firmware {others}");
    }
    board.check_gic(spec.gic)?;
    machine.check(described, board.default_gic())?;
    let variants = ["pmf=new", "pmf=off"].map(|pmf| Variant::default().with(pmf));
    let has_own = !variants.contains(&spec.variant) || spec.fault.is_some() || spec.bl32.is_some();
    if described.stock.is_some() && has_own {
        let title = &board.title;
        bail!(
            "{title} runs TF-A's own platform, which supports neither --fault nor --bl32, nor any \
             --variant except pmf=off"
        );
    }
    Ok(machine)
}

impl Asked<'_> {
    /// Returns the given image, or builds one, with a memory map that does not yet contain its
    /// address.
    /// The device tree contains the idle states in `states`.
    fn image(&self, states: GivenStates) -> Result<(Vec<u8>, NamedMemory)> {
        let (spec, machine) = (self.spec, &self.machine);
        let mut map = NamedMemory::default();
        if spec.firmware == FirmwareKind::UBoot {
            setup::ensure(self.workspace, &[Need::UBoot])?;
            return Ok((fs::read(U_BOOT).context(U_BOOT)?, map));
        }
        if let Payload::Image(image) = &spec.payload {
            map.size = image.len() as u64;
            return Ok((image.clone(), map));
        }
        let wish = ImageWish {
            cpus: machine.cpus,
            gic: machine.gic,
            firmware: spec.firmware,
            // QEMU without EL2 implements PSCI via HVC, as do hypervisors for their guests.
            conduit: match (spec.firmware, spec.level) {
                (FirmwareKind::Builtin, Level::El1) | (FirmwareKind::Kvm, _) => Conduit::Hvc,
                _ => self.board.psci.conduit,
            },
            variant: spec.variant,
            states,
            args: spec.args.as_deref(),
            emulated: true,
        };
        let image = make_image(self.workspace, self.board, &wish, &spec.tree, None)?;
        match spec.firmware {
            FirmwareKind::Builtin => {
                let loaded_at = positions::loaded_at(self.board.memory_base(), &image);
                check_place(&image, loaded_at, &spec.tree)?;
            }
            firmware if firmware.is_tf_a() => {
                check_place(&image, self.board.load_address, &spec.tree)?;
            }
            // The host chooses the address.
            _ => {}
        }
        let elf = payload::elf(self.workspace);
        let elf = fs::read(&elf).with_context(|| elf.display().to_string())?;
        map.payload = Symbols::of(&elf);
        map.samples = Symbols::variable(&elf, "::run::SAMPLES");
        map.size = image.len() as u64;
        Ok((image, map))
    }

    /// Stores a digest of the machine and the firmware in the parameter block of `image`. An image
    /// of another program has no such block.
    fn stamp(&self, image: &mut [u8], firmware: Option<&FirmwareBuild>) -> Result<()> {
        let line = self.machine.command_line(None);
        let CommandLine {
            machine,
            cpu,
            memory_mib,
            options,
            ..
        } = &line;
        let mut hash = Sha256::new();
        hash.update(format!("{machine} {cpu} {memory_mib} {options:?}"));
        if let Some(firmware) = firmware {
            firmware.add_to(&mut hash)?;
        }
        let hash = hash.finalize();
        let (digest, _) = hash.split_first_chunk().expect("a hash has 32 bytes");
        image::set_digest(image, u64::from_le_bytes(*digest));
        Ok(())
    }

    fn on_builtin(&self) -> Result<Boot> {
        let (mut file, mut map) = self.image(self.spec.states)?;
        self.stamp(&mut file, None)?;
        map.image = positions::loaded_at(self.board.memory_base(), &file);
        // If this tool does not provide a tree, QEMU's own tree contains the boot arguments.
        let args = self.spec.args.iter();
        let args = args.filter(|_| self.spec.tree == TreeSource::None);
        let append = args.flat_map(|args| ["-append", args]);
        Ok(Boot {
            image: file.clone(),
            files: BootFiles {
                file: Some(file),
                ..BootFiles::default()
            },
            rest: append.map(OsString::from).collect(),
            map,
            ..Boot::default()
        })
    }

    fn on_tf_a(&self, tf_a: Option<TfA>) -> Result<Boot> {
        let load_address = self.board.load_address;
        let described = self.board.firmware(self.spec.firmware.described())?;
        let stock = described.stock.as_ref();
        let mut states = self.spec.states;
        let mut tf_a = tf_a;
        if let Some(stock) = stock {
            let source = tf_a.map_or_else(|| TfA::locate(self.workspace, None), Ok)?;
            source.check_stock(stock)?;
            if let Some(lack) = source.lacks_power_down(stock)? {
                say_once(&format!("warning: {lack}"));
                states = states.without_power_down();
            }
            tf_a = Some(source);
        }
        let ((mut image, mut map), build) =
            side_by_side(|| self.image(states), || self.firmware(tf_a, described))?;
        self.stamp(&mut image, Some(&build))?;
        map.image = load_address;
        // CPUs that have not been powered on yet wait in BL1.
        let stage = |file: &str| symbols(&build.dir.join(file));
        map.firmware = stage("bl31.elf").and(stage("bl1.elf"));
        let stages = Stages {
            build,
            stock: stock.cloned(),
            load_address,
        };
        let starts_at = stock.and_then(|stock| stock.starts_at);
        let rest = starts_at.map_or_else(Vec::new, |address| {
            let cpus = 0..self.machine.recipe.cpus;
            cpus.flat_map(|cpu| command_line::start(cpu, address))
                .collect()
        });
        Ok(Boot {
            files: stages.with_image(image.clone())?,
            image,
            rest,
            map,
            stages: Some(stages),
        })
    }

    /// Builds the firmware `described` in the board file, from `tf_a` or, by default, from the
    /// pinned source.
    fn firmware(&self, tf_a: Option<TfA>, described: &boards::Firmware) -> Result<FirmwareBuild> {
        let spec = self.spec;
        let tf_a = tf_a.map_or_else(|| TfA::locate(self.workspace, None), Ok)?;
        let variant = match spec.fault {
            Some(_) => spec.variant.with("faults=1"),
            None => spec.variant,
        };
        let gic = self.machine.gic;
        let mut platform = match &described.stock {
            Some(stock) => {
                let timestamps = Timestamps::find(described.pmf, &tf_a.dir, &tf_a.version);
                let mut platform = Platform::of_board(self.workspace, self.board, stock, gic);
                if variant.has("pmf=off") {
                    // TF-A's implementation of PSCI_STAT needs PMF.
                    platform.add_variables(&["ENABLE_PSCI_STAT=0".to_owned()]);
                } else {
                    platform.add_variables(timestamps.variables());
                }
                platform
            }
            None => Platform::overlay(self.workspace, &spec.board, gic, variant),
        };
        if spec.bl32.is_some() {
            platform.add_variables(&bl32::VARIABLES.map(str::to_owned));
        }
        let build = firmware::build(self.workspace, &tf_a, &platform)?;
        Ok(FirmwareBuild {
            bl32: spec.bl32.clone(),
            ..build
        })
    }

    /// Builds the EFI application. EFI chooses the image address, so the image cannot be in the
    /// memory map.
    fn application(&self, firmware: Option<&FirmwareBuild>) -> Result<Vec<u8>> {
        let image = image::bare(payload::flat(self.workspace)?)?;
        let mut application = build::efi::build(self.workspace, &image, None)?;
        // The application contains the image.
        self.stamp(&mut application, firmware)?;
        Ok(application)
    }

    fn on_edk2(&self) -> Result<Boot> {
        Ok(Boot {
            files: BootFiles {
                file: Some(self.application(None)?),
                ..BootFiles::default()
            },
            rest: efi::edk2(self.spec.args.as_deref()),
            ..Boot::default()
        })
    }

    fn on_u_boot(&self, tf_a: Option<TfA>) -> Result<Boot> {
        let mut boot = self.on_tf_a(tf_a)?;
        let stages = boot.stages.take();
        let application = self.application(stages.as_ref().map(|stages| &stages.build))?;
        let args = self.spec.args.as_deref();
        let environment = efi::environment(&efi::start_command(application.len()), args);
        boot.files.in_memory = vec![
            (application, efi::APPLICATION),
            (environment, efi::ENVIRONMENT),
        ];
        // BL33 is U-Boot, so it cannot be replaced, and the stages are not kept.
        Ok(boot)
    }

    fn on_kvm(&self) -> Result<Boot> {
        let (mut image, map) = self.image(self.spec.states)?;
        self.stamp(&mut image, None)?;
        let args = self.spec.args.as_deref();
        let args = args.filter(|_| self.spec.tree == TreeSource::None);
        let vmm = kvm_host::qemu(self.machine.gic, self.machine.cpus, args);
        let linux = KvmHost::ready(self.workspace)?;
        Ok(Boot {
            files: BootFiles {
                file: Some(linux.initramfs(&vmm, &[(kvm_host::IMAGE, &*image)])?),
                ..BootFiles::default()
            },
            rest: linux.arguments().into(),
            map,
            ..Boot::default()
        })
    }
}

impl Prepared {
    /// Returns the same machine with `image` as BL33.
    pub fn with_image(&self, image: Vec<u8>) -> Result<Self> {
        let stages = self.stages.as_ref().context("BL33 cannot be replaced")?;
        let mut map = self.map.clone();
        map.size = image.len() as u64;
        let dir = temporary(tempfile::tempdir())?;
        let mut line = self.line.clone();
        stages
            .with_image(image.clone())?
            .write(dir.path(), &mut line)?;
        Ok(Self {
            line,
            map,
            stages: self.stages.clone(),
            image,
            path: self.path.clone(),
            _dir: dir,
            ..*self
        })
    }

    /// Returns BL33, or the payload if there is no TF-A.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// Returns the parts of memory for which function names are known.
    pub fn map(&self) -> &NamedMemory {
        &self.map
    }

    /// Sets the value of PATH used to find QEMU.
    pub fn set_path(&mut self, path: OsString) {
        self.path = Some(path);
    }

    /// Adds a TCG plugin. `argument` is the plugin file followed by its arguments.
    pub fn add_plugin(&mut self, argument: &OsStr) {
        self.line.rest.extend(["-plugin".into(), argument.into()]);
    }

    /// Returns the path of the BL31 ELF file, or None if BL33 is not an image of the payload under
    /// TF-A.
    pub fn bl31(&self) -> Option<PathBuf> {
        let stages = self.stages.as_ref()?;
        Some(stages.build.dir.join("bl31.elf"))
    }

    /// Returns a hash of the machine and everything that it starts. Identical runs have the same
    /// hash.
    pub fn identity(&self) -> Result<String> {
        let line = &self.line;
        let mut hash = Sha256::new();
        let in_memory = line.preload.iter().map(|(file, _)| file);
        let boot = line.boot.iter().map(|(_, file)| file);
        for file in boot.chain(in_memory) {
            hash.update(fs::read(file).with_context(|| file.display().to_string())?);
        }
        let (machine, cpu, memory) = (&line.machine, &line.cpu, &line.memory_mib);
        hash.update(format!("{machine} {cpu} {memory} {:?}", line.options));
        Ok(hex(&hash.finalize()))
    }

    /// Returns the QEMU command line. The files that it names exist as long as `self` does.
    pub fn command_line(&self) -> &CommandLine {
        &self.line
    }

    /// Returns the payload's sample count in the memory of the machine that `process` runs, or None
    /// if its place is unknown.
    fn samples(&self, process: u32) -> Option<GuestSamples> {
        // A guest's image address is in the guest's own address space, so it is not an offset in
        // this memory.
        let offset = self.map.image.checked_sub(self.memory)? + self.map.samples?;
        let size = self.line.memory_mib.parse::<u64>().ok()? << 20;
        Some(GuestSamples::new(process, size, offset))
    }

    /// Runs the machine and determines the verdict. `watcher` receives the UART output as it
    /// arrives, and `interrupt` ends the run.
    pub fn run(&self, interrupt: &AtomicBool, watcher: &mut RunWatcher<'_>) -> Result<RunResult> {
        let mut command = command_line::command(&self.line.arguments());
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        let dir = temporary(tempfile::tempdir())?;
        let of_kvm = self.firmware == FirmwareKind::Kvm;
        // The positions of the Linux CPUs reveal nothing about the guest's CPUs.
        let socket = Socket::within(dir.path()).filter(|_| !of_kvm);
        command.args(socket.iter().flat_map(Socket::arguments));
        let mut positions = Vec::new();
        let mut look = || {
            if let Some(socket) = &socket {
                positions = positions::ask(socket, &self.map);
            }
        };
        let mut limits = TimeLimits::from(self.timeout);
        if of_kvm {
            limits.linger = kvm_host::LINGER;
        }
        let process = MachineProcess::start(&mut command)?;
        watcher.samples = match self.samples(process.id()) {
            Some(mut samples) => Some(Box::new(move || samples.read())),
            None => None,
        };
        let outcome = process.follow(limits, interrupt, watcher, &mut look)?;
        let verdict = match outcome.ending {
            MachineEnding::Interrupted => None,
            _ => stream::closing(&outcome.log)
                .or_else(|| other_program::verdict(&self.image, &outcome.log)),
        };
        if of_kvm && let Some(how) = kvm_host::trouble(&outcome.log) {
            bail!("the guest printed its last line, but its VMM exited {how}");
        }
        if let Some(said) = diagnosis::refused_fault(&outcome.log) {
            bail!("--fault: the firmware reports {said}");
        }
        let context = diagnosis::Context {
            firmware: self.firmware,
            cpu: &self.line.cpu,
            timeout: self.timeout.as_secs(),
            image: &self.image,
        };
        let diagnosis = || diagnose(&outcome, &context);
        if diagnosis::refused(&outcome) {
            bail!(diagnosis());
        }
        Ok(RunResult {
            verdict: verdict.unwrap_or(Verdict::Incomplete),
            diagnosis: verdict.is_none().then(diagnosis),
            positions,
            ending: outcome.ending,
            elapsed: outcome.elapsed,
            log: outcome.log,
        })
    }
}

/// Returns the functions in the ELF file at `elf`, or none if it cannot be read. Without these
/// functions, the diagnosis of a hung run has less detail.
fn symbols(elf: &Path) -> Symbols {
    fs::read(elf).map_or_else(|_| Symbols::default(), |elf| Symbols::of(&elf))
}
