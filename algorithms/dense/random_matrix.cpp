#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/codelets/dense/product_form.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/filled.hpp>

#include <charconv>
#include <cmath>
#include <string_view>

namespace tesela {

using namespace kernels;
namespace {

/// Parses "NAME:NUMBER"; returns whether `text` has this form.
template <class N>
bool numbered(std::string_view text, std::string_view name, N& number) {
  if (!text.starts_with(name) || text.substr(name.size(), 1) != ":") return false;
  text.remove_prefix(name.size() + 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

const char* random_kinds() {
  return "uniform (in [-1, 1)), normal, index (i n + j), graded (rows and columns shrink by 12 orders of magnitude "
         "each), band:B (half-width B), kappa:K (condition number K, at least 1), rank:R or zero";
}

RandomMatrix parse_random_kind(const std::string& text, const char* option) {
  RandomMatrix r;
  if (text == "uniform") return r;
  if (text == "normal") return r.pattern = Pattern::normal, r;
  if (text == "index") return r.pattern = Pattern::index, r;
  if (text == "graded") return r.pattern = Pattern::graded, r;
  if (text == "zero") return r.pattern = Pattern::constant, r;
  if (numbered(text, "band", r.half_width) && r.half_width >= 0) return r.pattern = Pattern::band, r;
  if (numbered(text, "kappa", r.condition) && r.condition >= 1 && std::isfinite(r.condition)) return r;
  if (numbered(text, "rank", r.rank) && r.rank >= 0) return r;
  throw ArgumentError("tesela", option, "'" + text + "' is none of " + random_kinds());
}

namespace {

template <class T>
ProductForm<T> product_form(Shape shape, const RandomMatrix& matrix, std::uint64_t seed) {
  const index_t count = std::min(shape.rows, shape.cols);
  const auto s = matrix.condition != 0 ? spectrum(count, matrix.condition) : spectrum(std::min(matrix.rank, count), 1);
  return {shape.rows, shape.cols, s, seed};
}

}  // namespace

template <class T>
HostMatrix<T> generate(Shape shape, const RandomMatrix& matrix, std::uint64_t seed) {
  if (is_simulated()) return HostMatrix<T>(shape.rows, shape.cols);
  if (matrix.elementwise() || shape.rows == 0 || shape.cols == 0) return generate<T>(shape, matrix.generator<T>(seed));
  return filled<T>(shape, product_form<T>(shape, matrix, seed));
}

template <class T>
HostMatrix<T> generate(const BlockCyclic& part, const RandomMatrix& matrix, std::uint64_t seed) {
  const Shape whole = part.whole();
  if (part.all_here()) return generate<T>(whole, matrix, seed);
  const auto here = [&](const auto& element) {
    return filled<T>(part.local(),
                     [&](index_t i, index_t j) { return element(part.rows.global(i), part.columns.global(j)); });
  };
  if (!matrix.elementwise() && whole.rows > 0 && whole.cols > 0) return here(product_form<T>(whole, matrix, seed));
  Generator<T> element = matrix.generator<T>(seed);
  element.rows = whole.rows;
  element.columns = whole.cols;
  return here(element);
}

#define TESELA_INSTANTIATE(T)                                                 \
  template HostMatrix<T> generate(Shape, const RandomMatrix&, std::uint64_t); \
  template HostMatrix<T> generate(const BlockCyclic&, const RandomMatrix&, std::uint64_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
