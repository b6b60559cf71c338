/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What happens to a core when it loses power. QEMU does not remove the power,
 * so the core itself clears the state that it would have lost, sleeps, and
 * comes back through TF-A's warm entry point with nothing but memory.
 *
 * All of this is done before the sleep, so that the path from the wake-up
 * interrupt to the warm entry point is as short as on hardware. The exception
 * is CNTVOFF_EL2: the virtual timer compares with it, and is a wake-up source.
 *
 * Not lost: the timer registers (CNTP, CNTV, CNTHP), because the timers wake
 * the core, unless PB_TIMER_STOP says that they stop; EL3's registers, which
 * the warm entry point sets again; and the floating-point registers.
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
 * At EL3, with MMU and caches as the caller left them. x19 holds the argument.
 */
func pb_core_power_down
	mov	w19, w0

	/* From here on there is only memory: no MMU, caches or stack. */
	bl	disable_mmu_icache_el3

	/* Clear the lost state. */
	bl	lose_system_registers
	bl	pb_gic_lose_cpu_interface
#if PB_TIMER_STOP
	bl	stop_timers
#endif

	/* CPU_OFF: only CPU_ON brings the core back. */
	cbz	w19, plat_secondary_cold_boot_setup

	/* CPU_SUSPEND: an interrupt does. */
#if PB_FAULTS
	/* Or a fault does, or nothing. */
	bl	pb_fault_sleep
	cbnz	x0, 2f
#endif
	bl	pb_gic_arm_wake
1:	dsb	sy
	wfi
	/* WFI may end for no reason; only a pending interrupt is one. */
	mrs	x0, isr_el1
	cbz	x0, 1b

	/* EL2's registers are there only with EL2. */
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
/* The core's own timers, which have no power now. Changes x0 and x2. */
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
 * Non-secure registers: those with a defined reset value get that value, the
 * others the pattern. Changes x0, x1, x2; EL3 uses none of the non-secure
 * registers.
 */
func lose_system_registers
	/* x30 is needed for the call below. */
	mov	x2, x30

	/* x1 = the pattern. */
	mov	x1, #PB_LOST_16
	orr	x1, x1, x1, lsl #16
	orr	x1, x1, x1, lsl #32

	/* EL1: MMU and caches off ... */
	mov_imm	x0, SCTLR_EL1_RES1
	msr	sctlr_el1, x0
	isb
	/* ... translation ... */
	msr	ttbr0_el1, x1
	msr	ttbr1_el1, x1
	msr	tcr_el1, x1
	msr	mair_el1, x1
	msr	amair_el1, x1
	msr	contextidr_el1, x1
	/* ... exceptions ... */
	msr	vbar_el1, x1
	msr	elr_el1, x1
	msr	spsr_el1, xzr
	msr	esr_el1, x1
	msr	far_el1, x1
	msr	afsr0_el1, x1
	msr	afsr1_el1, x1
	msr	par_el1, xzr
	msr	sp_el1, x1
	/* ... thread pointers ... */
	msr	tpidr_el0, x1
	msr	tpidrro_el0, x1
	msr	tpidr_el1, x1
	/*
	 * ... floating point trapped, EL0 access to the counter disabled, ...
	 */
	msr	cpacr_el1, xzr
	msr	cntkctl_el1, xzr
	/* ... no cache selected, debugging off. */
	msr	csselr_el1, xzr
	msr	mdscr_el1, xzr

	/* EL2, if there is one. */
	bl	have_el2
	cbz	x0, 1f

	/* HCR first: it changes what the others mean. */
	msr	hcr_el2, xzr
	mov_imm	x0, SCTLR_EL2_RES1
	msr	sctlr_el2, x0
	isb
	/* Translation of either stage ... */
	msr	ttbr0_el2, x1
	msr	tcr_el2, x1
	msr	mair_el2, x1
	msr	amair_el2, x1
	msr	vttbr_el2, x1
	msr	vtcr_el2, x1
	/* ... exceptions ... */
	msr	vbar_el2, x1
	msr	elr_el2, x1
	msr	spsr_el2, xzr
	msr	esr_el2, x1
	msr	far_el2, x1
	msr	hpfar_el2, x1
	msr	sp_el2, x1
	/* ... thread pointer ... */
	msr	tpidr_el2, x1
	/*
	 * ... floating point trapped (TFP), timers not accessible from EL1, ...
	 */
	mov_imm	x0, (CPTR_EL2_RES1 | CPTR_EL2_TFP_BIT)
	msr	cptr_el2, x0
	msr	cnthctl_el2, xzr
	msr	hstr_el2, xzr
	/* ... and EL1 sees the real ID registers again. */
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0

1:	isb
	ret	x2
endfunc lose_system_registers
