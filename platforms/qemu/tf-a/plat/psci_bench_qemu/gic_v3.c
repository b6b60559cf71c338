/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The GICv3 as seen by the PSCI hooks. TF-A's driver does the work; this file
 * determines which interrupts are secure, which CPUs exist, and how much of a
 * core's GIC state survives a power-down (PB_GIC_RESET).
 */

#include <arch_helpers.h>
#include <common/debug.h>
#include <common/interrupt_props.h>
#include <drivers/arm/gic_common.h>
#include <drivers/arm/gicv3.h>
#include <lib/mmio.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

/*
 * TF-A's name for this function; its qemu platform calls it while it sets up
 * BL31.
 */
void plat_qemu_gic_init(void);

#define SECURE_SGI(id, group)						\
	INTR_PROP_DESC((id), GIC_HIGHEST_SEC_PRIORITY, (group),		\
		       GIC_INTR_CFG_EDGE)

static const interrupt_prop_t secure_interrupts[] = {
	SECURE_SGI(PB_FIRST_SECURE_SGI + 0, INTR_GROUP1S),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 1, INTR_GROUP1S),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 2, INTR_GROUP1S),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 3, INTR_GROUP1S),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 4, INTR_GROUP1S),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 5, INTR_GROUP1S),
	SECURE_SGI(PB_RELEASE_SGI, INTR_GROUP0),
	SECURE_SGI(PB_FIRST_SECURE_SGI + 7, INTR_GROUP1S),
};

/* Filled by the driver: a CPU without a redistributor does not exist. */
static uintptr_t redistributors[PB_CPUS];

/* The driver ignores positions that are too high. */
static unsigned int position(u_register_t mpidr)
{
	return (unsigned int)pb_position_by_affinity(mpidr);
}

static const gicv3_driver_data_t driver = {
	.gicd_base = GICD_BASE,
	.gicr_base = GICR_BASE,
	.interrupt_props = secure_interrupts,
	.interrupt_props_num = ARRAY_SIZE(secure_interrupts),
	.rdistif_num = PB_CPUS,
	.rdistif_base_addrs = redistributors,
	.mpidr_to_core_pos = position,
};

void plat_qemu_gic_init(void)
{
	/* On a GICv2 machine the driver would fault without a message. */
	if (((read_id_aa64pfr0_el1() >> ID_AA64PFR0_GIC_SHIFT) &
	     PB_ID_FIELD_MASK) == 0U) {
		ERROR("PB_GIC=3, but this machine is not gic-version=3\n");
		panic();
	}

	gicv3_driver_init(&driver);
	gicv3_distif_init();
	pb_gic_core_on();
}

bool pb_gic_has_core(unsigned int pos)
{
	return redistributors[pos] != 0U;
}

/*
 * No interrupt may reach the core, and the redistributor regards it as asleep.
 */
void pb_gic_core_down(void)
{
	gicv3_cpuif_disable(plat_my_core_pos());
}

/* After CPU_ON: all local state is as after a reset. */
void pb_gic_core_on(void)
{
	unsigned int me = plat_my_core_pos();

	gicv3_rdistif_init(me);
	gicv3_cpuif_enable(me);
}

/*
 * After CPU_SUSPEND. The CPU interface has lost power with the core in any
 * case. The redistributor loses power on some boards but not on others. Pending
 * interrupts survive; otherwise the interrupt that woke the core would be lost.
 */
void pb_gic_core_resume(void)
{
	unsigned int me = plat_my_core_pos();

	if ((PB_GIC_RESET != 0) || pb_fault_gic_is_lost()) {
		gicv3_rdistif_init(me);
		mmio_write_32(redistributors[me] + GICR_ICACTIVER0, ~0U);
	}
	gicv3_cpuif_enable(me);
}

void pb_gic_release_core(u_register_t mpidr)
{
	plat_ic_raise_el3_sgi(PB_RELEASE_SGI, mpidr);
}

#if PB_FAULTS
/* One bit for each interrupt that is enabled and non-secure. */
uint32_t pb_gic_private_enabled(void)
{
	uintptr_t base = redistributors[plat_my_core_pos()];

	return mmio_read_32(base + GICR_ISENABLER0) &
	       mmio_read_32(base + GICR_IGROUPR0);
}

void pb_gic_pend_private(unsigned int id)
{
	mmio_write_32(redistributors[plat_my_core_pos()] + GICR_ISPENDR0,
		      1U << id);
	dsbsy();
}
#endif
