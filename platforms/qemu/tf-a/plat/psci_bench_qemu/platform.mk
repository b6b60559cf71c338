# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# psci_bench_qemu: TF-A's own `qemu` platform, replacing the parts that prevent
# measurements: power-down CPU_SUSPEND, topology, hold pen, GIC choice and PMF
# by SMC. It is outside the TF-A tree and does not change any file in it.
#
# TF-A's Makefile includes this file (through TF_PLATFORM_ROOT) with its own
# source root as the working directory. README.md has the variant variables.

PB_PATH		:= $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

################################################################################
# Variants. Each has a default, and an invalid value is an error.
################################################################################

PB_GIC		?= 3
PB_COHERENCY	?= hw
PB_GIC_RESET	?= 0
PB_PMF		?= new
PB_STATE_ID	?= original
PB_FAULTS	?= 0
PB_TIMER_STOP	?= 0
PB_POWER_CHANNEL ?= 0
PB_CPU_ON_RACE	?= 0
PB_CPU_ON_ANSWER ?= success
PB_PABANDON	?= 0

# $(call pb_one_of,VARIABLE,allowed words)
pb_one_of = $(if $(and $(filter 1,$(words $($(1)))),$(filter $(2),$($(1)))),,\
	$(error $(1)='$($(1))' is not known: use one of: $(2)))

$(call pb_one_of,PB_GIC,2 3)
$(call pb_one_of,PB_COHERENCY,hw sw)
$(call pb_one_of,PB_GIC_RESET,0 1)
$(call pb_one_of,PB_PMF,new sip off)
$(call pb_one_of,PB_STATE_ID,original extended)
$(call pb_one_of,PB_FAULTS,0 1)
$(call pb_one_of,PB_TIMER_STOP,0 1)
$(call pb_one_of,PB_POWER_CHANNEL,0 1)
$(call pb_one_of,PB_CPU_ON_ANSWER,success failure)
$(call pb_one_of,PB_PABANDON,0 1)

# $(call pb_at_most,VARIABLE,greatest number). C would take a leading 0 for octal.
pb_at_most = $(if $(shell echo '$($(1))' | grep -Eqx '0|[1-9][0-9]{0,8}' && \
		test '$($(1))' -le $(2) && echo good),,\
	$(error $(1)='$($(1))' is not known: use a number from 0 to $(2)))

$(call pb_at_most,PB_CPU_ON_RACE,1000000)

ifeq (${PB_CPU_ON_RACE} ${PB_CPU_ON_ANSWER},0 failure)
$(error PB_CPU_ON_ANSWER=failure needs PB_CPU_ON_RACE, the time for which it is the answer)
endif

ifeq (${PB_PABANDON} ${PB_COHERENCY},1 sw)
$(error PB_PABANDON=1 needs PB_COHERENCY=hw: TF-A undoes a power-down only if caches are kept coherent by hardware)
endif

ifneq (${ARCH},aarch64)
$(error psci_bench_qemu is an AArch64 platform: ARCH='${ARCH}')
endif

################################################################################
# Settings that the qemu platform makes with plain assignments. They need
# `override` here: an ordinary assignment to an overridden variable is ignored,
# so the included file cannot undo them.
################################################################################

override QEMU_USE_GIC_DRIVER	:= QEMU_GICV$(PB_GIC)

# sw: software takes the CPU out of coherency, so TF-A cleans its data
# explicitly and uses bakery locks, as on Juno. hw: spin locks and no
# maintenance.
override HW_ASSISTED_COHERENCY	:= $(if $(filter hw,$(PB_COHERENCY)),1,0)
override USE_COHERENT_MEM	:= 0

# A few commits before 2.10 set 5 here. Such firmware does not start on a
# Cortex-A57.
override ARM_ARCH_MINOR		:= 0

include plat/qemu/qemu/platform.mk

################################################################################
# Differences between TF-A versions, with the last version of the old kind. What
# the source contains is checked, because the version number of a development
# tree is that of its last release.
################################################################################

