/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults in PSCI calls. The linker puts this file between TF-A's dispatcher,
 * which takes timestamps 0 and 1 around a call, and TF-A's PSCI code. A call
 * that returns from here therefore has fresh timestamps, like a real call that
 * fails.
 *
 * Faults that affect a core while it has no stack are only selected here;
 * fault_power.S carries them out.
 */

#include <arch_helpers.h>
#include <common/runtime_svc.h>
#include <context.h>
#include <lib/pmf/pmf.h>
#include <lib/psci/psci.h>
#include <lib/runtime_instr.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

/* SMC Calling Convention: the number of a function within its service. */
#define FUNCTION_MASK		0xffU

/* Ticks before the end of a stall during which the CPU does not yield. */
#define STALL_STEP		64U

/* Values of arg= for the faults with a wrong context. */
#define CONTEXT_ZERO		0U
#define CONTEXT_NEAR		1U
#define CONTEXT_ONES		2U

/* The CPU that runs the payload's lead. */
#define BOOT_CPU		0U

/*
 * Value of arg= for suspend-bad-return: return directly, not through the entry
 * point.
 */
#define RETURN_FROM_CALL	1U

#if PSCI_EXTENDED_STATE_ID
#define CORE_OFF		0x40000002U
#else
#define CORE_OFF		0x00010002U
#endif

/* A call as passed on by the dispatcher. */
struct call {
	uint32_t fid;
	u_register_t x1;
	u_register_t x2;
	u_register_t x3;
	u_register_t x4;
	void *cookie;
	void *handle;
	u_register_t flags;
};

u_register_t __real_psci_smc_handler(uint32_t fid, u_register_t x1,
				     u_register_t x2, u_register_t x3,
				     u_register_t x4, void *cookie,
				     void *handle, u_register_t flags);
u_register_t __wrap_psci_smc_handler(uint32_t fid, u_register_t x1,
				     u_register_t x2, u_register_t x3,
				     u_register_t x4, void *cookie,
				     void *handle, u_register_t flags);

/* CPUs to which no release must be sent. */
static bool lost[PB_CPUS];

/* CPUs that have taken the lock of suspend-keeps-lock. */
static bool holds_lock[PB_CPUS];

/* CPUs that stall during their current suspend. */
static bool stalls[PB_CPUS];

static u_register_t as_it_is(const struct call *call)
{
	return __real_psci_smc_handler(call->fid, call->x1, call->x2, call->x3,
				       call->x4, call->cookie, call->handle,
				       call->flags);
}

static u_register_t error(int code)
{
	return (u_register_t)(register_t)code;
}

static u_register_t wrong_context(u_register_t right)
{
	switch (pb_fault_arg()) {
	case CONTEXT_ZERO:
		return 0U;
	case CONTEXT_NEAR:
		return right + 8U;
	case CONTEXT_ONES:
		return ~(u_register_t)0U;
	default:
		return PB_NOWHERE;
	}
}

bool pb_fault_loses(unsigned int pos)
{
	bool is_lost = lost[pos];

	lost[pos] = false;

	return is_lost;
}

/*
 * Waits, with interrupts masked like everything at EL3. The other CPUs continue:
 * under QEMU's instruction clock, a loop without a yield would stop them.
 */
static void stall(void)
{
	uint64_t end = read_cntpct_el0() + pb_fault_arg_ticks();

	while ((read_cntpct_el0() + STALL_STEP) < end) {
		__asm__ volatile("yield");
	}
	while (read_cntpct_el0() < end) {
	}
}

/* Called by pwr_domain_suspend, which holds the locks of the levels above. */
void pb_fault_power_down(const psci_power_state_t *target)
{
	unsigned int me = plat_my_core_pos();

	if (stalls[me]) {
		stalls[me] = false;
		stall();
	}
	if (holds_lock[me]) {
		holds_lock[me] = false;
		pb_rule_give_suspend_lock();
	}
	if (is_local_state_off(target->pwr_domain_state[1]) != 0) {
		pb_rule_cluster_down(me);
	}
}

