// Timed calls. Each timed region consists of exactly five instructions: isb, mrs, smc (or hvc),
// isb, mrs; of seven if an erratum requires the counter to be read twice. A test checks this in the
// linked image. Registers are saved before the region and results stored after it.
//
// There is one set of functions for each combination of conduit and counter:
//   smc        SMC, CNTPCT
//   smc_twice  SMC, CNTPCT read twice, for counter errata;
//              hardware::spec::counter::CounterErratum selects the correct read,
//              if any
//   hvc        HVC, CNTVCT: in a guest
//
// Results go to struct RawCall (call_path.rs): before (two reads), after (two reads), x0, and the
// return path: 0 if the call returned, 1 if it came back through the entry point, 2 if it did so
// with a different context ID from the one given.
//
// The firmware preserves x19 to x30 and SP (SMCCC, DEN0028, section 2.6); the caller of an extern
// "C" function expects x0 to x18 to be clobbered.

// Reads the counter into a pair of registers.
    .macro  read_smc first, second
    mrs     \first, cntpct_el0
    .endm
    .macro  read_smc_twice first, second
    mrs     \first, cntpct_el0
    mrs     \second, cntpct_el0
    .endm
    .macro  read_hvc first, second
    mrs     \first, cntvct_el0
    .endm
// If the counter is read only once, copies the first register to the second.
    .macro  pair_smc first, second
    mov     \second, \first
    .endm
    .macro  pair_smc_twice first, second
    .endm
    .macro  pair_hvc first, second
    mov     \second, \first
    .endm

    .macro  timed way, call, flag

    // timed_WAY(x0 function ID, x1 to x3 its arguments, x4 result): times a call that simply
    // returns.
    .section .text.timed_\way, "ax"
    .global timed_\way
timed_\way:
    stp     x29, x30, [sp, #-48]!       // a stack frame, for register dumps
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    str     x4, [sp, #32]               // address for the results
    .global timed_\way\()_begin
timed_\way\()_begin:
    isb                                 // everything earlier has completed
    read_\way x19, x20
    \call   #0
    isb                                 // the call has completed
    read_\way x4, x5
    .global timed_\way\()_end
timed_\way\()_end:
    pair_\way x19, x20
    pair_\way x4, x5
    ldr     x1, [sp, #32]
    stp     x19, x20, [x1]              // before
    stp     x4, x5, [x1, #16]           // after
    stp     x0, xzr, [x1, #32]          // X0; returned
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #48
    ret
    .global timed_\way\()_function_end
timed_\way\()_function_end:

    // empty_WAY(x0 result): the timed region without the call, to measure the region's overhead.
    .section .text.empty_\way, "ax"
    .global empty_\way
empty_\way:
    mov     x1, x0
    isb
    read_\way x2, x3
    isb
    read_\way x4, x5
    pair_\way x2, x3
    pair_\way x4, x5
    stp     x2, x3, [x1]                // before
    stp     x4, x5, [x1, #16]           // after
    stp     xzr, xzr, [x1, #32]
    ret

    // suspend_WAY(x0 function ID, x1 power_state, x2 result, x3 the CPU's EntryRecord): times
    // CPU_SUSPEND, or SYSTEM_SUSPEND, which has no power_state. The context ID identifies the stack
    // frame. It is stored where the entry point (boot.S) finds it without the firmware's help.
    .section .text.suspend_\way, "ax"
    .global suspend_\way
suspend_\way:
    stp     x29, x30, [sp, #-128]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    stp     x21, x22, [sp, #32]
    stp     x23, x24, [sp, #48]
    stp     x25, x26, [sp, #64]
    stp     x27, x28, [sp, #80]
    str     x2, [sp, #96]               // address for the results
    mov     x4, x3
    ldr     x2, [x4, #{ENTRY_WAKE}]     // argument 2: entry point
    add     x3, sp, #\flag              // argument 3: context ID
    str     x3, [x4, #{ENTRY_CONTEXT}]  //   also stored
    tbz     x0, #1, 1f                  // function 0xe, not 1:
    mov     x1, x2                      //   SYSTEM_SUSPEND has the same
    mov     x2, x3                      //   arguments shifted down by one
1:
    .global suspend_\way\()_kept
suspend_\way\()_kept:
    isb                                 // if the call returns through the entry
    read_\way x19, x20                  //   point, registers are lost, and this
    pair_\way x19, x20                  //   read is the start of the call;
    stp     x19, x20, [sp, #104]        //   it comes after everything above
    .global suspend_\way\()_begin
suspend_\way\()_begin:
    isb                                 // everything earlier has completed
    read_\way x19, x20
    \call   #0
    isb                                 // the call returned
    read_\way x4, x5
    .global suspend_\way\()_end
suspend_\way\()_end:
    pair_\way x19, x20
    pair_\way x4, x5
    mov     x6, xzr                     // returned
    b       suspend_epilogue
    .endm

    timed   smc, smc, 0
    timed   smc_twice, smc, 0
    timed   hvc, hvc, 1                 // flag: the entry reads CNTVCT

// Both return paths of a suspend continue here. In: sp = the frame, x0 = the call's X0,
// x4 and x5 = the counter after the call, x6 = the return path.
    .section .text.suspend_epilogue, "ax"
    .global suspend_epilogue
suspend_epilogue:
    cbz     x6, 1f
    ldp     x19, x20, [sp, #104]        // through the entry point
1:  ldr     x1, [sp, #96]
    stp     x19, x20, [x1]              // before
    stp     x4, x5, [x1, #16]           // after
    stp     x0, x6, [x1, #32]           // X0, the return path
    ldp     x19, x20, [sp, #16]
    ldp     x21, x22, [sp, #32]
    ldp     x23, x24, [sp, #48]
    ldp     x25, x26, [sp, #64]
    ldp     x27, x28, [sp, #80]
    ldp     x29, x30, [sp], #128
    ret
