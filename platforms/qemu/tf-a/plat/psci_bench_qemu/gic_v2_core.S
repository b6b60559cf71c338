/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a core without a stack asks of a GICv2: to be left out of everything
 * except the interrupt that releases it from the hold pen, and to be woken by
 * the non-secure world's interrupts. The rest of the GIC is in gic_v2.c.
 *
 * GICD registers 0 and the whole of GICC are banked: each CPU sees its own.
 */

#include <arch.h>
#include <asm_macros.S>
#include <drivers/arm/gic_common.h>
#include <drivers/arm/gicv2.h>
#include <platform_def.h>

/* Registers that TF-A's headers have no name for. */
#define PB_GICC_APR0		0xd0
#define PB_GICC_NSAPR0		0xe0

/* No legacy bypass of the interface, in any of its four forms. */
#define PB_GICC_NO_BYPASS	(FIQ_BYP_DIS_GRP0 | FIQ_BYP_DIS_GRP1 | \
				 IRQ_BYP_DIS_GRP0 | IRQ_BYP_DIS_GRP1)

	.globl	pb_pen_open
	.globl	pb_pen_wait
	.globl	pb_pen_close
	.globl	pb_gic_lose_cpu_interface
	.globl	pb_gic_arm_wake

/*
 * Make the release interrupt able to wake this CPU. Returns with x21 = this
 * CPU's interface. Changes x0 and x1.
 */
func pb_pen_open
	/* On a GICv3 machine there is nothing at these addresses. */
	mrs	x0, id_aa64pfr0_el1
	tst	x0, #(PB_PFR0_GIC_MASK << ID_AA64PFR0_GIC_SHIFT)
	b.ne	pen_no_gic

	/* The release interrupt is Group 0 ... */
	mov_imm	x1, GICD_BASE
	ldr	w0, [x1, #GICD_IGROUPR]
	bic	w0, w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x1, #GICD_IGROUPR]
	/* ... of the highest priority, so that nothing pending hides it ... */
	strb	wzr, [x1, #(GICD_IPRIORITYR + PB_RELEASE_SGI)]
	/* ... and enabled; the others' group is off. */
	mov	w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x1, #GICD_ISENABLER]

	/* Every priority may pass. */
	mov_imm	x21, GICC_BASE
	mov	w0, #0xff
	str	w0, [x21, #GICC_PMR]
	/* Group 0 only, as FIQ. */
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
	/* Writes before the sleep have to be over. */
1:	dsb	sy
	wfi
	/* Which one was it? Reading makes it ours. */
	ldr	w0, [x21, #GICC_IAR]
	and	w1, w0, #0x3ff
	cmp	w1, #PB_RELEASE_SGI
	/* 1023, none: WFI may end for no reason. */
	b.ne	1b
	/* Done with it: number and sender go back as they came. */
	str	w0, [x21, #GICC_EOIR]
	dsb	sy
	ret
endfunc pb_pen_wait

/* The interface of a core without power. Expects x21; changes x0. */
func pb_pen_close
	mov_imm	x0, PB_GICC_NO_BYPASS
	str	w0, [x21, #GICC_CTLR]
	dsb	sy
	ret
endfunc pb_pen_close

/*
 * A GICv2 CPU interface is part of the GIC and keeps its power when a core
 * loses its own; what the GIC loses (PB_GIC_RESET=1) is done in gic_v2.c.
 */
func pb_gic_lose_cpu_interface
	ret
endfunc pb_gic_lose_cpu_interface

/*
 * Let the non-secure world's interrupts, and nothing else, end the sleep. On
 * hardware the GIC's wake-up outputs do that, past the CPU interface.
 * Changes x0 and x1.
 */
func pb_gic_arm_wake
	mov_imm	x1, GICC_BASE
	/* An interrupt that was being handled must not hold the others back. */
	str	wzr, [x1, #PB_GICC_APR0]
	str	wzr, [x1, #PB_GICC_NSAPR0]
	/* Nor must a priority mask. */
	mov	w0, #0xff
	str	w0, [x1, #GICC_PMR]
	/* Group 1 only. */
	mov_imm	x0, (CTLR_ENABLE_G1_BIT | PB_GICC_NO_BYPASS)
	str	w0, [x1, #GICC_CTLR]
	dsb	sy
	ret
endfunc pb_gic_arm_wake
