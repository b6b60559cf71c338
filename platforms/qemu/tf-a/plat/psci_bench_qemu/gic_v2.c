/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The GICv2 as seen by the PSCI hooks. TF-A's driver does the work; this file
 * determines which interrupts are secure, which CPUs exist, and how much of a
 * core's GIC state survives a power-down (PB_GIC_RESET).
 */

#include <arch_helpers.h>
#include <common/debug.h>
#include <common/interrupt_props.h>
#include <drivers/arm/gic_common.h>
#include <drivers/arm/gicv2.h>
#include <lib/mmio.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

/*
 * TF-A's name for this function; its qemu platform calls it while it sets up
 * BL31.
 */
void plat_qemu_gic_init(void);

/* GICD_TYPER.CPUNumber: the number of CPU interfaces minus one. */
#define TYPER_CPUS_SHIFT	5
#define TYPER_CPUS_MASK		0x7U

/* GICD_SGIR: target list from bit 16, interrupt number from bit 0. */
#define SGIR			0xf00U
#define SGIR_TARGETS_SHIFT	16

/* A GICv2 has one secure group. */
#define SECURE_SGI(id)							\
	INTR_PROP_DESC((id), GIC_HIGHEST_SEC_PRIORITY,			\
		       GICV2_INTR_GROUP0, GIC_INTR_CFG_EDGE)

static const interrupt_prop_t secure_interrupts[] = {
	SECURE_SGI(PB_FIRST_SECURE_SGI + 0),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 1),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 2),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 3),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 4),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 5),
	SECURE_SGI(PB_RELEASE_SGI),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 7),
};

static const gicv2_driver_data_t driver = {
	.gicd_base = GICD_BASE,
	.gicc_base = GICC_BASE,
	.interrupt_props = secure_interrupts,
	.interrupt_props_num = ARRAY_SIZE(secure_interrupts),
};

void plat_qemu_gic_init(void)
{
	/*
	 * A GICv3 machine has no GICC, so the driver would fault without a
	 * message.
	 */
	if (((read_id_aa64pfr0_el1() >> ID_AA64PFR0_GIC_SHIFT) &
	     PB_ID_FIELD_MASK) != 0U) {
		ERROR("PB_GIC=2, but this machine is not gic-version=2\n");
		panic();
	}

	gicv2_driver_init(&driver);
	gicv2_distif_init();
	pb_gic_core_on();
}

/* QEMU numbers CPU interfaces and CPUs in the same way. */
bool pb_gic_has_core(unsigned int pos)
{
	unsigned int last = (mmio_read_32(GICD_BASE + GICD_TYPER) >>
			     TYPER_CPUS_SHIFT) & TYPER_CPUS_MASK;

	return pos <= last;
}

/* No interrupt may reach the core. */
void pb_gic_core_down(void)
{
	gicv2_cpuif_disable();
}

/* After CPU_ON: all local state is as after a reset. */
void pb_gic_core_on(void)
{
	gicv2_pcpu_distif_init();
	gicv2_cpuif_enable();
}

/*
 * After CPU_SUSPEND. The driver sets up its interface again in any case. The
 * banked part of the distributor keeps its state unless the whole GIC has lost
 * power. Pending interrupts survive; otherwise the interrupt that woke the core
 * would be lost.
 */
void pb_gic_core_resume(void)
{
	if ((PB_GIC_RESET != 0) || pb_fault_gic_is_lost()) {
		gicv2_pcpu_distif_init();
		mmio_write_32(GICD_BASE + GICD_ICACTIVER, ~0U);
	}
	gicv2_cpuif_enable();
}

/*
 * Written here and not by the driver, because each CPU has to add itself to the
 * driver's target table: a CPU that was never on could not be called.
 */
void pb_gic_release_core(u_register_t mpidr)
{
	unsigned int pos = (unsigned int)plat_core_pos_by_mpidr(mpidr);

	mmio_write_32(GICD_BASE + SGIR,
		      (1U << (SGIR_TARGETS_SHIFT + pos)) | PB_RELEASE_SGI);
}

#if PB_FAULTS
/* One bit for each interrupt that is enabled and non-secure. */
uint32_t pb_gic_private_enabled(void)
{
	return mmio_read_32(GICD_BASE + GICD_ISENABLER) &
	       mmio_read_32(GICD_BASE + GICD_IGROUPR);
}

/* Pending SGIs are recorded by sender: here, the core itself. */
void pb_gic_pend_private(unsigned int id)
{
	if (plat_ic_is_sgi(id) != 0) {
		mmio_write_8(GICD_BASE + GICD_SPENDSGIR + id,
			     (uint8_t)(1U << plat_my_core_pos()));
	} else {
		mmio_write_32(GICD_BASE + GICD_ISPENDR, 1U << id);
	}
	dsbsy();
}
#endif
