/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_FAULTS=1: what the files of the fault injection ask of one another. What
 * the rest of the platform asks of them is in psci_bench_qemu.h.
 */

#ifndef PSCI_BENCH_FAULTS_H
#define PSCI_BENCH_FAULTS_H

#include <lib/utils_def.h>
#include <platform_def.h>

/*
 * What a fault has in store for a core that goes down or comes up, where there
 * is neither stack nor MMU. One such record for each CPU, in Device memory
 * (platform_def.h), used once and then cleared.
 */
#define PB_FATE_SHIFT		5
/* Ticks after which the core wakes without interrupt; 0: no such thing. */
#define PB_FATE_SLEEP		0
/* Ticks for which it waits before it enters TF-A's warm boot path. */
#define PB_FATE_DELAY		8
/* Not zero: its part of the GIC is reset when it resumes. */
#define PB_FATE_GIC		16

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include <psci_bench_fault_list.h>

#define PB_SLEEP_FOR_EVER	UINT64_MAX

struct pb_fate {
	uint64_t sleep;
	uint64_t delay;
	uint64_t gic;
	uint64_t unused;
};

/* No memory: the machine would need 254 GiB for it. */
#define PB_NOWHERE		ULL(0x3fbad00000)

enum pb_fault {
	PB_NO_FAULT,
#define PB_FAULT_NAME(name, ...) PB_##name,
	PB_FAULT_LIST(PB_FAULT_NAME)
#undef PB_FAULT_NAME
};

/* What is counted, and can be struck. */
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

/* A specification, read. */
struct pb_fault_spec {
	enum pb_fault fault;
	enum pb_call call;
	const char *word;
	/* Of one CPU only, or of each. */
	bool one_cpu;
	unsigned int cpu;
	uint64_t skip;
	uint64_t count;
	uint64_t arg;
};

/* fault_fw_cfg.c: the text of the specification, if there is one. */
bool pb_fw_cfg_read_fault(char *text, unsigned int size);

/* fault_spec.c: what the text means, or the end of the boot. */
void pb_fault_parse(char *text, struct pb_fault_spec *spec);
void __dead2 pb_fault_refuse(const char *word, const char *why);

/*
 * fault.c: which fault it is, if this call of the CPU at `pos` is to have it.
 * Asking counts.
 */
enum pb_fault pb_fault_strikes(enum pb_call call, unsigned int pos);
/* Which fault it is, and whether that CPU may have it at all. Not counted. */
bool pb_fault_is(enum pb_fault fault, unsigned int pos);
uint64_t pb_fault_arg(void);
/* arg= in ticks of the counter, where it stands for microseconds. */
uint64_t pb_fault_arg_ticks(void);
/* arg=, or a second where it is 0, in ticks. */
uint64_t pb_fault_arg_or_second(void);
volatile struct pb_fate *pb_fate(unsigned int pos);

/* fault_storm.c */
void pb_storm_init(void);
void pb_storm_enter(unsigned int me);
void pb_storm_call(unsigned int me);
void pb_storm_stop(unsigned int me);

/* fault_power.S: where a core comes back, instead of TF-A's own address. */
void pb_fault_warm_entry(void);

#endif /* __ASSEMBLER__ */

#endif /* PSCI_BENCH_FAULTS_H */