static u_register_t cpu_on(struct call *call, unsigned int me)
{
	int target = plat_core_pos_by_mpidr(call->x1);
	u_register_t result;

	if (target < 0) {
		return as_it_is(call);
	}

	switch (pb_fault_strikes(PB_CALL_CPU_ON, (unsigned int)target)) {
	case PB_CPU_ON_INTERNAL_FAILURE:
		return error(PSCI_E_INTERN_FAIL);
	case PB_CPU_ON_DENIED:
		return error(PSCI_E_DENIED);
	case PB_CPU_ON_ALREADY_ON:
		return error(PSCI_E_ALREADY_ON);
	case PB_CPU_ON_PENDING:
		return error(PSCI_E_ON_PENDING);
	case PB_CPU_ON_INVALID_ADDRESS:
		return error(PSCI_E_INVALID_ADDRESS);
	case PB_CPU_ON_LOST:
		lost[target] = true;
		break;
	case PB_CPU_ON_LATE:
		pb_fate((unsigned int)target)->delay = pb_fault_arg_ticks();
		break;
	case PB_CPU_ON_WRONG_CONTEXT:
		call->x3 = wrong_context(call->x3);
		break;
	case PB_CPU_ON_OVERTAKEN:
		lost[target] = pb_rule_is_any_starting();
		break;
	case PB_CPU_ON_BESIDE_OFF:
		lost[target] = pb_rule_is_another_turning_off(
						(unsigned int)target);
		break;
	default:
		break;
	}

	pb_rule_turned_on((unsigned int)target);
	result = as_it_is(call);
	if (pb_fault_is(PB_CPU_ON_TWICE, (unsigned int)target) &&
	    (me != BOOT_CPU) &&
	    (((int)result == PSCI_E_ALREADY_ON) ||
	     ((int)result == PSCI_E_ON_PENDING))) {
		return PSCI_E_SUCCESS;
	}

	/*
	 * The call fails in any case, so no CPU is starting that could be late.
	 */
	if (result != PSCI_E_SUCCESS) {
		lost[target] = false;
		pb_fate((unsigned int)target)->delay = 0U;
	}

	return result;
}

static u_register_t cpu_off(const struct call *call, unsigned int me)
{
	switch (pb_fault_strikes(PB_CALL_CPU_OFF, me)) {
	case PB_CPU_OFF_DENIED:
		return error(PSCI_E_DENIED);
	case PB_CPU_OFF_RETURNS_SUCCESS:
		return PSCI_E_SUCCESS;
	case PB_CPU_OFF_NOT_SUPPORTED:
	case PB_CPU_OFF_ABSENT:
		return error(PSCI_E_NOT_SUPPORTED);
	case PB_CPU_OFF_ONE_BY_ONE:
		if (pb_rule_is_another_leaving(me)) {
			return error(PSCI_E_DENIED);
		}
		return as_it_is(call);
	default:
		return as_it_is(call);
	}
}

/* Firmware without CPU_OFF does not list it. */
static u_register_t features(const struct call *call, unsigned int me)
{
	if (((uint32_t)call->x1 == PSCI_CPU_OFF) &&
	    pb_fault_is(PB_CPU_OFF_ABSENT, me) &&
	    (pb_fault_strikes(PB_CALL_CPU_OFF, me) != PB_NO_FAULT)) {
		return error(PSCI_E_NOT_SUPPORTED);
	}
	if (pb_fault_is(PB_FEATURE_HIDDEN, me) &&
	    (((uint32_t)call->x1 & FUNCTION_MASK) == pb_fault_arg()) &&
	    (pb_fault_strikes(PB_CALL_PSCI, me) != PB_NO_FAULT)) {
		return error(PSCI_E_NOT_SUPPORTED);
	}

	return as_it_is(call);
}

static u_register_t affinity_info(const struct call *call)
{
	int target = plat_core_pos_by_mpidr(call->x1);
	u_register_t result = as_it_is(call);

	if (target < 0) {
		return result;
	}

	/* TF-A only supports the CPU's own level. */
	if (pb_fault_is(PB_AFFINITY_OF_LEVEL, (unsigned int)target) &&
	    (call->x2 == 0U)) {
		return result;
	}

	/* Only OFF can be withheld. */
	if (pb_fault_is(PB_AFFINITY_NEVER_OFF, (unsigned int)target) &&
	    (result != AFF_STATE_OFF)) {
		return result;
	}

	/* A CPU that is not suspended has its right state. */
	if (pb_fault_is(PB_AFFINITY_SUSPENDED_OFF, (unsigned int)target) &&
	    (pb_core_get((unsigned int)target) != PB_NODE_STANDBY) &&
	    (pb_core_get((unsigned int)target) != PB_NODE_SUSPENDED)) {
		return result;
	}

	switch (pb_fault_strikes(PB_CALL_AFFINITY_INFO,
				 (unsigned int)target)) {
	case PB_AFFINITY_NEVER_OFF:
		return AFF_STATE_ON;
	case PB_AFFINITY_SUSPENDED_OFF:
		return AFF_STATE_OFF;
	case PB_AFFINITY_OF_LEVEL:
		return pb_fault_arg();
	case PB_AFFINITY_ERROR:
		return error(PSCI_E_INVALID_PARAMS);
	default:
		return result;
	}
}

