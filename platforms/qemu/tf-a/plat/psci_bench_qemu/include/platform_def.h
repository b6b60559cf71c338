/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Constants that differ from TF-A's qemu platform: the number of CPUs, the
 * power levels, and the page of secure memory that replaces the power
 * controller. The memory map, the UARTs and the image layout stay those of the
 * qemu platform, whose header this one extends.
 *
 * Included by C, assembly and linker scripts, so it contains only macros.
 */

#ifndef PB_PLATFORM_DEF_H
#define PB_PLATFORM_DEF_H

#include_next <platform_def.h>

/*
 * CPUs. QEMU's virt machine numbers them by MPIDR: 16 per Aff1 group with
 * GICv3, 8 in total with GICv2 (whose target lists are one byte). Two groups
 * are enough for the largest run and keep the last position below 32.
 */
#if PB_GIC == 2
#define PB_CPUS			U(8)
#else
#define PB_CPUS			U(32)
#endif

/* MPIDR Aff1 counts groups of sixteen: position = Aff1 * 16 + Aff0. */
#define PB_AFF1_SHIFT		U(4)
#define PB_CPUS_PER_AFF1	(U(1) << PB_AFF1_SHIFT)

/* Clusters are blocks of four CPUs; QEMU's MPIDR does not show them. */
#define PB_CPUS_PER_CLUSTER	U(4)
#define PB_CLUSTERS		(PB_CPUS / PB_CPUS_PER_CLUSTER)

#undef PLATFORM_CORE_COUNT
#define PLATFORM_CORE_COUNT	PB_CPUS

/* Three levels: core, cluster, system. */
#undef PLAT_MAX_PWR_LVL
#define PLAT_MAX_PWR_LVL	U(2)
#undef PLAT_NUM_PWR_DOMAINS
#define PLAT_NUM_PWR_DOMAINS	(U(1) + PB_CLUSTERS + PB_CPUS)

/*
 * Up to 2.8, the qemu platform maps coherent memory even in a build without
 * it. TF-A ignores a region of size 0.
 */
#define BL_COHERENT_RAM_BASE	UL(0)
#define BL_COHERENT_RAM_END	UL(0)

/*
 * The page at the bottom of secure SRAM. Every boot stage maps it as Device
 * memory, so its contents are the same whether a CPU has its caches on or off,
 * like the registers of a real power controller.
 *
 *   0x000  address at which a CPU resumes, written once by BL31
 *   0x008  a word per CPU: PB_HOLD_GO lets it out of the hold pen
 *   0x200  a word per node of the power domain tree (power_controller.c)
 *   0x400  time stamps of PSCI_STAT, where PMF is not there to keep them
 *   0x600  what a fault has in store for each CPU (PB_FAULTS)
 *   0xa00  a word per CPU: when it was seen to be OFF (PB_CPU_ON_RACE)
 *   0xb00  the queue for the power controller (PB_POWER_CHANNEL)
 */
#define PB_SHARED_BASE		SHARED_RAM_BASE
#define PB_ENTRY_ADDR		(PB_SHARED_BASE + 0x000)
#define PB_HOLD_ADDR		(PB_SHARED_BASE + 0x008)
#define PB_NODES_ADDR		(PB_SHARED_BASE + 0x200)
#define PB_STAMPS_ADDR		(PB_SHARED_BASE + 0x400)
#define PB_FATES_ADDR		(PB_SHARED_BASE + 0x600)
#define PB_SEEN_OFF_ADDR	(PB_SHARED_BASE + 0xa00)
#define PB_CHANNEL_ADDR		(PB_SHARED_BASE + 0xb00)
#define PB_SHARED_SIZE		0x1000

#define PB_HOLD_SHIFT		3
#define PB_HOLD_WAIT		0
#define PB_HOLD_GO		1

/*
 * A field of an ID register has four bits. Not all versions of TF-A have a mask
 * for each field, or the same function to test it.
 */
#define PB_ID_FIELD_MASK	0xf

/*
 * Software-generated interrupts 8 to 15 belong to the secure world, as Arm
 * recommends. One of them releases a CPU from the hold pen. It is in Group 0,
 * because only EL3 may receive it. OP-TEE uses the last one.
 */
#define PB_FIRST_SECURE_SGI	8
#define PB_RELEASE_SGI		14

#endif /* PB_PLATFORM_DEF_H */
