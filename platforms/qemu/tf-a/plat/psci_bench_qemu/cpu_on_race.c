/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_CPU_ON_RACE: TF-A marks a CPU as OFF before that CPU has executed its WFI
 * or the power controller has taken over. The effect of a CPU_ON in the
 * meantime depends on the platform: on rpi3, rpi4, rpi5, rk3399, rk3588 and
 * hikey960 it returns SUCCESS but the CPU never arrives; on zynqmp it returns
 * INTERNAL_FAILURE.
 *
 * Here the gap begins when AFFINITY_INFO first returns OFF, and lasts for
 * PB_CPU_ON_RACE microseconds. The CPU that turns off executes no extra code
 * for this.
 */

#include <arch_helpers.h>
#include <context.h>
#include <lib/el3_runtime/context_mgmt.h>
#include <lib/el3_runtime/cpu_data.h>
#include <lib/psci/psci.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

#define MICROSECONDS		U(1000000)

/* The counter value when a CPU was first seen to be OFF, or one of these. */
#define OFF_SINCE_BOOT		UINT64_C(0)
#define NOT_SEEN_OFF		UINT64_MAX

/* A word for each CPU, in Device memory (platform_def.h). */
static volatile uint64_t *const seen_off = (volatile uint64_t *)PB_SEEN_OFF_ADDR;

void pb_race_init(void)
{
	unsigned int pos;

	for (pos = 0U; pos < PB_CPUS; pos++) {
		seen_off[pos] = OFF_SINCE_BOOT;
	}
	seen_off[plat_my_core_pos()] = NOT_SEEN_OFF;
}

/*
 * Returns true if the current call is AFFINITY_INFO, according to the caller's
 * X0.
 */
static bool is_affinity_info(void)
{
	cpu_context_t *caller = cm_get_context(NON_SECURE);
	u_register_t fid;

	if (caller == NULL) {
		return false;
	}
	fid = read_ctx_reg(get_gpregs_ctx(caller), CTX_GPREG_X0);

	return (fid == PSCI_AFFINITY_INFO_AARCH64) ||
	       (fid == PSCI_AFFINITY_INFO_AARCH32);
}

void pb_race_look(unsigned int pos)
{
	if ((seen_off[pos] == NOT_SEEN_OFF) &&
	    (get_cpu_data_by_index(pos, psci_svc_cpu_data.aff_info_state) ==
	     AFF_STATE_OFF) && is_affinity_info()) {
		seen_off[pos] = read_cntpct_el0();
	}
}

bool pb_race_is_lost(unsigned int pos)
{
	uint64_t seen = seen_off[pos];
	uint64_t gap = (uint64_t)PB_CPU_ON_RACE * plat_get_syscnt_freq2() /
		       MICROSECONDS;

	if ((seen != OFF_SINCE_BOOT) && (seen != NOT_SEEN_OFF) &&
	    ((read_cntpct_el0() - seen) < gap)) {
		return true;
	}

	seen_off[pos] = NOT_SEEN_OFF;

	return false;
}
