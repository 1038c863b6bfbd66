#include "tools/problems/eigen/eig_input.hpp"

#include "tools/app/choices.hpp"
#include "tools/app/help.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/machine/memory.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace tesela::cli {

void EigInput::add_to(App& app) {
  auto* order = app.add_option("-n,--n", n, "order of a generated matrix (default: 1000)")->non_negative()->generates();
  auto* file = add_input(app, "-a,--a", a, "A, symmetric, from FILE (.mtx, .npy, .csv or .txt)")
                   ->may_stay_sparse()
                   ->belongs_to_files({"--n", "--random", "--diagonal", "--off-diagonal", "--jobs"},
                                      "--n N for a random matrix of order N");
  auto* d = add_input(app, "--diagonal", diagonal, "a tridiagonal A: its diagonal from FILE")->excludes(file);
  add_input(app, "--off-diagonal", off_diagonal, "and its off-diagonal, one element less")->needs(d);
  add_random(app, random, symmetric_kinds());
  app.add_option("--scale", scale, "generated elements are multiplied by this")->show_default();
  auto* one = app.add_option("--uplo", uplo, "read only the lower or the upper triangle of A")
                  ->check(one_of({"lower", "upper"}));
  app.add_flag("--symmetrize", symmetrize, "take (A + A^T) / 2")->excludes(one);
  auto* second =
      add_input(app, "-b,--b", b, "B, symmetric positive definite, from FILE: a generalized problem")->excludes(d);
  app.add_option("--random-b", random_b, "B of a kind of --random, e.g. geometric:100, of condition 100")
      ->type_name("KIND")
      ->excludes(second)
      ->excludes(d)
      ->generates();
  Choices().add(generalized_kinds()).add_option(app, "--problem", kind);
  for (const char* dense : {"--uplo", "--symmetrize"}) d->excludes(app.get_option(dense));
  for (auto* given : {file, d})
    given->excludes(order)->excludes(app.get_option("--random"))->excludes(app.get_option("--scale"));
}

void EigInput::resolve(index_t otherwise) {
  require(std::isfinite(scale), "eig", "--scale", "must be a finite number");
  if (!a.empty()) {
    const Shape shape = probe_matrix(a).shape;
    require(shape.rows == shape.cols, "eig", a_name, shape, " is not square");
    n = shape.rows;
  }
  if (!b.empty()) {
    const Shape shape = probe_matrix(b).shape;
    require(shape.rows == shape.cols, "eig", "--b", shape, " is not square");
    if (a.empty() && n < 0) n = shape.rows;
  }
  if (tridiagonal()) {
    const Shape d = probe_matrix(diagonal).shape;
    n = d.rows * d.cols;
    require(!off_diagonal.empty(), "eig", "--off-diagonal", "is missing: --diagonal needs it");
  }
  if (const SymmetricChoice choice = parse_symmetric_kind(random);
      a.empty() && !tridiagonal() && !choice.file.empty()) {
    const Shape given = probe_matrix(choice.file).shape;
    require(n < 0 || n == given.rows * given.cols, "eig", "--n",
            fmt::format("{}, but {} holds {} values", n, choice.file, given.rows * given.cols));
    n = given.rows * given.cols;
  }
  if (n < 0) n = otherwise;
  require(kind == "1" || generalized(), "eig", "--problem", kind, " needs --b or --random-b");
  if (!b.empty() && probe_matrix(b).shape.rows != n)
    throw ArgumentError("eig", "--b", fmt::format("of order {}, but A has order {}", probe_matrix(b).shape.rows, n));
}

void EigInput::find_bands() {
  if (3.0 * static_cast<double>(n) * sizeof(double) > usable_host_bytes()) return;  // A counts as dense, and is refused
  bands_in_a = !a.empty() && uplo.empty() && !symmetrize && !generalized() && read_tridiagonal<double>(a).has_value();
}

nlohmann::json EigInput::describe(std::uint64_t seed) const {
  nlohmann::json described = {{"n", n}, {"input", !a.empty() ? a : tridiagonal() ? diagonal : random}, {"seed", seed}};
  if (scale != 1) described["scale"] = scale;
  if (generalized()) described.update({{"b", b.empty() ? random_b : b}, {"problem", kind}});
  return described;
}

