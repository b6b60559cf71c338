// The three entry points of the payload, and the code they share: reset (_start), CPU_ON
// (secondary_entry) and wake-up from a power-down (wake_entry).
//
// All three begin with the MMU and data cache off, unless a loader enters _start with them on;
// _start then writes back the image and turns them off. Until cpu_setup has turned on the MMU and
// data cache, data that was written with them on must not be loaded, because it may be in a cache
// that this CPU is not using yet. Until then, secondary_entry and wake_entry therefore load only
// one word, the address of the translation tables, which was written once, with caches off.
// _start loads and stores only what it must (relocations, translation tables, the parameter block).
// It invalidates the lines that it writes before the first store, because an earlier stage may have
// left dirty lines whose eviction would undo a store, and again after the last store, so that no
// stale copy is left in a cache.
//
// Memory map of the running image: linker/payload.ld.

// ---------------------------------------------------------------------------
// Reset: as BL33, as a kernel, or as a guest
// ---------------------------------------------------------------------------
    // The address of the root translation table, which follows the image. It is stored once, below,
    // with the MMU and caches off, because each CPU loads it from memory before it turns on its own
    // MMU and caches.
    .section .data.root_table, "aw"
    .balign 8
    .global root_table
root_table:
    .quad   0

    .section .text.entry, "ax"
