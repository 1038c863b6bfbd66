#include "tools/problems/tridiagonal/tridiag_problem.hpp"

#include "tools/app/matrix_outputs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tesela::cli {
namespace {

/// Returns the shape of an array or of its transpose such that rows are equations and columns are systems.
Shape upright(bool interleaved, Shape shape) { return interleaved ? Shape{shape.cols, shape.rows} : shape; }

std::string diagonals(Shape shape) {
  return std::to_string(shape.cols) + (shape.cols == 1 ? " vector of " : " vectors of ") + std::to_string(shape.rows);
}

/// Reads an off-diagonal. Only periodic matrices use its row `outside`: for others the file may hold anything there or
/// omit the row, and it becomes zero.
template <class T>
HostMatrix<T> read_band(const TridiagInput& input, const std::string& path, index_t left_out, index_t outside) {
  const Shape whole = upright(input.interleaved, {input.n, input.batch});
  Counted counts;
  if (!input.periodic && probe_matrix(path).shape == whole)
    counts = [&](index_t i, index_t j) { return (input.interleaved ? j : i) != outside; };
  HostMatrix<T> band = read_matrix<T>(path, counts);
  if (band.shape() == whole) return band;
  auto padded = HostMatrix<T>::zeros(whole.rows, whole.cols);
  for (index_t j = 0; j < band.cols(); ++j)
    for (index_t i = 0; i < band.rows(); ++i)
      (input.interleaved ? padded(i, j + left_out) : padded(i + left_out, j)) = band(i, j);
  return padded;
}

/// Returns system s; its element i is data[i * stride].
template <class T>
SpacedNumbers<T> system_of(bool interleaved, const HostMatrix<T>& a, index_t s) {
  return interleaved ? SpacedNumbers<T>{a.data() + s, a.ld()} : SpacedNumbers<T>{a.data() + s * a.ld(), 1};
}

/// Uses other streams of the seed than the matrices.
template <class T>
Generator<T> known_solution(std::uint64_t seed) {
  return {Pattern::uniform, T(0), 0, ~(2 * seed)};
}
template <class T>
Generator<T> random_right_hand_side(std::uint64_t seed) {
  return {Pattern::uniform, T(0), 0, ~(2 * seed + 1)};
}

}  // namespace

void TridiagInput::take_sizes_from_files() {
  for (const auto& [option, path, other] : {std::tuple{"--dl", dl, du}, std::tuple{"--du", du, dl}})
    require(!path.empty(), "tridiag", option, "is missing: a symmetric matrix has one file for both, as in --dl ",
            other.empty() ? "e.npy" : other, " --du ", other.empty() ? "e.npy" : other);
  const Shape whole = upright(interleaved, probe_matrix(d).shape);
  n = whole.rows;
  batch = whole.cols;
  const bool may_be_shorter = !periodic && n > 0;
  for (const auto& [option, path] : {std::pair{"--dl", dl}, std::pair{"--du", du}}) {
    const Shape band = upright(interleaved, probe_matrix(path).shape);
    if (band == whole || (may_be_shorter && band == Shape{n - 1, batch})) continue;
    throw ArgumentError("tridiag", option,
                        path + " holds " + diagonals(band) + ", " + d + " " + diagonals(whole) +
                            (periodic ? "; a periodic matrix has all of its off-diagonals"
                                      : fmt::format("; off-diagonals have {} or {}", std::max<index_t>(n - 1, 0), n)));
  }
  if (b.empty()) return;
  const Shape right = upright(interleaved, probe_matrix(b).shape);
  require(right.rows == n && !(batch == 0 ? right.cols != 0 : right.cols % batch != 0), "tridiag", "--b", b, " holds ",
          diagonals(right), ", ", d, " ", diagonals(whole));
  rhs = batch == 0 ? 1 : right.cols / batch;
}

