// The start of the image: the arm64 Image header, the parameter block and an
// exception vector. boot.S follows in the same `global_asm!`.

    .section .head, "ax"

// ---------------------------------------------------------------------------
// arm64 Image header (Linux, "Booting AArch64 Linux"), 64 bytes
// ---------------------------------------------------------------------------
    .global _start
_start:
    b       reset                       // code0: skip header and parameters
    .long   0                           // code1
    .quad   0                           // text_offset: none
    .quad   __image_size                // image_size; raised by the host tool
    .quad   0xa                         // flags: little-endian, 4 KiB, anywhere
    .quad   0, 0, 0                     // res2, res3, res4
    .ascii  "ARM\x64"                   // magic
    .long   0                           // res5

// ---------------------------------------------------------------------------
// Parameter block (hardware::image), 72 bytes; xtask patches it
// ---------------------------------------------------------------------------
    .global parameter_block
parameter_block:
    .ascii  "PSCIBNCH"                  // magic
    .long   2                           // version
    .long   72                          // length
    .long   0                           // emergency UART: none
    .byte   0, 0                        //   reg_shift, io_width
    .short  0                           //   no boot stage marks
    .quad   0                           //   base
    .quad   0                           // tree_offset: no tree appended
    .quad   0                           // tree_size
    .quad   __image_size                // base_size
    .long   0                           // conduit: unknown
    .long   0                           // build: unknown
    .quad   0                           // digest: unknown

// ---------------------------------------------------------------------------
// A synchronous exception with SP_ELx. send_mark uses the image's start as the vector table while it
// stores to the emergency UART, because the table must be aligned to 2 KiB.
// ---------------------------------------------------------------------------
    .org    0x200
    .global mark_fault
mark_fault:
    b       mark_sent                   // the mark is lost
