/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults that break a rule about several CPUs: what the firmware must reject
 * while other CPUs are on, and what must work although they call at the same
 * time. TF-A decides first, and a fault then does the opposite.
 */

#include <arch_helpers.h>
#include <lib/psci/psci.h>
#include <lib/spinlock.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

#define CPUS_PER_CLUSTER	4U
/* The cluster's state in the StateID. */
#define CLUSTER_NIBBLE(id)	(((id) >> 4) & 0xfU)

/* How long a CPU that turns off lets others begin to, in microseconds. */
#define LEAVING_US		100U

/* How often a CPU tries to take a lock that another CPU holds. */
#define LOCK_TRIES		100000U

/* CPUs whose last CPU_SUSPEND was rejected; they run, but are forgotten. */
static volatile bool denied[PB_CPUS];

/* CPUs that have begun to turn off. */
static volatile bool leaving[PB_CPUS];

/* CPUs that have been turned on since they called CPU_OFF. */
static volatile bool turned_on[PB_CPUS];

/* CPUs that have been turned on since their last entry. */
static volatile bool starting[PB_CPUS];

/* CPUs that have called CPU_OFF since they were turned on. */
static volatile bool calls_off[PB_CPUS];

/* A lock that CPU_SUSPEND takes and, because of the fault, may keep. */
static volatile bool suspend_lock;
static spinlock_t guard;

/* CPUs whose current request the platform denies. */
static volatile bool platform_denies[PB_CPUS];

/* SET_SUSPEND_MODE's last successful argument. */
static volatile bool os_initiated;

/* CPUs that a sibling has powered down while they were coming up. */
static volatile bool context_lost[PB_CPUS];

/*
 * A CPU that never comes back sleeps, because QEMU's instruction clock is slow
 * if many CPUs are busy.
 */
static void __dead2 hang(void)
{
	pb_gic_core_down();
	for (;;) {
		wfi();
	}
}

static bool is_rejected(u_register_t result)
{
	int code = (int)result;

	return (code == PSCI_E_DENIED) || (code == PSCI_E_INVALID_PARAMS);
}

/* Whether another CPU in the caller's cluster is in this state. */
static bool has_sibling(unsigned int me, enum pb_node state)
{
	unsigned int first = me - (me % CPUS_PER_CLUSTER);
	unsigned int pos;

	for (pos = first; pos < (first + CPUS_PER_CLUSTER); pos++) {
		if ((pos != me) && (pb_core_get(pos) == state)) {
			return true;
		}
	}

	return false;
}

static bool is_a_sibling_denied(unsigned int me)
{
	unsigned int first = me - (me % CPUS_PER_CLUSTER);
	unsigned int pos;

	for (pos = first; pos < (first + CPUS_PER_CLUSTER); pos++) {
		if ((pos != me) && denied[pos]) {
			return true;
		}
	}

	return false;
}

/*
 * Whether the fault lets the CPU power down although TF-A has rejected its
 * request.
 */
bool pb_rule_ignores_rejection(enum pb_fault fault, unsigned int me,
			       u_register_t result)
{
	denied[me] = is_rejected(result);
	if (!denied[me]) {
		return false;
	}

	switch (fault) {
	case PB_OSI_SIBLING_IGNORED:
		return has_sibling(me, PB_NODE_ON) && !is_a_sibling_denied(me);
	case PB_OSI_STANDBY_IGNORED:
		return has_sibling(me, PB_NODE_STANDBY);
	case PB_OSI_DENIAL_FORGOTTEN:
		return is_a_sibling_denied(me);
	default:
		return false;
	}
}

/*
 * The platform denies this CPU's requests after TF-A has accepted them, but not
 * those of a CPU that is alone in its cluster.
 */
void pb_rule_begin_suspend(enum pb_fault fault, unsigned int me)
{
	platform_denies[me] = (fault == PB_PLATFORM_DENIES) &&
			      !os_initiated && has_sibling(me, PB_NODE_ON);
}

int pb_fault_validate_suspend(const psci_power_state_t *target)
{
	(void)target;

	return platform_denies[plat_my_core_pos()] ? PSCI_E_DENIED
						   : PSCI_E_SUCCESS;
}

/* Whether the fault rejects the last CPU's request. */
bool pb_rule_rejects_last(enum pb_fault fault, u_register_t power_state)
{
	unsigned int id = psci_get_pstate_id((unsigned int)power_state);

	return (fault == PB_OSI_LAST_DENIED) && os_initiated &&
	       (CLUSTER_NIBBLE(id) != 0U);
}

