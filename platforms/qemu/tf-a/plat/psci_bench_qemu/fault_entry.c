/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults of what a core finds when it enters the non-secure world by an entry
 * point: at boot, after CPU_ON, and after a power-down CPU_SUSPEND.
 */

#include <arch_helpers.h>
#include <context.h>
#include <lib/el3_runtime/context_mgmt.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_faults.h>

void __real_cm_prepare_el3_exit_ns(void);
void __wrap_cm_prepare_el3_exit_ns(void);

#define HCR_VSE_BIT		(ULL(1) << 8)

/*
 * A virtual SError is the one that QEMU has. It is EL1's, and masked there as
 * a physical one is, so the core enters at EL1, and as if a hypervisor had let
 * it have counter and timer.
 */
static void enter_with_serror(void)
{
	el3_state_t *state = get_el3state_ctx(cm_get_context(NON_SECURE));

	write_ctx_reg(state, CTX_SPSR_EL3,
		      SPSR_64(MODE_EL1, MODE_SP_ELX, DISABLE_ALL_EXCEPTIONS));
	write_hcr_el2(HCR_RW_BIT | HCR_AMO_BIT | HCR_VSE_BIT);
	write_cnthctl_el2(EL1PCTEN_BIT | EL1PCEN_BIT);
	isb();
}

void __wrap_cm_prepare_el3_exit_ns(void)
{
	unsigned int me = plat_my_core_pos();

	__real_cm_prepare_el3_exit_ns();

	switch (pb_fault_strikes(PB_CALL_ENTRY, me)) {
	case PB_CNTFRQ:
		/* Stays so, for TF-A only ever writes back what it reads. */
		write_cntfrq_el0(pb_fault_arg());
		break;
	case PB_SERROR:
		enter_with_serror();
		break;
	case PB_E2H_SET:
		/* With E2H fixed at 1, what the payload's own write leaves. */
		write_hcr_el2(HCR_E2H_BIT | HCR_RW_BIT | HCR_AMO_BIT |
			      HCR_IMO_BIT | HCR_FMO_BIT);
		isb();
		break;
	default:
		break;
	}

	pb_storm_enter(me);
}