/*
 * A power-down that is abandoned partway, with the timestamps of a power-down.
 */
static void capture_as_since_2_13(void)
{
	PMF_CAPTURE_TIMESTAMP(rt_instr_svc, RT_INSTR_ENTER_CFLUSH,
			      PMF_CACHE_MAINT);
	PMF_CAPTURE_TIMESTAMP(rt_instr_svc, RT_INSTR_EXIT_CFLUSH,
			      PMF_NO_CACHE_MAINT);
	PMF_CAPTURE_TIMESTAMP(rt_instr_svc, RT_INSTR_ENTER_HW_LOW_PWR,
			      PMF_NO_CACHE_MAINT);
	PMF_CAPTURE_TIMESTAMP(rt_instr_svc, RT_INSTR_EXIT_HW_LOW_PWR,
			      PMF_NO_CACHE_MAINT);
}

static u_register_t cpu_suspend(struct call *call, unsigned int me)
{
	volatile struct pb_fate *fate = pb_fate(me);
	enum pb_fault fault;
	u_register_t result;

	/* Standby loses no state, and is not what is measured. */
	if (psci_get_pstate_type((unsigned int)call->x1) ==
	    PSTATE_TYPE_STANDBY) {
		return as_it_is(call);
	}

	fault = pb_fault_strikes(PB_CALL_CPU_SUSPEND, me);
	pb_rule_begin_suspend(fault, me);
	if (pb_rule_rejects_last(fault, call->x1)) {
		return error(PSCI_E_DENIED);
	}

	switch (fault) {
	case PB_SUSPEND_INVALID_PARAMETERS:
		return error(PSCI_E_INVALID_PARAMS);
	case PB_SUSPEND_DENIED:
		return error(PSCI_E_DENIED);
	case PB_SUSPEND_INTERNAL_FAILURE:
		return error(PSCI_E_INTERN_FAIL);
	case PB_SUSPEND_NOT_SUPPORTED:
		return error(PSCI_E_NOT_SUPPORTED);
	case PB_SUSPEND_ABANDONED_2_12:
		return PSCI_E_SUCCESS;
	case PB_SUSPEND_ABANDONED_2_13:
		capture_as_since_2_13();
		/*
		 * The hooks for power-down and resume. The first disables Group
		 * 1 in the CPU interface, also for the non-secure world, and
		 * the second does not enable it again.
		 */
		pb_gic_core_down();
		pb_gic_core_resume();
		return PSCI_E_SUCCESS;
	case PB_SUSPEND_EARLY:
		fate->sleep = pb_fault_arg_ticks();
		break;
	case PB_SUSPEND_NEVER:
		fate->sleep = PB_SLEEP_FOR_EVER;
		break;
	case PB_SUSPEND_LATE:
		fate->delay = pb_fault_arg_ticks();
		break;
	case PB_SUSPEND_WRONG_CONTEXT:
		call->x3 = wrong_context(call->x3);
		break;
	case PB_SUSPEND_SHALLOW:
		call->x1 = CORE_OFF;
		break;
	case PB_SUSPEND_BAD_RETURN:
		if (pb_fault_arg() == RETURN_FROM_CALL) {
			write_ctx_reg(get_el3state_ctx(call->handle),
				      CTX_ELR_EL3, PB_NOWHERE);
			return PSCI_E_SUCCESS;
		}
		call->x2 = PB_NOWHERE;
		break;
	case PB_GIC_ENABLES_LOST:
		fate->gic = 1U;
		break;
	case PB_WAKE_LOST:
		fate->lose = 1U;
		break;
	case PB_SUSPEND_KEEPS_POWER:
		fate->keep = 1U;
		break;
	case PB_STALL_LOCKED:
		stalls[me] = true;
		break;
	case PB_SUSPEND_KEEPS_LOCK:
		pb_rule_take_suspend_lock();
		holds_lock[me] = true;
		break;
	case PB_SPURIOUS_SGI:
		pb_gic_pend_private((unsigned int)pb_fault_arg());
		break;
	default:
		break;
	}

	result = as_it_is(call);
	if (pb_rule_ignores_rejection(fault, me, result)) {
		call->x1 = CORE_OFF;
		result = as_it_is(call);
	}

	/* It returns if the core has not been down. */
	fate->sleep = 0U;
	fate->delay = 0U;
	fate->gic = 0U;
	fate->lose = 0U;
	stalls[me] = false;

	return result;
}

