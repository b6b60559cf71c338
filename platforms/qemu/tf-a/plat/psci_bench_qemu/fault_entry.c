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

/* Values of arg= for entry-state. */
#define IRQ_UNMASKED		0U
#define CACHES_ON		1U
#define BIG_ENDIAN		2U
#define SP_EL0			3U
#define RESERVED_CLEAR		4U
#define AT_EL1			5U

/* At boot, the loader decides in which state the payload is entered. */
static void enter_in_wrong_state(bool starts)
{
	el3_state_t *state = get_el3state_ctx(cm_get_context(NON_SECURE));
	u_register_t spsr = read_ctx_reg(state, CTX_SPSR_EL3);

	switch (pb_fault_arg()) {
	case IRQ_UNMASKED:
		spsr &= ~(DAIF_IRQ_BIT << SPSR_DAIF_SHIFT);
		break;
	case CACHES_ON:
		write_sctlr_el2(read_sctlr_el2() | SCTLR_C_BIT);
		break;
	case BIG_ENDIAN:
		/* A core that wakes up in it can rarely run its entry code. */
		if (starts) {
			write_sctlr_el2(read_sctlr_el2() | SCTLR_EE_BIT);
		}
		break;
	case SP_EL0:
		spsr &= ~(u_register_t)MODE_SP_ELX;
		break;
	case RESERVED_CLEAR:
		write_sctlr_el2(0U);
		break;
	case AT_EL1:
		spsr = SPSR_64(MODE_EL1, MODE_SP_ELX, DISABLE_ALL_EXCEPTIONS);
		write_hcr_el2(HCR_RW_BIT);
		write_cnthctl_el2(EL1PCTEN_BIT | EL1PCEN_BIT);
		break;
	default:
		break;
	}
	write_ctx_reg(state, CTX_SPSR_EL3, spsr);
	isb();
}

void __wrap_cm_prepare_el3_exit_ns(void)
{
	unsigned int me = plat_my_core_pos();
	bool starts = pb_rule_starts(me);

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
	case PB_ENTRY_STATE:
		enter_in_wrong_state(starts);
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

	if (pb_rule_context_is_lost(me)) {
		write_ctx_reg(get_gpregs_ctx(cm_get_context(NON_SECURE)),
			      CTX_GPREG_X0, 0U);
	}
	pb_storm_enter(me);
}
