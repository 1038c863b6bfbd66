#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/codelets/eigen/tridiagonal/merge.hpp>

#include <numeric>
#include <random>

using namespace tesela;
using namespace tesela::kernels;
using test::run_kernel;

namespace {

/// A column-major matrix split into tiles side by side, with blocks of rows one below the other.
template <class T>
struct Cut {
  index_t rows, cols;
  std::vector<T> all;
  std::vector<In<T>> tiles;
  std::vector<index_t> heights;

  Cut(std::vector<index_t> heights_of_blocks, const std::vector<index_t>& widths, std::mt19937_64& random)
      : rows(std::accumulate(heights_of_blocks.begin(), heights_of_blocks.end(), index_t{0})),
        cols(std::accumulate(widths.begin(), widths.end(), index_t{0})),
        all(static_cast<std::size_t>(rows * cols)),
        heights(std::move(heights_of_blocks)) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (T& x : all) x = static_cast<T>(uniform(random));
    index_t row = 0;
    for (const index_t height : heights) {
      index_t column = 0;
      for (const index_t width : widths) {
        tiles.push_back({{&all[static_cast<std::size_t>(row + column * rows)], height, width, rows}});
        column += width;
      }
      row += height;
    }
  }
  T operator()(index_t i, index_t j) const { return all[static_cast<std::size_t>(i + j * rows)]; }
  std::span<const In<T>> list() const { return tiles; }
};

template <class T>
std::vector<T> unknown(index_t rows, index_t cols) {
  return std::vector<T>(static_cast<std::size_t>(std::max<index_t>(rows * cols, 1)),
                        std::numeric_limits<T>::quiet_NaN());
}

std::vector<index_t> widths_of(index_t cols, index_t width) {
  std::vector<index_t> widths;
  for (; cols > 0; cols -= width) widths.push_back(std::min(cols, width));
  return widths;
}

/// Selected columns with gaps, and chains of rotations: one chain of `chain` columns and many of two.
template <class T>
void check_columns(Runtime* runtime, const std::vector<index_t>& heights, index_t cols, index_t width, index_t kept,
                   index_t deflated, index_t chain) {
  std::mt19937_64 random(3);
  const Cut<T> sources(heights, widths_of(cols, width), random);
  const index_t m = sources.rows, chosen = kept + deflated;
  std::vector<index_t> plan(static_cast<std::size_t>(cols));
  std::iota(plan.begin(), plan.end(), index_t{0});
  std::shuffle(plan.begin(), plan.end(), random);
  plan.resize(static_cast<std::size_t>(chosen), -1);
  for (std::size_t j = 0; j < plan.size(); j += 5) plan[j] = -1;
  std::vector<index_t> places(plan.size());
  std::iota(places.begin(), places.end(), index_t{0});
  std::shuffle(places.begin(), places.end(), random);
  index_t rotations = 0;
  for (index_t j = 0; j + 1 < chosen; ++j)
    if (j + 1 < chain || (j > chain && (j - chain) % 2 == 1)) {
      plan.insert(plan.end(), {places[static_cast<std::size_t>(j)], places[static_cast<std::size_t>(j + 1)]});
      ++rotations;
    }
  const index_t room = std::max<index_t>(rotations, 1);
  std::vector<T> angles(static_cast<std::size_t>(2 * room), T(0));
  for (index_t r = 0; r < rotations; ++r) {
    const double angle = static_cast<double>(random() % 1000);
    angles[static_cast<std::size_t>(r)] = static_cast<T>(std::cos(angle));
    angles[static_cast<std::size_t>(room + r)] = static_cast<T>(std::sin(angle));
  }

  std::vector<double> right(static_cast<std::size_t>(m * chosen), 0);
  const auto at = [&](index_t i, index_t j) -> double& { return right[static_cast<std::size_t>(i + j * m)]; };
  for (index_t j = 0; j < chosen; ++j)
    for (index_t i = 0; i < m && plan[static_cast<std::size_t>(j)] >= 0; ++i)
      at(i, j) = static_cast<double>(sources(i, plan[static_cast<std::size_t>(j)]));
  for (index_t r = 0; r < rotations; ++r)
    for (index_t i = 0; i < m; ++i) {
      double &x = at(i, plan[static_cast<std::size_t>(chosen + 2 * r)]),
             &y = at(i, plan[static_cast<std::size_t>(chosen + 2 * r + 1)]);
      const double c = static_cast<double>(angles[static_cast<std::size_t>(r)]),
                   s = static_cast<double>(angles[static_cast<std::size_t>(room + r)]), old = x;
      x = c * old + s * y;
      y = c * y - s * old;
    }

  std::vector<T> left = unknown<T>(m, std::max<index_t>(kept, 1)),
                 stand = unknown<T>(m, std::max<index_t>(deflated, 1));
  const auto length = static_cast<index_t>(plan.size());
  run_kernel<MergeColumns<T>>(runtime, {static_cast<index_t>(heights.size()), kept, deflated, rotations},
                              In<index_t>{{plan.data(), length, 1, length}}, In<T>{{angles.data(), room, 2, room}},
                              Out<T>{{left.data(), m, std::max<index_t>(kept, 1), m}},
                              Out<T>{{stand.data(), m, std::max<index_t>(deflated, 1), m}}, sources.list());
  double worst = 0;
  for (index_t j = 0; j < chosen; ++j)
    for (index_t i = 0; i < m; ++i) {
      const T found =
          j < kept ? left[static_cast<std::size_t>(i + j * m)] : stand[static_cast<std::size_t>(i + (j - kept) * m)];
      const double error = std::abs(static_cast<double>(found) - at(i, j));
      if (!(error <= worst)) worst = error;
    }
  INFO(m << " x " << cols << " in tiles of " << width << ", " << rotations << " rotations");
  CHECK(worst <= (rotations == 0 ? 0 : 8 * std::sqrt(double(chain + 2))) * std::numeric_limits<T>::epsilon());
}

