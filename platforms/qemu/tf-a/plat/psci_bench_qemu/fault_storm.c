/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * interrupt-storm: a non-secure interrupt is made pending over and over again.
 * EL3's own timer drives this, with a Group 0 interrupt that is taken to EL3
 * whatever the non-secure world masks.
 *
 * While a tick is pending for a core that is at EL3, TF-A's CPU_SUSPEND finds a
 * pending interrupt and returns, as it does for non-secure interrupts.
 */

#include <arch_helpers.h>
#include <bl31/interrupt_mgmt.h>
#include <common/debug.h>
#include <drivers/arm/gic_common.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

/* The secure physical timer's interrupt on QEMU's virt machine. */
#define TIMER_INTERRUPT		29U

#define TIMER_ENABLE		1U

/* A GICv2 has one secure group, which TF-A treats as the secure OS's. */
#if PB_GIC == 2
#define TYPE			INTR_TYPE_S_EL1
#else
#define TYPE			INTR_TYPE_EL3
#endif

static void raise(unsigned int me)
{
	uint32_t enabled;

	if (pb_fault_strikes(PB_CALL_TICK, me) == PB_NO_FAULT) {
		return;
	}

	enabled = pb_gic_private_enabled();
	if (enabled != 0U) {
		pb_gic_pend_private((unsigned int)__builtin_ctz(enabled));
	}
}

static void wind_up(void)
{
	write_cntps_cval_el1(read_cntpct_el0() + pb_fault_arg_ticks());
	write_cntps_ctl_el1(TIMER_ENABLE);
	isb();
}

static uint64_t on_tick(uint32_t id, uint32_t flags, void *handle,
			void *cookie)
{
	uint32_t raw = plat_ic_acknowledge_interrupt();

	(void)id;
	(void)flags;
	(void)handle;
	(void)cookie;

	if (plat_ic_get_interrupt_id(raw) == TIMER_INTERRUPT) {
		raise(plat_my_core_pos());
		wind_up();
	}
	if (plat_ic_get_interrupt_id(raw) != INTR_ID_UNAVAILABLE) {
		plat_ic_end_of_interrupt(raw);
	}

	return 0U;
}

void pb_storm_init(void)
{
	uint32_t flags = 0U;

	set_interrupt_rm_flag(flags, NON_SECURE);
	if (register_interrupt_type_handler(TYPE, on_tick, flags) != 0) {
		ERROR("psci-bench fault: no handler for the storm\n");
		panic();
	}
}

/* CPU_ON has reset this core's private interrupts in the GIC. */
void pb_storm_enter(unsigned int me)
{
	if (!pb_fault_is(PB_INTERRUPT_STORM, me)) {
		return;
	}

	plat_ic_disable_interrupt(TIMER_INTERRUPT);
	plat_ic_set_interrupt_type(TIMER_INTERRUPT, TYPE);
	plat_ic_set_interrupt_priority(TIMER_INTERRUPT,
				       GIC_HIGHEST_SEC_PRIORITY);
	plat_ic_enable_interrupt(TIMER_INTERRUPT);
	wind_up();
}

/* During a power-down an interrupt is pending in any case. */
void pb_storm_call(unsigned int me)
{
	if (pb_fault_is(PB_INTERRUPT_STORM, me)) {
		raise(me);
	}
}

/* The hold pen could not distinguish a tick from a release. */
void pb_storm_stop(unsigned int me)
{
	if (pb_fault_is(PB_INTERRUPT_STORM, me)) {
		write_cntps_ctl_el1(0U);
		isb();
	}
}
