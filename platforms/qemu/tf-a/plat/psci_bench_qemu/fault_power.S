/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Faults of a core that is down or comes up: at EL3, MMU off, no stack. What
 * is to happen was written to the core's record (psci_bench_faults.h) when the
 * call was made.
 */

#include <arch.h>
#include <asm_macros.S>
#include <platform_def.h>

#include <psci_bench_faults.h>

/* Looks at the counter from one yield to the next. */
#define TURNS		32

	.globl	pb_fault_sleep
	.globl	pb_fault_warm_entry

/* x0 = the record of this core. Changes x1 and x2. */
func my_fate
	mov	x2, x30
	bl	plat_my_core_pos
	mov_imm	x1, PB_FATES_ADDR
	add	x0, x1, x0, lsl #PB_FATE_SHIFT
	ret	x2
endfunc my_fate

/*
 * Wait for as many ticks as x0 says. Changes x0 to x2; x2 counts. A spin
 * without any yield would stop all other CPUs under QEMU's instruction clock,
 * and one that yields at every turn takes minutes for a second.
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
 * In place of a sleep that an interrupt ends. Returns x0 = 0 where there is no
 * fault, 1 where the core is to wake now. Called before the interrupts are let
 * through, so that none reaches it. Changes x0 to x3.
 */
func pb_fault_sleep
	mov	x3, x30
	bl	my_fate
	ldr	x1, [x0, #PB_FATE_SLEEP]
	str	xzr, [x0, #PB_FATE_SLEEP]
	mov	x0, x1
	cbz	x0, 2f

	/* For ever is all ones. */
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
 * Where CPU_ON and a wake-up send a core: late, if it is to be, before TF-A
 * notes the time of its arrival and takes any lock.
 */
func pb_fault_warm_entry
	bl	my_fate
	ldr	x1, [x0, #PB_FATE_DELAY]
	str	xzr, [x0, #PB_FATE_DELAY]
	mov	x0, x1
	cbz	x0, 1f
	bl	wait_ticks
1:	b	bl31_warm_entrypoint
endfunc pb_fault_warm_entry
