#include <tesela/algorithms/dense/internal/step_groups.hpp>
#include <tesela/algorithms/dense/products.hpp>
#include <tesela/runtime/machine/device_limit.hpp>

#include <algorithm>

namespace tesela {

double group_bytes(index_t n, index_t width, int operands, int moduli) {
  return static_cast<double>(operands * moduli * width) * static_cast<double>(n) +
         static_cast<double>(kernels::residue_work(moduli)) * sizeof(double);
}

void plan_groups(MemoryPlan& plan, const StepGroups& groups, index_t n, index_t nb, std::size_t element, int operands,
                 int moduli) {
  if (groups.length == 0) return;
  const double bytes = group_bytes(n, groups.length * nb, operands, moduli);
  plan.hold_on_each({.shape = {1, 1}, .at_once = bytes / static_cast<double>(element)});
}

// With 1024 rows or columns a group is slower than single steps at n = 16384 on an H200, and with 4096 as fast as with
// 2048. Multiprocessors that a product leaves to the panels of the next group, in a second stream, save no time.
StepGroups group_steps(const WorkerCounts& workers, index_t n, index_t nb, index_t least, std::size_t element,
                       int operands, int moduli) {
  constexpr index_t inner = 2048, multiple = 16;  // residues have lines of a multiple of 16 bytes
  StepGroups groups{.steps = ceil_div(n, nb)};
  if (workers.gpus != 1 || nb % multiple != 0) return groups;
  const index_t length = std::max<index_t>(inner / nb, 1);
  const double matrix = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(element),
               residues = group_bytes(n, length * nb, operands, moduli);
  constexpr double most = 0.9;  // of the memory; the factors' small tiles need the rest
  if (const std::size_t limit = device_limit(); limit > 0 && matrix + residues > most * static_cast<double>(limit))
    return groups;
  const auto wins = [&](index_t rest) { return updates_by_residues(workers, n >= least ? rest : 0, length * nb); };
  for (index_t end = length; end < groups.steps && wins(n - end * nb); end += length)
    groups.length = length, groups.last = end;
  return groups;
}

}  // namespace tesela
