/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The faults that can be selected in firmware built with PB_FAULTS=1: the
 * single list used by the enumeration, the parser and the host tool.
 *
 *   FAULT(name in C, word in the specification,
 *         what is counted for cpu=, skip= and count=,
 *         whether it takes arg=, what that is if not given, the most it can be)
 */

#ifndef PSCI_BENCH_FAULT_LIST_H
#define PSCI_BENCH_FAULT_LIST_H

/* arg= is in microseconds, `us` by default: an hour at most. */
#define PB_MICROSECONDS(us)	ARG, (us), ULL(3600000000)
/* In ticks; 0 is a second. */
#define PB_TICKS		ARG, 0, UINT64_MAX
/* Selects one of several variants. */
#define PB_ONE_OF(n)		ARG, 0, (n) - 1
#define PB_WITHOUT		NO_ARG, 0, 0

#define PB_FAULT_LIST(FAULT)						\
	/* CPU_ON: the CPU that is called */				\
	FAULT(CPU_ON_INTERNAL_FAILURE, "cpu-on-internal-failure",	\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_DENIED, "cpu-on-denied",				\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_ALREADY_ON, "cpu-on-already-on",			\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_PENDING, "cpu-on-pending",				\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_INVALID_ADDRESS, "cpu-on-invalid-address",		\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_LOST, "cpu-on-lost",				\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_LATE, "cpu-on-late",				\
	      CPU_ON, PB_MICROSECONDS(1000))				\
	FAULT(CPU_ON_WRONG_CONTEXT, "cpu-on-wrong-context",		\
	      CPU_ON, PB_ONE_OF(4))					\
	FAULT(CPU_ON_TWICE, "cpu-on-twice",				\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_OVERTAKEN, "cpu-on-overtaken",			\
	      CPU_ON, PB_WITHOUT)					\
	FAULT(CPU_ON_BESIDE_OFF, "cpu-on-beside-off",			\
	      CPU_ON, PB_WITHOUT)					\
	/* CPU_OFF: the caller */					\
	FAULT(CPU_OFF_DENIED, "cpu-off-denied",				\
	      CPU_OFF, PB_WITHOUT)					\
	FAULT(CPU_OFF_RETURNS_SUCCESS, "cpu-off-returns-success",	\
	      CPU_OFF, PB_WITHOUT)					\
	FAULT(CPU_OFF_NOT_SUPPORTED, "cpu-off-not-supported",		\
	      CPU_OFF, PB_WITHOUT)					\
	FAULT(CPU_OFF_ABSENT, "cpu-off-absent",				\
	      CPU_OFF, PB_WITHOUT)					\
	FAULT(CPU_OFF_ONE_BY_ONE, "cpu-off-one-by-one",			\
	      CPU_OFF, PB_WITHOUT)					\
	/* AFFINITY_INFO: the CPU that is queried */		\
	FAULT(AFFINITY_NEVER_OFF, "affinity-never-off",			\
	      AFFINITY_INFO, PB_WITHOUT)				\
	FAULT(AFFINITY_ERROR, "affinity-error",				\
	      AFFINITY_INFO, PB_WITHOUT)				\
	FAULT(AFFINITY_SUSPENDED_OFF, "affinity-suspended-off",		\
	      AFFINITY_INFO, PB_WITHOUT)				\
	FAULT(AFFINITY_OF_LEVEL, "affinity-of-level",			\
	      AFFINITY_INFO, PB_ONE_OF(2))				\
	/* CPU_SUSPEND to a power-down state: the caller */		\
	FAULT(SUSPEND_INVALID_PARAMETERS, "suspend-invalid-parameters",	\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_DENIED, "suspend-denied",				\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_INTERNAL_FAILURE, "suspend-internal-failure",	\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_NOT_SUPPORTED, "suspend-not-supported",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_ABANDONED_2_12, "suspend-abandoned-2.12",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_ABANDONED_2_13, "suspend-abandoned-2.13",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_EARLY, "suspend-early",				\
	      CPU_SUSPEND, PB_MICROSECONDS(20))				\
	FAULT(SUSPEND_NEVER, "suspend-never",				\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_LATE, "suspend-late",				\
	      CPU_SUSPEND, PB_MICROSECONDS(1000))			\
	FAULT(SUSPEND_WRONG_CONTEXT, "suspend-wrong-context",		\
	      CPU_SUSPEND, PB_ONE_OF(4))				\
	FAULT(SUSPEND_SHALLOW, "suspend-shallow",			\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_BAD_RETURN, "suspend-bad-return",			\
	      CPU_SUSPEND, PB_ONE_OF(2))				\
	FAULT(GIC_ENABLES_LOST, "gic-enables-lost",			\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SPURIOUS_SGI, "spurious-sgi",				\
	      CPU_SUSPEND, PB_ONE_OF(PB_FIRST_SECURE_SGI))		\
	FAULT(WAKE_LOST, "wake-lost",					\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_KEEPS_POWER, "suspend-keeps-power",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(STALL_LOCKED, "stall-locked",				\
	      CPU_SUSPEND, PB_MICROSECONDS(200))			\
	FAULT(CLUSTER_BESIDE_WAKE, "cluster-beside-wake",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(SUSPEND_KEEPS_LOCK, "suspend-keeps-lock",			\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(OSI_SIBLING_IGNORED, "osi-sibling-ignored",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(OSI_STANDBY_IGNORED, "osi-standby-ignored",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(OSI_DENIAL_FORGOTTEN, "osi-denial-forgotten",		\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(OSI_LAST_DENIED, "osi-last-denied",			\
	      CPU_SUSPEND, PB_WITHOUT)					\
	FAULT(PLATFORM_DENIES, "platform-denies",			\
	      CPU_SUSPEND, PB_WITHOUT)					\
	/* Any PSCI call: the caller */					\
	FAULT(MODE_WHILE_ON, "mode-while-on",				\
	      PSCI, PB_ONE_OF(2))					\
	FAULT(MIGRATE_SUCCEEDS, "migrate-succeeds",			\
	      PSCI, PB_WITHOUT)						\
	FAULT(ACCEPTS_INVALID, "accepts-invalid",			\
	      PSCI, NEEDS_ARG, 0, 0xff)					\
	FAULT(FEATURE_HIDDEN, "feature-hidden",				\
	      PSCI, NEEDS_ARG, 0, 0xff)					\
	FAULT(STALL, "stall",						\
	      PSCI, PB_MICROSECONDS(200))				\
	FAULT(SMC_HANG, "smc-hang",					\
	      PSCI, NEEDS_ARG, 0, 0xff)					\
	/* PMF's function IDs: the caller */				\
	FAULT(PMF_ABSENT, "pmf-absent",					\
	      PMF_CALL, PB_WITHOUT)					\
	FAULT(PMF_SIP_ONLY, "pmf-sip-only",				\
	      PMF_CALL, PB_WITHOUT)					\
	FAULT(PMF_FID_LEFT, "pmf-fid-left",				\
	      PMF_CALL, PB_WITHOUT)					\
	/* A timestamp that is read: the caller */			\
	FAULT(PMF_BAD_TID, "pmf-bad-tid",				\
	      PMF_READ, PB_WITHOUT)					\
	FAULT(PMF_FAILS_LATER, "pmf-fails-later",			\
	      PMF_READ, PB_WITHOUT)					\
	FAULT(PMF_STALE, "pmf-stale",					\
	      PMF_READ, PB_WITHOUT)					\
	FAULT(PMF_DISORDER, "pmf-disorder",				\
	      PMF_READ, PB_WITHOUT)					\
	FAULT(PMF_BEFORE_CALL, "pmf-before-call",			\
	      PMF_READ, PB_TICKS)					\
	FAULT(PMF_FUTURE, "pmf-future",					\
	      PMF_READ, PB_TICKS)					\
	FAULT(PMF_COUNTER_STOPPED, "pmf-counter-stopped",		\
	      PMF_READ, PB_WITHOUT)					\
	FAULT(PMF_ZERO, "pmf-zero",					\
	      PMF_READ, PB_WITHOUT)					\
	/* An entry to the non-secure world: the CPU that enters it */	\
	FAULT(CNTFRQ, "cntfrq",						\
	      ENTRY, ARG, 0, UINT32_MAX)				\
	FAULT(SERROR, "serror",						\
	      ENTRY, PB_WITHOUT)					\
	FAULT(E2H_SET, "e2h-set",					\
	      ENTRY, PB_WITHOUT)					\
	FAULT(SECURE_INTERRUPT, "secure-interrupt",			\
	      ENTRY, PB_WITHOUT)					\
	FAULT(ENTRY_STATE, "entry-state",				\
	      ENTRY, PB_ONE_OF(6))					\
	/* A tick of EL3's own timer: the CPU that the timer belongs to */	\
	FAULT(INTERRUPT_STORM, "interrupt-storm",			\
	      TICK, PB_MICROSECONDS(20))				\
	FAULT(SECURE_TIMER, "secure-timer",				\
	      TICK, PB_MICROSECONDS(2))

#endif /* PSCI_BENCH_FAULT_LIST_H */
