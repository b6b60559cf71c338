/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_PMF=off: PSCI_STAT_RESIDENCY and PSCI_STAT_COUNT without PMF. TF-A keeps
 * the statistics but gets the time from PMF. If PMF is not built, the platform
 * has to provide the time.
 *
 * Residency lasts from the time when the last core powers down until the first
 * one powers up. These times are written and read with the caches on and off,
 * so they are in Device memory (platform_def.h).
 */

#include <arch_helpers.h>
#include <lib/cassert.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

struct stamps {
	uint64_t down[PB_CPUS];
	uint64_t up[PB_CPUS];
};

CASSERT(sizeof(struct stamps) <= (PB_FATES_ADDR - PB_STAMPS_ADDR),
	pb_stamps_fit);

static volatile struct stamps *const stamps =
	(volatile struct stamps *)PB_STAMPS_ADDR;

void plat_psci_stat_accounting_start(const psci_power_state_t *state)
{
	(void)state;

	stamps->down[plat_my_core_pos()] = read_cntpct_el0();
}

void plat_psci_stat_accounting_stop(const psci_power_state_t *state)
{
	(void)state;

	stamps->up[plat_my_core_pos()] = read_cntpct_el0();
}

/* In microseconds; `last` is the core that powered the level down. */
u_register_t plat_psci_stat_get_residency(unsigned int level,
					  const psci_power_state_t *state,
					  unsigned int last)
{
	uint64_t ticks = stamps->up[plat_my_core_pos()] - stamps->down[last];

	(void)level;
	(void)state;

	return ticks / (read_cntfrq_el0() / 1000000U);
}
