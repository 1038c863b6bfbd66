#include <tesela/codelets/econometrics/equation_givens.hpp>
#include <tesela/codelets/econometrics/internal/equation_columns.hpp>
#include <tesela/codelets/givens/rotation.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace tesela::kernels {

namespace equation {

// Column j receives the rotations of the columns up to its own, stage by stage: stage i + k rotates rows k and i.
void rotate_staircase(const Picks& picks, const Block<double>& z) {
  struct Active {
    index_t k;
    Rotation<double> rotation;
  };
  const index_t r = picks.r;
  std::vector<Active> active;
  for (index_t stage = 1; stage < z.rows + r - 1; ++stage) {
    const index_t first = std::max<index_t>(0, stage - z.rows + 1), last = std::min(r - 1, (stage - 1) / 2);
    active.clear();
    for (index_t k = first; k <= last; ++k) {
      if (stage - k >= picks.height(k)) continue;
      const auto annihilation = givens(z(k, k), z(stage - k, k));
      active.push_back({k, annihilation.rotation});
      z(k, k) = annihilation.r;
      z(stage - k, k) = 0;
    }
    if (active.empty()) continue;
    std::size_t count = 0;  // of rotations left of column j
    for (index_t j = active.front().k + 1; j < z.cols; ++j) {
      while (count < active.size() && active[count].k < j) ++count;
      double* const column = &z(0, j);
      for (std::size_t a = 0; a < count; ++a)
        rotate(active[a].rotation, column[active[a].k], column[stage - active[a].k]);
    }
  }
}

}  // namespace equation

using equation::Picks;

index_t staircase_rotations(const int* heights, index_t count, index_t stride) {
  index_t rotations = 0;
  for (index_t p = 0; p < count; ++p) rotations += std::max<index_t>(heights[p * stride] - p - 1, 0);
  return rotations;
}

double staircase_rotation_flops(const int* heights, index_t count, index_t stride) {
  double work = 0;
  for (index_t p = 0; p < count; ++p)
    work +=
        6 * static_cast<double>(std::max<index_t>(heights[p * stride] - p - 1, 0)) * static_cast<double>(count + 1 - p);
  return work;
}

std::uint64_t EquationGivens::Args::cost_key() const {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(work)));
}

Shape equation_givens_work(index_t rows, index_t regressors, index_t count, bool with_gpu) {
  const index_t r = regressors, each = rows * (r + 1) + 2 * r * r + 5 * r;
  return with_gpu ? Shape{32, ceil_div(count * each, index_t{32})} : Shape{rows, r + 1};
}

void EquationGivens::cpu(const Args& args, In<double> a, In<int> picks, Out<double> facts, Out<double> residual,
                         Scratch<double> work) {
  const index_t room = facts.rows - 1;
  for (index_t i = 0; i < args.count; ++i) {
    const int* const all = picks.data + 2 * i * (room + 2);
    index_t r = 0;
    while (r < room && all[2 * r] >= 0) ++r;
    std::vector<int> packed(all, all + 2 * r);
    packed.insert(packed.end(), all + 2 * room, all + 2 * (room + 2));
    const Picks own{packed.data(), r};
    const Block<double> z{work.data, args.rows, r + 1, args.rows};
    HostMatrix<double> found(r + 1, 4);
    equation::gather(a, own, z);
    equation::rotate_staircase(own, z);
    equation::finish(a, own, z, {found.data(), r + 1, 4, r + 1}, residual.data + i * residual.ld);
    for (index_t k = 0; k < 4; ++k) {
      std::copy_n(&found(0, k), r, &facts(0, 4 * i + k));
      facts(room, 4 * i + k) = found(r, k);
    }
  }
}

}  // namespace tesela::kernels
