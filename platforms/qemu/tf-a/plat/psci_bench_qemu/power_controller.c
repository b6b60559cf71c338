/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The state that a power controller would hold, since QEMU has none: which
 * nodes of the power domain tree are on. It is used for NODE_HW_STATE, and to
 * determine whether CPU_ON or an interrupt brings back a core that powers down.
 *
 * The words are in Device memory (platform_def.h), because they are written by
 * cores that have left coherency. Only the core itself writes its word; a
 * cluster's word and the system's are written with TF-A's lock for the node
 * held.
 */

#include <lib/cassert.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

struct nodes {
	uint32_t core[PB_CPUS];
	uint32_t cluster[PB_CLUSTERS];
	uint32_t system;
};

CASSERT(sizeof(struct nodes) <= (PB_STAMPS_ADDR - PB_NODES_ADDR),
	pb_nodes_fit);
CASSERT(PB_HOLD_ADDR + (PB_CPUS << PB_HOLD_SHIFT) <= PB_NODES_ADDR,
	pb_hold_words_fit);

static volatile struct nodes *const nodes =
	(volatile struct nodes *)PB_NODES_ADDR;

/* The node that a core belongs to at a level above the core. */
static volatile uint32_t *ancestor(unsigned int pos, unsigned int level)
{
	return (level == 1U) ? &nodes->cluster[pos / PB_CPUS_PER_CLUSTER]
			     : &nodes->system;
}

/* At boot one core is on, and with it its cluster and the system. */
void pb_power_controller_init(void)
{
	unsigned int me = plat_my_core_pos();
	unsigned int i;

	for (i = 0U; i < PB_CPUS; i++) {
		nodes->core[i] = PB_NODE_OFF;
	}
	for (i = 0U; i < PB_CLUSTERS; i++) {
		nodes->cluster[i] = PB_NODE_OFF;
	}

	nodes->core[me] = PB_NODE_ON;
	*ancestor(me, 1U) = PB_NODE_ON;
	nodes->system = PB_NODE_ON;
}

void pb_core_set(unsigned int pos, enum pb_node state)
{
	nodes->core[pos] = (uint32_t)state;
}

enum pb_node pb_core_get(unsigned int pos)
{
	return (enum pb_node)nodes->core[pos];
}

/*
 * `target` is what TF-A has coordinated with the other cores: only for the last
 * man in a cluster is the cluster's state off.
 */
void pb_nodes_go_down(const psci_power_state_t *target, enum pb_node core)
{
	unsigned int me = plat_my_core_pos();
	unsigned int level;

	pb_core_set(me, core);

	for (level = 1U; level <= PLAT_MAX_PWR_LVL; level++) {
		if (is_local_state_off(target->pwr_domain_state[level]) != 0) {
			*ancestor(me, level) = PB_NODE_OFF;
		}
	}
}

/*
 * The ancestors of a running core are on; so are those that it did not power
 * down.
 */
void pb_nodes_come_up(const psci_power_state_t *woken_from)
{
	unsigned int me = plat_my_core_pos();
	unsigned int level;

	pb_core_set(me, PB_NODE_ON);

	for (level = 1U; level <= PLAT_MAX_PWR_LVL; level++) {
		if (is_local_state_run(woken_from->pwr_domain_state[level]) == 0) {
			*ancestor(me, level) = PB_NODE_ON;
		}
	}
}

/* TF-A has checked both arguments. */
int pb_node_hw_state(u_register_t mpidr, unsigned int level)
{
	unsigned int pos = (unsigned int)plat_core_pos_by_mpidr(mpidr);
	uint32_t state = (level == 0U) ? nodes->core[pos]
				       : *ancestor(pos, level);

	switch (state) {
	case PB_NODE_ON:
		return HW_ON;
	case PB_NODE_STANDBY:
		return HW_STANDBY;
	default:
		return HW_OFF;
	}
}
