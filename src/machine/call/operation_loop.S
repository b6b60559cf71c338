// Loops that are timed as a whole, for the micro-benchmarks.
//
// There are two parts. repeat_WAY is the timed region for each kind of counter: it reads the
// counter, branches to a loop and reads the counter again. repeat_WAY_cycles also reads
// PMCCNTR_EL0, outside the counter reads: in a guest each of these reads may trap, and the measured
// time must not include the trap. The loops below are separate code and do not read the counter.
// The timed code is therefore the loop, one branch to it and one back; the variant `loop` shows the
// cost of the branches. A test checks all of this in the linked image.
//
// Arguments and results are in struct RawLoop (operation_loop.rs). In a loop:
//   x19        operations left
//   x20 - x23  operation arguments
//   x0         result of the last operation
// The firmware preserves x19 to x30 and SP (SMCCC, DEN0028, section 2.6).

    .macro  region way, suffix, cycles

    // repeat_WAY(x0 struct RawLoop).
    .section .text.repeat_\way\suffix, "ax"
    .global repeat_\way\suffix
repeat_\way\suffix:
    stp     x29, x30, [sp, #-112]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    str     x0, [sp, #96]
    ldp     x19, x27, [x0]              // operations, the loop
    ldp     x20, x21, [x0, #16]         // arguments
    ldp     x22, x23, [x0, #32]
    mov     x26, xzr
    mov     x9, xzr
    .global repeat_\way\suffix\()_begin
repeat_\way\suffix\()_begin:
    isb                                 // everything earlier has completed
    .if     \cycles
    mrs     x26, pmccntr_el0
    .endif
    read_\way x24, x25
    blr     x27                         // the loop
    isb                                 // the loop has completed
    read_\way x10, x11
    .if     \cycles
    mrs     x9, pmccntr_el0
    .endif
    .global repeat_\way\suffix\()_end
repeat_\way\suffix\()_end:
    pair_\way x24, x25
    pair_\way x10, x11
    ldr     x1, [sp, #96]
    stp     x24, x25, [x1, #48]         // before
    stp     x10, x11, [x1, #64]         // after
    .if     \cycles
    stp     x26, x9, [x1, #80]          // cycles before and after
    .endif
    stp     x0, x19, [x1, #96]          // X0, operations left
    ldp     x19, x20, [sp, #16]
    ldp     x21, x22, [sp, #32]
    ldp     x23, x24, [sp, #48]
    ldp     x25, x26, [sp, #64]
    ldp     x27, x28, [sp, #80]
    ldp     x29, x30, [sp], #112
    ret
    .endm

    .macro  regions way
    region  \way, , 0
    region  \way, _cycles, 1
    .endm

    regions smc
    regions smc_twice
    regions hvc

// One loop, from its name to NAME_end. It starts on its own instruction cache line, so that
// alignment does not change the results from one build to the next.
    .macro  loop name
    .section .text.loop_\name, "ax"
    .p2align 6
    .global loop_\name
loop_\name:
    .endm
    .macro  loop_end name
    ret
    .global loop_\name\()_end
loop_\name\()_end:
    .endm

// The empty loop.
    loop    empty
1:  subs    x19, x19, #1
    b.ne    1b
    loop_end empty

// A call without arguments: x20 is the function ID.
    loop    smc
1:  mov     x0, x20
    smc     #0
    subs    x19, x19, #1
    b.ne    1b
    loop_end smc

    loop    hvc
1:  mov     x0, x20
    hvc     #0
    subs    x19, x19, #1
    b.ne    1b
    loop_end hvc

// A call with arguments: x20 is the function ID, x21 to x23 are its arguments.
    .macro  loop_with_arguments conduit
    loop    \conduit\()_arguments
1:  mov     x0, x20
    mov     x1, x21
    mov     x2, x22
    mov     x3, x23
    \conduit #0
    subs    x19, x19, #1
    b.ne    1b
    loop_end \conduit\()_arguments
    .endm

    loop_with_arguments smc
    loop_with_arguments hvc

// A register that a hypervisor may trap.
    loop    sysreg
1:  mrs     x9, pmselr_el0
    subs    x19, x19, #1
    b.ne    1b
    loop_end sysreg

// A load from a device: x20 is the address.
    loop    load
1:  ldar    w9, [x20]
    subs    x19, x19, #1
    b.ne    1b
    loop_end load

    loop    load_byte
1:  ldarb   w9, [x20]
    subs    x19, x19, #1
    b.ne    1b
    loop_end load_byte

// End of interrupt with GICv2: x20 is a spurious interrupt ID, x21 the address of GICC_EOIR.
    loop    eoi_v2
1:  str     w20, [x21]
    subs    x19, x19, #1
    b.ne    1b
    loop_end eoi_v2

// End of interrupt with GICv3: x20 is a spurious interrupt ID.
    loop    eoi_v3
1:  msr     icc_eoir1_el1, x20
    subs    x19, x19, #1
    b.ne    1b
    loop_end eoi_v3

// SGI 0 with GICv2: x20 is the value for GICD_SGIR, x21 its address, x22 the address of GICC_IAR,
// which precedes GICC_EOIR. sgi_v2 sends the SGI and then waits for one; reply_v2 waits for one and
// then sends one. Interrupts are masked, so IAR is polled, with a WFI after each spurious ID, at
// most x23 times. An interrupt other than the SGI, such as the timer's, ends the loop with
// operations left.
    .macro  sgi_v2_loop name, replies
    loop    \name
1:
    .if     !\replies
    str     w20, [x21]
    .endif
2:  ldar    w9, [x22]                   // an acquire, like all loads from devices (mmio.rs)
    tst     w9, #0x3ff                  // SGI 0, from any CPU
    b.ne    3f
    str     w9, [x22, #4]
    .if     \replies
    str     w20, [x21]
    .endif
    subs    x19, x19, #1
    b.ne    1b
    ret
3:  and     w10, w9, #0x3ff
    cmp     w10, #0x3ff                 // spurious
    b.ne    4f
    subs    x23, x23, #1
    b.eq    5f
    wfi
    b       2b
4:  str     w9, [x22, #4]
5:
    loop_end \name
    .endm

    sgi_v2_loop sgi_v2, 0
    sgi_v2_loop reply_v2, 1

// x9 is an interrupt ID other than the expected one. If it is spurious, executes WFI and reads IAR
// again (label 2), at most x23 times. Otherwise completes that interrupt and ends the loop with
// operations left.
    .macro  await_interrupt_v3
    cmp     x9, #0x3ff
    b.ne    4f
    subs    x23, x23, #1
    b.eq    5f
    wfi
    b       2b
4:  msr     icc_eoir1_el1, x9
5:
    .endm

// An LPI: x20 is the address of GITS_CWRITER, x21 its value, x22 the LPI's INTID. Each
// command in the queue, a ring, sends the LPI. Otherwise like the loops for SGIs with GICv3.
    loop    lpi
1:  add     x21, x21, #{ITS_COMMAND}
    and     x21, x21, #{ITS_QUEUE_MASK}
    str     x21, [x20]
2:  mrs     x9, icc_iar1_el1
    cmp     x9, x22
    b.ne    3f
    dsb     sy
    msr     icc_eoir1_el1, x9
    subs    x19, x19, #1
    b.ne    1b
    ret
3:  await_interrupt_v3
    loop_end lpi

// SGI 0 with GICv3: x20 is the value for ICC_SGI1R_EL1. Otherwise like the loops for GICv2. Without
// the DSB, the interrupt might still be pending when the next one is sent (IHI 0069, ICC_IAR1_EL1),
// and the two would become one.
    .macro  sgi_v3_loop name, replies
    loop    \name
1:
    .if     !\replies
    msr     icc_sgi1r_el1, x20
    isb                                 // sent before IAR is read
    .endif
2:  mrs     x9, icc_iar1_el1
    tst     x9, #0xffffff
    b.ne    3f
    dsb     sy
    msr     icc_eoir1_el1, x9
    .if     \replies
    msr     icc_sgi1r_el1, x20
    isb
    .endif
    subs    x19, x19, #1
    b.ne    1b
    ret
3:  await_interrupt_v3
    loop_end \name
    .endm

    sgi_v3_loop sgi_v3, 0
    sgi_v3_loop reply_v3, 1
