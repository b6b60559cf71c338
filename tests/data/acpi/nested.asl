// Four CPUs in two containers. CORE is the power_state for a CPU. CLUSTER is added to it to get
// the power_state for a CPU and its container.
DefinitionBlock ("", "DSDT", 2, "PSCIB", "NESTED", 1)
{
    Scope (\_SB)
    {
        Name (NONE, ResourceTemplate () { Register (SystemMemory, 0, 0, 0, 0) })

        Device (CL00)
        {
            Name (_HID, "ACPI0010")
            Name (_LPI, Package () { 0, 1, 1,
                Package () { 1, 1, 1, 0, 0, 0, CLUSTER, NONE, NONE, "cluster" } })

            Device (CP00)
            {
                Name (_HID, "ACPI0007")
                Name (_UID, 0)
                Name (_LPI, Package () { 0, 0, 2,
                    Package () { 1, 1, 1, 0, 0, 0,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, 0xFFFFFFFF, 3) },
                        NONE, NONE, "wfi" },
                    Package () { 1, 1, 1, 1, 0, 1,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, CORE, 3) },
                        NONE, NONE, "core" } })
            }

            Device (CP01)
            {
                Name (_HID, "ACPI0007")
                Name (_UID, 1)
                Name (_LPI, Package () { 0, 0, 2,
                    Package () { 1, 1, 1, 0, 0, 0,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, 0xFFFFFFFF, 3) },
                        NONE, NONE, "wfi" },
                    Package () { 1, 1, 1, 1, 0, 1,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, CORE, 3) },
                        NONE, NONE, "core" } })
            }
        }

        Device (CL01)
        {
            Name (_HID, "ACPI0010")
            Name (_LPI, Package () { 0, 1, 1,
                Package () { 1, 1, 1, 0, 0, 0, CLUSTER, NONE, NONE, "cluster" } })

            Device (CP02)
            {
                Name (_HID, "ACPI0007")
                Name (_UID, 2)
                Name (_LPI, Package () { 0, 0, 2,
                    Package () { 1, 1, 1, 0, 0, 0,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, 0xFFFFFFFF, 3) },
                        NONE, NONE, "wfi" },
                    Package () { 1, 1, 1, 1, 0, 1,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, CORE, 3) },
                        NONE, NONE, "core" } })
            }

            Device (CP03)
            {
                Name (_HID, "ACPI0007")
                Name (_UID, 3)
                Name (_LPI, Package () { 0, 0, 2,
                    Package () { 1, 1, 1, 0, 0, 0,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, 0xFFFFFFFF, 3) },
                        NONE, NONE, "wfi" },
                    Package () { 1, 1, 1, 1, 0, 1,
                        ResourceTemplate () { Register (FFixedHW, 32, 0, CORE, 3) },
                        NONE, NONE, "core" } })
            }
        }
    }
}