# Up to 2.8, linker warnings are errors, and binutils 2.39 and later warn about a
# segment that is both writable and executable, which is what each image is.
ifeq ($(shell grep -s -e --no-warn-rwx-segments Makefile make_helpers/*),)
TF_LDFLAGS	+= $(shell $(LD) --help | grep -o -m 1 -e --no-warn-rwx-segments)
endif

# Up to 2.9, TF-A has no OS-initiated mode, or one in which pwr_domain_suspend
# has another type. TF-A would ignore a variable that it does not know.
ifeq (${PSCI_OS_INIT_MODE}-$(shell grep pwr_domain_validate_suspend include/lib/psci/psci.h),1-)
$(error PSCI_OS_INIT_MODE=1 needs TF-A 2.10 or later)
endif

# Up to 2.10, there is no service for PMF in the vendor-specific EL3 range.
ifeq ($(shell grep -s pmf_smc_handler services/el3/ven_el3_svc.c),)
override PB_PMF			:= $(patsubst new,sip,$(PB_PMF))
endif

# Up to 2.12, the last hook before the WFI has another name.
ifneq ($(shell grep pwr_domain_pwr_down_wfi include/lib/psci/psci.h),)
PB_PWR_DOWN_HOOK		:= pwr_domain_pwr_down_wfi
else
PB_PWR_DOWN_HOOK		:= pwr_domain_pwr_down
endif
$(eval $(call add_define,PB_PWR_DOWN_HOOK))

# Up to 2.12, a power-down cannot be undone. In 2.13, it can with FEAT_PABANDON=1,
# and later always.
ifeq (${PB_PABANDON}-$(shell grep -E -m 1 'FEAT_PABANDON|PABANDON_ACK' lib/psci/psci_common.c),1-)
$(error PB_PABANDON=1 needs TF-A 2.13 or later)
endif

################################################################################
# What is measured.
################################################################################

ENABLE_PSCI_STAT		:= 1
ENABLE_PMF			:= $(if $(filter off,$(PB_PMF)),0,1)
ENABLE_RUNTIME_INSTRUMENTATION	:= $(ENABLE_PMF)
PSCI_EXTENDED_STATE_ID		:= $(if $(filter extended,$(PB_STATE_ID)),1,0)
FEAT_PABANDON			:= $(PB_PABANDON)

ifeq (${PB_PMF},sip)
# bl31.mk adds the files listed here to a build with PMF. The old interface had
# no vendor-specific EL3 service, so nothing may be added. This also needs
# `override`, because bl31.mk appends to it later.
override VENDOR_EL3_SRCS	:=
endif

$(eval $(call add_define,PB_GIC))
$(eval $(call add_define,PB_GIC_RESET))
$(eval $(call add_define,PB_FAULTS))
$(eval $(call add_define,PB_TIMER_STOP))
$(eval $(call add_define,PB_POWER_CHANNEL))
$(eval $(call add_define,PB_CPU_ON_RACE))
$(eval $(call add_define,PB_PABANDON))

PB_CPU_ON_FAILS	:= $(if $(filter failure,$(PB_CPU_ON_ANSWER)),1,0)
$(eval $(call add_define,PB_CPU_ON_FAILS))

################################################################################
# Sources: replace files in each boot stage with ours. Objects from all
# directories go to a single one, so no file here may have the same name as a
# TF-A file that is built with it.
################################################################################

# include/platform_def.h includes the qemu platform's header by #include_next,
# so this directory must be searched first.
PLAT_INCLUDES	:= -I$(PB_PATH)/include $(PLAT_INCLUDES)

PB_REPLACED	:= %/qemu_pm.c %/qemu/common/topology.c \
		   %/qemu/common/aarch64/plat_helpers.S \
		   %/qemu_gicv2.c %/qemu_gicv3.c

BL1_SOURCES	:= $(filter-out $(PB_REPLACED),$(BL1_SOURCES))
BL2_SOURCES	:= $(filter-out $(PB_REPLACED),$(BL2_SOURCES))
BL31_SOURCES	:= $(filter-out $(PB_REPLACED),$(BL31_SOURCES))

ifeq (${PB_COHERENCY},sw)
# The qemu platform also includes CPUs with a DynamIQ shared unit. Software
# cannot take these out of coherency, and TF-A refuses to build them for that.
PB_SW_CPUS	:= $(addprefix lib/cpus/aarch64/,aem_generic.S cortex_a53.S \
			cortex_a57.S cortex_a72.S qemu_max.S)
PB_OTHER_CPUS	:= $(filter-out $(PB_SW_CPUS),$(QEMU_CPU_LIBS))
BL1_SOURCES	:= $(filter-out $(PB_OTHER_CPUS),$(BL1_SOURCES))
BL31_SOURCES	:= $(filter-out $(PB_OTHER_CPUS),$(BL31_SOURCES))
endif

# BL1 parks secondary CPUs at power-on, and BL31 parks CPUs after CPU_OFF.
PB_PEN_SOURCES	:= $(PB_PATH)/hold_pen.S \
		   $(PB_PATH)/gic_v$(PB_GIC)_core.S

BL1_SOURCES	+= $(PB_PATH)/helpers.S $(PB_PEN_SOURCES)
BL2_SOURCES	+= $(PB_PATH)/helpers.S
BL31_SOURCES	+= $(PB_PATH)/helpers.S $(PB_PEN_SOURCES) \
		   $(PB_PATH)/gic_v$(PB_GIC).c \
		   $(PB_PATH)/pm.c \
		   $(PB_PATH)/power_controller.c \
		   $(PB_PATH)/power_loss.S \
		   $(PB_PATH)/power_state.c \
		   $(PB_PATH)/topology.c

ifneq (${PB_CPU_ON_RACE},0)
BL31_SOURCES	+= $(PB_PATH)/cpu_on_race.c
endif

ifeq (${PB_PABANDON},1)
BL31_SOURCES	:= $(filter-out $(QEMU_CPU_LIBS),$(BL31_SOURCES)) \
		   $(PB_PATH)/pabandon.c \
		   $(PB_PATH)/pabandon_cpu.S
endif

ifeq (${PB_POWER_CHANNEL},1)
BL31_SOURCES	+= $(PB_PATH)/power_channel.c
endif

ifeq (${PB_PMF},new)
# bl31.mk in 2.12 adds the service that calls it, but not the handler itself. If
# a later version adds it, TF-A drops the duplicate when it sorts the list.
BL31_SOURCES	+= lib/pmf/pmf_smc.c
else ifeq (${PB_PMF},sip)
BL31_SOURCES	+= $(PB_PATH)/pmf_sip.c
else
BL31_SOURCES	+= $(PB_PATH)/stat_clock.c
endif

ifeq (${PB_FAULTS},1)
BL31_SOURCES	+= $(PB_PATH)/fault.c \
		   $(PB_PATH)/fault_entry.c \
		   $(PB_PATH)/fault_fw_cfg.c \
		   $(PB_PATH)/fault_power.S \
		   $(PB_PATH)/fault_psci.c \
		   $(PB_PATH)/fault_rules.c \
		   $(PB_PATH)/fault_spec.c \
		   $(PB_PATH)/fault_storm.c

# The linker redirects TF-A's calls to these functions to the fault code, which
# calls the originals. No TF-A file has to change. With link-time optimization,
# the default of release builds since 2.15, the linker does not see these calls.
override ENABLE_LTO	:= 0
PB_WRAPPED	:= psci_smc_handler cm_prepare_el3_exit_ns

ifeq (${PB_PMF},new)
PB_WRAPPED	+= pmf_smc_handler pmf_get_timestamp_smc
# pmf-sip-only needs both interfaces in one firmware.
BL31_SOURCES	+= $(PB_PATH)/fault_pmf.c $(PB_PATH)/pmf_sip.c
endif

PB_PMF_NEW	:= $(if $(filter new,$(PB_PMF)),1,0)
$(eval $(call add_define,PB_PMF_NEW))

# Passed through the compiler or directly, like TF-A's own linker options.
PB_WRAP		:= $(if $(filter gnu-gcc,$($(ARCH)-ld-id)),-Wl$(comma))--wrap=
BL31_LDFLAGS	+= $(addprefix $(PB_WRAP),$(PB_WRAPPED))
endif
