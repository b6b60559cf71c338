# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# psci_bench_qemu_sbsa: TF-A's own `qemu_sbsa` platform with fewer clusters, so
# that the stages still fit with PMF, and with BL33 in the FIP. It is outside
# the TF-A tree and does not change any file in it. TF-A's Makefile includes
# this file (through TF_PLATFORM_ROOT) with its own source root as the working
# directory.

PB_PATH		:= $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

# The platform's own file gives it a value if it has none. BL2 loads BL33 from
# the FIP if it is empty.
PRELOADED_BL33_BASE	:=

include plat/qemu/qemu_sbsa/platform.mk

# include/platform_def.h includes the platform's own header by #include_next, so
# this directory must be searched first.
PLAT_INCLUDES	:= -I$(PB_PATH)/include $(PLAT_INCLUDES)