void EigSelection::add_to(App& app) {
  auto* by_value = app.add_option("--range", range, "A,B: only eigenvalues in [A, B)");
  auto* by_index =
      app.add_option("--index", index, "I,J: only the I-th to the J-th, ascending, counted from 1")->excludes(by_value);
  auto* few =
      app.add_option("--smallest", smallest, "only the K smallest")->positive()->excludes(by_value)->excludes(by_index);
  app.add_option("--largest", largest, "only the K largest")
      ->positive()
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
  require(comma && last.ec == std::errc() && last.ptr == end && from >= 1 && to >= from && to <= n, "eig", "--index",
          fmt::format("'{}' is not I,J with 1 <= I <= J <= {}", index, n));
  return IndexRange{from - 1, to};
}

std::pair<double, double> EigSelection::interval() const {
  if (range.empty()) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  return parse_range("eig", range);
}

void IterationChoice::add_to(App& app) {
  Choices()
      .add(qr_factors())
      .add_option(app, "--factor", factor, "of qr-iteration: how Q and R are made")
      ->group(more_options);
  Choices().add(stop_tests()).add_option(app, "--stop", stop, "of iterations: when D is diagonal");
  Choices().add(qr_shifts()).add_option(app, "--shift", shift, "of qr-iteration: number subtracted from the diagonal");
  app.add_flag("--deflate", deflate, "of qr-iteration: a last row that is done leaves the iteration");
  app.add_flag("--positive-diagonal", positive, "of qr-iteration: R's diagonal, so that Q R is unique");
  app.add_option("--tol", tolerance,
                 "of iterations: an element up to this times ||A||_F is nothing (default: 1e-13, single 1e-5)")
      ->check(positive_up_to(largest_iteration_tolerance));
  app.add_option("--max-iterations", most,
                 "of iterations (default: 2000 n; where a step is a graph at most max(6000, 30 n))")
      ->positive();
}

void IterationChoice::require_valid(const std::string& method, const EigInput& input) const {
  const auto named = find_named(eig_iterations(), method);
  const bool any = named.has_value(), qr = named == EigIteration::qr;
  require(!any || !input.generalized(), "eig", "--method", method, " is not there for generalized problems");
  require(!any || qr || input.diagonal.empty(), "eig", "--method", method,
          " is not there for --diagonal: of the iterations only qr-iteration is");
  require(find_named(qr_factors(), factor).value_or(QrFactor::givens) == QrFactor::givens || input.diagonal.empty(),
          "eig", "--factor", factor, " is not there for --diagonal: its factor is givens");
  const auto only_for = [&](bool given, const char* option, const char* which, bool applies) {
    require(!given || applies, "eig", option, std::string("belongs to --method "), which, ", not to ", method);
  };
  only_for(!factor.empty(), "--factor", "qr-iteration", qr);
  only_for(!shift.empty(), "--shift", "qr-iteration", qr);
  only_for(deflate, "--deflate", "qr-iteration", qr);
  only_for(positive, "--positive-diagonal", "qr-iteration", qr);
  only_for(!stop.empty(), "--stop", "qr-iteration, lr or cholesky-lr", any);
  only_for(tolerance > 0, "--tol", "qr-iteration, lr or cholesky-lr", any);
  only_for(most > 0, "--max-iterations", "qr-iteration, lr or cholesky-lr", any);
}

EigIterationOptions IterationChoice::options(EigIteration method, const SymmetricEigOptions& wanted) const {
  EigIterationOptions o{.method = method,
                        .factor = find_named(qr_factors(), factor).value_or(QrFactor::givens),
                        .stop = find_named(stop_tests(), stop).value_or(StopTest::off_diagonal),
                        .shift = find_named(qr_shifts(), shift).value_or(QrShift::none),
                        .deflate = deflate,
                        .positive_diagonal = positive,
                        .tolerance = tolerance,
                        .max_iterations = most,
                        .vectors = wanted.vectors,
                        .positions = wanted.positions};
  o.low = wanted.low;
  o.high = wanted.high;
  return o;
}

void IterationChoice::describe(const IterationFacts& facts, nlohmann::json& problem) const {
  if (problem["method"] == "qr-iteration") {
    problem["factor"] = factor.empty() ? qr_factors().front().name : factor;
    problem["shift"] = shift.empty() ? qr_shifts().front().name : shift;
    problem["deflate"] = deflate;
  }
  problem["stop"] = stop.empty() ? stop_tests().front().name : stop;
  problem["tolerance"] = facts.tolerance;
  if (facts.shift != 0) problem["gershgorin_shift"] = facts.shift;
  if (facts.remaining.empty()) return;
  problem["remaining"] = nlohmann::json::array();
  for (const RemainingEntry& entry : facts.remaining)
    problem["remaining"].push_back({{"row", entry.row + 1}, {"column", entry.column + 1}, {"value", entry.value}});
}

}  // namespace tesela::cli
