/*
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PB_PABANDON: the CPU operations of cores that can abandon a power-down. Such
 * cores have hardware coherency, so there are no caches to flush. They start
 * and undo a power-down with the same operation, which changes a bit that
 * QEMU's cores do not have. The result confirms that the power-down can be
 * undone; TF-A 2.14 and later panic without it.
 *
 * These replace TF-A's own operations for the cores that the platform supports.
 */

#include <arch.h>
#include <asm_macros.S>
#include <cortex_a53.h>
#include <cortex_a57.h>
#include <cortex_a72.h>
#include <cpu_macros.S>
#include <qemu_max.h>

#ifndef PABANDON_ACK
#define PABANDON_ACK	0
#endif

func pb_pabandon_pwr_dwn
	mov_imm	x0, PABANDON_ACK
	ret
endfunc pb_pabandon_pwr_dwn

.section .rodata.pb_pabandon_regs, "aS"
pb_pabandon_regs:
	.asciz	""

	.macro pb_pabandon_cpu _name:req, _midr:req
/* After a reset, there is nothing to do. */
cpu_reset_prologue \_name
cpu_reset_func_start \_name
cpu_reset_func_end \_name

/* The registers that a crash report prints: none. */
func \_name\()_cpu_reg_dump
	adr_l	x6, pb_pabandon_regs
	ret
endfunc \_name\()_cpu_reg_dump

declare_cpu_ops \_name, \_midr, \_name\()_reset_func, pb_pabandon_pwr_dwn
	.endm

pb_pabandon_cpu pb_cortex_a53, CORTEX_A53_MIDR
pb_pabandon_cpu pb_cortex_a57, CORTEX_A57_MIDR
pb_pabandon_cpu pb_cortex_a72, CORTEX_A72_MIDR
pb_pabandon_cpu pb_qemu_max, QEMU_MAX_MIDR
