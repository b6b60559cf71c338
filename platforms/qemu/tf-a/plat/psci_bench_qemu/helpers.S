/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Platform functions that TF-A calls before there is a stack: the position of
 * this CPU, whether it is the boot CPU, and the crash console. They replace
 * those of the qemu platform, whose file also contains the hold pen that wastes
 * host time (see hold_pen.S).
 */

#include <arch.h>
#include <asm_macros.S>
#include <platform_def.h>

	.globl	plat_my_core_pos
	.globl	plat_is_my_cpu_primary
	.globl	plat_get_my_entrypoint
	.globl	platform_mem_init
	.globl	plat_crash_console_init
	.globl	plat_crash_console_putc
	.globl	plat_crash_console_flush

/*
 * unsigned int plat_my_core_pos(void)
 *
 * Callers assume that only x0 and x1 change.
 */
func plat_my_core_pos
	mrs	x0, mpidr_el1
	/* Aff1 is the number of a group of sixteen CPUs. */
	ubfx	x1, x0, #MPIDR_AFF1_SHIFT, #MPIDR_AFFINITY_BITS
	/* Aff0 is the CPU's number in that group. */
	and	x0, x0, #MPIDR_AFFLVL_MASK
	add	x0, x0, x1, lsl #PB_AFF1_SHIFT
	ret
endfunc plat_my_core_pos

/*
 * unsigned int plat_is_my_cpu_primary(void)
 *
 * QEMU starts all CPUs at once. CPU 0 boots, and the others enter the hold pen.
 */
func plat_is_my_cpu_primary
	mrs	x0, mpidr_el1
	/* Aff1 and Aff0 are both zero only on the boot CPU. */
	tst	x0, #0xffff
	cset	w0, eq
	ret
endfunc plat_is_my_cpu_primary

/*
 * uintptr_t plat_get_my_entrypoint(void)
 *
 * Zero means cold boot. Only a cold boot goes through the reset vector: a CPU
 * that wakes jumps directly to the warm entry point.
 */
func plat_get_my_entrypoint
	mov	x0, xzr
	ret
endfunc plat_get_my_entrypoint

/* void platform_mem_init(void): QEMU's memory needs no initialization. */
func platform_mem_init
	ret
endfunc platform_mem_init

/* int plat_crash_console_init(void): crash reports go to the secure UART. */
func plat_crash_console_init
	mov_imm	x0, PLAT_QEMU_CRASH_UART_BASE
	mov_imm	x1, PLAT_QEMU_CRASH_UART_CLK_IN_HZ
	mov_imm	x2, PLAT_QEMU_CONSOLE_BAUDRATE
	b	console_pl011_core_init
endfunc plat_crash_console_init

/* int plat_crash_console_putc(int c) */
func plat_crash_console_putc
	mov_imm	x1, PLAT_QEMU_CRASH_UART_BASE
	b	console_pl011_core_putc
endfunc plat_crash_console_putc

/* void plat_crash_console_flush(void) */
func plat_crash_console_flush
	mov_imm	x0, PLAT_QEMU_CRASH_UART_BASE
	b	console_pl011_core_flush
endfunc plat_crash_console_flush
