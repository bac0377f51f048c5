// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_path.h"

#include "kernels/prime_field_x86.h"

#if VITRINE_X86_FIELDS
#include <cpuid.h>
#endif

namespace vitrine::kernels {

#if VITRINE_X86_FIELDS

namespace {

// CPUID leaf 7: EBX bit 8 is BMI2, bit 19 ADX. Both need no help from the operating system.
bool detect_adx() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (ebx & bit_BMI2) != 0 && (ebx & bit_ADX) != 0;
}

}  // namespace

const bool cpu_has_adx = detect_adx();

std::string_view kernel_path_name() { return cpu_has_adx ? "x86-64 adx" : "portable"; }

#else

std::string_view kernel_path_name() { return "portable"; }

#endif

}  // namespace vitrine::kernels
