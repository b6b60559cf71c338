/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * GICv2 code for a core without a stack: it masks everything except the
 * interrupt that releases the core from the hold pen, and lets non-secure
 * interrupts wake the core. The rest of the GIC code is in gic_v2.c.
 *
 * The first register in each GICD array and all of GICC are banked: each CPU
 * accesses its own copy.
 */

#include <arch.h>
#include <asm_macros.S>
#include <drivers/arm/gic_common.h>
#include <drivers/arm/gicv2.h>
#include <platform_def.h>

/* Registers without a name in TF-A's headers. */
#define PB_GICC_APR0		0xd0
#define PB_GICC_NSAPR0		0xe0

/* Disables all four forms of legacy interface bypass. */
#define PB_GICC_NO_BYPASS	(FIQ_BYP_DIS_GRP0 | FIQ_BYP_DIS_GRP1 | \
				 IRQ_BYP_DIS_GRP0 | IRQ_BYP_DIS_GRP1)

	.globl	pb_pen_open
	.globl	pb_pen_wait
	.globl	pb_pen_close
	.globl	pb_gic_lose_cpu_interface
	.globl	pb_gic_arm_wake

/*
 * Allow the release interrupt to wake this CPU. Returns with x21 = this
 * CPU's interface. Changes x0 and x1.
 */
func pb_pen_open
	/* A GICv3 machine has nothing at these addresses. */
	mrs	x0, id_aa64pfr0_el1
	tst	x0, #(PB_ID_FIELD_MASK << ID_AA64PFR0_GIC_SHIFT)
	b.ne	pen_no_gic

	/* The release interrupt is in Group 0. */
	mov_imm	x1, GICD_BASE
	ldr	w0, [x1, #GICD_IGROUPR]
	bic	w0, w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x1, #GICD_IGROUPR]
	/* Highest priority, so no other pending interrupt can mask it. */
	strb	wzr, [x1, #(GICD_IPRIORITYR + PB_RELEASE_SGI)]
	/* Enabled; all other interrupts are in a disabled group. */
	mov	w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x1, #GICD_ISENABLER]

	/* Allow all priorities. */
	mov_imm	x21, GICC_BASE
	mov	w0, #0xff
	str	w0, [x21, #GICC_PMR]
	/* Signal only Group 0, as FIQ. */
	mov_imm	x0, (CTLR_ENABLE_G0_BIT | FIQ_EN_BIT | PB_GICC_NO_BYPASS)
	str	w0, [x21, #GICC_CTLR]
	dsb	sy
	ret

pen_no_gic:
	wfi
	b	pen_no_gic
endfunc pb_pen_open

/* Sleep until a release interrupt has been taken. Expects x21; changes x0, x1. */
func pb_pen_wait
	/* Writes before the sleep must be complete. */
1:	dsb	sy
	wfi
	/* Reading the ID acknowledges the interrupt. */
	ldr	w0, [x21, #GICC_IAR]
	and	w1, w0, #0x3ff
	cmp	w1, #PB_RELEASE_SGI
	/* 1023 means that no interrupt is pending: WFI can wake spuriously. */
	b.ne	1b
	/* End of interrupt: write back the number and the sender. */
	str	w0, [x21, #GICC_EOIR]
	dsb	sy
	ret
endfunc pb_pen_wait

/*
 * Disables the CPU interface, as a loss of power would. Expects x21;
 * changes x0.
 */
func pb_pen_close
	mov_imm	x0, PB_GICC_NO_BYPASS
	str	w0, [x21, #GICC_CTLR]
	dsb	sy
	ret
endfunc pb_pen_close

/*
 * A GICv2 CPU interface is part of the GIC and stays powered when a core loses
 * power; gic_v2.c handles the state that the GIC loses (PB_GIC_RESET=1).
 */
func pb_gic_lose_cpu_interface
	ret
endfunc pb_gic_lose_cpu_interface

/*
 * Let non-secure interrupts, and nothing else, end the sleep. On hardware the
 * GIC's wake-up outputs do that, bypassing the CPU interface. Changes x0 and
 * x1.
 */
func pb_gic_arm_wake
	mov_imm	x1, GICC_BASE
	/* An interrupt that was being handled must not block the others. */
	str	wzr, [x1, #PB_GICC_APR0]
	str	wzr, [x1, #PB_GICC_NSAPR0]
	/* The priority mask must not block any interrupt. */
	mov	w0, #0xff
	str	w0, [x1, #GICC_PMR]
	/* Signal only Group 1. */
	mov_imm	x0, (CTLR_ENABLE_G1_BIT | PB_GICC_NO_BYPASS)
	str	w0, [x1, #GICC_CTLR]
	dsb	sy
	ret
endfunc pb_gic_arm_wake
