//! GICv3 and later (IHI 0069): a redistributor for each CPU, and a CPU
//! interface in system registers, by way of the `arm-gic` crate.
//!
//! That crate counts redistributors by their order, which need not be the
//! order of CPUs; and each CPU here may touch its own only. So the frame is
//! found by the affinity in GICR_TYPER, once, and kept in [`GicCpu`].

use core::sync::atomic::Ordering;

use aarch64_cpu::registers::{Readable, Writeable};
use arm_gic::gicv3::registers::{Gicd, GicdCtlr, GicrCtlr, GicrSgi};
use arm_gic::gicv3::{GicCpuInterface, GicRedistributor, Group};
use arm_gic::{IntId, InterruptGroup};
use arrayvec::ArrayVec;
use psci_bench::board::{REDISTRIBUTOR_REGIONS_MAX, Region};
use psci_bench::devices::redistributor::{self, GICR_PIDR2, is_redistributor};
use psci_bench::devices::sgi;
use safe_mmio::fields::ReadPure;
use safe_mmio::{UniqueMmioPointer, field, field_shared};

use crate::machine::cpu::instructions;
use crate::machine::cpu::registers;
use crate::machine::cpu::sysreg::{ICC_BPR1_EL1, ICC_CTLR_EL1, ICC_SGI1R_EL1, ICC_SRE_EL1};
use crate::machine::gic::target::{Acknowledged, GicCpu, GicError, PRIORITY, WAKE_SGI};
use crate::machine::memory::mmio::{Mmio, Registers};
use crate::machine::memory::probe;
use crate::machine::memory::tables::MapError;

/// Polls until a register write that stays pending is an error.
const WRITE_POLLS: u32 = 1_000_000;

const GICR_TYPER: u64 = 0x8;

/// Distributor and redistributors by address. No CPU but the lead accesses the
/// distributor. Each CPU accesses its own redistributor, and of others reads
/// registers that are constant (GICR_PIDR2, GICR_TYPER).
pub struct GicV3 {
    pub distributor: Registers,
    redistributors: ArrayVec<Registers, REDISTRIBUTOR_REGIONS_MAX>,
    stride: Option<u64>,
}

impl GicV3 {
    pub fn new(
        distributor: Registers,
        redistributors: ArrayVec<Registers, REDISTRIBUTOR_REGIONS_MAX>,
        stride: Option<u64>,
    ) -> Result<Self, MapError> {
        distributor.register_at::<Gicd>(0)?;
        Ok(Self {
            distributor,
            redistributors,
            stride,
        })
    }

    pub fn init_distributor(&self) -> Result<(), GicError> {
        let gicd = self.distributor.register_at::<Gicd>(0);
        let gicd = gicd.map_err(|_| GicError::Timeout)?;
        // SAFETY: Registers::register_at() returned it, so all of it is mapped as a
        // device. The lead alone is here, and does nothing else meanwhile.
        let mut gicd = unsafe { UniqueMmioPointer::new(gicd) };
        let mut control = field_shared!(gicd, ctlr).read();
        // Affinity routing first, since it changes what the other bits mean.
        for bits in [GicdCtlr::ARE_S, GicdCtlr::EnableGrp1NS] {
            if !control.contains(bits) {
                control |= bits;
                field!(gicd, ctlr).write(control);
            }
        }
        wait_while(|| field_shared!(gicd, ctlr).read().contains(GicdCtlr::RWP))
    }

    pub fn init_cpu(&self, own: &GicCpu, timers: &[u32]) -> Result<(), GicError> {
        if !registers::has_gic_registers() {
            return Err(GicError::NoSystemRegisters);
        }
        if registers::exception_level() == 2 {
            GicCpuInterface::enable_system_register_el2(true);
            instructions::complete_accesses();
        }
        GicCpuInterface::enable_system_register_el1();
        instructions::complete_accesses();
        if !ICC_SRE_EL1.is_set(ICC_SRE_EL1::SRE) {
            return Err(GicError::NoSystemRegisters);
        }

        let base = self.locate(own)?;
        let frame = self.registers(base).ok_or(GicError::NoRedistributor)?;
        if !redistributor::power_on_and_wake(&mut Mmio::new(frame)) {
            return Err(GicError::Asleep);
        }
        let frame = frame.register_at::<GicrSgi>(0);
        let frame = frame.map_err(|_| GicError::NoRedistributor)?;
        // SAFETY: Registers::register_at() gave it, so all of it is mapped as a device.
        // find() saw a redistributor of this CPU's affinity there, which no
        // other CPU uses.
        let mut registers = unsafe { UniqueMmioPointer::new(frame) };
        {
            let mut private = field!(registers, sgi);
            let mut disable = field!(private, icenabler);
            if let Some(mut first) = disable.get(0) {
                first.write(!0);
            }
        }
        {
            let control = field_shared!(registers, gicr);
            wait_while(|| field_shared!(control, ctlr).read().contains(GicrCtlr::RWP))?;
        }
        let mut redistributor = GicRedistributor::new(registers);
        let timers = timers.iter().map(|intid| IntId::ppi(intid - 16));
        for intid in timers.chain([IntId::sgi(WAKE_SGI)]) {
            // Private interrupts, as these calls ask: they cannot fail. The
            // group counts only where there is one Security state.
            let _ = redistributor.set_group(intid, Group::Group1NS);
            let _ = redistributor.set_interrupt_priority(intid, PRIORITY);
            let _ = redistributor.enable_interrupt(intid, true);
        }
        // Their reset values are not defined. An EOI also deactivates (EOImode 0), and
        // all priorities preempt alike.
        ICC_CTLR_EL1.set(0);
        ICC_BPR1_EL1.set(0);
        GicCpuInterface::set_priority_mask(0xff);
        GicCpuInterface::enable_group1(true);
        instructions::complete_accesses();
        Ok(())
    }

