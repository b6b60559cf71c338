/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_FAULTS=1: the interface between the fault injection files. Their interface
 * to the rest of the platform is in psci_bench_qemu.h.
 */

#ifndef PSCI_BENCH_FAULTS_H
#define PSCI_BENCH_FAULTS_H

#include <lib/utils_def.h>
#include <platform_def.h>

/*
 * What a fault does to a core that powers down or comes up, where there is
 * neither a stack nor an MMU. There is a record for each CPU, in Device memory
 * (platform_def.h), which is used once and then cleared.
 */
#define PB_FATE_SHIFT		6
/* Ticks after which the core wakes without an interrupt; 0: it does not. */
#define PB_FATE_SLEEP		0
/* Ticks for which it waits before it enters TF-A's warm boot path. */
#define PB_FATE_DELAY		8
/* Not zero: its part of the GIC is reset when it resumes. */
#define PB_FATE_GIC		16
/* Not zero: an interrupt that comes before the core sleeps is lost. */
#define PB_FATE_LOSE		24
/* Not zero: the core keeps its power while it is suspended. */
#define PB_FATE_KEEP		32
/* Not zero: the core is coming up, and has not reached its last hook yet. */
#define PB_FATE_WAKES		40

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include <psci_bench_fault_list.h>

#define PB_SLEEP_FOR_EVER	UINT64_MAX

struct pb_fate {
	uint64_t sleep;
	uint64_t delay;
	uint64_t gic;
	uint64_t lose;
	uint64_t keep;
	uint64_t wakes;
	uint64_t unused[2];
};

/* Not memory: the machine would need 254 GiB for that. */
#define PB_NOWHERE		ULL(0x3fbad00000)

enum pb_fault {
	PB_NO_FAULT,
#define PB_FAULT_NAME(name, ...) PB_##name,
	PB_FAULT_LIST(PB_FAULT_NAME)
#undef PB_FAULT_NAME
};

/* Calls and events that are counted, and that a fault can affect. */
enum pb_call {
	PB_CALL_CPU_ON,
	PB_CALL_CPU_OFF,
	PB_CALL_AFFINITY_INFO,
	PB_CALL_CPU_SUSPEND,
	PB_CALL_PSCI,
	PB_CALL_PMF_CALL,
	PB_CALL_PMF_READ,
	PB_CALL_ENTRY,
	PB_CALL_TICK,
};

/* A parsed specification. */
struct pb_fault_spec {
	enum pb_fault fault;
	enum pb_call call;
	const char *word;
	/* Whether the fault affects one CPU only, or all. */
	bool one_cpu;
	unsigned int cpu;
	uint64_t skip;
	uint64_t count;
	uint64_t arg;
	/* A function's number within its service; only for some faults. */
	uint64_t function;
};

/* fault_fw_cfg.c: the text of the specification, if there is one. */
bool pb_fw_cfg_read_fault(char *text, unsigned int size);

/* fault_spec.c: parses the text; ends the boot if it is invalid. */
void pb_fault_parse(char *text, struct pb_fault_spec *spec);
void __dead2 pb_fault_refuse(const char *word, const char *why);

/*
 * fault.c: the fault, if it affects this call of the CPU at `pos`. Counts the
 * call.
 */
enum pb_fault pb_fault_strikes(enum pb_call call, unsigned int pos);
/*
 * Whether this is the armed fault, and that CPU can have it at all. Does not
 * count.
 */
bool pb_fault_is(enum pb_fault fault, unsigned int pos);
uint64_t pb_fault_arg(void);
uint64_t pb_fault_function(void);
/* arg= in counter ticks, if it is in microseconds. */
uint64_t pb_fault_arg_ticks(void);
/* arg= in ticks, or a second if it is 0. */
uint64_t pb_fault_arg_or_second(void);
volatile struct pb_fate *pb_fate(unsigned int pos);

/* fault_rules.c */
bool pb_rule_ignores_rejection(enum pb_fault fault, unsigned int me,
			       u_register_t result);
bool pb_rule_rejects_last(enum pb_fault fault, u_register_t power_state);
void pb_rule_begin_suspend(enum pb_fault fault, unsigned int me);
void pb_rule_turned_on(unsigned int pos);
bool pb_rule_starts(unsigned int me);
void pb_rule_turns_off(unsigned int me);
bool pb_rule_is_any_starting(void);
bool pb_rule_is_another_turning_off(unsigned int target);
void pb_rule_cluster_down(unsigned int me);
bool pb_rule_context_is_lost(unsigned int me);
void pb_rule_take_suspend_lock(void);
void pb_rule_give_suspend_lock(void);
u_register_t pb_rule_mode(unsigned int me, unsigned int mode,
			  u_register_t result);
bool pb_rule_is_another_leaving(unsigned int me);

/* fault_storm.c */
void pb_storm_init(void);
void pb_storm_enter(unsigned int me);
void pb_storm_call(unsigned int me);
void pb_storm_stop(unsigned int me);

/* fault_power.S: where a core comes back, instead of TF-A's own address. */
void pb_fault_warm_entry(void);

#endif /* __ASSEMBLER__ */

#endif /* PSCI_BENCH_FAULTS_H */
