// Two CPUs in two levels of containers, with _LPI objects as on Qualcomm's SoCs. The states are
// inline, some are disabled, and integers are added at both levels.
DefinitionBlock ("", "DSDT", 2, "PSCIB", "QUALCOMM", 1)
{
    Device (\_SB.SYSM)
    {
        Name (_HID, "ACPI0010")
        Device (APC0)
        {
            Name (_HID, "ACPI0010")
            Name (_LPI, Package ()
            {
                0, 0x2000000, 3,
                Package ()
                {
                    300, 130, 1, 32, 0, 0,
                    0x300,
                    ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                    ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                    "platform.xo"
                },
                Package ()
                {
                    300, 130, 1, 0, 0, 0,
                    0x400,
                    ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                    ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                    "CCI.E3"
                },
                Package ()
                {
                    300, 130, 1, 0, 0, 0,
                    0x500,
                    ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                    ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                    "CCI.E3+RPM"
                }
            })
            Device (CLU0)
            {
                Name (_HID, "ACPI0010")
                Name (_LPI, Package ()
                {
                    0, 0x1000000, 3,
                    Package ()
                    {
                        300, 130, 0, 0, 0, 0,
                        0x20,
                        ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                        ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                        "L2.D2d"
                    },
                    Package ()
                    {
                        300, 130, 0, 0, 0, 0,
                        0x30,
                        ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                        ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                        "L2.D2e"
                    },
                    Package ()
                    {
                        300, 130, 1, 0, 0, 3,
                        0x40,
                        ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                        ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                        "L2.D4"
                    }
                })
                Device (CPU0)
                {
                    Name (_HID, "ACPI0007")
                    Name (_UID, 0)
                    Name (_LPI, Package ()
                    {
                        0, 0, 3,
                        Package ()
                        {
                            300, 130, 1, 0, 0, 3,
                            ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0xFFFFFFFF, 3) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            "Kryo0.C1"
                        },
                        Package ()
                        {
                            300, 130, 0, 0, 0, 0,
                            ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x00000002, 3) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            "Kryo0.C2d"
                        },
                        Package ()
                        {
                            300, 130, 1, 1, 0, 3,
                            ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x40000003, 3) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            "Kryo0.C3"
                        }
                    })
                }
                Device (CPU1)
                {
                    Name (_HID, "ACPI0007")
                    Name (_UID, 1)
                    Name (_LPI, Package ()
                    {
                        0, 0, 3,
                        Package ()
                        {
                            300, 130, 1, 0, 0, 3,
                            ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0xFFFFFFFF, 3) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            "Kryo1.C1"
                        },
                        Package ()
                        {
                            300, 130, 0, 0, 0, 0,
                            ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x00000002, 3) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            "Kryo1.C2d"
                        },
                        Package ()
                        {
                            300, 130, 1, 1, 0, 3,
                            ResourceTemplate () { Register (FFixedHW, 0x20, 0, 0x40000003, 3) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) },
                            "Kryo1.C3"
                        }
                    })
                }
            }
        }
    }
}
