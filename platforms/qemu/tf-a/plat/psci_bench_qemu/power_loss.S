/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What happens to a core when it loses power. QEMU does not remove the power,
 * so the core clears the state that it would have lost, sleeps, and comes back
 * through TF-A's warm entry point with only the contents of memory intact.
 *
 * All of this is done before the sleep, so that the path from the wake-up
 * interrupt to the warm entry point is as short as on hardware. The exception
 * is CNTVOFF_EL2, because the virtual timer depends on it and can wake the
 * core.
 *
 * These registers are not lost: the timer registers (CNTP, CNTV, CNTHP),
 * because the timers wake the core (unless PB_TIMER_STOP is set); EL3's
 * registers, which the warm entry point sets again; and the floating-point
 * registers.
 */

#include <arch.h>
#include <asm_macros.S>
#include <platform_def.h>

	.globl	pb_core_power_down

/*
 * The value that a lost register reads as: not an address, not zero, and easy
 * to recognize.
 */
#define PB_LOST_16	0xbad0

/*
 * void __dead2 pb_core_power_down(bool wake_by_interrupt)
 *
 * At EL3, with the MMU and caches as the caller left them. x19 holds the
 * argument.
 */
func pb_core_power_down
	mov	w19, w0

	/* From here on, the MMU, the caches and the stack are not available. */
	bl	disable_mmu_icache_el3

	/* Clear the lost state. */
	bl	lose_system_registers
	/*
	 * A breakpoint's registers are lost only with the power, and not in a
	 * reset.
	 */
#if PB_FAULTS
	bl	pb_fault_keep_power
	cbnz	x0, 4f
#endif
	msr	dbgbvr1_el1, xzr
4:	bl	pb_gic_lose_cpu_interface
#if PB_TIMER_STOP
	bl	stop_timers
#endif

	/* CPU_OFF: only CPU_ON brings the core back. */
	cbz	w19, plat_secondary_cold_boot_setup

	/* CPU_SUSPEND: an interrupt brings the core back. */
#if PB_FAULTS
	/* A fault may wake the core without an interrupt or never wake it. */
	bl	pb_fault_sleep
	cbnz	x0, 2f
#endif
	bl	pb_gic_arm_wake
#if PB_FAULTS
	bl	pb_fault_lose_wake
#endif
1:	dsb	sy
	wfi
	/* WFI can wake spuriously, so check for a pending interrupt. */
	mrs	x0, isr_el1
	cbz	x0, 1b

	/* CNTVOFF_EL2 exists only if EL2 is implemented. */
2:	bl	have_el2
	cbz	x0, 3f
	/*
	 * Virtual time has lost its offset. It jumps forward by 2^40 ticks, so
	 * a virtual timer that has just fired remains expired.
	 */
	mov	x0, #-1
	lsl	x0, x0, #40
	msr	cntvoff_el2, x0

	/*
	 * Power is back: jump to where the power controller would send the
	 * core.
	 */
3:	mov_imm	x0, PB_ENTRY_ADDR
	ldr	x0, [x0]
	br	x0
endfunc pb_core_power_down

#if PB_TIMER_STOP
/* Stops the core's own timers, as if they had lost power. Changes x0 and x2. */
func stop_timers
	mov	x2, x30
	msr	cntp_ctl_el0, xzr
	msr	cntv_ctl_el0, xzr
	bl	have_el2
	cbz	x0, 1f
	msr	cnthp_ctl_el2, xzr
1:	isb
	ret	x2
endfunc stop_timers
#endif

/* x0 = 0 on a machine without EL2 (virtualization=off). */
func have_el2
	mrs	x0, id_aa64pfr0_el1
	ubfx	x0, x0, #ID_AA64PFR0_EL2_SHIFT, #4
	ret
endfunc have_el2

/*
 * Sets non-secure registers to their reset value, if one is defined, or else to
 * the pattern. EL3 does not use any of these registers. Changes x0, x1, x2.
 */
func lose_system_registers
	/* x30 is needed for the call below. */
	mov	x2, x30

	/* x1 = the pattern. */
	mov	x1, #PB_LOST_16
	orr	x1, x1, x1, lsl #16
	orr	x1, x1, x1, lsl #32

	/* EL1: turn the MMU and the caches off. */
	mov_imm	x0, SCTLR_EL1_RES1
	msr	sctlr_el1, x0
	isb
	/* Translation registers. */
	msr	ttbr0_el1, x1
	msr	ttbr1_el1, x1
	msr	tcr_el1, x1
	msr	mair_el1, x1
	msr	amair_el1, x1
	msr	contextidr_el1, x1
	/* Exception registers. */
	msr	vbar_el1, x1
	msr	elr_el1, x1
	msr	spsr_el1, xzr
	msr	esr_el1, x1
	msr	far_el1, x1
	msr	afsr0_el1, x1
	msr	afsr1_el1, x1
	msr	par_el1, xzr
	msr	sp_el1, x1
	/* Thread pointers. */
	msr	tpidr_el0, x1
	msr	tpidrro_el0, x1
	msr	tpidr_el1, x1
	/* Trap floating point, and disable EL0 access to the counter. */
	msr	cpacr_el1, xzr
	msr	cntkctl_el1, xzr
	/* Clear the cache selection, and turn debugging off. */
	msr	csselr_el1, xzr
	msr	mdscr_el1, xzr

	/* EL2, if it is implemented. */
	bl	have_el2
	cbz	x0, 1f

	/* HCR_EL2 first, because it changes what the other registers mean. */
	msr	hcr_el2, xzr
	mov_imm	x0, SCTLR_EL2_RES1
	msr	sctlr_el2, x0
	isb
	/* Translation registers for both stages. */
	msr	ttbr0_el2, x1
	msr	tcr_el2, x1
	msr	mair_el2, x1
	msr	amair_el2, x1
	msr	vttbr_el2, x1
	msr	vtcr_el2, x1
	/* Exception registers. */
	msr	vbar_el2, x1
	msr	elr_el2, x1
	msr	spsr_el2, xzr
	msr	esr_el2, x1
	msr	far_el2, x1
	msr	hpfar_el2, x1
	msr	sp_el2, x1
	/* Thread pointer. */
	msr	tpidr_el2, x1
	/* Trap floating point (TFP), and disable EL1 access to the timers. */
	mov_imm	x0, (CPTR_EL2_RES1 | CPTR_EL2_TFP_BIT)
	msr	cptr_el2, x0
	msr	cnthctl_el2, xzr
	msr	hstr_el2, xzr
	/* Make the real ID registers visible at EL1 again. */
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0

1:	isb
	ret	x2
endfunc lose_system_registers
