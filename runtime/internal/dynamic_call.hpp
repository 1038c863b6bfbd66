#pragma once

// The argument block of a DynamicKernel's tasks: internal to the runtime.

#include <tesela/runtime/dynamic_kernel.hpp>
#include <tesela/runtime/internal/starpu.hpp>

namespace tesela::detail {

/// A DynamicKernel's variants, with the StarPU codelet of all kernels that have this name, model and signature; or a
/// kernel that C++ declares.
struct DynamicCode {
  DynamicKernel::Description description;
  CodeletImpl* codelet;
  const AnyKernel* declared = nullptr;
};

struct DynamicCall {
  CallHeader header;
  const DynamicCode* code;
  std::shared_ptr<const DynamicCode> owner;  // null for a reduction's kernel, which lives until the program ends
  const void* args;
  std::shared_ptr<const void> args_owner;
};

/// Releases the kernel and the arguments of a task, before StarPU frees the block. Repeated calls do nothing.
void release_call(CallHeader& call) noexcept;

/// Frees an argument block that no task owns.
struct DestroyCall {
  void operator()(CallHeader* call) const noexcept;
};

}  // namespace tesela::detail
