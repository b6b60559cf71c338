/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_PABANDON: cores that can abandon a power-down (FEAT_PABANDON). The WFI of
 * such a core ends like any other if an interrupt is pending, and TF-A then
 * undoes the power-down and returns from CPU_SUSPEND. None of QEMU's cores
 * does this, so the last hook before the WFI looks for the interrupt.
 */

#include <arch_helpers.h>
#include <plat/common/platform.h>

#include <psci_bench_qemu.h>

/*
 * If so, the interrupt remains visible to the core, so that TF-A's WFI ends
 * immediately.
 */
bool pb_power_down_is_abandoned(void)
{
	unsigned int me = plat_my_core_pos();

	if (pb_core_get(me) != PB_NODE_SUSPENDED) {
		return false;
	}

	pb_gic_arm_wake();
	if (read_isr_el1() == 0U) {
		pb_gic_core_down();
		return false;
	}
	pb_core_set(me, PB_NODE_ON);

	return true;
}

/* A core that is on when it resumes has not been down. */
void pb_abandon_finish(void)
{
	if (pb_core_get(plat_my_core_pos()) == PB_NODE_ON) {
		pb_gic_core_down();
	}
}
