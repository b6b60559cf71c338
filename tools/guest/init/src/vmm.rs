//! A minimal virtual machine monitor that uses the kvmtool layout. It can boot an arm64 Image that
//! prints to the UART and turns the machine off.
//!
//! The layout follows kvmtool (`arm64/`, 2015 and later). Memory starts at 2 GiB, with the image at
//! its `text_offset` and the device tree just below the end of the first 256 MiB, aligned to 2 MiB.
//! The GIC distributor is just below 1 GiB, and the CPU interface or redistributors are just below
//! the distributor. The 16550 UART is at 16 MiB (since 2021) or, in older versions, at 0x3f8, its
//! I/O port number on PCs. KVM provides PSCI.
//!
//! ```text
//! /init vmm IMAGE TREE CPUS GIC UART MIB
//! ```

use std::convert::Infallible;
use std::io::{self, Stdout};
use std::sync::{Mutex, PoisonError};
use std::{fs, process, thread};

use anyhow::{Context, Result, bail};
use kvm_bindings::{
    KVM_ARM_VCPU_POWER_OFF, KVM_ARM_VCPU_PSCI_0_2, KVM_DEV_ARM_VGIC_CTRL_INIT,
    KVM_DEV_ARM_VGIC_GRP_ADDR, KVM_DEV_ARM_VGIC_GRP_CTRL, KVM_REG_ARM_CORE, KVM_REG_ARM64,
    KVM_REG_SIZE_U64, KVM_SYSTEM_EVENT_RESET, KVM_SYSTEM_EVENT_SHUTDOWN, KVM_VGIC_V2_ADDR_TYPE_CPU,
    KVM_VGIC_V2_ADDR_TYPE_DIST, KVM_VGIC_V3_ADDR_TYPE_DIST, KVM_VGIC_V3_ADDR_TYPE_REDIST,
    kvm_create_device, kvm_device_attr, kvm_device_type_KVM_DEV_TYPE_ARM_VGIC_V2,
    kvm_device_type_KVM_DEV_TYPE_ARM_VGIC_V3, kvm_userspace_memory_region, kvm_vcpu_init,
};
use kvm_ioctls::{DeviceFd, Kvm, VcpuExit, VcpuFd, VmFd};
use vm_superio::serial::NoEvents;
use vm_superio::{Serial, Trigger};

use crate::host::say;

const MEMORY: u64 = 0x8000_0000;
/// The size of the region at the start of memory that contains the device tree.
const LOW_MEMORY: u64 = 256 << 20;
const ALIGN: u64 = 2 << 20;
const DISTRIBUTOR: u64 = 0x3fff_0000;
const CPU_INTERFACE: u64 = 0x3ffd_0000;
const REDISTRIBUTOR_SIZE: u64 = 0x2_0000;

/// The ID of the core register at offset 0 in `struct kvm_regs`. The ID of any other core register
/// is this ID ORed with the register's offset in 32-bit words.
const CORE: u64 = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE as u64;
const X0: u64 = CORE;
const PC: u64 = CORE | 64;

/// The UART interrupt, which is not connected to any CPU.
struct Unconnected;

impl Trigger for Unconnected {
    type E = Infallible;

    fn trigger(&self) -> Result<(), Infallible> {
        Ok(())
    }
}

type GuestUart = Serial<Unconnected, NoEvents, Stdout>;

/// The size of the UART, which has eight one-byte registers.
const UART_SIZE: u64 = 8;

/// The parameters for a run.
struct GuestOptions {
    image: Vec<u8>,
    tree: Vec<u8>,
    cpus: u64,
    gic: u64,
    uart: u64,
    memory: u64,
}

/// Runs a guest until it turns itself off.
pub fn run(arguments: &[String]) -> Result<()> {
    let options = &GuestOptions::parse(arguments)?;
    let kvm = Kvm::new().context("/dev/kvm")?;
    let vm = kvm.create_vm().context("no VM")?;
    let (entry, tree) = load(&vm, options)?;
    let mut cpus = Vec::new();
    for index in 0..options.cpus {
        cpus.push(cpu(&vm, index).with_context(|| format!("CPU {index}"))?);
    }
    // The GIC exists for as long as this handle does.
    let _gic = gic(&vm, options)?;
    if let Some(first) = cpus.first() {
        for (register, value) in [(X0, tree), (PC, entry)] {
            first
                .set_one_reg(register, &value.to_le_bytes())
                .with_context(|| format!("register {register:#x}"))?;
        }
    }
    let uart = &Mutex::new(Serial::new(Unconnected, io::stdout()));
    thread::scope(|scope| {
        for mut cpu in cpus {
            scope.spawn(move || {
                // The first CPU thread to end also ends the process.
                let result = run_cpu(&mut cpu, options.uart, uart);
                if let Err(error) = &result {
                    say(&format!("{error:#}"));
                }
                process::exit(result.is_err().into())
            });
        }
    });
    Ok(())
}

impl GuestOptions {
    fn parse(arguments: &[String]) -> Result<Self> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ["vmm", image, tree, cpus, gic, uart, mib] = words[..] else {
            bail!("expected vmm and six arguments: {words:?}");
        };
        let file = |path: &str| fs::read(path).with_context(|| path.to_owned());
        let number = |text: &str| {
            let digits = text.strip_prefix("0x");
            let parsed = digits.map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
            parsed.with_context(|| text.to_owned())
        };
        Ok(Self {
            image: file(image)?,
            tree: file(tree)?,
            cpus: number(cpus)?,
            gic: number(gic)?,
            uart: number(uart)?,
            memory: number(mib)? << 20,
        })
    }
}

