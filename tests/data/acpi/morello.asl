// Two CPUs in a container, with _LPI objects as on Arm's Morello. Methods return
// packages by name, and the container's state is added to a core's state. There
// are also terms that are irrelevant to idle states.
DefinitionBlock ("", "DSDT", 2, "PSCIB", "MORELLO", 1)
{
    External (\_SB.PCI9, DeviceObj)
    Name (SIZE, 0x1000)
    OperationRegion (REGS, SystemMemory, 0x1c090000, SIZE)
    Field (REGS, DWordAcc, NoLock, Preserve) { VER0, 32, Offset (0x40), VER1, 8 }
    Mutex (MUTX, 0)
    Event (DONE)
    Alias (SIZE, SAME)
    Method (\WORK, 2, Serialized)
    {
        If (LEqual (Arg0, 1)) { Store (Arg1, VER0) }
        While (LOr (Arg1, Zero)) { Decrement (Arg1) }
        Return (Buffer (4) { 1, 2, 3, 4 })
    }
    If (LEqual (SIZE, 0x2000)) { Device (FAKE) { Name (_HID, "ACPI0007") } }

    Scope (\_SB)
    {
        Name (DATA, Buffer (8) { 0x55 })
        CreateDWordField (DATA, 4, HIGH)
        Device (COM0)
        {
            Name (_HID, "ARMH0011")
            Name (_UID, Zero)
            PowerResource (PWR0, 0, 0) { Method (_STA) { Return (One) } }
        }
        Name (PLPI, Package ()
        {
            0, 1, 2,
            Package ()
            {
                1, 1, 1, 0, 0, 0,
                ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0xFFFFFFFF, 3) },
                ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                "LPI1-Core"
            },
            Package ()
            {
                150, 350, 1, 1, 0, 1,
                ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x00010000, 3) },
                ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                "LPI3-Core"
            }
        })
        Name (CLPI, Package ()
        {
            0, 2, 1,
            Package ()
            {
                700, 600, 1, 1, 0, 0, 0x01000000,
                ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                "LPI2-Cluster"
            }
        })
        Device (CLU0)
        {
            Name (_HID, "ACPI0010")
            Name (_UID, 0)
            Method (_LPI, 0, NotSerialized) { Return (CLPI) }
            Device (CP00)
            {
                Name (_HID, "ACPI0007")
                Name (_UID, 0)
                Method (_LPI, 0, NotSerialized) { Return (\_SB.PLPI) }
            }
            Device (CP01)
            {
                Name (_HID, "ACPI0007")
                Name (_UID, 1)
                Method (_LPI, 0, NotSerialized) { Return (^^^PLPI) }
            }
        }
    }
}