    /// Returns the address of a CPU's redistributor, which any CPU may look for.
    pub fn locate(&self, cpu: &GicCpu) -> Result<u64, GicError> {
        match cpu.place.load(Ordering::Relaxed) {
            0 => {
                let found = self.find(cpu.mpidr)?;
                cpu.place.store(found, Ordering::Relaxed);
                Ok(found)
            }
            found => Ok(found),
        }
    }

    fn registers(&self, base: u64) -> Option<Registers> {
        let size = size_of::<GicrSgi>() as u64;
        let mut regions = self.redistributors.iter();
        regions.find_map(|region| region.subset(Region { base, size }))
    }

    fn find(&self, mpidr: u64) -> Result<u64, GicError> {
        let typer = &mut |base: u64| {
            // A region may be larger than the redistributors in it.
            probe::try_read_word(base + GICR_PIDR2).filter(|pidr2| is_redistributor(*pidr2))?;
            let registers = self.registers(base)?;
            let register = registers.register_at::<ReadPure<u64>>(GICR_TYPER).ok()?;
            // SAFETY: Registers::register_at() gave it, so it is mapped as a device; and
            // it is constant.
            let register = unsafe { UniqueMmioPointer::new(register) };
            Some(register.read())
        };
        let regions = self.redistributors.iter().map(|r| r.region());
        let found = redistributor::find_redistributor(regions, self.stride, mpidr, typer);
        found.ok_or(GicError::NoRedistributor)
    }

    /// Sends the wake-up SGI to the CPUs with these affinities, if the register can
    /// name them; a CPU that gets none reports it (`not-rung`).
    pub fn send_wake_sgis<'c>(&self, targets: impl Iterator<Item = &'c GicCpu>) {
        let mut held = None;
        for value in targets.filter_map(|target| wake_sgi(target.mpidr)) {
            let joined = held.and_then(|held| sgi::merge_targets(held, value));
            if joined.is_none() {
                held.into_iter().for_each(|held| ICC_SGI1R_EL1.set(held));
            }
            held = joined.or(Some(value));
        }
        held.into_iter().for_each(|held| ICC_SGI1R_EL1.set(held));
    }

    /// Returns the value for an SGI to the CPU itself; None where the register cannot
    /// name it.
    pub fn own_sgi(&self, own: &GicCpu) -> Option<[u64; 3]> {
        wake_sgi(own.mpidr).map(|value| [value, 0, 0])
    }

    pub fn acknowledge(&self) -> Option<Acknowledged> {
        let intid = GicCpuInterface::get_and_acknowledge_interrupt(InterruptGroup::Group1)?;
        // 1020 to 1022 are special, too.
        let intid = Some(intid.into()).filter(|intid| !(1020..=1023).contains(intid))?;
        let register = intid;
        Some(Acknowledged { intid, register })
    }

    pub fn end(&self, acknowledged: Acknowledged) {
        // acknowledge() had it from such a value.
        if let Ok(intid) = IntId::try_from(acknowledged.intid) {
            GicCpuInterface::end_interrupt(intid, InterruptGroup::Group1);
        }
    }
}

fn wait_while(is_pending: impl Fn() -> bool) -> Result<(), GicError> {
    let is_done = (0..WRITE_POLLS).any(|_| !is_pending());
    is_done.then_some(()).ok_or(GicError::Timeout)
}

/// Returns the value of ICC_SGI1R_EL1 for the CPU with this affinity; None where
/// this CPU cannot name it.
fn wake_sgi(mpidr: u64) -> Option<u64> {
    sgi::sgi_for_cpu(mpidr, WAKE_SGI, ICC_CTLR_EL1.get())
}
