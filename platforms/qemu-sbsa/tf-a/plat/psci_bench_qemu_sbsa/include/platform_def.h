/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The constant that differs from TF-A's qemu_sbsa platform: the number of
 * clusters. With the platform's own 64 clusters of 8 CPUs, the arrays for PMF
 * and PSCI_STAT do not fit into the memory of BL1, BL2 and BL31.
 *
 * Included by C, assembly and linker scripts, so it contains only macros.
 */

#ifndef PB_PLATFORM_DEF_H
#define PB_PLATFORM_DEF_H

#include_next <platform_def.h>

/* 8 clusters of 8 CPUs, more than QEMU's sbsa-ref is started with. */
#undef PLATFORM_CLUSTER_COUNT
#define PLATFORM_CLUSTER_COUNT	U(8)

#endif /* PB_PLATFORM_DEF_H */
