/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * GICv3 code for a core without a stack: it masks everything except the
 * interrupt that releases the core from the hold pen, clears the CPU interface
 * as a loss of power would, and lets non-secure interrupts wake the core. The
 * rest of the GIC code is in gic_v3.c.
 */

#include <arch.h>
#include <asm_macros.S>
#include <drivers/arm/gicv3.h>
#include <platform_def.h>

/* System registers without a name in TF-A's headers. */
#define PB_ICC_AP1R0_EL1	S3_0_C12_C9_0
#define PB_ICC_BPR1_EL1		S3_0_C12_C12_3

/* Two 64 KiB frames for each CPU. */
#define PB_GICR_STRIDE		0x20000

	.globl	pb_pen_open
	.globl	pb_pen_wait
	.globl	pb_pen_close
	.globl	pb_gic_lose_cpu_interface
	.globl	pb_gic_arm_wake

/*
 * Allow the release interrupt to wake this CPU. Returns with x21 = this
 * CPU's redistributor. Changes x0 to x3.
 */
func pb_pen_open
	/* A GICv2 machine would fault on the system registers below. */
	mrs	x0, id_aa64pfr0_el1
	tst	x0, #(PB_ID_FIELD_MASK << ID_AA64PFR0_GIC_SHIFT)
	b.eq	pen_no_gic

	/* w0 = this CPU's affinity, as in GICR_TYPER: Aff3.Aff2.Aff1.Aff0. */
	mrs	x0, mpidr_el1
	ubfx	x1, x0, #MPIDR_AFF3_SHIFT, #MPIDR_AFFINITY_BITS
	and	x0, x0, #0xffffff
	orr	x0, x0, x1, lsl #24

	/* Walk the redistributors until one matches. */
	mov_imm	x21, GICR_BASE
1:	ldr	x1, [x21, #GICR_TYPER]
	lsr	x2, x1, #32
	cmp	w2, w0
	b.eq	2f
	/* No redistributor matches, so nothing can wake this CPU. */
	tbnz	x1, #TYPER_LAST_SHIFT, pen_no_gic
	add	x21, x21, #PB_GICR_STRIDE
	b	1b

	/* Wake the redistributor side of the interface. */
2:	ldr	w0, [x21, #GICR_WAKER]
	bic	w0, w0, #WAKER_PS_BIT
	str	w0, [x21, #GICR_WAKER]
3:	ldr	w0, [x21, #GICR_WAKER]
	tbnz	w0, #WAKER_CA_SHIFT, 3b

	/* The release interrupt is in Group 0, so clear its IGROUPR bit. */
	mov_imm	x3, GICR_SGIBASE_OFFSET
	add	x3, x21, x3
	ldr	w0, [x3, #(GICR_IGROUPR0 - GICR_SGIBASE_OFFSET)]
	bic	w0, w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x3, #(GICR_IGROUPR0 - GICR_SGIBASE_OFFSET)]
	/* Group 0 also requires its IGRPMODR bit to be clear. */
	ldr	w0, [x3, #(GICR_IGRPMODR0 - GICR_SGIBASE_OFFSET)]
	bic	w0, w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x3, #(GICR_IGRPMODR0 - GICR_SGIBASE_OFFSET)]
	/* Highest priority, so no other pending interrupt can mask it. */
	strb	wzr, [x3, #(GICR_IPRIORITYR - GICR_SGIBASE_OFFSET + PB_RELEASE_SGI)]
	/*
	 * Enabled; the other enable bits do not matter, because their groups
	 * are off.
	 */
	mov	w0, #(1 << PB_RELEASE_SGI)
	str	w0, [x3, #(GICR_ISENABLER0 - GICR_SGIBASE_OFFSET)]

	/* Use system registers for the CPU interface, without legacy bypass. */
	mrs	x0, ICC_SRE_EL3
	orr	x0, x0, #(ICC_SRE_EN_BIT | ICC_SRE_DIB_BIT | \
			  ICC_SRE_DFB_BIT | ICC_SRE_SRE_BIT)
	msr	ICC_SRE_EL3, x0
	isb

	/* Allow all priorities, but no Group 1 interrupts from either world. */
	mov	x0, #0xff
	msr	ICC_PMR_EL1, x0
	msr	ICC_IGRPEN1_EL3, xzr
	/* Allow Group 0. */
	mov	x0, #IGRPEN1_EL1_ENABLE_G0_BIT
	msr	ICC_IGRPEN0_EL1, x0
	isb
	ret

pen_no_gic:
	wfi
	b	pen_no_gic
endfunc pb_pen_open

/* Sleep until a release interrupt has been taken. Changes x0. */
func pb_pen_wait
	/* Writes before the sleep must be complete. */
1:	dsb	sy
	wfi
	/* Reading the ID acknowledges the interrupt. */
	mrs	x0, ICC_IAR0_EL1
	dsb	sy
	cmp	x0, #PB_RELEASE_SGI
	/* 1023 means that no interrupt is pending: WFI can wake spuriously. */
	b.ne	1b
	/* End of interrupt, so that the next one can be taken. */
	msr	ICC_EOIR0_EL1, x0
	isb
	ret
endfunc pb_pen_wait

/*
 * Disables the CPU interface, as a loss of power would. Expects x21;
 * changes x0.
 */
func pb_pen_close
	/* Stop signaling interrupts. */
	msr	ICC_IGRPEN0_EL1, xzr
	isb
	dsb	sy
	/* Mark the core as asleep in the redistributor. */
	ldr	w0, [x21, #GICR_WAKER]
	orr	w0, w0, #WAKER_PS_BIT
	str	w0, [x21, #GICR_WAKER]
1:	ldr	w0, [x21, #GICR_WAKER]
	tbz	w0, #WAKER_CA_SHIFT, 1b
	ret
endfunc pb_pen_close

/*
 * A GICv3 CPU interface is part of the core and loses power with it. The
 * non-secure copies of the registers are accessible with SCR_EL3.NS set.
 * Changes x0 and x1.
 */
func pb_gic_lose_cpu_interface
	mrs	x1, scr_el3
	orr	x0, x1, #SCR_NS_BIT
	msr	scr_el3, x0
	isb
	/* Group 1 disabled, EOImode 0, smallest binary point. */
	msr	ICC_IGRPEN1_EL1, xzr
	msr	ICC_CTLR_EL1, xzr
	msr	PB_ICC_BPR1_EL1, xzr
	/* Clear the active priorities, as a loss of power would. */
	msr	PB_ICC_AP1R0_EL1, xzr
	isb
	/* Switch back to the secure copies. */
	msr	scr_el3, x1
	isb
	msr	ICC_PMR_EL1, xzr
	ret
endfunc pb_gic_lose_cpu_interface

/*
 * Let Group 1 interrupts of both worlds, and nothing else, end the sleep. On
 * hardware the redistributor signals WakeRequest to the power controller,
 * bypassing the CPU interface; here the interface has to do it. A secure
 * interrupt that the interface does not accept would hide all non-secure ones
 * with a lower priority. Changes x0.
 */
func pb_gic_arm_wake
	/*
	 * The non-secure priority mask has been lost and must not block
	 * interrupts.
	 */
	mov	x0, #0xff
	msr	ICC_PMR_EL1, x0
	mov	x0, #(IGRPEN1_EL3_ENABLE_G1NS_BIT | \
		      IGRPEN1_EL3_ENABLE_G1S_BIT)
	msr	ICC_IGRPEN1_EL3, x0
	isb
	ret
endfunc pb_gic_arm_wake