reset:
    msr     daifset, #0xf               // no exceptions may be taken yet
    mov     x20, x0                     // keep the loader's registers:
    mov     x21, x1                     //   device tree, MPIDR or nothing
    mov     x22, x2
    mov     x23, x3
    mov     x0, #{MARK_ENTRY}
    bl      send_mark
    // The boot area starts on the page after the image and the appended tree. It holds a guard page
    // that stays unmapped, the boot stack, the emergency stack above it, the heap that is used
    // until working memory is known, the root translation table, and a pool for more tables. The
    // header's image_size makes loaders leave room for it. x27: its start; x19: the start of the
    // tree, or 0.
    adrp    x4, __image_start           // linked at 0: the load address itself
    adrp    x3, parameter_block
    add     x3, x3, :lo12:parameter_block
    ldr     x19, [x3, #0x20]            // tree_offset
    ldr     x5, [x3, #0x28]             // tree_size
    adrp    x27, __image_end
    cbz     x19, 3f                     // no tree appended
    // An impossible address is treated as if there were no tree, because the boot area would
    // overrun the image or the address would wrap. src/start/device_tree.rs reports it.
    sub     x6, x27, x4                 // bytes of the image
    sub     x6, x19, x6                 // offset of the tree from the image's end:
    cmp     x6, #4096                   //   at most a page; a negative one wraps
    b.hi    1f
    tst     x19, #({TREE_ALIGN} - 1)
    b.ne    1f
    sub     x6, x5, #1                  // 0 wraps
    mov     x7, #{TREE_MAX}
    cmp     x6, x7
    b.lo    2f
1:  mov     x19, xzr
    b       3f
2:  add     x19, x19, x4
    add     x27, x19, x5                // the tree's end,
    add     x27, x27, #0xfff            //   rounded up to whole pages
    and     x27, x27, #~0xfff

    // If the loader runs with the MMU and caches on (U-Boot's go, EFI), the image may exist only in
    // a cache, but the code below reads memory. Write the image and the tree back, and turn the
    // MMU and caches off. Addresses do not change, because such a loader uses an identity mapping.
3:  mrs     x7, CurrentEL
    cmp     x7, #(2 << 2)
    b.hi    5f
    b.eq    4f
    mrs     x9, sctlr_el1
    b       6f
4:  mrs     x9, sctlr_el2
    b       6f
5:  mrs     x9, sctlr_el3
6:  mov     x10, #(1 << 2 | 1)          // C, M
    tst     x9, x10
    b.eq    caches_are_off
    .global write_image_back
write_image_back:
    mov     x3, x4                      // the image's first line,
    mov     x5, x27                     //   to the tree's last line
    bl      line_size
7:  dc      civac, x3
    add     x3, x3, x6
    cmp     x3, x5
    b.lo    7b
    dsb     sy                          // all of it is in memory now
    mov     x10, #(1 << 12 | 1 << 2 | 1)
    bic     x9, x9, x10                 // I, C, M
    .global turn_caches_off
turn_caches_off:
    cmp     x7, #(2 << 2)
    b.hi    9f
    b.eq    8f
    msr     sctlr_el1, x9
    b       10f
8:  msr     sctlr_el2, x9
    b       10f
9:  msr     sctlr_el3, x9
10: isb
    .global caches_are_off
caches_are_off:
    mov     x29, xzr                    // 1 if EL3 must be left
    cmp     x7, #(3 << 2)
    b.ne    left_el3

    // EL3 belongs to the firmware under test. If the payload is entered at EL3, all it can do is
    // report this from a lower level. The setup is minimal: lower levels are AArch64 and
    // non-secure, an SMC is undefined and not taken to EL3, and the next level (EL2 if implemented)
    // starts with the MMU and caches off and all exceptions masked.
    .global leave_el3
leave_el3:
    mov     x29, #1
    mov     x9, #({SCR_EL3} & 0xffff)
    movk    x9, #({SCR_EL3} >> 32), lsl #32
    msr     scr_el3, x9
    mrs     x9, id_aa64pfr0_el1
    tst     x9, #(0xf << 8)             // is there an EL2?
    b.eq    1f
    mov     x9, #({SCTLR_EL2_OFF} & 0xffff)
    movk    x9, #({SCTLR_EL2_OFF} >> 16), lsl #16
    msr     sctlr_el2, x9
    mov     x9, #0x3c9                  // D, A, I, F; EL2 with SP_EL2
    b       2f
1:  mov     x9, #({SCTLR_EL1_OFF} & 0xffff)
    movk    x9, #({SCTLR_EL1_OFF} >> 16), lsl #16
    msr     sctlr_el1, x9
    mov     x9, #0x3c5                  // EL1 with SP_EL1
2:  msr     spsr_el3, x9
    adr     x9, left_el3
    msr     elr_el3, x9
    eret                                // to the next line
    .global left_el3
left_el3:
    bl      invalidate_written          // no dirty line may overwrite the stores below
    mov     x0, #{MARK_CACHES}
    bl      send_mark

    // Relocations: the linker stored each pointer relative to address 0, so add the load address.
    // The pointers are listed in RELR format (ELF gABI, "Relative Relocation Table"): an even word
    // is the address of one pointer; an odd word after it is a bitmap of the next 63 words.
    adrp    x5, __relr_start
    add     x5, x5, :lo12:__relr_start
    adrp    x6, __relr_end
    add     x6, x6, :lo12:__relr_end
1:  cmp     x5, x6
    b.hs    3f                          // all done
    ldr     x7, [x5], #8
    tbnz    x7, #0, 11f
    add     x8, x7, x4                  // an address
    ldr     x9, [x8]
    add     x9, x9, x4
    str     x9, [x8], #8                // x8: the word after it
    b       1b
11: mov     x10, x8                     // a bit map: bit 1 is the word at x8
12: lsr     x7, x7, #1
    cbz     x7, 14f
    tbz     x7, #0, 13f
    ldr     x9, [x10]
    add     x9, x9, x4
    str     x9, [x10]
13: add     x10, x10, #8
    b       12b
14: add     x8, x8, #(63 * 8)
    b       1b

    // Clear the tables, and store the root's address.
3:  add     x25, x27, #{BOOT_TABLES}    // root
    add     x24, x25, #4096             // pool
    add     x3, x27, #{BOOT_AREA}       // its end
    mov     x5, x25
4:  stp     xzr, xzr, [x5], #16
    cmp     x5, x3
    b.lo    4b
    adrp    x5, root_table
    str     x25, [x5, :lo12:root_table]

    // Translation tables for the image, tree and boot area, in 4 KiB pages.
    // x24: next free table; x25: root; x26: 1 for the EL1 layout of descriptors and control
    // registers, 0 for the EL2 layout.
    bl      layout
    mov     x26, x10

    // Access bits in the two layouts. With one privilege level (EL2), AP[1] (bit 6) is RES1 and bit
    // 54 is execute-never; with two (EL1), AP[1] would open the page to EL0, and bits 54 and 53 are
    // execute-never for EL0 and EL1.
    mov     x16, #{PAGE_NORMAL}         // valid page, accessed, inner, WB
    mov     x17, #(1 << 54)
    cbz     x26, 6f
    orr     x17, x17, #(1 << 53)        // EL1: bit 54 alone is not enough
    orr     x2, x16, #(1 << 54)         // EL1 text: never executable at EL0
    b       7f
6:  orr     x16, x16, #(1 << 6)         // EL2: AP[1] is RES1
    mov     x2, x16                     // EL2 text
7:  orr     x28, x16, x17               // data: read, write, never executed

    adrp    x0, __image_start
    adrp    x1, __rodata_start
    orr     x2, x2, #(1 << 7)           // AP[2]: read-only, executable
    bl      map_pages
    adrp    x1, __rw_start
    orr     x2, x28, #(1 << 7)          // read-only, not executable
    bl      map_pages
    adrp    x1, __image_end
    mov     x2, x28                     // read, write
    bl      map_pages
    cbz     x19, 8f
    and     x0, x19, #~0xfff            // the tree, up to the boot area
    mov     x1, x27
    orr     x2, x28, #(1 << 7)          // read-only, not executable
    bl      map_pages
8:  add     x0, x27, #4096              // boot area, except the guard page
    add     x1, x27, #{BOOT_AREA}
    mov     x2, x28                     // read, write
    bl      map_pages

    bl      invalidate_written          // and no stale line may be loaded

    bl      cpu_setup                   // MMU and caches on; x8
    add     x9, x27, #{BOOT_STACK_TOP}
    mov     sp, x9
    str     x9, [sp, #-16]!             // like a channel's first word: vectors.S
    mov     x9, sp                      //   uses it to find the emergency stack
    mrs     x10, CurrentEL
    tbz     x10, #3, 10f
    msr     tpidr_el2, x9
    b       11f
10: msr     tpidr_el1, x9
11:
    orr     x7, x29, x8, lsl #1         // was EL3 left? was a write trapped?
    mov     x29, xzr                    // the last frame
    mov     x30, xzr
    mov     x0, x20                     // the loader's X0 to X3,
    mov     x1, x21
    mov     x2, x22
    mov     x3, x23
    mov     x4, x24                     //   the next free table,
    mov     x5, x26                     //   the layout,
    mov     x6, x27                     //   and the boot area
    bl      {boot_main}
halt:
    wfe                                 // nothing can be printed here
    b       halt

// Sends a stage mark (a letter in angle brackets) to the emergency UART, if the parameter block
// specifies a register for it (hardware::image::BootStage). Nothing is stored if the block's UART
// fields contradict each other; Rust reports that later. If there is no device at the address, the
// store's exception ends here. The UART's status is not polled: firmware has drained it, and the
// six bytes sent here fit in its FIFO. A UART without a FIFO may lose some of these bytes.
// In: x0 = the letter. Uses x1 to x3, x5 to x9.
send_mark:
    adrp    x1, parameter_block
    add     x1, x1, :lo12:parameter_block
    ldr     x2, [x1, #0x10]             // kind, shift, width, register
    ubfx    x3, x2, #40, #8             // bytes of a write
    lsr     x7, x2, #48                 // the register's offset plus 1
    cbz     x7, 7f                      // no marks
    and     x2, x2, #0xffffffff         // kind
    cmp     x2, #{UART_KINDS}
    b.hi    7f                          // not a kind of UART
    adrp    x5, {MARKS_FIELDS}
    add     x5, x5, :lo12:{MARKS_FIELDS}
    add     x5, x5, x2, lsl #1
    ldrh    w5, [x5]
    cmp     x5, x7
    b.ne    7f                          // not the data register
    sub     x2, x3, #1
    cmp     x2, #3                      // 0 wraps
    b.hi    7f
    tst     x3, x2
    b.ne    7f                          // not 1, 2 or 4 bytes
    sub     x7, x7, #1
    ldr     x1, [x1, #0x18]             // the UART's base
    add     x1, x1, x7
    tst     x1, x2
    b.ne    7f                          // not aligned
    mov     x6, #0x3c                   // "<"
    orr     x6, x6, x0, lsl #8
    mov     x5, #0x3e                   // ">"
    orr     x6, x6, x5, lsl #16
    mov     x9, x30
    msr     spsel, #1                   // selects the vector at 0x200
    adrp    x7, __image_start           // mark_fault's table
    bl      exchange_vectors
1:  and     x5, x6, #0xff
    tbnz    x3, #2, 3f
    tbnz    x3, #1, 2f
    strb    w5, [x1]
    b       4f
2:  strh    w5, [x1]
    b       4f
3:  str     w5, [x1]
4:  lsr     x6, x6, #8
    cbnz    x6, 1b
    dsb     sy                          // before the table is exchanged
    .global mark_sent
mark_sent:
    bl      exchange_vectors
    mov     x30, x9
7:  ret

// In: x7 = the vector table for this exception level. Out: x7 = the previous one. Uses x5, x8.
exchange_vectors:
    mrs     x8, CurrentEL
    cmp     x8, #(2 << 2)
    b.hi    2f
    b.eq    1f
    mrs     x5, vbar_el1
    msr     vbar_el1, x7
    b       3f
1:  mrs     x5, vbar_el2
    msr     vbar_el2, x7
    b       3f
2:  mrs     x5, vbar_el3
    msr     vbar_el3, x7
3:  isb
    mov     x7, x5
    ret

// Invalidates the cache lines of everything _start writes: from the constants, which contain
// relocations, to the end of the boot area. An appended tree in this range is already in memory,
// because the loader must ensure that for the whole image. In: x27. Uses x3, x5, x6, x8, x10.
    .global invalidate_written
invalidate_written:
    mov     x8, x30
    dsb     sy                          // all earlier stores have completed
    bl      line_size
    adrp    x3, __constants_start
    add     x5, x27, #{BOOT_AREA}
1:  dc      ivac, x3
    add     x3, x3, x6
    cmp     x3, x5
    b.lo    1b
    dsb     sy                          // the lines are invalidated
    ret     x8

// Out: x6 = the smallest data cache line size in bytes. Uses x10.
line_size:
    mrs     x6, ctr_el0
    ubfx    x6, x6, #16, #4             // DminLine: log2 of words
    mov     x10, #4
    lsl     x6, x10, x6
    ret

// Identity-maps whole pages. In: x0 first page, x1 end, x2 descriptor bits, x24 next free table
// (advanced), x25 root. Out: x0 = x1. Uses x3 to x6. A tree of size TREE_MAX, the image and the
// boot area together span less than 4 MiB and need at most 3 level 3 tables and 2 each at levels 1
// and 2, so the pool cannot run out here.
map_pages:
    cmp     x0, x1
    b.hs    4f                          // all mapped
    mov     x3, x25                     // start at the root,
    mov     x4, #39                     //   where VA bits 47:39 index
1:  lsr     x5, x0, x4
    and     x5, x5, #0x1ff              // index at this level
    ldr     x6, [x3, x5, lsl #3]
    tbnz    x6, #0, 2f                  // a table exists
    orr     x6, x24, #3                 // otherwise add one: table descriptor
    add     x24, x24, #4096
    str     x6, [x3, x5, lsl #3]
2:  and     x3, x6, #0x0000fffffffff000 // next level's table
    sub     x4, x4, #9
    cmp     x4, #12
    b.ne    1b
    ubfx    x5, x0, #12, #9             // index at level 3
    orr     x6, x0, x2
    str     x6, [x3, x5, lsl #3]        // page descriptor
    add     x0, x0, #4096
    b       map_pages
4:  ret

// Reads the counter into x19 and x20, twice because of counter errata: a CPU's first instant, or the
// caller's end of a suspend. In: x0 = a context ID, whose bit 0 is set if CNTVCT is in use.
.macro read_first_instant
    tbnz    x0, #0, .Lvirtual\@
    mrs     x19, cntpct_el0
    mrs     x20, cntpct_el0
    b       .Lread\@
.Lvirtual\@:
    mrs     x19, cntvct_el0
    mov     x20, x19
.Lread\@:
.endm

// ---------------------------------------------------------------------------
// CPU_ON: x0 = address of the CPU's channel; bit 0 is set if CNTVCT is in use. The address is only
// compared, never dereferenced: firmware may pass something else.
// ---------------------------------------------------------------------------
    .global secondary_entry
secondary_entry:
    read_first_instant
    mov     x21, x0
    bl      note_entry                  // x22, x23
    bl      cpu_setup                   // MMU and caches on
    bl      find_channel                // x0
    cbz     x0, halt                    // not a CPU that was turned on
    stp     x22, x23, [x0, #{CHANNEL_ENTRY_STATE}]
    ldr     x9, [x0, #{CHANNEL_STACK}]
    mov     sp, x9
    msr     daifclr, #4                 // SErrors are taken now, and dumped
    mov     x29, xzr
    mov     x30, xzr
    mov     x1, x19
    mov     x2, x20
    and     x3, x21, #~1                // is the context ID correct?
    cmp     x3, x0
    cset    x3, eq
    .global secondary_ready
secondary_ready:                        // a test injects a fault here
    bl      {secondary_main}
    b       halt                        // it does not return

// ---------------------------------------------------------------------------
// Wake-up: x0 = the context ID that timed.S stored in the channel: the stack pointer, with bit 0 as
// above. The context ID is only compared, never dereferenced.
// ---------------------------------------------------------------------------
    .global wake_entry
wake_entry:
    read_first_instant
    msr     daifset, #0xf
    mov     x21, x0
    bl      cpu_setup                   // MMU and caches on
    bl      find_channel                // x0
    cbz     x0, halt                    // not a CPU that was suspended
woken:
    ldr     x9, [x0, #{CHANNEL_CONTEXT}]
    cmp     x9, x21
    mov     x6, #1                      // came back through the entry point,
    cinc    x6, x6, ne                  //   2: with another context ID
    and     x9, x9, #~1
    mov     sp, x9
    msr     daifclr, #4                 // unmask SErrors; the call's end time
                                        //   was read above
    mov     x4, x19                     // as on the fall-through path
    mov     x5, x20
    mov     x0, xzr                     // no return code: it did not return
    b       suspend_epilogue

// The same for a round that records the registers on entry. Other rounds do not use this entry
// point: while many CPUs wake up, each instruction delays those that are still in the
// firmware, at least on an emulator that runs them in turn.
    .global noting_wake_entry
noting_wake_entry:
    read_first_instant
    mov     x21, x0
    bl      note_entry                  // x22, x23
    bl      cpu_setup                   // MMU and caches on
    bl      find_channel                // x0
    cbz     x0, halt
    stp     x22, x23, [x0, #{CHANNEL_ENTRY_STATE}]
    b       woken

// ---------------------------------------------------------------------------
// Reads the state in which firmware has entered the payload (DEN0022F, section 6.4), masks all
// exceptions, and turns off what may be on in spite of the specification: the MMU, the caches, and
// big-endian accesses. Out: x22 = PSTATE in the layout of SPSR_ELx (DAIF, EL, SP), x23 = SCTLR_ELx.
// Uses x9, x10.
// ---------------------------------------------------------------------------
.macro enforce sctlr
    mrs     x23, \sctlr
    bic     x9, x23, #(1 << 12)         // I
    bic     x9, x9, #(1 << 25)          // EE
    bic     x9, x9, #(1 << 2)           // C
    bic     x9, x9, #1                  // M
    msr     \sctlr, x9
    isb
    ret
.endm

note_entry:
    mrs     x22, daif
    msr     daifset, #0xf
    mrs     x10, spsel
    orr     x22, x22, x10
    mrs     x10, CurrentEL
    orr     x22, x22, x10
    .global enforce_entry_state
enforce_entry_state:
    tbz     x10, #3, 1f
    enforce sctlr_el2
1:  enforce sctlr_el1
    .global entry_state_enforced
entry_state_enforced:

// ---------------------------------------------------------------------------
// Finds this CPU's channel by MPIDR, and stores the channel's address in TPIDR (vectors.S).
// Out: x0 = the channel, or 0. Uses x9 to x13.
// ---------------------------------------------------------------------------
    .section .data.channel_directory, "aw"
    .balign 16
    .global channel_directory
channel_directory:
    .quad   0, 0                        // the first channel, the end of the last one

    .section .text.entry, "ax"
find_channel:
    adrp    x9, channel_directory
    add     x9, x9, :lo12:channel_directory
    ldp     x0, x10, [x9]
    mrs     x11, mpidr_el1
    mov     x12, #0xffffff              // Aff2, Aff1, Aff0
    movk    x12, #0xff, lsl #32         // Aff3
    and     x11, x11, x12
1:  cmp     x0, x10
    b.hs    2f                          // not in any channel
    ldr     x13, [x0, #{CHANNEL_MPIDR}]
    cmp     x13, x11
    b.eq    3f
    add     x0, x0, #{CHANNEL_SIZE}
    b       1b
2:  mov     x0, xzr
3:  mrs     x9, CurrentEL
    tbz     x9, #3, 4f
    msr     tpidr_el2, x0               // EL2
    ret
4:  msr     tpidr_el1, x0               // EL1
    ret

// ---------------------------------------------------------------------------
// Returns the layout of the control registers. Out: x10 = 1 for the EL1 layout (also at EL2 if
// HCR_EL2.E2H is stuck at 1, because EL2's registers then have that layout), 0 for the EL2 layout.
// Writes HCR_EL2 at EL2. Uses x9.
// ---------------------------------------------------------------------------
layout:
    mov     x10, #1
    mrs     x9, CurrentEL
    tbz     x9, #3, 1f                  // EL1
    mov     x9, #({HCR_EL2} & 0xffff)
    movk    x9, #({HCR_EL2} >> 16), lsl #16
    msr     hcr_el2, x9                 // E2H = 0, EL1 is AArch64, IRQs to EL2
    isb
    mrs     x9, hcr_el2                 // read back: E2H may be RES1
    ubfx    x10, x9, #34, #1
1:  ret

// Clears TCR2, SCTLR2 and GCSCR at one exception level if the CPU has them: they extend TCR and
// SCTLR, and are not reset. Uses x13.
.macro clear_extensions tcr2, sctlr2, gcscr
    mrs     x13, s3_0_c0_c7_3           // ID_AA64MMFR3_EL1
    tst     x13, #0xf                   // TCRX
    b.eq    .Lno_tcr2\@
    msr     \tcr2, xzr
.Lno_tcr2\@:
    tst     x13, #0xf0                  // SCTLRX
    b.eq    .Lno_sctlr2\@
    msr     \sctlr2, xzr
.Lno_sctlr2\@:
    mrs     x13, id_aa64pfr1_el1
    tst     x13, #(0xf << 44)           // GCS
    b.eq    .Lno_gcs\@
    msr     \gcscr, xzr
.Lno_gcs\@:
.endm

// Sets the vectors, and clears the registers that extend TCR and SCTLR. Firmware must permit this
// exception level to write to them (SCR_EL3.TCR2En, SCTLR2En, GCSEn), as Linux also requires. If it
// does not, the write causes an exception, which vectors.S steps over. In: x9 = the vectors.
// Out: x8 = 1 if that has happened, otherwise 0. Uses x13, x14.
    .global set_vectors
set_vectors:
    mov     x8, xzr
    mov     x14, x30                    // an exception uses no register but x8
    msr     contextidr_el1, xzr         // vectors.S: not in a handler,
    mrs     x13, CurrentEL
    tbz     x13, #3, 1f
    msr     tpidr_el2, xzr              //   and no stack
    msr     vbar_el2, x9
    isb
    .global extensions_start
extensions_start:
    clear_extensions s3_4_c2_c0_3, s3_4_c1_c0_3, s3_4_c2_c5_0
    ret     x14
1:  msr     tpidr_el1, xzr
    msr     vbar_el1, x9
    isb
    clear_extensions s3_0_c2_c0_3, s3_0_c1_c0_3, s3_0_c2_c5_0
    .global extensions_end
extensions_end:
    ret     x14

// ---------------------------------------------------------------------------
// Sets up everything a CPU needs before it runs Rust (vectors, MMU, caches), using only registers.
// SErrors stay masked: dumping a pending one needs a stack, which only the caller has. In: x30.
// Out: x8 = 1 if a register could not be cleared (set_vectors). Uses x9 to x15. Preserves x19 to x28.
cpu_setup:
    mov     x15, x30
    bl      layout                      // x10; writes HCR_EL2
    msr     spsel, #1
    adrp    x9, vectors
    add     x9, x9, :lo12:vectors
    bl      set_vectors                 // x8
    adrp    x11, root_table             // the only load: see root_table
    ldr     x11, [x11, :lo12:root_table]
    mov     x12, #{MAIR}
    mrs     x13, id_aa64mmfr0_el1
    and     x13, x13, #0xf              // PARange
    cmp     x13, #5                     // 48 bits is the maximum for
    mov     x14, #5                     //   this granule
    csel    x13, x13, x14, lo
    mov     x14, #{TCR_COMMON}
    cbz     x10, 1f
    orr     x14, x14, x13, lsl #32      // EL1 layout: IPS is 34:32,
    orr     x14, x14, #(1 << 23)        //   EPD1 = 1: no walks by TTBR1
    b       2f
1:  orr     x14, x14, x13, lsl #16      // EL2 layout: PS is 18:16,
    orr     x14, x14, #(1 << 23)        //   RES1
    orr     x14, x14, #(1 << 31)        //   RES1
2:  mrs     x13, CurrentEL
    tbz     x13, #3, 3f
    msr     mair_el2, x12               // EL2
    msr     ttbr0_el2, x11
    msr     tcr_el2, x14
    msr     cntvoff_el2, xzr            // CNTVCT = CNTPCT
    mov     x9, #3                      // EL1 may use the counter and timer:
    mov     x12, #(3 << 10)             //   the bits differ if E2H is 1
    cmp     x10, #0
    csel    x9, x9, x12, eq
    msr     cnthctl_el2, x9
    mov     x9, #({SCTLR_EL2} & 0xffff)
    movk    x9, #({SCTLR_EL2} >> 16), lsl #16
    mov     x14, #({SCTLR_EL1} & 0xffff)
    movk    x14, #({SCTLR_EL1} >> 16), lsl #16
    csel    x9, x9, x14, eq
    tlbi    alle2                       // no stale translations for EL2 or
    ic      iallu                       //   EL2&0; no stale instructions
    dsb     sy
    isb
    msr     sctlr_el2, x9               // MMU, caches on
    isb
    ret     x15

3:  msr     mair_el1, x12               // EL1
    msr     ttbr0_el1, x11
    msr     tcr_el1, x14
    mov     x9, #({SCTLR_EL1} & 0xffff)
    movk    x9, #({SCTLR_EL1} >> 16), lsl #16
    tlbi    vmalle1
    ic      iallu
    dsb     sy
    isb
    msr     sctlr_el1, x9               // MMU, caches on
    isb
    ret     x15
