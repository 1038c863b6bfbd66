#include <tesela/host/per_target.hpp>
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <hwy/highway.h>

namespace tesela {
namespace {

struct Target {
  const char* name;
  std::int64_t bit;
};

/// Vector units that kernels are compiled for, best first.
constexpr Target compiled[] = {
#if HWY_ARCH_X86
    {"avx512", HWY_AVX3},
    {"avx2", HWY_AVX2},
    {"sse4", HWY_SSE4},
#elif HWY_ARCH_ARM
    {"neon", HWY_NEON},
#endif
    {"scalar", HWY_SCALAR | HWY_EMU128},
};

bool usable(const Target& target) {
  return (target.bit & (HWY_SCALAR | HWY_EMU128)) != 0 || (hwy::SupportedTargets() & HWY_TARGETS & target.bit) != 0;
}

const Target& best() { return *std::find_if(std::begin(compiled), std::end(compiled), usable); }

/// Makes kernels use `target`. Highway adds its fallback to every update.
void use(const Target& target) { hwy::GetChosenTarget().Update(target.bit); }

const Target* find(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(compiled), std::end(compiled), [&](const Target& t) { return t.name == name; });
  return found != std::end(compiled) && usable(*found) ? found : nullptr;
}

std::string names() {
  std::string all;
  for (const std::string& name : vector_targets()) all += all.empty() ? name : ", " + name;
  return all;
}

const Target& chosen() {
  const char* wanted = std::getenv("TESELA_ISA");
  if (wanted == nullptr || *wanted == '\0') return best();
  if (const Target* target = find(wanted)) return *target;
  throw EnvironmentError("TESELA_ISA=" + std::string(wanted) +
                         " is not a vector unit of this machine; set one of: " + names());
}

}  // namespace

std::string_view vector_target() {
  if (!hwy::GetChosenTarget().IsInitialized()) kernels::choose_vector_target();
  const std::size_t index = hwy::GetChosenTarget().GetIndex();
  for (const Target& target : compiled) {
    hwy::ChosenTarget probe;
    probe.Update(target.bit);
    if (probe.GetIndex() == index) return target.name;
  }
  return "scalar";
}

std::vector<std::string> vector_targets() {
  std::vector<std::string> all;
  for (const Target& target : compiled)
    if (usable(target)) all.emplace_back(target.name);
  return all;
}

void use_vector_target(std::string_view name) {
  if (name.empty()) return use(chosen());
  const Target* target = find(name);
  require(target != nullptr, "use_vector_target", "name", "'", std::string(name), "' is none of: ", names());
  use(*target);
}

void kernels::choose_vector_target() { use(chosen()); }

}  // namespace tesela
