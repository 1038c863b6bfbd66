#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/filled.hpp>

#include <cmath>

namespace tesela {

template <class T>
HostMatrix<T> svd_matrix(Shape shape, const std::string& kind, std::uint64_t seed) {
  if (kind == "hilbert")
    return filled<T>(shape, [](index_t i, index_t j) { return T(real_t<T>(1) / static_cast<real_t<T>>(i + j + 1)); });
  if (kind == "kahan") {
    constexpr double angle = 1.2;
    const double s = std::sin(angle), c = std::cos(angle);
    return filled<T>(shape, [=](index_t i, index_t j) {
      return i > j ? T(0) : converted<T>(std::pow(s, static_cast<double>(i)) * (i == j ? 1 : -c));
    });
  }
  RandomMatrix matrix;
  try {
    matrix = parse_random_kind(kind);
  } catch (const ArgumentError&) {
    throw ArgumentError("tesela", "--random", "'" + kind + "' is none of " + svd_kinds());
  }
  return generate<T>(shape, matrix, seed);
}

std::string svd_kinds() { return std::string("hilbert, kahan, ") + random_kinds(); }

TESELA_FUNCTIONS_FOR_NUMBERS(svd_matrix)

}  // namespace tesela
