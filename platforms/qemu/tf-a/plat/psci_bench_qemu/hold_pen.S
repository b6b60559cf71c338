/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where a CPU that is off waits for CPU_ON. QEMU gives this platform no power
 * controller that could stop it, so it sleeps here.
 *
 * It sleeps in WFI and is released by an interrupt, not in WFE by an event:
 * QEMU runs WFE as a yield, so that seven CPUs parked in WFE take the host's
 * time from the one that is measured, and under -icount the run crawls.
 *
 * A release is a word in memory and an interrupt. The interrupt is taken before
 * the word is looked at, never the other way round: a CPU that saw the word
 * first would leave with the interrupt still on its way, and a Group 0
 * interrupt that nobody takes makes every later CPU_SUSPEND return at once.
 */

#include <arch.h>
#include <asm_macros.S>
#include <platform_def.h>

	.globl	plat_secondary_cold_boot_setup

/*
 * void __dead2 plat_secondary_cold_boot_setup(void)
 *
 * Entered from BL1 at power-on and from BL31 after CPU_OFF; at EL3, MMU off,
 * no stack. x20 is this CPU's word; x21 belongs to the pb_pen_* functions.
 */
func plat_secondary_cold_boot_setup
	bl	plat_my_core_pos

	/* A machine with more CPUs than the power domain tree: never let out. */
	cmp	x0, #PLATFORM_CORE_COUNT
	b.hs	pen_forever

	/* x20 = address of our word. */
	mov_imm	x20, PB_HOLD_ADDR
	add	x20, x20, x0, lsl #PB_HOLD_SHIFT

	/* Let the release interrupt, and no other, reach this CPU. */
	bl	pb_pen_open

	/* Sleep until one has come and has been acknowledged. */
pen_sleep:
	bl	pb_pen_wait

	/* Without the word it was not meant for us: a left-over. */
	ldr	x0, [x20]
	cmp	x0, #PB_HOLD_GO
	b.ne	pen_sleep

	/* Shut the door behind us, for the next time. */
	mov	x0, #PB_HOLD_WAIT
	str	x0, [x20]

	/* Leave the GIC as it is for a core without power. */
	bl	pb_pen_close

	/* BL31 has written where to go. */
	mov_imm	x0, PB_ENTRY_ADDR
	ldr	x0, [x0]
	br	x0

pen_forever:
	wfi
	b	pen_forever
endfunc plat_secondary_cold_boot_setup