template <class T>
void check_rows_and_places(Runtime* runtime, index_t m, index_t cols, index_t width) {
  std::mt19937_64 random(5);
  const Cut<T> sources({m}, widths_of(cols, width), random);
  INFO(m << " x " << cols << " in tiles of " << width);
  for (const index_t row : {index_t{0}, m / 2, m - 1}) {
    std::vector<T> taken = unknown<T>(cols, 1);
    run_kernel<CopyRow<T>>(runtime, {row}, Out<T>{{taken.data(), cols, 1, cols}}, sources.list());
    bool right = true;
    for (index_t j = 0; j < cols; ++j) right = right && taken[static_cast<std::size_t>(j)] == sources(row, j);
    CHECK(right);
  }
  const index_t from = m / 3, rows = m - from - (m > 2 ? 1 : 0), to = 2, height = rows + 5, wide = cols + 3;
  std::vector<index_t> map(static_cast<std::size_t>(wide), -1);
  for (index_t j = 0; j < cols; ++j) map[static_cast<std::size_t>(j + 1)] = cols - 1 - j;
  const In<index_t> of{{map.data(), wide, 1, wide}};
  std::vector<T> into(static_cast<std::size_t>(height * wide), T(9)), anew = unknown<T>(height, wide);
  run_kernel<PlaceColumns<T>>(runtime, {from, to, rows}, of, InOut<T>{{into.data(), height, wide, height}},
                              sources.list());
  run_kernel<PlaceColumns<T, Out>>(runtime, {from, to, rows}, of, Out<T>{{anew.data(), height, wide, height}},
                                   sources.list());
  bool right = true;
  for (index_t j = 0; j < wide; ++j)
    for (index_t i = 0; i < height; ++i) {
      const index_t source = map[static_cast<std::size_t>(j)];
      const bool there = source >= 0 && i >= to && i < to + rows;
      const auto k = static_cast<std::size_t>(i + j * height);
      right = right && anew[k] == (there ? sources(from + i - to, source) : T(0));
      right = right && into[k] == (there ? sources(from + i - to, source) : T(9));
    }
  CHECK(right);
}

template <class T>
void check_product(Runtime* runtime, index_t m, index_t inner, index_t n, index_t first) {
  std::mt19937_64 random(5);
  const Cut<T> a({m}, {std::max<index_t>(inner, 1)}, random), b({first + inner + 2}, {n}, random);
  std::vector<T> c = unknown<T>(m, n);
  std::vector<double> work(1);
  run_kernel<MergeProduct<T>>(runtime, {first, inner}, a.tiles[0], b.tiles[0], Out<T>{{c.data(), m, n, m}},
                              Scratch<double>{{work.data(), 1, 1, 1}});
  double worst = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      double sum = 0;
      for (index_t k = 0; k < inner; ++k) sum += static_cast<double>(a(i, k)) * static_cast<double>(b(first + k, j));
      const double error = std::abs(static_cast<double>(c[static_cast<std::size_t>(i + j * m)]) - sum);
      if (!(error <= worst)) worst = error;
    }
  INFO(m << " x " << inner << " x " << n);
  CHECK(worst <= static_cast<double>(inner) * std::numeric_limits<T>::epsilon());
}

template <class T>
void check_all(Runtime* runtime) {
  check_columns<T>(runtime, {1}, 1, 1, 1, 0, 0);
  check_columns<T>(runtime, {5}, 9, 4, 0, 9, 3);
  check_columns<T>(runtime, {40, 30}, 30, 7, 20, 10, 0);
  check_columns<T>(runtime, {40, 30, 300}, 60, 60, 25, 40, 17);
  check_columns<T>(runtime, {300}, 150, 2, 90, 60, 150);  // more tiles than one launch processes
  for (const index_t width : {1, 3, 200}) check_rows_and_places<T>(runtime, 700, 140, width);
  check_rows_and_places<T>(runtime, 1, 1, 1);
  check_product<T>(runtime, 50, 0, 20, 3);
  check_product<T>(runtime, 50, 33, 20, 3);
}

}  // namespace

KERNEL_TEMPLATE_TEST_CASE("columns of a merge are selected, rotated, multiplied and placed", "", float, double) {
  check_all<TestType>(runtime);
  if (runtime != nullptr) check_columns<TestType>(runtime, {2000, 2100}, 900, 512, 500, 400, 300);
}

TEMPLATE_TEST_CASE("columns of a merge are processed by tasks on cores", "", float, double) {
  Runtime runtime({.cpus = 1, .gpus = 0});
  check_all<TestType>(&runtime);
}

GPU_TEMPLATE_TEST_CASE("columns of a merge are processed under a sanitizer", "[sanitize]", float, double) {
  check_columns<TestType>(&runtime, {40, 30}, 30, 7, 20, 10, 12);
  check_rows_and_places<TestType>(&runtime, 30, 12, 5);
  check_product<TestType>(&runtime, 5, 0, 4, 1);
  check_product<TestType>(&runtime, 5, 6, 4, 1);
}
