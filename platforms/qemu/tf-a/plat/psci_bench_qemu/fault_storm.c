/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults that EL3's own timer drives, with a Group 0 interrupt that is taken to
 * EL3 whatever the non-secure world masks:
 *
 *   interrupt-storm: a non-secure interrupt is made pending over and over again.
 *   secure-timer: EL3 stays busy for a while, every millisecond.
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

/* The period of secure-timer. */
#define TICKS_PER_SECOND	1000U

/* A GICv2 has one secure group, which TF-A treats as the secure OS's. */
#if PB_GIC == 2
#define TYPE			INTR_TYPE_S_EL1
#else
#define TYPE			INTR_TYPE_EL3
#endif

static bool is_driven_by_timer(unsigned int me)
{
	return pb_fault_is(PB_INTERRUPT_STORM, me) ||
	       pb_fault_is(PB_SECURE_TIMER, me);
}

static void raise(void)
{
	uint32_t enabled = pb_gic_private_enabled();

	if (enabled != 0U) {
		pb_gic_pend_private((unsigned int)__builtin_ctz(enabled));
	}
}

/* The end is counted from the instant at which the timer was due. */
static void stay_busy(void)
{
	uint64_t end = read_cntps_cval_el1() + pb_fault_arg_ticks();

	while (read_cntpct_el0() < end) {
	}
}

static void tick(unsigned int me)
{
	switch (pb_fault_strikes(PB_CALL_TICK, me)) {
	case PB_INTERRUPT_STORM:
		raise();
		break;
	case PB_SECURE_TIMER:
		stay_busy();
		break;
	default:
		break;
	}
}

static void wind_up_at(uint64_t instant)
{
	write_cntps_cval_el1(instant);
	write_cntps_ctl_el1(TIMER_ENABLE);
	isb();
}

static void wind_up(unsigned int me)
{
	if (pb_fault_is(PB_SECURE_TIMER, me)) {
		wind_up_at(read_cntps_cval_el1() +
			   (read_cntfrq_el0() / TICKS_PER_SECOND));
	} else {
		wind_up_at(read_cntpct_el0() + pb_fault_arg_ticks());
	}
}

static uint64_t on_tick(uint32_t id, uint32_t flags, void *handle,
			void *cookie)
{
	uint32_t raw = plat_ic_acknowledge_interrupt();
	unsigned int me = plat_my_core_pos();

	(void)id;
	(void)flags;
	(void)handle;
	(void)cookie;

	if (plat_ic_get_interrupt_id(raw) == TIMER_INTERRUPT) {
		tick(me);
		wind_up(me);
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
		ERROR("psci-bench fault: no handler for the timer\n");
		panic();
	}
}

/* CPU_ON has reset this core's private interrupts in the GIC. */
void pb_storm_enter(unsigned int me)
{
	if (!is_driven_by_timer(me)) {
		return;
	}

	plat_ic_disable_interrupt(TIMER_INTERRUPT);
	plat_ic_set_interrupt_type(TIMER_INTERRUPT, TYPE);
	plat_ic_set_interrupt_priority(TIMER_INTERRUPT,
				       GIC_HIGHEST_SEC_PRIORITY);
	plat_ic_enable_interrupt(TIMER_INTERRUPT);
	write_cntps_cval_el1(read_cntpct_el0());
	wind_up(me);
}

/* During a power-down an interrupt is pending in any case. */
void pb_storm_call(unsigned int me)
{
	if (pb_fault_is(PB_INTERRUPT_STORM, me) &&
	    (pb_fault_strikes(PB_CALL_TICK, me) != PB_NO_FAULT)) {
		raise();
	}
}

/* The hold pen could not distinguish a tick from a release. */
void pb_storm_stop(unsigned int me)
{
	if (is_driven_by_timer(me)) {
		write_cntps_ctl_el1(0U);
		isb();
	}
}
