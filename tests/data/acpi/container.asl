// A container of CPUs that an SSDT declares.
DefinitionBlock ("", "DSDT", 2, "PSCIB", "SPLIT", 1)
{
    Device (\_SB.CLU0)
    {
        Name (_HID, "ACPI0010")
        Name (_LPI, Package ()
        {
            0, 1, 2,
            // The firmware enters this state on its own.
            Package () { 1, 1, 1, 0, 0, 0, 0, 0, 0, "Auto" },
            Package ()
            {
                1, 1, 1, 0, 0, 0,
                ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x02010022, 3) },
                0, 0, "Whole"
            }
        })
    }
}
