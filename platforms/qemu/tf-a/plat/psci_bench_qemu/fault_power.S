/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults on a core that is down or coming up. This code runs at EL3, with the
 * MMU off and without a stack. The PSCI call has already stored the fault in
 * the core's record (psci_bench_faults.h).
 */

#include <arch.h>
#include <asm_macros.S>
#include <platform_def.h>

#include <psci_bench_faults.h>

/* Counter reads between two yields. */
#define TURNS		32

	.globl	pb_fault_sleep
	.globl	pb_fault_lose_wake
	.globl	pb_fault_keep_power
	.globl	pb_fault_warm_entry

/* x0 = this core's record. Changes x1 and x2. */
func my_fate
	mov	x2, x30
	bl	plat_my_core_pos
	mov_imm	x1, PB_FATES_ADDR
	add	x0, x1, x0, lsl #PB_FATE_SHIFT
	ret	x2
endfunc my_fate

/*
 * Wait for x0 ticks. Changes x0 to x2; x2 counts. Under QEMU's instruction
 * clock, a loop that never yields would stop all other CPUs, and a loop that
 * yields on every iteration would take minutes for each second.
 */
func wait_ticks
	isb
	mrs	x1, cntpct_el0
	add	x0, x0, x1
1:	yield
	mov	x2, #TURNS
2:	isb
	mrs	x1, cntpct_el0
	cmp	x1, x0
	b.hs	3f
	subs	x2, x2, #1
	b.ne	2b
	b	1b
3:	ret
endfunc wait_ticks

/*
 * If there is a fault, the core sleeps here, because an interrupt would end the
 * normal sleep. Returns x0 = 0 if there is no fault, or 1 if the core should
 * wake now. Called before interrupts are enabled, so that no interrupt reaches
 * the core. Changes x0 to x3.
 */
func pb_fault_sleep
	mov	x3, x30
	bl	my_fate
	ldr	x1, [x0, #PB_FATE_SLEEP]
	str	xzr, [x0, #PB_FATE_SLEEP]
	mov	x0, x1
	cbz	x0, 2f

	/* All ones means forever. */
	cmn	x0, #1
	b.eq	1f

	bl	wait_ticks
	mov	x0, #1
	b	2f

1:	dsb	sy
	wfi
	b	1b

2:	ret	x3
endfunc pb_fault_sleep

/*
 * If the fault is armed and the core's physical timer has already expired, the
 * timer is stopped, so that its interrupt does not wake the core. Changes x0 to
 * x3.
 */
func pb_fault_lose_wake
	mov	x3, x30
	bl	my_fate
	ldr	x1, [x0, #PB_FATE_LOSE]
	str	xzr, [x0, #PB_FATE_LOSE]
	cbz	x1, 1f
	isb
	mrs	x1, isr_el1
	cbz	x1, 1f
	msr	cntp_ctl_el0, xzr
	isb
1:	ret	x3
endfunc pb_fault_lose_wake

/* Returns x0 != 0 if the core should keep its power. Changes x0 to x3. */
func pb_fault_keep_power
	mov	x3, x30
	bl	my_fate
	ldr	x1, [x0, #PB_FATE_KEEP]
	str	xzr, [x0, #PB_FATE_KEEP]
	mov	x0, x1
	ret	x3
endfunc pb_fault_keep_power

/*
 * The address at which a core starts after CPU_ON or a wake-up. A core that must
 * be delayed waits here, before TF-A records its arrival time or takes a lock.
 */
func pb_fault_warm_entry
	bl	my_fate
	mov	x1, #1
	str	x1, [x0, #PB_FATE_WAKES]
	ldr	x1, [x0, #PB_FATE_DELAY]
	str	xzr, [x0, #PB_FATE_DELAY]
	mov	x0, x1
	cbz	x0, 1f
	bl	wait_ticks
1:	b	bl31_warm_entrypoint
endfunc pb_fault_warm_entry
