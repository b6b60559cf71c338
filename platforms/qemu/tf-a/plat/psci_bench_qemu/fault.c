/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The fault that is armed, which calls it affects, and how often it has
 * occurred.
 *
 * Calls are counted separately for each CPU. Only the CPU itself, or the one
 * CPU that calls it, changes a count, so no lock is needed.
 */

#include <arch_helpers.h>
#include <common/debug.h>
#include <lib/cassert.h>
#include <plat/common/platform.h>
#include <platform_def.h>

#include <string.h>

#include <psci_bench_faults.h>
#include <psci_bench_qemu.h>

#define SPEC_SIZE	128U

CASSERT(sizeof(struct pb_fate) == (1U << PB_FATE_SHIFT), pb_fate_stride);
CASSERT(__builtin_offsetof(struct pb_fate, sleep) == PB_FATE_SLEEP,
	pb_fate_sleep);
CASSERT(__builtin_offsetof(struct pb_fate, delay) == PB_FATE_DELAY,
	pb_fate_delay);
CASSERT(__builtin_offsetof(struct pb_fate, gic) == PB_FATE_GIC, pb_fate_gic);
CASSERT(__builtin_offsetof(struct pb_fate, keep) == PB_FATE_KEEP, pb_fate_keep);
CASSERT(__builtin_offsetof(struct pb_fate, wakes) == PB_FATE_WAKES,
	pb_fate_wakes);
CASSERT(__builtin_offsetof(struct pb_fate, lose) == PB_FATE_LOSE,
	pb_fate_lose);
CASSERT((PB_FATES_ADDR + (PB_CPUS << PB_FATE_SHIFT)) <=
	(PB_SHARED_BASE + SHARED_RAM_SIZE), pb_fates_fit);

static struct pb_fault_spec armed;
static uint64_t second;

static struct {
	uint64_t seen;
	uint64_t struck;
} counts[PB_CPUS];

volatile struct pb_fate *pb_fate(unsigned int pos)
{
	return (volatile struct pb_fate *)PB_FATES_ADDR + pos;
}

bool pb_fault_is(enum pb_fault fault, unsigned int pos)
{
	return (armed.fault == fault) && (!armed.one_cpu || (armed.cpu == pos));
}

enum pb_fault pb_fault_strikes(enum pb_call call, unsigned int pos)
{
	uint64_t call_number;

	if ((armed.call != call) || !pb_fault_is(armed.fault, pos) ||
	    (armed.fault == PB_NO_FAULT)) {
		return PB_NO_FAULT;
	}

	call_number = counts[pos].seen;
	counts[pos].seen++;
	if ((call_number < armed.skip) ||
	    ((call_number - armed.skip) >= armed.count)) {
		return PB_NO_FAULT;
	}
	counts[pos].struck++;

	return armed.fault;
}

uint64_t pb_fault_arg(void)
{
	return armed.arg;
}

uint64_t pb_fault_function(void)
{
	return armed.function;
}

uint64_t pb_fault_arg_ticks(void)
{
	uint64_t ticks = (armed.arg * second) / 1000000U;

	/* 0 means no delay, not that there is no fault. */
	return (ticks == 0U) ? 1U : ticks;
}

uint64_t pb_fault_arg_or_second(void)
{
	return (armed.arg == 0U) ? second : armed.arg;
}

static bool has_vhe(void)
{
	return ((read_id_aa64mmfr1_el1() >> ID_AA64MMFR1_EL1_VHE_SHIFT) &
		PB_ID_FIELD_MASK) != 0U;
}

/*
 * A fault that is impossible on this machine or in this build would have no
 * effect.
 */
static void check(void)
{
	if (((armed.call == PB_CALL_PMF_CALL) ||
	     (armed.call == PB_CALL_PMF_READ)) && !PB_PMF_NEW) {
		pb_fault_refuse(armed.word,
				"needs PB_PMF=new and TF-A 2.11 or later");
	}
	if ((armed.fault == PB_E2H_SET) &&
	    (!has_vhe() || (el_implemented(2) == EL_IMPL_NONE))) {
		pb_fault_refuse(armed.word, "this machine has no VHE");
	}
}

static void arm(void)
{
	char text[SPEC_SIZE];
	char said[SPEC_SIZE];
	unsigned int i;

	if (!pb_fw_cfg_read_fault(text, sizeof(text))) {
		return;
	}

	for (i = 0U; i < sizeof(said); i++) {
		said[i] = (text[i] == ',') ? ' ' : text[i];
		if (text[i] == '\0') {
			break;
		}
	}

	pb_fault_parse(text, &armed);
	check();
	NOTICE("psci-bench fault: %s\n", said);
}

uintptr_t pb_faults_init(uintptr_t entry)
{
	unsigned int pos;

	for (pos = 0U; pos < PB_CPUS; pos++) {
		pb_fate(pos)->sleep = 0U;
		pb_fate(pos)->delay = 0U;
		pb_fate(pos)->gic = 0U;
		pb_fate(pos)->lose = 0U;
		pb_fate(pos)->wakes = 0U;
	}

	/* This must happen before a fault can clear the frequency. */
	second = read_cntfrq_el0();
	arm();
	if ((armed.fault == PB_INTERRUPT_STORM) ||
	    (armed.fault == PB_SECURE_TIMER)) {
		pb_storm_init();
	}

	/* Read by cores whose caches are still off. */
	flush_dcache_range((uintptr_t)&armed, sizeof(armed));
	flush_dcache_range((uintptr_t)&second, sizeof(second));

	(void)entry;

	return (uintptr_t)pb_fault_warm_entry;
}

/* The log must show whether the fault occurred. */
void pb_faults_report(void)
{
	uint64_t struck = 0U;
	unsigned int pos;

	if (armed.fault == PB_NO_FAULT) {
		return;
	}

	for (pos = 0U; pos < PB_CPUS; pos++) {
		struck += counts[pos].struck;
	}
	NOTICE("psci-bench fault: %s struck %llu times\n", armed.word,
	       (unsigned long long)struck);
}

bool pb_fault_gic_is_lost(void)
{
	volatile struct pb_fate *fate = pb_fate(plat_my_core_pos());
	bool lost = fate->gic != 0U;

	fate->gic = 0U;

	return lost;
}
