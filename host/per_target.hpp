#pragma once

// Kernels of cores are written once, in Google Highway's vectors, and compiled for each important vector unit. Such a
// file defines HWY_TARGET_INCLUDE as its own path, includes vectors_inl.hpp, and has its loops in a namespace
// HWY_NAMESPACE between HWY_BEFORE_NAMESPACE() and HWY_AFTER_NAMESPACE(). The functions that call them follow in #if
// HWY_ONCE. Internal to codelets/.

// SSSE3 and Ice Lake's extensions gain nothing over SSE4 and AVX-512; vectors of SVE and RVV cannot be members or
// arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

/// Highway is a shared library.
#define HWY_SHARED_DEFINE

namespace tesela::kernels {

/// Decides which vector unit is used, on the first call of a kernel.
/// Throws   EnvironmentError, as vector_target().
void choose_vector_target();

}  // namespace tesela::kernels

/// Selects the copy of `function` for the vector unit in use. `function` is declared in HWY_NAMESPACE, in the namespace
/// around the call.
#define TESELA_BEST_TARGET(function)                                                                                 \
  ([] {                                                                                                              \
    static constexpr decltype(&HWY_STATIC_DISPATCH(function)) copies[] = {nullptr, HWY_CHOOSE_TARGET_LIST(function), \
                                                                          HWY_CHOOSE_FALLBACK(function)};            \
    if (!hwy::GetChosenTarget().IsInitialized()) ::tesela::kernels::choose_vector_target();                          \
    return copies[hwy::GetChosenTarget().GetIndex()];                                                                \
  }())
