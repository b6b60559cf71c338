/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults in the state in which a core enters the non-secure world at an entry
 * point: at boot, after CPU_ON, and after a power-down CPU_SUSPEND.
 */

#include <arch_helpers.h>
#include <context.h>
#include <lib/el3_runtime/context_mgmt.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

void __real_cm_prepare_el3_exit_ns(void);
void __wrap_cm_prepare_el3_exit_ns(void);

#define HCR_VSE_BIT		(ULL(1) << 8)

/*
 * QEMU implements only virtual SErrors. They are taken to EL1 and masked there
 * like physical ones, so the core enters at EL1, with access to counter and
 * timer as if a hypervisor had granted it.
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
		/*
		 * This value stays, because TF-A only writes back what it has
		 * read.
		 */
		write_cntfrq_el0(pb_fault_arg());
		break;
	case PB_SERROR:
		enter_with_serror();
		break;
	case PB_E2H_SET:
		/*
		 * The value that the payload's own write leaves if E2H is fixed
		 * at 1.
		 */
		write_hcr_el2(HCR_E2H_BIT | HCR_RW_BIT | HCR_AMO_BIT |
			      HCR_IMO_BIT | HCR_FMO_BIT);
		isb();
		break;
	case PB_SECURE_INTERRUPT:
		/*
		 * No handler is registered for it, so SCR_EL3.FIQ is 0: the
		 * interrupt stays pending in the non-secure world, as an FIQ.
		 */
		pb_gic_pend_private(PB_FIRST_SECURE_SGI);
		break;
	default:
		break;
	}

	pb_storm_enter(me);
}
