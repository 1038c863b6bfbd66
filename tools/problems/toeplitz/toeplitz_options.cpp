#include "tools/problems/toeplitz/toeplitz_options.hpp"

#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

namespace tesela::cli {

std::vector<Option*> add_toeplitz_kind(App& app, std::string& kind) {
  auto* random = add_random(app, kind, toeplitz_kinds());
  return {random, add_deprecated_alias(app, "--kind", kind, random)};
}

template <class T>
HostMatrix<T> random_columns(index_t n, index_t k, std::uint64_t seed) {
  HostMatrix<T> columns(n, k);
  const Generator<T> uniform{Pattern::uniform, T(0), 0, ~seed};
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) columns(i, j) = uniform(i, j);
  return columns;
}

void ToeplitzInput::add_to(App& app) {
  auto* size = app.add_option("-n,--n", n, "order of the matrix")->transform(cli::non_negative());
  const auto of = add_toeplitz_kind(app, kind);
  auto* file = add_input(app, "--t", t, "read t, the first column, from FILE (Matrix Market or .npy)")->excludes(size);
  for (Option* name : of) file->excludes(name);
}

void ToeplitzInput::resolve(index_t default_n) {
  parse_toeplitz_kind(kind);
  if (t.empty()) {
    if (n < 0) n = default_n;
    return;
  }
  const Shape shape = probe_matrix(t).shape;
  if (shape.cols != 1 && shape.rows != 1)
    throw ArgumentError("toeplitz", "--t",
                        t + " holds " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
                            " numbers, not one row or column");
  n = shape.rows * shape.cols;
}

template <class T>
HostMatrix<T> ToeplitzInput::load(std::uint64_t seed) const {
  if (t.empty()) {
    ToeplitzGenerator generator = parse_toeplitz_kind(kind);
    generator.seed = seed;
    return toeplitz_column<T>(generator, n);
  }
  const HostMatrix<T> read = read_matrix<T>(t);
  HostMatrix<T> column(read.size(), 1);
  std::copy_n(read.data(), read.size(), column.data());
  return column;
}

nlohmann::json ToeplitzInput::describe(std::uint64_t seed) const {
  return {{"n", n}, {"input", t.empty() ? kind : t}, {"seed", seed}};
}

template HostMatrix<float> random_columns(index_t, index_t, std::uint64_t);
template HostMatrix<double> random_columns(index_t, index_t, std::uint64_t);
template HostMatrix<float> ToeplitzInput::load(std::uint64_t) const;
template HostMatrix<double> ToeplitzInput::load(std::uint64_t) const;

}  // namespace tesela::cli
