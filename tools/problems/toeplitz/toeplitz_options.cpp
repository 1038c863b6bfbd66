#include "tools/problems/toeplitz/toeplitz_options.hpp"

#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <algorithm>

namespace tesela::cli {

std::vector<Option*> add_toeplitz_kind(App& app, std::string& kind) {
  auto* random = add_random(app, kind, toeplitz_kinds());
  return {random, add_deprecated_alias(app, "--kind", kind, random)};
}

namespace {

/// Returns the numbers of a file with one row or column; throws ArgumentError for another shape.
index_t vector_length(const std::string& option, const std::string& file) {
  const Shape shape = probe_matrix(file).shape;
  require(shape.cols == 1 || shape.rows == 1, "toeplitz", option, file, " holds ", shape,
          " numbers, not one row or column");
  return shape.rows * shape.cols;
}

template <class T>
HostMatrix<T> as_column(const HostMatrix<T>& read) {
  HostMatrix<T> column(read.size(), 1);
  std::copy_n(read.data(), read.size(), column.data());
  return column;
}

}  // namespace

template <class T>
HostMatrix<T> random_columns(index_t n, index_t k, std::uint64_t seed) {
  HostMatrix<T> columns(n, k);
  const Generator<T> uniform{Pattern::uniform, T(0), 0, ~seed};
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) columns(i, j) = uniform(i, j);
  return columns;
}

void ToeplitzInput::add_to(App& app) {
  auto* size = app.add_option("-n,--n", n, "order of the matrix")->non_negative()->generates();
  const auto of = add_toeplitz_kind(app, kind);
  auto* file = add_input(app, "--t", t, "read t, the first column, from FILE (.mtx, .npy, .csv or .txt)")
                   ->excludes(size)
                   ->belongs_to_files({"--n", "--random", "--kind"}, "--n N for a random matrix of order N");
  for (Option* name : of) file->excludes(name);
}

void ToeplitzInput::add_row_to(App& app) {
  add_input(app, "--row", row,
            "read the first row of a matrix that is not symmetric from FILE; its first number is not used")
      ->needs(app.get_option("--t"));
  app.add_flag("--nonsymmetric", nonsymmetric, "generate the first row as well, for the kinds random and spd")
      ->excludes(app.get_option("--t"));
}

void ToeplitzInput::resolve(index_t default_n) {
  const ToeplitzKind of = parse_toeplitz_kind(kind).kind;
  require(!nonsymmetric || of == ToeplitzKind::random || of == ToeplitzKind::spd, "toeplitz", "--nonsymmetric",
          "generates the kinds random and spd, not ", kind);
  if (t.empty()) {
    if (n < 0) n = default_n;
    return;
  }
  n = vector_length("--t", t);
  const index_t in_row = row.empty() ? n : vector_length("--row", row);
  require(in_row == n, "toeplitz", "--row", row, " holds ", in_row, " numbers, --t ", n);
}

template <class T>
HostMatrix<T> ToeplitzInput::load(std::uint64_t seed) const {
  if (t.empty()) {
    ToeplitzGenerator generator = parse_toeplitz_kind(kind);
    generator.seed = seed;
    return toeplitz_column<T>(generator, n);
  }
  return as_column(read_matrix<T>(t));
}

template <class T>
HostMatrix<T> ToeplitzInput::load_row(std::uint64_t seed, HostMatrix<T>& column) const {
  if (!row.empty()) return as_column(read_matrix<T>(row, [](index_t i, index_t j) { return i > 0 || j > 0; }));
  if (!nonsymmetric) {
    HostMatrix<T> adjoint(is_complex<T> ? column.rows() : 0, is_complex<T> ? 1 : 0);
    std::transform(column.data(), column.data() + adjoint.size(), adjoint.data(), [](T value) { return conj(value); });
    return adjoint;
  }
  HostMatrix<T> generated = load<T>(seed + 1);
  if (n > 0) column(0, 0) = (column(0, 0) + generated(0, 0)) / real_t<T>(2);
  return generated;
}

nlohmann::json ToeplitzInput::describe(std::uint64_t seed) const {
  nlohmann::json described{{"n", n}, {"input", t.empty() ? kind : t}, {"seed", seed}};
  if (general()) described["row"] = row.empty() ? kind : row;
  return described;
}

#define TESELA_TOEPLITZ_INPUT(T)                                                       \
  template HostMatrix<T> random_columns(index_t, index_t, std::uint64_t);              \
  template HostMatrix<T> ToeplitzInput::load_row(std::uint64_t, HostMatrix<T>&) const; \
  template HostMatrix<T> ToeplitzInput::load(std::uint64_t) const;
TESELA_FOR_NUMBERS(TESELA_TOEPLITZ_INPUT)

}  // namespace tesela::cli