static void hang_if_told(uint32_t fid, unsigned int me)
{
	if (!pb_fault_is(PB_SMC_HANG, me) ||
	    ((fid & FUNCTION_MASK) != pb_fault_arg()) ||
	    (pb_fault_strikes(PB_CALL_PSCI, me) == PB_NO_FAULT)) {
		return;
	}

	/*
	 * No interrupt may be pending: under QEMU a WFI that ends immediately
	 * becomes a busy loop.
	 */
	pb_gic_core_down();
	for (;;) {
		wfi();
	}
}

static void stall_if_told(uint32_t fid, unsigned int me)
{
	if (pb_fault_is(PB_STALL, me) &&
	    ((fid & FUNCTION_MASK) == pb_fault_function()) &&
	    (pb_fault_strikes(PB_CALL_PSCI, me) != PB_NO_FAULT)) {
		stall();
	}
}

/* Whether firmware that validates too little would accept this call. */
static bool is_accepted(uint32_t fid, unsigned int me, u_register_t result)
{
	int code = (int)result;

	return pb_fault_is(PB_ACCEPTS_INVALID, me) &&
	       ((fid & FUNCTION_MASK) == pb_fault_arg()) &&
	       ((code == PSCI_E_INVALID_PARAMS) || (code == PSCI_E_DENIED) ||
		(code == PSCI_E_NOT_SUPPORTED)) &&
	       (pb_fault_strikes(PB_CALL_PSCI, me) != PB_NO_FAULT);
}

static u_register_t handle_call(struct call *call, unsigned int me)
{
	u_register_t result;

	switch (call->fid) {
	case PSCI_CPU_ON_AARCH32:
	case PSCI_CPU_ON_AARCH64:
		return cpu_on(call, me);
	case PSCI_CPU_OFF:
		pb_rule_turns_off(me);
		pb_storm_stop(me);
		result = cpu_off(call, me);
		pb_storm_enter(me);
		return result;
	case PSCI_FEATURES:
		return features(call, me);
	case PSCI_SET_SUSPEND_MODE:
		return pb_rule_mode(me, (unsigned int)call->x1, as_it_is(call));
	case PSCI_MIG_AARCH32:
	case PSCI_MIG_AARCH64:
		if (pb_fault_is(PB_MIGRATE_SUCCEEDS, me) &&
		    (pb_fault_strikes(PB_CALL_PSCI, me) != PB_NO_FAULT)) {
			return PSCI_E_SUCCESS;
		}
		return as_it_is(call);
	case PSCI_AFFINITY_INFO_AARCH32:
	case PSCI_AFFINITY_INFO_AARCH64:
		return affinity_info(call);
	case PSCI_CPU_SUSPEND_AARCH32:
	case PSCI_CPU_SUSPEND_AARCH64:
		pb_storm_call(me);
		return cpu_suspend(call, me);
	default:
		return as_it_is(call);
	}
}

u_register_t __wrap_psci_smc_handler(uint32_t fid, u_register_t x1,
				     u_register_t x2, u_register_t x3,
				     u_register_t x4, void *cookie,
				     void *handle, u_register_t flags)
{
	struct call call = {
		.fid = fid, .x1 = x1, .x2 = x2, .x3 = x3, .x4 = x4,
		.cookie = cookie, .handle = handle, .flags = flags,
	};
	unsigned int me = plat_my_core_pos();
	u_register_t result;

	hang_if_told(fid, me);
	stall_if_told(fid, me);
	result = handle_call(&call, me);

	return is_accepted(fid, me, result) ? PSCI_E_SUCCESS : result;
}
