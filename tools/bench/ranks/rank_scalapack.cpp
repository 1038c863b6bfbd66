#include "tools/bench/ranks/rank_rows.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mpi.h>
#include <vector>

// ScaLAPACK's names are Fortran's, its arrays lie as TileMatrix::map_block_cyclic takes them.
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
             const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* desc_c);
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc, double* tau,
              double* work, const int* lwork, int* info);
}

namespace tesela::bench {
namespace {

class Grid {
 public:
  Grid(int rows, int columns) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", rows, columns);
    Cblacs_gridinfo(context_, &rows_, &columns_, &row_, &column_);
  }
  ~Grid() { Cblacs_gridexit(context_); }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  CyclicPart rows(index_t m, index_t nb) const { return {m, nb, rows_, row_}; }
  CyclicPart columns(index_t n, index_t nb) const { return {n, nb, columns_, column_}; }
  std::array<int, 9> describe(index_t m, index_t n, index_t nb) const {
    return {1,
            context_,
            static_cast<int>(m),
            static_cast<int>(n),
            static_cast<int>(nb),
            static_cast<int>(nb),
            0,
            0,
            static_cast<int>(std::max<index_t>(rows(m, nb).count(), 1))};
  }

 private:
  int context_ = 0, rows_ = 0, columns_ = 0, row_ = 0, column_ = 0;
};

/// A rank's part of a matrix with random entries.
struct Matrix {
  CyclicPart rows, columns;
  std::array<int, 9> descriptor;
  std::vector<double> data;
  Matrix(const Grid& grid, index_t m, index_t n, index_t nb, std::uint64_t seed)
      : rows(grid.rows(m, nb)),
        columns(grid.columns(n, nb)),
        descriptor(grid.describe(m, n, nb)),
        data(static_cast<std::size_t>(std::max<index_t>(rows.count(), 1) * columns.count()), 0.0) {
    const Generator<double> element{Pattern::uniform, 0, 0, seed};
    for (index_t j = 0; seed != 0 && j < columns.count(); ++j)
      for (index_t i = 0; i < rows.count(); ++i) at(i, j) = element(rows.global(i), columns.global(j));
  }
  double& at(index_t i, index_t j) {
    return data[static_cast<std::size_t>(i + j * std::max<index_t>(rows.count(), 1))];
  }
  double at(index_t i, index_t j) const {
    return data[static_cast<std::size_t>(i + j * std::max<index_t>(rows.count(), 1))];
  }
  /// Returns the product of the matrix, or of its upper triangle, or of the transpose, with a vector that all ranks
  /// have.
  std::vector<double> times(const std::vector<double>& x, bool transposed, bool triangle) const {
    std::vector<double> y(static_cast<std::size_t>(transposed ? columns.size : rows.size), 0.0);
    for (index_t j = 0; j < columns.count(); ++j)
      for (index_t i = 0; i < rows.count(); ++i) {
        const index_t row = rows.global(i), column = columns.global(j);
        if (triangle && row > column) break;
        y[static_cast<std::size_t>(transposed ? column : row)] +=
            at(i, j) * x[static_cast<std::size_t>(transposed ? row : column)];
      }
    MPI_Allreduce(MPI_IN_PLACE, y.data(), static_cast<int>(y.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return y;
  }
};

std::vector<double> vector_of(index_t n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = std::cos(static_cast<double>(i));
  return x;
}

/// Returns the difference of two vectors over 1000 n roundings of the larger one.
double difference(const std::vector<double>& x, const std::vector<double>& y) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : std::numeric_limits<double>::infinity());
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / (1000 * std::sqrt(static_cast<double>(x.size())) * std::numeric_limits<double>::epsilon() * largest);
}

template <class F>
double together(const F& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  return seconds_of([&] {
    f();
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

constexpr int one = 1;

}  // namespace

RankRun scalapack_gemm(RankProblem p, int rows, int columns, index_t nb) {
  const Grid grid(rows, columns);
  const Matrix a(grid, p.m, p.n, nb, 1), b(grid, p.n, p.n, nb, 2);
  Matrix c(grid, p.m, p.n, nb, 0);
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n);
  const double alpha = 1, beta = 0;
  RankRun result;
  result.seconds = together([&] {
    pdgemm_("N", "N", &m, &n, &n, &alpha, a.data.data(), &one, &one, a.descriptor.data(), b.data.data(), &one, &one,
            b.descriptor.data(), &beta, c.data.data(), &one, &one, c.descriptor.data());
  });
  const auto x = vector_of(p.n);
  result.error = difference(c.times(x, false, false), a.times(b.times(x, false, false), false, false));
  return result;
}

RankRun scalapack_qr(RankProblem p, int rows, int columns, index_t nb) {
  const Grid grid(rows, columns);
  const Matrix a(grid, p.m, p.n, nb, 1);
  Matrix factors = a;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), ask = -1;
  std::vector<double> tau(static_cast<std::size_t>(p.n + nb));
  double size = 0;
  int info = 0;
  pdgeqrf_(&m, &n, factors.data.data(), &one, &one, factors.descriptor.data(), tau.data(), &size, &ask, &info);
  std::vector<double> work(static_cast<std::size_t>(size) + 1);
  const int lwork = static_cast<int>(work.size());
  RankRun result;
  result.seconds = together([&] {
    pdgeqrf_(&m, &n, factors.data.data(), &one, &one, factors.descriptor.data(), tau.data(), work.data(), &lwork,
             &info);
  });
  // R^T R x = A^T A x
  const auto x = vector_of(p.n);
  result.error = info != 0 ? 2
                           : difference(factors.times(factors.times(x, false, true), true, true),
                                        a.times(a.times(x, false, false), true, false));
  return result;
}

}  // namespace tesela::bench
