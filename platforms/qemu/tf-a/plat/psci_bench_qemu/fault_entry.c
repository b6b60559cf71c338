/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults of what a core finds when it enters the non-secure world by an entry
 * point: at boot, after CPU_ON, and after a power-down CPU_SUSPEND.
 */

#include <arch_helpers.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_faults.h>

void __real_cm_prepare_el3_exit_ns(void);
void __wrap_cm_prepare_el3_exit_ns(void);

void __wrap_cm_prepare_el3_exit_ns(void)
{
	unsigned int me = plat_my_core_pos();

	__real_cm_prepare_el3_exit_ns();

	switch (pb_fault_strikes(PB_CALL_ENTRY, me)) {
	case PB_CNTFRQ_ZERO:
		/* Stays so, for TF-A only ever writes back what it reads. */
		write_cntfrq_el0(0U);
		break;
	case PB_E2H_SET:
		write_hcr_el2(read_hcr_el2() | HCR_E2H_BIT);
		isb();
		break;
	default:
		break;
	}

	pb_storm_enter(me);
}
