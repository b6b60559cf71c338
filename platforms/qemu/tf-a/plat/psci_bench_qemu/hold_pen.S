/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The loop in which a CPU that is off waits for CPU_ON. QEMU has no power
 * controller that could stop the CPU, so the CPU sleeps here.
 *
 * The CPU sleeps in WFI until an interrupt releases it. WFE is not used because
 * QEMU runs it as a yield, so seven CPUs parked in WFE would take host time
 * from the CPU that is being measured, and under -icount the run would be very
 * slow.
 *
 * A release consists of a word in memory and an interrupt. The interrupt must
 * be taken before the word is read. A CPU that read the word first could leave
 * before the interrupt arrives, and a Group 0 interrupt that is never taken
 * makes every later CPU_SUSPEND return immediately.
 */

#include <arch.h>
#include <asm_macros.S>
#include <platform_def.h>

	.globl	plat_secondary_cold_boot_setup

/*
 * void __dead2 plat_secondary_cold_boot_setup(void)
 *
 * Entered from BL1 at power-on and from BL31 after CPU_OFF, at EL3, with the
 * MMU off and without a stack. x20 is the address of this CPU's word. x21 is
 * reserved for the pb_pen_* functions.
 */
func plat_secondary_cold_boot_setup
	bl	plat_my_core_pos

	/*
	 * Never release CPUs that the machine has but the power domain tree
	 * does not.
	 */
	cmp	x0, #PLATFORM_CORE_COUNT
	b.hs	pen_forever

	/* x20 = address of this CPU's word. */
	mov_imm	x20, PB_HOLD_ADDR
	add	x20, x20, x0, lsl #PB_HOLD_SHIFT

	/* Let only the release interrupt reach this CPU. */
	bl	pb_pen_open

	/* Sleep until a release interrupt has been acknowledged. */
pen_sleep:
	bl	pb_pen_wait

	/* If the word is not set, the interrupt is stale and is ignored. */
	ldr	x0, [x20]
	cmp	x0, #PB_HOLD_GO
	b.ne	pen_sleep

	/* Clear the word for the next time. */
	mov	x0, #PB_HOLD_WAIT
	str	x0, [x20]

	/* Disable the CPU interface again, as a loss of power would. */
	bl	pb_pen_close

	/* BL31 has stored the address to jump to. */
	mov_imm	x0, PB_ENTRY_ADDR
	ldr	x0, [x0]
	br	x0

pen_forever:
	wfi
	b	pen_forever
endfunc plat_secondary_cold_boot_setup
