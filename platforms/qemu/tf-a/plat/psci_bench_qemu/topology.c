/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The power domain tree, and the position of each CPU in it.
 *
 * QEMU's virt machine has no clusters visible to a guest: its MPIDRs count in
 * groups of sixteen. With blocks of four, a cluster's last man is worth
 * measuring at any number of CPUs.
 */

#include <arch.h>
#include <lib/psci/psci.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <psci_bench_qemu.h>

/*
 * Breadth first: the number of roots, then the number of children for each
 * node. Built for the maximum number of CPUs. CPUs that the machine does not
 * have stay off, and a CPU that is off permits any state of its parents.
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
	 * TFTF passes it on. Only the affinity fields identify a CPU; in QEMU,
	 * Aff2 and Aff3 are 0.
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
 * PSCI passes MPIDRs that come from the caller of CPU_ON. A CPU that QEMU was
 * not started with has to be rejected here, because a CPU_ON for a missing CPU
 * succeeds and leaves its caller waiting. The GIC shows which CPUs exist.
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
