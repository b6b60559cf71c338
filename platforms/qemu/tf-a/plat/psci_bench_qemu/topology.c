/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The power domain tree, and which CPU stands where in it.
 *
 * QEMU's virt machine has no clusters that a guest could see: its MPIDRs count
 * in sixteens. Blocks of four make a tree in which a cluster's last man is
 * worth measuring, at any number of CPUs.
 */

#include <arch.h>
#include <lib/psci/psci.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

/*
 * Breadth first: the number of roots, then of children for each node. Built
 * for the most CPUs there can be. Those that the machine does not have stay
 * off, and to be off agrees to any state of their parents.
 */
static const unsigned char tree[] = {
	1,
	PB_CLUSTERS,
	PB_CPUS_PER_CLUSTER,
	PB_CPUS_PER_CLUSTER,
#if PB_CLUSTERS > 2
	PB_CPUS_PER_CLUSTER,
	PB_CPUS_PER_CLUSTER,
	PB_CPUS_PER_CLUSTER,
	PB_CPUS_PER_CLUSTER,
	PB_CPUS_PER_CLUSTER,
	PB_CPUS_PER_CLUSTER,
#endif
};

CASSERT(sizeof(tree) == 2U + PB_CLUSTERS, pb_tree_has_all_clusters);

const unsigned char *plat_get_power_domain_tree_desc(void)
{
	return tree;
}

int pb_position_by_affinity(u_register_t mpidr)
{
	unsigned int aff0 = MPIDR_AFFLVL0_VAL(mpidr);
	unsigned int aff1 = MPIDR_AFFLVL1_VAL(mpidr);
	unsigned int pos = (aff1 << PB_AFF1_SHIFT) + aff0;

	/*
	 * MPIDR_EL1 has more bits than the affinity fields: bit 31 is RES1, and
	 * TFTF passes it on. Only the affinity fields name a CPU; QEMU's have 0
	 * in Aff2 and Aff3.
	 */
	if ((mpidr & MPIDR_AFFINITY_MASK & ~(u_register_t)0xffffU) != 0U) {
		return -1;
	}

	if ((aff0 >= PB_CPUS_PER_AFF1) || (pos >= PB_CPUS)) {
		return -1;
	}

	return (int)pos;
}

/*
 * PSCI asks with MPIDRs that come from the caller of CPU_ON. A CPU that QEMU
 * was not started with has to be refused here, since a CPU_ON that reaches
 * nobody succeeds and leaves its caller waiting. The GIC knows who is there.
 */
int plat_core_pos_by_mpidr(u_register_t mpidr)
{
	int pos = pb_position_by_affinity(mpidr);

	if ((pos < 0) || !pb_gic_has_core((unsigned int)pos)) {
		return -1;
	}

	pb_race_look((unsigned int)pos);

	return pos;
}
