#include "tools/problems/support/symmetric_input.hpp"

#include <tesela/runtime/access.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_market.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {

template <class T>
std::vector<T> read_vector(const char* command, const std::string& option, const std::string& path) {
  const HostMatrix<T> numbers = read_matrix<T>(path);
  require(numbers.size() <= 0 || numbers.rows() == 1 || numbers.cols() == 1, command, option,
          fmt::format("{} holds {}, not one row or column", path, to_string(numbers.shape())));
  return {numbers.data(), numbers.data() + numbers.size()};
}

namespace {

/// The largest difference of two triangles; its excess is 1 if rounding just explains it.
template <class T>
struct Asymmetry {
  double excess = 0;
  index_t matrix = 0, row = 0, column = 0;
  T lower = 0, upper = 0;
};

/// Makes the k-th matrix whole.
template <class T>
void make_whole(const SymmetricFile& file, index_t k, const Block<T>& a, Asymmetry<T>& worst) {
  const auto size = [](T x) { return std::abs(with_parts<T, double>(x)); };
  const double rounding =
      10 * std::sqrt(static_cast<double>(a.rows)) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  constexpr real_t<T> half = 0.5;
  for (index_t j = 0; j < a.rows; ++j) {
    if (file.symmetrize || size(a(j, j) - T(real_part(a(j, j)))) <= rounding * size(T(real_part(a(j, j)))))
      a(j, j) = real_part(a(j, j));
    for (index_t i = j + 1; i < a.rows; ++i) {
      const T lower = a(i, j), upper = conj(a(j, i));  // both as elements of the lower triangle
      if (lower == upper) continue;
      if (file.uplo.empty()) {
        const double of_products = std::sqrt(size(a(i, i))) * std::sqrt(size(a(j, j))),
                     excess = size(half * lower - half * upper) / std::max({size(lower), size(upper), of_products}) *
                              2 / rounding;
        if (excess > worst.excess) worst = {excess, k, i, j, lower, upper};
      }
      a(i, j) = file.uplo == "upper" ? upper : file.uplo == "lower" ? lower : half * lower + half * upper;
      a(j, i) = conj(a(i, j));
    }
  }
}

/// Throws ArgumentError for the first diagonal element of a Hermitian matrix that is not real.
template <class T>
void require_real_diagonal(const SymmetricFile& file, const Block<T>& a) {
  if constexpr (is_complex<T>)
    for (index_t j = 0; j < a.rows; ++j)
      require(a(j, j).imag() == 0, file.command, file.option,
              fmt::format("not Hermitian: {0}({1}, {1}) has the imaginary part {2:.17g}; --symmetrize drops it",
                          file.name, j + 1, static_cast<double>(a(j, j).imag())));
}

/// Returns a number for a message.
template <class T>
std::string text_of(T x) {
  if constexpr (is_complex<T>)
    return fmt::format("{:.17g}{:+.17g}i", static_cast<double>(x.real()), static_cast<double>(x.imag()));
  else
    return fmt::format("{:.17g}", static_cast<double>(x));
}

}  // namespace

template <class T>
HostMatrix<T> read_symmetric(const SymmetricFile& file, std::vector<std::string>& notes) {
  const index_t n = std::max<index_t>(probe_matrix(file.path).shape.rows, 1);
  Counted counts;
  if (!file.uplo.empty())
    counts = [n, upper = file.uplo == "upper"](index_t i, index_t j) { return i == j % n || (i < j % n) == upper; };
  HostMatrix<T> a = read_matrix<T>(file.path, counts);
  Asymmetry<T> worst;
  for (index_t k = 0; (k + 1) * n <= a.cols() && a.rows() > 0; ++k)
    make_whole(file, k, Block<T>{&a(0, k * n), n, n, a.ld()}, worst);
  for (index_t k = 0; (k + 1) * n <= a.cols() && a.rows() > 0; ++k)
    require_real_diagonal(file, Block<T>{&a(0, k * n), n, n, a.ld()});
  if (worst.excess == 0 || file.symmetrize) return a;
  const std::string name = a.cols() > n ? fmt::format("matrix {}, {}", worst.matrix + 1, file.name) : file.name,
                    both = fmt::format("{4}({0}, {1}) = {2} and {4}({1}, {0}) = {3}", worst.row + 1, worst.column + 1,
                                       text_of(worst.lower), text_of(conj(worst.upper)), name);
  require(worst.excess <= 1, file.command, file.option, is_complex<T> ? "not Hermitian: " : "not symmetric: ", both,
          "; --symmetrize takes the mean, --uplo one triangle");
  notes.push_back(
      fmt::format("{} is symmetric up to rounding, and the mean of its triangles is taken: {}", file.path, both));
  return a;
}

template <class T>
std::optional<SymmetricBands<T>> read_tridiagonal(const std::string& path) {
  const MappedFile file(path);
  if (!matrix_market::recognise(file.bytes())) return std::nullopt;
  const MatrixFileInfo info = matrix_market::probe(file.bytes(), path);
  const index_t n = info.shape.rows;
  if (info.format != MatrixFileFormat::matrix_market_coordinate || info.shape.cols != n || n == 0 ||
      info.entries > 3 * static_cast<std::uint64_t>(n))
    return std::nullopt;
  SymmetricBands<T> bands{std::vector<T>(at(n)), std::vector<T>(at(n - 1))};
  std::vector<T> upper(at(n - 1));
  bool others = false;
  matrix_market::for_each_entry<T>(file.bytes(), path, [&](index_t i, index_t j, T value) {
    if (i == j)
      bands.d[at(i)] += value;
    else if (i == j + 1)
      bands.e[at(j)] += value;
    else if (j == i + 1)
      upper[at(i)] += value;
    else
      others = true;
  });
  if (others || bands.e != upper) return std::nullopt;
  return bands;
}

SymmetricMatrix generated(const char* command, const std::string& option, const std::string& text, index_t n,
                          std::uint64_t seed) {
  const SymmetricChoice kind = parse_symmetric_kind(text);
  std::vector<double> given;
  if (!kind.file.empty()) {
    given = read_vector<double>(command, option, kind.file);
    require(std::ssize(given) == n, command, option, kind.file, " holds ", std::ssize(given),
            " values, and the order is ", n);
  }
  return {kind.kind, n, kind.parameter, seed, std::move(given)};
}

TESELA_FUNCTIONS_FOR_REALS(read_vector, read_tridiagonal)
TESELA_FUNCTIONS_FOR_NUMBERS(read_symmetric)

}  // namespace tesela::cli
