/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The constants that differ from TF-A's qemu_sbsa platform: the number of
 * clusters and the place of BL33.
 *
 * Included by C, assembly and linker scripts, so it contains only macros.
 */

#ifndef PB_PLATFORM_DEF_H
#define PB_PLATFORM_DEF_H

#include_next <platform_def.h>

/*
 * 8 clusters of 8 CPUs. With the platform's own 64 clusters, the arrays for PMF
 * and PSCI_STAT do not fit into the memory of BL1, BL2 and BL31.
 */
#undef PLATFORM_CLUSTER_COUNT
#define PLATFORM_CLUSTER_COUNT	U(8)

/*
 * BL2 maps the first 512 MiB of memory. The platform's own place for BL33 is
 * the end of them, and its NS_IMAGE_MAX_SIZE is 0.
 */
#undef NS_IMAGE_OFFSET
#define NS_IMAGE_OFFSET		(NS_DRAM0_BASE + 0x10000000)
#undef NS_IMAGE_MAX_SIZE
#define NS_IMAGE_MAX_SIZE	0x10000000

#endif /* PB_PLATFORM_DEF_H */