template <class T>
std::vector<TridiagBlock<T>> load(const TridiagInput& input) {
  const std::vector<index_t> sizes = input.sizes.empty() ? std::vector{input.n} : input.sizes;
  double unknowns = 0;
  for (const index_t n : sizes) unknowns += static_cast<double>(n) * static_cast<double>(input.batch);
  require_memory("tridiag", "A, B and X", unknowns * (3 + 2 * static_cast<double>(input.rhs)) * sizeof(T));

  std::vector<TridiagBlock<T>> blocks;
  for (const index_t n : sizes) {
    TridiagBlock<T> block{n, input.batch, input.rhs, input.seed + blocks.size(), {}, {}, {}, {}, {}};
    const Shape a = upright(input.interleaved, {n, block.batch}), b = upright(input.interleaved, {n, block.systems()});
    if (input.d.empty()) {
      for (HostMatrix<T>* band : {&block.dl, &block.d, &block.du}) *band = HostMatrix<T>(a.rows, a.cols);
    } else {
      block.dl = read_band<T>(input, input.dl, 1, 0);
      block.d = read_matrix<T>(input.d);
      block.du = read_band<T>(input, input.du, 0, input.n - 1);
    }
    block.b = input.b.empty() ? HostMatrix<T>(b.rows, b.cols) : read_matrix<T>(input.b);
    block.x = HostMatrix<T>(b.rows, b.cols);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

template <class T>
TiledBlock<T> cut(Runtime& runtime, TridiagBlock<T>& block, SystemsIn systems, const TridiagTiling& how) {
  const bool in_rows = systems == SystemsIn::rows;
  const auto map = [&](HostMatrix<T>& a, index_t across, const char* name) {
    across = std::max<index_t>(across, 1);
    const TileShape tile = in_rows ? TileShape{across, how.along} : TileShape{how.along, across};
    return TileMatrix<T>::map(runtime, a.data(), a.rows(), a.cols(), a.ld(), tile, name);
  };
  const index_t of_a = how.one_matrix ? 1 : how.across, of_b = how.one_matrix ? block.rhs : how.across;
  TiledBlock<T> tiles{{{map(block.dl, of_a, "dl"), map(block.d, of_a, "d"), map(block.du, of_a, "du")},
                       map(block.b, of_b, "B"),
                       map(block.x, of_b, "X")},
                      {}};
  const auto& [A, B, X] = tiles.whole;
  if (!how.one_matrix) tiles.parts.push_back(tiles.whole);
  for (index_t s = 0; how.one_matrix && block.rhs > 0 && s < block.batch; ++s) {
    const auto one = [&](const TileMatrix<T>& a) {
      return in_rows ? a.view(s, 0, 1, a.nt()) : a.view(0, s, a.mt(), 1);
    };
    tiles.parts.push_back({{one(A.dl), one(A.d), one(A.du)}, one(B), one(X)});
  }
  return tiles;
}

template <class T>
void generate(Graph& g, const TridiagInput& input, const TridiagBlock<T>& block, const TiledBlock<T>& tiles) {
  if (input.d.empty())
    fill(g, tiles.whole.A, *find_named(tridiagonal_kinds(), input.random), block.seed, input.options());
  if (!input.b.empty()) return;
  if (!input.known) return fill(g, tiles.whole.B, random_right_hand_side<T>(block.seed));
  fill(g, tiles.whole.X, known_solution<T>(block.seed));
  for (const auto& [A, B, X] : tiles.parts) tridiagonal_multiply(g, A, X, B, input.options());
}

template <class T>
TridiagChecks measure(const TridiagInput& input, const std::vector<TridiagBlock<T>>& blocks) {
  TridiagChecks worst;
  index_t first = 0;
  const auto take = [](double error, index_t matrix, double& largest, index_t& of) {
    if (worse(largest, error) != largest) of = matrix;
    largest = worse(largest, error);
  };
  for (const TridiagBlock<T>& block : blocks) {
    const auto known = known_solution<T>(block.seed);
    const auto of = [&](const HostMatrix<T>& a, index_t s) { return system_of(input.interleaved, a, s); };
    for (index_t s = 0; s < block.systems(); ++s) {
      const index_t m = s / block.rhs;
      const SpacedNumbers<T> x = of(block.x, s);
      const auto error = tridiagonal_error(TridiagonalSystem<T>{block.n, of(block.dl, m), of(block.d, m),
                                                                of(block.du, m), of(block.b, s), x, input.periodic},
                                           tridiagonal_equilibrated_bound<T>);
      take(error.residual, first + m, worst.residual, worst.matrix_of_residual);
      take(error.residual_equilibrated, first + m, worst.residual_equilibrated, worst.matrix_of_equilibrated);
      worst.residual_componentwise = worse(worst.residual_componentwise, error.residual_componentwise);
      if (!input.known) continue;
      const auto truth = [&](index_t i) { return input.interleaved ? known(s, i) : known(i, s); };
      worst.forward_error = worse(worst.forward_error, forward_error(block.n, x, truth));
    }
    first += block.batch;
  }
  return worst;
}

template <class T>
void write_solution(const std::string& path, const std::vector<TridiagBlock<T>>& blocks, Report& report) {
  if (!report.good() || (path.empty() && blocks.size() > 1)) return;
  if (blocks.size() == 1) return write_matrices(report, {{"X", path, blocks.front().x}});
  index_t rows = 0;
  for (const auto& block : blocks) rows += block.n;
  HostMatrix<T> all(rows, blocks.front().rhs);
  index_t first = 0;
  for (const auto& block : blocks) {
    for (index_t j = 0; block.n > 0 && j < all.cols(); ++j) std::copy_n(&block.x(0, j), block.n, &all(first, j));
    first += block.n;
  }
  write_matrices(report, {{"X", path, all}});
}

TESELA_FUNCTIONS_FOR_NUMBERS(load, cut, generate, measure, write_solution)

}  // namespace tesela::cli
