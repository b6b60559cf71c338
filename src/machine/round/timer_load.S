// Takes the interrupts of a CPU that measures its timer. interrupted_call.S uses the same handler.
//
// stress_loop executes a load, chunk by chunk, until a given instant. If x0 is not 0, the loop
// runs with IRQs unmasked and on SP_EL0, so that they have their own vector (vectors.S). At any
// other time, an IRQ takes the vector that dumps registers. The loop does not use the stack, so
// SP_EL0 need not be valid; the handler uses the CPU's own stack.
//
// The handler saves the registers that an assembly handler must preserve for the code it interrupts
// (Procedure Call Standard, IHI 0055: x0 to x18, x30), and calls a Rust function. x16 and x17
// contain the two counter values read by its first instructions, so the loop does not use these
// registers; x28 selects the counter. ELR and SPSR are not saved, because no other exception is
// taken in the meantime. If the Rust function returns true, this was the last interrupt, and the
// handler exits the loop instead of returning to it.
//
// stress_loop(x0 = the TimerHandler or 0, x1 = the LoadLoop, x2 = the instant, x3 = 1 for CNTVCT
// and 0 for CNTPCT, x4 = the first chunk's number).

    .section .text.stress_loop, "ax"
    .global stress_loop
stress_loop:
    stp     x29, x30, [sp, #-96]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    mov     x19, x0                     // the handler
    mov     x20, x1                     // four functions,
    ldp     x22, x23, [x1, #32]         //   first byte, end,
    ldp     x24, x25, [x1, #48]         //   line, block
    mov     x21, x2                     // the end instant
    mov     x26, x22                    // current address
    mov     x27, x4                     // chunk number
    mov     x28, x3
    cbz     x19, 1f
    msr     spsel, #0
    msr     daifclr, #2                 // IRQs are taken from here on
1:  and     x9, x27, #3                 // in turn
    ldr     x9, [x20, x9, lsl #3]
    mov     x0, x26
    mov     x1, #{CHUNK}
    mov     x2, x24
    mov     x3, x25
    blr     x9
    yield                               // lets an emulator run the other CPUs
    add     x27, x27, #1
    add     x26, x26, #{CHUNK}
    cmp     x26, x23
    csel    x26, x22, x26, hs
    tbnz    x28, #0, 2f
    mrs     x9, cntpct_el0
    mrs     x10, cntpct_el0             // counter errata: one of the two
    b       3f                          //   may be wrong
2:  mrs     x9, cntvct_el0
    mov     x10, x9
3:  cmp     x9, x21
    ccmp    x10, x21, #0, hs
    b.lo    1b
    msr     daifset, #2                 // no more IRQs
    msr     spsel, #1
    .global stress_done
stress_done:
    ldp     x19, x20, [sp, #16]
    ldp     x21, x22, [sp, #32]
    ldp     x23, x24, [sp, #48]
    ldp     x25, x26, [sp, #64]
    ldp     x27, x28, [sp, #80]
    ldp     x29, x30, [sp], #96
    ret

// The vector branches here, on the CPU's own stack, with SP as stress_loop left it.
    .global timer_interrupt
timer_interrupt:
    stp     x0, x1, [sp, #-144]!
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x18, x30, [sp, #128]
    mov     x0, x19                     // the handler, which starts with a function
    mov     x1, x16                     // the counter, read twice
    mov     x2, x17
    ldr     x9, [x0]
    blr     x9
    tbnz    w0, #0, 1f                  // a bool has one bit
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x18, x30, [sp, #128]
    ldp     x0, x1, [sp], #144
    eret
1:  add     sp, sp, #144                // the last: IRQs stay masked, just as
    msr     daifclr, #4                 //   the exception left them; SErrors
    b       stress_done                 //   are unmasked
