#include "tools/problems/eigen/eig_problem.hpp"

#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/app/sizes.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tesela::cli {
namespace {

template <class T>
void load_b(const EigInput& input, std::uint64_t seed, EigProblem<T>& problem) {
  HostMatrix<T>& b = problem.b;
  if (!input.b.empty()) {
    b = read_symmetric<T>({"eig", "--b", input.b, "B", input.uplo, input.symmetrize}, problem.notes);
  } else if (!input.random_b.empty()) {
    // With A's seed both would have the same eigenvectors.
    const SymmetricMatrix matrix = generated("eig", "--random-b", input.random_b, input.n, seed + 1);
    b = filled<T>({input.n, input.n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
  }
}

}  // namespace

void EigInput::add_to(CLI::App& app) {
  app.add_option("-n,--n", n, "order of a generated matrix (default: 1000)")->transform(cli::non_negative());
  auto* file = add_input(app, "-a,--a", a, "A, symmetric, from FILE (.mtx or .npy)");
  auto* d = add_input(app, "--diagonal", diagonal, "a tridiagonal A: its diagonal from FILE")->excludes(file);
  add_input(app, "--off-diagonal", off_diagonal, "and its off-diagonal, one element less")->needs(d);
  add_random(app, random, symmetric_kinds());
  app.add_option("--scale", scale, "generated elements are multiplied by this")->capture_default_str();
  auto* one = app.add_option("--uplo", uplo, "read only the lower or the upper triangle of A")
                  ->check(CLI::IsMember({"lower", "upper"}));
  app.add_flag("--symmetrize", symmetrize, "take (A + A^T) / 2")->excludes(one);
  auto* second =
      add_input(app, "--b", b, "B, symmetric positive definite, from FILE: a generalized problem")->excludes(d);
  app.add_option("--random-b", random_b, "B of a kind of --random, e.g. geometric:100, of condition 100")
      ->type_name("KIND")
      ->excludes(second)
      ->excludes(d);
  Choices().add(generalized_kinds()).add_option(app, "--problem", kind);
  for (const char* dense : {"--random", "--scale", "--uplo", "--symmetrize"}) d->excludes(app.get_option(dense));
}

void EigInput::resolve(index_t otherwise) {
  if (!std::isfinite(scale)) throw ArgumentError("eig", "--scale", "must be a finite number");
  if (!a.empty()) {
    const Shape shape = probe_matrix(a).shape;
    if (shape.rows != shape.cols) throw ArgumentError("eig", a_name, to_string(shape) + " is not square");
    n = shape.rows;
  }
  if (!b.empty()) {
    const Shape shape = probe_matrix(b).shape;
    if (shape.rows != shape.cols) throw ArgumentError("eig", "--b", to_string(shape) + " is not square");
    if (a.empty() && n < 0) n = shape.rows;
  }
  if (tridiagonal()) {
    const Shape d = probe_matrix(diagonal).shape;
    n = d.rows * d.cols;
    if (off_diagonal.empty()) throw ArgumentError("eig", "--off-diagonal", "is missing: --diagonal needs it");
  }
  if (const SymmetricChoice choice = parse_symmetric_kind(random);
      a.empty() && !tridiagonal() && !choice.file.empty()) {
    const Shape given = probe_matrix(choice.file).shape;
    if (n >= 0 && n != given.rows * given.cols)
      throw ArgumentError("eig", "--n",
                          fmt::format("{}, but {} holds {} values", n, choice.file, given.rows * given.cols));
    n = given.rows * given.cols;
  }
  if (n < 0) n = otherwise;
  if (kind != "1" && !generalized()) throw ArgumentError("eig", "--problem", kind + " needs --b or --random-b");
  if (!b.empty() && probe_matrix(b).shape.rows != n)
    throw ArgumentError("eig", "--b", fmt::format("of order {}, but A has order {}", probe_matrix(b).shape.rows, n));
}

nlohmann::json EigInput::describe(std::uint64_t seed) const {
  nlohmann::json described = {{"n", n}, {"input", !a.empty() ? a : tridiagonal() ? diagonal : random}, {"seed", seed}};
  if (scale != 1) described["scale"] = scale;
  if (generalized()) described.update({{"b", b.empty() ? random_b : b}, {"problem", kind}});
  return described;
}

template <class T>
EigProblem<T> load(const EigInput& input, std::uint64_t seed, bool dense) {
  EigProblem<T> problem;
  const index_t n = input.n;
  load_b(input, seed, problem);
  if (!input.a.empty()) {
    problem.a = read_symmetric<T>({"eig", input.a_name, input.a, "A", input.uplo, input.symmetrize}, problem.notes);
    return problem;
  }
  if (input.tridiagonal()) {
    problem.d = read_vector<T>("eig", "--diagonal", input.diagonal);
    problem.e = read_vector<T>("eig", "--off-diagonal", input.off_diagonal);
    if (problem.e.size() != static_cast<std::size_t>(std::max<index_t>(n - 1, 0)))
      throw ArgumentError("eig", "--off-diagonal",
                          fmt::format("{} elements, but the diagonal has {}", problem.e.size(), n));
    if (!dense) return problem;
    problem.a = HostMatrix<T>::zeros(n, n);
    for (index_t i = 0; i < n; ++i) {
      problem.a(i, i) = problem.d[static_cast<std::size_t>(i)];
      if (i > 0) problem.a(i, i - 1) = problem.a(i - 1, i) = problem.e[static_cast<std::size_t>(i - 1)];
    }
    return problem;
  }
  const SymmetricMatrix matrix = generated("eig", "--random", input.random, n, seed);
  const T scale = in_precision<T>("eig", "--scale", input.scale);
  problem.a = filled<T>({n, n}, [&](index_t i, index_t j) { return scale * matrix.element<T>(i, j); });
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i)
      if (!std::isfinite(problem.a(i, j)))
        throw ArgumentError("eig", "--scale", fmt::format("A({}, {}) overflows", i + 1, j + 1));
  problem.eigenvalues = matrix.eigenvalues();
  if (problem.eigenvalues) {
    for (double& value : *problem.eigenvalues) value *= static_cast<double>(scale);
    if (scale < 0) std::reverse(problem.eigenvalues->begin(), problem.eigenvalues->end());
  }
  return problem;
}

std::string overflow_of(const std::vector<double>& values, double largest) {
  const bool over =
      std::any_of(values.begin(), values.end(), [&](double value) { return !(std::abs(value) <= largest); });
  return over ? "overflow: an eigenvalue is larger than the largest number" : "";
}

template <class T>
double EigProblem<T>::largest_row_sum() const {
  double largest = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.rows(); ++i) sum += std::abs(static_cast<double>(a(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

template struct EigProblem<float>;
template struct EigProblem<double>;
template EigProblem<float> load(const EigInput&, std::uint64_t, bool);
template EigProblem<double> load(const EigInput&, std::uint64_t, bool);

void EigSelection::add_to(CLI::App& app) {
  auto* by_value = app.add_option("--range", range, "A,B: only eigenvalues in [A, B)");
  auto* by_index =
      app.add_option("--index", index, "I,J: only the I-th to the J-th, ascending, counted from 1")->excludes(by_value);
  auto* few = app.add_option("--smallest", smallest, "only the K smallest")
                  ->transform(cli::positive())
                  ->excludes(by_value)
                  ->excludes(by_index);
  app.add_option("--largest", largest, "only the K largest")
      ->transform(cli::positive())
      ->excludes(by_value)
      ->excludes(by_index)
      ->excludes(few);
}

std::optional<IndexRange> EigSelection::positions(index_t n) const {
  if (const index_t some = std::max(smallest, largest); some > n)
    throw ArgumentError("eig", smallest > 0 ? "--smallest" : "--largest",
                        fmt::format("{} eigenvalues of a matrix of order {}", some, n));
  if (smallest > 0) return IndexRange{0, smallest};
  if (largest > 0) return IndexRange{n - largest, n};
  if (index.empty()) return std::nullopt;
  index_t from = 0, to = 0;
  const char* const end = index.data() + index.size();
  const auto first = std::from_chars(index.data(), end, from);
  const bool comma = first.ec == std::errc() && first.ptr != end && *first.ptr == ',';
  const auto last = comma ? std::from_chars(first.ptr + 1, end, to) : first;
  if (!comma || last.ec != std::errc() || last.ptr != end || from < 1 || to < from || to > n)
    throw ArgumentError("eig", "--index", fmt::format("'{}' is not I,J with 1 <= I <= J <= {}", index, n));
  return IndexRange{from - 1, to};
}

std::pair<double, double> EigSelection::interval() const {
  if (range.empty()) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  return parse_range("eig", range);
}

}  // namespace tesela::cli
