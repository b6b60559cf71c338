/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PMF faults: in its function IDs, and in the timestamps that they return. The
 * timestamps themselves stay as TF-A took them; only the values read are wrong.
 */

#include <errno.h>

#include <arch_helpers.h>
#include <common/runtime_svc.h>
#include <lib/pmf/pmf.h>
#include <lib/runtime_instr.h>
#include <lib/smccc.h>
#include <lib/utils_def.h>
#include <plat/common/platform.h>
#include <platform_def.h>
#include <smccc_helpers.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

uintptr_t __real_pmf_smc_handler(unsigned int fid, u_register_t x1,
				 u_register_t x2, u_register_t x3,
				 u_register_t x4, void *cookie, void *handle,
				 u_register_t flags);
uintptr_t __wrap_pmf_smc_handler(unsigned int fid, u_register_t x1,
				 u_register_t x2, u_register_t x3,
				 u_register_t x4, void *cookie, void *handle,
				 u_register_t flags);
int __real_pmf_get_timestamp_smc(unsigned int tid, u_register_t mpidr,
				 unsigned int flags,
				 unsigned long long *stamp);
int __wrap_pmf_get_timestamp_smc(unsigned int tid, u_register_t mpidr,
				 unsigned int flags,
				 unsigned long long *stamp);

/* pmf-stale: the first value read for each timestamp. */
static struct {
	bool known;
	unsigned long long stamp;
} first[PB_CPUS][RT_INSTR_TOTAL_IDS];

bool pb_fault_pmf_is_sip_only(void)
{
	return pb_fault_is(PB_PMF_SIP_ONLY, plat_my_core_pos());
}

uintptr_t __wrap_pmf_smc_handler(unsigned int fid, u_register_t x1,
				 u_register_t x2, u_register_t x3,
				 u_register_t x4, void *cookie, void *handle,
				 u_register_t flags)
{
	switch (pb_fault_strikes(PB_CALL_PMF_CALL, plat_my_core_pos())) {
	case PB_PMF_ABSENT:
	case PB_PMF_SIP_ONLY:
		SMC_RET1(handle, SMC_UNK);
	case PB_PMF_FID_LEFT:
		/* The caller's X0 is in `handle`, and stays unchanged. */
		return 0U;
	default:
		return __real_pmf_smc_handler(fid, x1, x2, x3, x4, cookie,
					      handle, flags);
	}
}

/* Returns true if the armed fault affects this timestamp. */
static bool concerns(unsigned int id, unsigned int me)
{
	if (pb_fault_is(PB_PMF_DISORDER, me)) {
		return (id == RT_INSTR_ENTER_CFLUSH) ||
		       (id == RT_INSTR_EXIT_CFLUSH);
	}
	if (pb_fault_is(PB_PMF_BEFORE_CALL, me)) {
		return id == RT_INSTR_ENTER_PSCI;
	}
	if (pb_fault_is(PB_PMF_FUTURE, me)) {
		return id == RT_INSTR_EXIT_PSCI;
	}
	if (pb_fault_is(PB_PMF_COUNTER_STOPPED, me)) {
		return id == RT_INSTR_EXIT_HW_LOW_PWR;
	}

	return id < RT_INSTR_TOTAL_IDS;
}

int __wrap_pmf_get_timestamp_smc(unsigned int tid, u_register_t mpidr,
				 unsigned int flags,
				 unsigned long long *stamp)
{
	unsigned int me = plat_my_core_pos();
	unsigned int id = tid & (unsigned int)PMF_TID_MASK;
	int rc = __real_pmf_get_timestamp_smc(tid, mpidr, flags, stamp);

	if ((rc != 0) || !concerns(id, me)) {
		return rc;
	}

	if (pb_fault_is(PB_PMF_STALE, me) && !first[me][id].known) {
		first[me][id].known = true;
		first[me][id].stamp = *stamp;
	}

	switch (pb_fault_strikes(PB_CALL_PMF_READ, me)) {
	case PB_PMF_BAD_TID:
	case PB_PMF_FAILS_LATER:
		*stamp = 0U;
		return -EINVAL;
	case PB_PMF_STALE:
		*stamp = first[me][id].stamp;
		break;
	case PB_PMF_DISORDER:
		/* Exchanges timestamps 4 and 5. */
		return __real_pmf_get_timestamp_smc(tid ^ 1U, mpidr, flags,
						    stamp);
	case PB_PMF_BEFORE_CALL:
		/* The counter may have been 0 less than a second ago. */
		*stamp -= MIN((uint64_t)*stamp - 1U, pb_fault_arg_or_second());
		break;
	case PB_PMF_FUTURE:
		*stamp = read_cntpct_el0() + pb_fault_arg_or_second();
		break;
	case PB_PMF_COUNTER_STOPPED:
		/* Timestamp 2, for timestamp 3. */
		rc = __real_pmf_get_timestamp_smc(tid ^ 1U, mpidr, flags,
						  stamp);
		*stamp -= 1U;
		break;
	case PB_PMF_ZERO:
		*stamp = 0U;
		break;
	default:
		break;
	}

	return rc;
}
