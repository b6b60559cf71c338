/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The interface between this platform's files: what pm.c needs from the GIC,
 * the power controller and the assembly code. PB_GIC selects the GIC driver
 * that is built in; both drivers have the same function names.
 */

#ifndef PSCI_BENCH_QEMU_H
#define PSCI_BENCH_QEMU_H

#include <stdbool.h>
#include <stdint.h>

#include <lib/psci/psci.h>

/* pm.c: turns the machine off. */
void __dead2 pb_power_off(void);

/* topology.c: position from affinity alone, or -1; the CPU may not exist. */
int pb_position_by_affinity(u_register_t mpidr);

/*
 * power_state.c: converts PSCI's power_state to a state for each power level.
 */
int pb_validate_power_state(unsigned int power_state, psci_power_state_t *req);
void pb_system_suspend_state(psci_power_state_t *req);

/*
 * power_controller.c: the state of each node in the power domain tree. OFF and
 * SUSPENDED differ in what wakes a core: CPU_ON or an interrupt.
 */
enum pb_node {
	PB_NODE_ON,
	PB_NODE_STANDBY,
	PB_NODE_SUSPENDED,
	PB_NODE_OFF,
};

void pb_power_controller_init(void);
void pb_core_set(unsigned int pos, enum pb_node state);
enum pb_node pb_core_get(unsigned int pos);
void pb_nodes_go_down(const psci_power_state_t *target, enum pb_node core);
void pb_nodes_come_up(const psci_power_state_t *woken_from);
int pb_node_hw_state(u_register_t mpidr, unsigned int level);

/* gic_v2.c, gic_v3.c */
bool pb_gic_has_core(unsigned int pos);
void pb_gic_core_down(void);
void pb_gic_core_on(void);
void pb_gic_core_resume(void);
void pb_gic_release_core(u_register_t mpidr);

/*
 * fault*.c: faults requested on QEMU's command line (PB_FAULTS). Without
 * PB_FAULTS, these do nothing.
 */
#if PB_FAULTS
/* The address where a core should resume; `entry` if there is no fault. */
uintptr_t pb_faults_init(uintptr_t entry);
void pb_faults_report(void);
/* CPU_ON for that CPU succeeds, but the CPU never comes up. */
bool pb_fault_loses(unsigned int pos);
/* This CPU powers down, or has come up, with the locks held. */
void pb_fault_power_down(const psci_power_state_t *target);
void pb_fault_came_up(void);
/* The platform's opinion on a request that TF-A accepts. */
int pb_fault_validate_suspend(const psci_power_state_t *target);
/* This core's part of the GIC has lost power. */
bool pb_fault_gic_is_lost(void);
bool pb_fault_pmf_is_sip_only(void);

/* gic_v2.c, gic_v3.c: this core's private interrupts. */
uint32_t pb_gic_private_enabled(void);
void pb_gic_pend_private(unsigned int id);
#else
static inline uintptr_t pb_faults_init(uintptr_t entry)
{
	return entry;
}

static inline void pb_faults_report(void)
{
}

static inline bool pb_fault_loses(unsigned int pos)
{
	(void)pos;
	return false;
}

static inline void pb_fault_power_down(const psci_power_state_t *target)
{
	(void)target;
}

static inline void pb_fault_came_up(void)
{
}

static inline bool pb_fault_gic_is_lost(void)
{
	return false;
}
#endif /* PB_FAULTS */

/*
 * cpu_on_race.c: a CPU_ON too soon after CPU_OFF (PB_CPU_ON_RACE). Without
 * PB_CPU_ON_RACE, these do nothing.
 */
#if PB_CPU_ON_RACE
#define PB_RACE_ANSWER	(PB_CPU_ON_FAILS ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS)

void pb_race_init(void);
/* A call names that CPU. */
void pb_race_look(unsigned int pos);
/* CPU_ON for that CPU comes too soon. */
bool pb_race_is_lost(unsigned int pos);
#else
#define PB_RACE_ANSWER	PSCI_E_SUCCESS

static inline void pb_race_init(void)
{
}

static inline void pb_race_look(unsigned int pos)
{
	(void)pos;
}

static inline bool pb_race_is_lost(unsigned int pos)
{
	(void)pos;
	return false;
}
#endif /* PB_CPU_ON_RACE */

/*
 * power_channel.c: the only channel to the power controller (PB_POWER_CHANNEL).
 * Without PB_POWER_CHANNEL, these do nothing.
 */
#if PB_POWER_CHANNEL
void pb_channel_init(void);
void pb_channel_take(void);
void pb_channel_give(void);
#else
static inline void pb_channel_init(void)
{
}

static inline void pb_channel_take(void)
{
}

static inline void pb_channel_give(void)
{
}
#endif /* PB_POWER_CHANNEL */

/* pabandon.c: a power-down that the core abandons (PB_PABANDON). */
#if PB_PABANDON
/* An interrupt is pending for this core, which was about to lose power. */
bool pb_power_down_is_abandoned(void);
/* This core resumes; its CPU interface may still be set up for the WFI. */
void pb_abandon_finish(void);

/* gic_v2_core.S, gic_v3_core.S */
void pb_gic_arm_wake(void);
#else
static inline void pb_abandon_finish(void)
{
}
#endif /* PB_PABANDON */

/* power_loss.S: the core loses power and comes back at the warm entry point. */
void __dead2 pb_core_power_down(bool wake_by_interrupt);

#endif /* PSCI_BENCH_QEMU_H */
