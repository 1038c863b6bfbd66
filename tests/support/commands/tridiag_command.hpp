#pragma once

#include "tests/support/commands/command.hpp"
#include <tesela/tiles/io/file_formats.hpp>

// Shared by the tests of `tesela tridiag`.

namespace tesela::test {

inline const Command tridiag{{"tridiag"}};

/// The options of every method, methods with pivoting first; some split systems into tiles.
inline const std::vector<Words> pivoting{
    {"--method", "auto"}, {"--method", "lapack"}, {"--tile", "64"}, {"--tile", "20x1"}};
inline const std::vector<Words> methods =
    pivoting +
    std::vector<Words>{{"--method", "thomas"},       {"--method", "cr"},
                       {"--method", "cr-hybrid"},    {"--method", "cr-shared"},
                       {"--method", "cr-coalesced"}, {"--method", "cr-hybrid", "--cut", "10", "--tile", "16"}};
inline bool pivots(const Words& method) {
  return std::find(pivoting.begin(), pivoting.end(), method) != pivoting.end();
}
/// Returns whether the method supports interleaved and periodic systems.
inline bool general(const Words& method) { return pivots(method) && method.back() != "lapack"; }

/// `batch` matrices of n equations with `rhs` right-hand sides each, in arrays with one system in each column.
struct Problem {
  HostMatrix<double> dl, d, du, x, b;
};

/// Returns a problem with small integers as entries and solution, so that B is exact. If not periodic, elements outside
/// the matrices are 1000, so that a read changes the result.
inline Problem problem(index_t n, index_t batch, index_t rhs, bool periodic) {
  Problem p{HostMatrix<double>(n, batch), HostMatrix<double>(n, batch), HostMatrix<double>(n, batch),
            HostMatrix<double>(n, batch * rhs), HostMatrix<double>(n, batch * rhs)};
  for (index_t s = 0; s < batch; ++s)
    for (index_t i = 0; i < n; ++i) {
      const bool inside_left = i > 0 || periodic, inside_right = i < n - 1 || periodic;
      p.dl(i, s) = inside_left ? static_cast<double>((3 * i + s) % 5 - 2) : 1000;
      p.du(i, s) = inside_right ? static_cast<double>((i + 2 * s) % 7 - 3) : 1000;
      p.d(i, s) = static_cast<double>(6 + (i + s) % 3);
    }
  for (index_t c = 0; c < batch * rhs; ++c)
    for (index_t i = 0; i < n; ++i) p.x(i, c) = static_cast<double>((5 * i + 3 * c) % 11 - 4);
  for (index_t c = 0; c < batch * rhs; ++c)
    for (index_t i = 0; i < n; ++i) {
      const index_t s = c / rhs;
      p.b(i, c) = p.d(i, s) * p.x(i, c);
      if (i > 0 || periodic) p.b(i, c) += p.dl(i, s) * p.x(i > 0 ? i - 1 : n - 1, c);
      if (i < n - 1 || periodic) p.b(i, c) += p.du(i, s) * p.x(i < n - 1 ? i + 1 : 0, c);
    }
  return p;
}

inline HostMatrix<double> transposed(const HostMatrix<double>& a) {
  HostMatrix<double> t(a.cols(), a.rows());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) t(j, i) = a(i, j);
  return t;
}

inline HostMatrix<double> rows(const HostMatrix<double>& a, index_t first, index_t count) {
  HostMatrix<double> part(count, a.cols());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < count; ++i) part(i, j) = a(first + i, j);
  return part;
}

/// Files of a problem, and the options that name them.
struct Files {
  TemporaryFolder folder;
  std::string format = ".npy";
  bool interleaved = false;

  void write(const std::string& name, const HostMatrix<double>& a) const {
    write_matrix(folder / (name + format), interleaved ? transposed(a) : a.clone());
  }
  void write(const Problem& p) const {
    write("dl", p.dl);
    write("d", p.d);
    write("du", p.du);
    write("b", p.b);
  }
  Words options() const {
    Words words;
    for (const char* name : {"dl", "d", "du", "b"})
      words = words + Words{std::string("--") + name, folder / (name + format)};
    words = words + Words{"--out", folder / ("x" + format)};
    return interleaved ? words + Words{"--interleaved"} : words;
  }
  HostMatrix<double> solution() const {
    auto x = read_matrix<double>(folder / ("x" + format));
    return interleaved ? transposed(x) : std::move(x);
  }
};

inline double difference(const HostMatrix<double>& a, const HostMatrix<double>& b) {
  REQUIRE(a.shape() == b.shape());
  double most = 0;
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) most = std::max(most, std::abs(a(i, j) - b(i, j)));
  return most;
}

}  // namespace tesela::test
