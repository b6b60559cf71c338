/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The power states that CPU_SUSPEND accepts, in the StateID encoding that the
 * PSCI specification recommends: a nibble for each level, lowest first, where 1
 * is retention and 2 is off.
 *
 *                     original format   extended format
 *   core standby           0x00000001        0x00000001
 *   core off               0x00010002        0x40000002
 *   cluster off            0x01010022        0x40000022
 *   system off             0x02010222        0x40000222
 *
 * The list is complete. In particular no level above the core has a retention
 * state, and a parent is never deeper than its child.
 */

#include <lib/psci/psci.h>
#include <lib/utils_def.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

#if PSCI_EXTENDED_STATE_ID
/* The level is not part of the format: it is in the StateID. */
#define POWER_STATE(id, type, level)					\
	(((id) << PSTATE_ID_SHIFT) | ((type) << PSTATE_TYPE_SHIFT))
#else
#define POWER_STATE(id, type, level)					\
	(((id) << PSTATE_ID_SHIFT) | ((type) << PSTATE_TYPE_SHIFT) |	\
	 ((level) << PSTATE_PWR_LVL_SHIFT))
#endif

static const unsigned int known[] = {
	POWER_STATE(U(0x001), PSTATE_TYPE_STANDBY, U(0)),
	POWER_STATE(U(0x002), PSTATE_TYPE_POWERDOWN, U(0)),
	POWER_STATE(U(0x022), PSTATE_TYPE_POWERDOWN, U(1)),
	POWER_STATE(U(0x222), PSTATE_TYPE_POWERDOWN, U(2)),
};

/*
 * The nibbles are TF-A's numbers for the local states, so no translation is
 * needed.
 */
CASSERT(PLAT_LOCAL_STATE_RUN == 0, pb_run_is_0);
CASSERT(PLAT_LOCAL_STATE_RET == 1, pb_retention_is_1);
CASSERT(PLAT_LOCAL_STATE_OFF == 2, pb_off_is_2);

int pb_validate_power_state(unsigned int power_state, psci_power_state_t *req)
{
	unsigned int id = psci_get_pstate_id(power_state);
	unsigned int i;
	unsigned int level;

	for (i = 0U; i < ARRAY_SIZE(known); i++) {
		if (known[i] == power_state) {
			break;
		}
	}

	if (i == ARRAY_SIZE(known)) {
		return PSCI_E_INVALID_PARAMS;
	}

	for (level = 0U; level <= PLAT_MAX_PWR_LVL; level++) {
		req->pwr_domain_state[level] =
			(plat_local_state_t)((id >> (4U * level)) & 0xfU);
#if PSCI_OS_INIT_MODE
		/* The highest level that the caller requests to power down. */
		if (req->pwr_domain_state[level] != PLAT_LOCAL_STATE_RUN) {
			req->last_at_pwrlvl = level;
		}
#endif
	}

	return PSCI_E_SUCCESS;
}

/* SYSTEM_SUSPEND takes no power_state: everything is turned off. */
void pb_system_suspend_state(psci_power_state_t *req)
{
	unsigned int level;

	for (level = 0U; level <= PLAT_MAX_PWR_LVL; level++) {
		req->pwr_domain_state[level] = PLAT_LOCAL_STATE_OFF;
	}
#if PSCI_OS_INIT_MODE
	req->last_at_pwrlvl = PLAT_MAX_PWR_LVL;
#endif
}
