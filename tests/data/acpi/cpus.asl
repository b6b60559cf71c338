// CPUs in a container that the DSDT declares. One has states, one has a method
// that computes its states, and one is declared as a Processor.
DefinitionBlock ("", "SSDT", 2, "PSCIB", "SPLIT", 1)
{
    External (\_SB.CLU0, DeviceObj)
    Scope (\_SB.CLU0)
    {
        Device (CPU0)
        {
            Name (_HID, "ACPI0007")
            Name (_LPI, Package ()
            {
                0, 0, 3,
                Package ()
                {
                    1, 1, 1, 1, 0, 2,
                    ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x00010002, 3) },
                    0, 0, "Off"
                },
                Package ()
                {
                    1, 1, 1, 1, 0, 0,
                    ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x80000000, 3) },
                    0, 0, "Bad"
                },
                Package ()
                {
                    1, 1, 1, 1, 0, 0,
                    ResourceTemplate () { Register (FFixedHW, 0x40, 0, 0x100000003, 4) },
                    0, 0, "Wide"
                }
            })
        }
        Device (CPU1)
        {
            Name (_HID, "ACPI0007")
            Name (MODE, 1)
            Method (_LPI, 0, Serialized)
            {
                If (LEqual (MODE, 1)) { Return (^^CPU0._LPI) }
                Return (^^CPU0._LPI)
            }
        }
        Processor (CPU2, 2, 0, 0)
        {
            Name (_LPI, Package ()
            {
                0, 0, 1,
                Package ()
                {
                    1, 1, 1, 0, 0, 0,
                    ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x00000001, 3) },
                    0, 0, "Not a name"
                }
            })
        }
    }
}