/// Sets up the guest's memory, copies the image and the tree into it, and returns their guest
/// addresses.
fn load(vm: &VmFd, options: &GuestOptions) -> Result<(u64, u64)> {
    // The memory is leaked on purpose, because the guest uses it until the process exits.
    let allocated = vec![0u8; (options.memory + ALIGN) as usize].leak();
    let skip = allocated.as_ptr().align_offset(ALIGN as usize);
    let memory = &mut allocated[skip..];
    let field = options
        .image
        .get(8..)
        .and_then(|header| header.first_chunk());
    let offset = u64::from_le_bytes(*field.context("the image has no header")?);
    let low = options.memory.min(LOW_MEMORY);
    let room = ALIGN.max(options.tree.len() as u64);
    let tree = low.checked_sub(room).context("not enough memory")? & !(ALIGN - 1);
    for (what, at, bytes) in [
        ("image", offset, &options.image),
        ("tree", tree, &options.tree),
    ] {
        memory
            .get_mut(at as usize..at as usize + bytes.len())
            .with_context(|| format!("not enough memory for the {what}"))?
            .copy_from_slice(bytes);
    }
    let region = kvm_userspace_memory_region {
        slot: 0,
        flags: 0,
        guest_phys_addr: MEMORY,
        memory_size: options.memory,
        userspace_addr: memory.as_mut_ptr() as u64,
    };
    // SAFETY: the region is `options.memory` bytes in a leaked allocation, and no reference to it is
    // used from here on. The guest has no other memory region.
    unsafe { vm.set_user_memory_region(region) }.context("memory")?;
    Ok((MEMORY + offset, MEMORY + tree))
}

/// Creates CPU `index`. The first CPU is on; the others wait for CPU_ON.
fn cpu(vm: &VmFd, index: u64) -> Result<VcpuFd, kvm_ioctls::Error> {
    let cpu = vm.create_vcpu(index)?;
    let mut init = kvm_vcpu_init::default();
    vm.get_preferred_target(&mut init)?;
    init.features[0] |= 1 << KVM_ARM_VCPU_PSCI_0_2;
    if index > 0 {
        init.features[0] |= 1 << KVM_ARM_VCPU_POWER_OFF;
    }
    cpu.vcpu_init(&init)?;
    Ok(cpu)
}

fn gic(vm: &VmFd, options: &GuestOptions) -> Result<DeviceFd> {
    let (kind, parts, address) = match options.gic {
        2 => (
            kvm_device_type_KVM_DEV_TYPE_ARM_VGIC_V2,
            [KVM_VGIC_V2_ADDR_TYPE_DIST, KVM_VGIC_V2_ADDR_TYPE_CPU],
            CPU_INTERFACE,
        ),
        3 => (
            kvm_device_type_KVM_DEV_TYPE_ARM_VGIC_V3,
            [KVM_VGIC_V3_ADDR_TYPE_DIST, KVM_VGIC_V3_ADDR_TYPE_REDIST],
            DISTRIBUTOR - options.cpus * REDISTRIBUTOR_SIZE,
        ),
        other => bail!("GICv{other} is not supported"),
    };
    let what = || format!("GICv{}", options.gic);
    let mut create = kvm_create_device {
        type_: kind,
        ..kvm_create_device::default()
    };
    let gic = vm.create_device(&mut create).with_context(what)?;
    let set = |group, attr: u32, addr| {
        let attribute = kvm_device_attr {
            flags: 0,
            group,
            attr: attr.into(),
            addr,
        };
        gic.set_device_attr(&attribute).with_context(what)
    };
    for (part, address) in parts.into_iter().zip([DISTRIBUTOR, address]) {
        set(KVM_DEV_ARM_VGIC_GRP_ADDR, part, &raw const address as u64)?;
    }
    set(KVM_DEV_ARM_VGIC_GRP_CTRL, KVM_DEV_ARM_VGIC_CTRL_INIT, 0)?;
    Ok(gic)
}

/// Runs one CPU until the guest turns itself off or resets.
fn run_cpu(cpu: &mut VcpuFd, base: u64, uart: &Mutex<GuestUart>) -> Result<()> {
    let register = |address: u64, length: usize| match address.checked_sub(base) {
        Some(offset) if offset < UART_SIZE && length == 1 => Ok(offset as u8),
        _ => bail!("the guest accesses {length} bytes at {address:#x}, where there is no device"),
    };
    let lock = || uart.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match cpu.run() {
            Ok(VcpuExit::MmioRead(address, data)) => {
                let value = lock().read(register(address, data.len())?);
                data.fill(value);
            }
            Ok(VcpuExit::MmioWrite(address, data)) => {
                let offset = register(address, data.len())?;
                for value in data {
                    // Ignore write errors, because they must not affect the guest.
                    let _ = lock().write(offset, *value);
                }
            }
            Ok(VcpuExit::SystemEvent(KVM_SYSTEM_EVENT_SHUTDOWN | KVM_SYSTEM_EVENT_RESET, _)) => {
                return Ok(());
            }
            Ok(other) => bail!("unexpected exit from the guest: {other:?}"),
            // EINTR and EAGAIN need no handling.
            Err(error) if matches!(error.errno(), 4 | 11) => {}
            Err(error) => return Err(error).context("KVM cannot run the guest"),
        }
    }
}
