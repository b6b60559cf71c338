// A call to the firmware on a CPU that takes the interrupt of its timer.
//
// interrupted_call unmasks IRQs on SP_EL0, where they have their own vector (vectors.S), and makes
// one timed call. It then waits, with IRQs still unmasked, until the handler has stored a value in
// `taken` or until the deadline. The frame and x19 are the same as in stress_loop (timer_load.S),
// because both use its handler, timer_interrupt. The interrupt may be taken at any instruction, so
// nothing is kept in x16 and x17. x28 selects the counter.
//
// interrupted_call(x0 = the handler, x1 = struct RawInterruptedCall (interrupted_call.rs), x2 = the
// call, one of interrupted_WAY, x3 = 1 for CNTVCT and 0 for CNTPCT).

    .section .text.interrupted_call, "ax"
    .global interrupted_call
interrupted_call:
    stp     x29, x30, [sp, #-96]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    mov     x19, x0                     // the handler
    mov     x20, x1
    mov     x21, x2
    mov     x28, x3
    ldr     x26, [x20, #80]             // the deadline
    ldp     x0, x1, [x20]               // function and arguments
    ldp     x2, x3, [x20, #16]
    msr     spsel, #0
    msr     daifclr, #2                 // IRQs are taken from here on
    br      x21

// interrupted_WAY: the timed call. x22 to x25 receive the counter values.
    .macro  interrupted way, call
    .global interrupted_\way
interrupted_\way:
    isb                                 // everything earlier has completed
    read_\way x22, x23
    \call   #0
    isb                                 // the call returned
    read_\way x24, x25
    .global interrupted_\way\()_end
interrupted_\way\()_end:
    pair_\way x22, x23
    pair_\way x24, x25
    b       interrupted_wait
    .endm

    interrupted smc, smc
    interrupted smc_twice, smc
    interrupted hvc, hvc

interrupted_wait:
    stp     x22, x23, [x20, #32]        // before
    stp     x24, x25, [x20, #48]        // after
    mov     x9, #1
    str     x9, [x20, #72]              // the call has returned
1:  ldr     x9, [x20, #64]
    cbnz    x9, 4f                      // the interrupt was taken
    yield                               // lets an emulator run the other CPUs
    tbnz    x28, #0, 2f
    mrs     x9, cntpct_el0
    mrs     x10, cntpct_el0             // counter errata: one of the two
    b       3f                          //   may be wrong
2:  mrs     x9, cntvct_el0
    mov     x10, x9
3:  cmp     x9, x26
    ccmp    x10, x26, #0, hs
    b.lo    1b
4:  msr     daifset, #2                 // no more IRQs
    msr     spsel, #1
    b       stress_done