/* A CPU is turned on: nothing that it did before counts. */
void pb_rule_turned_on(unsigned int pos)
{
	denied[pos] = false;
	leaving[pos] = false;
	calls_off[pos] = false;
	turned_on[pos] = true;
	starting[pos] = true;
}

/* Whether this core enters the non-secure world because of CPU_ON. */
bool pb_rule_starts(unsigned int me)
{
	bool starts = starting[me];

	starting[me] = false;

	return starts;
}

void pb_rule_turns_off(unsigned int me)
{
	turned_on[me] = false;
	calls_off[me] = true;
}

/* Whether a CPU other than the target is on its way down after CPU_OFF. */
bool pb_rule_is_another_turning_off(unsigned int target)
{
	unsigned int pos;

	for (pos = 0U; pos < PB_CPUS; pos++) {
		if ((pos != target) && calls_off[pos] &&
		    (pb_core_get(pos) == PB_NODE_ON)) {
			return true;
		}
	}

	return false;
}

/*
 * This CPU powers down its cluster. Siblings that wake up wait for a lock
 * that it holds; with the fault, the flush of the cluster costs them the context
 * that they have already loaded.
 */
void pb_rule_cluster_down(unsigned int me)
{
	unsigned int first = me - (me % CPUS_PER_CLUSTER);
	unsigned int pos;

	if (!pb_fault_is(PB_CLUSTER_BESIDE_WAKE, me)) {
		return;
	}
	for (pos = first; pos < (first + CPUS_PER_CLUSTER); pos++) {
		if ((pos != me) && (pb_fate(pos)->wakes != 0U) &&
		    (pb_core_get(pos) == PB_NODE_SUSPENDED)) {
			context_lost[pos] = true;
		}
	}
}

/* This core has come up. */
void pb_fault_came_up(void)
{
	pb_fate(plat_my_core_pos())->wakes = 0U;
}

/* Whether this core enters the non-secure world with another context. */
bool pb_rule_context_is_lost(unsigned int me)
{
	bool is_lost = context_lost[me];

	context_lost[me] = false;

	return is_lost;
}

static bool try_suspend_lock(void)
{
	bool is_free;

	spin_lock(&guard);
	is_free = !suspend_lock;
	suspend_lock = true;
	spin_unlock(&guard);

	return is_free;
}

/*
 * Takes the lock, which a CPU that has suspended releases. If it is never
 * released, the CPU hangs.
 */
void pb_rule_take_suspend_lock(void)
{
	unsigned int tries;

	for (tries = 0U; tries < LOCK_TRIES; tries++) {
		if (try_suspend_lock()) {
			return;
		}
		__asm__ volatile("yield");
	}

	hang();
}

void pb_rule_give_suspend_lock(void)
{
	suspend_lock = false;
}

/* Whether a CPU has been turned on that is not on yet. */
bool pb_rule_is_any_starting(void)
{
	unsigned int pos;

	for (pos = 0U; pos < PB_CPUS; pos++) {
		if (turned_on[pos] && (pb_core_get(pos) == PB_NODE_OFF)) {
			return true;
		}
	}

	return false;
}

u_register_t pb_rule_mode(unsigned int me, unsigned int mode,
			  u_register_t result)
{
	if (result == PSCI_E_SUCCESS) {
		os_initiated = (mode != 0U);
	}
	if (((int)result == PSCI_E_DENIED) &&
	    pb_fault_is(PB_MODE_WHILE_ON, me) && (mode == pb_fault_arg()) &&
	    (pb_fault_strikes(PB_CALL_PSCI, me) != PB_NO_FAULT)) {
		return PSCI_E_SUCCESS;
	}

	return result;
}

/* Whether another CPU has begun to turn off, but is still on. */
bool pb_rule_is_another_leaving(unsigned int me)
{
	uint64_t end = read_cntpct_el0() +
		       ((LEAVING_US * (uint64_t)read_cntfrq_el0()) / 1000000U);
	unsigned int pos;

	for (pos = 0U; pos < PB_CPUS; pos++) {
		if ((pos != me) && leaving[pos] &&
		    (pb_core_get(pos) == PB_NODE_ON)) {
			return true;
		}
	}

	leaving[me] = true;
	dsbsy();
	while (read_cntpct_el0() < end) {
		__asm__ volatile("yield");
	}

	return false;
}
