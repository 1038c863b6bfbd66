#include "cli/commands/support/symmetric_input.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <cmath>

namespace tesela::cli {

template <class T>
std::vector<T> read_vector(const char* command, const std::string& option, const std::string& path) {
  const HostMatrix<T> numbers = read_matrix<T>(path);
  if (numbers.size() > 0 && numbers.rows() != 1 && numbers.cols() != 1)
    throw ArgumentError(command, option,
                        fmt::format("{} holds {}, not one row or column", path, to_string(numbers.shape())));
  return {numbers.data(), numbers.data() + numbers.size()};
}

template <class T>
void symmetrize(const char* command, const std::string& option, const char* name, const std::string& uplo, bool mean,
                HostMatrix<T>& a) {
  const index_t n = a.rows();
  index_t row = 0, column = 0;
  double worst = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j + 1; i < n; ++i) {
      const T lower = a(i, j), upper = a(j, i);
      const double apart = std::abs(static_cast<double>(lower) - static_cast<double>(upper));
      if (apart > worst) worst = apart, row = i, column = j;
      a(i, j) = a(j, i) = uplo == "upper" ? upper : mean ? lower / 2 + upper / 2 : lower;
      if (uplo.empty() && !mean) a(j, i) = upper;
    }
  if (worst > 0 && uplo.empty() && !mean)
    throw ArgumentError(
        command, option,
        fmt::format("not symmetric: {4}({0}, {1}) = {2:.17g} and {4}({1}, {0}) = {3:.17g}; --symmetrize "
                    "takes the mean, --uplo one triangle",
                    row + 1, column + 1, static_cast<double>(a(row, column)), static_cast<double>(a(column, row)),
                    name));
}

SymmetricMatrix generated(const char* command, const std::string& option, const std::string& text, index_t n,
                          std::uint64_t seed) {
  const SymmetricChoice kind = parse_symmetric_kind(text);
  std::vector<double> given;
  if (!kind.file.empty()) given = read_vector<double>(command, option, kind.file);
  return {kind.kind, n, kind.parameter, seed, std::move(given)};
}

template std::vector<float> read_vector(const char*, const std::string&, const std::string&);
template std::vector<double> read_vector(const char*, const std::string&, const std::string&);
template void symmetrize(const char*, const std::string&, const char*, const std::string&, bool, HostMatrix<float>&);
template void symmetrize(const char*, const std::string&, const char*, const std::string&, bool, HostMatrix<double>&);

}  // namespace tesela::cli
