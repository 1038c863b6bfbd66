#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/algorithms/qr/qr.hpp>

#include <vector>

namespace tesela::detail {

/// Whether a GPU takes m x n x k products at once: less than this a core has done before the data are there.
bool worth_a_gpu(index_t m, index_t n, index_t k);

/// How the triangle of an m x n matrix comes about: on a GPU, where there is one and it pays.
QrOptions qr_options(index_t m, index_t n);

/// The R of A = Q R, min(m, n) x n with zeros below its diagonal, of a small or large A. A is copied.
HostMatrix<double> triangle_of(Graph& g, const HostMatrix<double>& A);

/// op(A) op(B) in host memory, by tasks. Waits.
HostMatrix<double> product(Graph& g, Op op, Op op_b, const HostMatrix<double>& A, const HostMatrix<double>& B);
/// The same of parts of matrices, which if they are one are the same part, in a C that there is.
void multiply(Graph& g, Op op, Op op_b, const Block<const double>& A, const Block<const double>& B,
              HostMatrix<double>& C);
Block<const double> block_of(const HostMatrix<double>& A);

/// Which of the first `count` columns of the triangle A are, within `tolerance` of their norms, combinations of columns
/// before them. A is turned so that the others are columns of a triangle with no gaps: heights[c] of column c's rows
/// are not zero then. `norms` are those of the columns.
std::vector<index_t> drop_dependent(HostMatrix<double>& A, index_t count, const std::vector<double>& norms,
                                    double tolerance, std::vector<int>& heights);

/// All variables in the coordinates of an orthogonal basis that begins with what the instruments span. Column c is
/// 2^exponents[c] times what stands in A.
struct Variables {
  HostMatrix<double> A;
  std::vector<int> exponents, heights;
  std::vector<double> norms;
  std::vector<double> tails = {};  ///< see tails_of
  index_t rows = 0;                ///< that the instruments span
  index_t instruments = 0;
  index_t observations = 0;
  double tolerance = 0;
  std::vector<index_t> dropped = {};

  index_t count() const { return A.cols(); }
};

/// What counts as dependent: the option, or its default.
double settled_tolerance(const ModelTriangle& triangle, const SemOptions& options);

/// As drop_dependent, of a large A by one or two QR factorizations with the dependent columns behind the others. A has
/// as many rows as columns. Waits.
std::vector<index_t> put_aside_dependent(Graph& g, HostMatrix<double>& A, index_t count,
                                         const std::vector<double>& norms, double tolerance, std::vector<int>& heights);

/// From the triangle of a model. `all`: every variable is an instrument. Waits for the graph where instruments depend
/// on each other.
Variables model_variables(Graph& g, const ModelTriangle& triangle, index_t instruments, bool all, double tolerance);

/// Of each variable that is no instrument: the norm of what the instruments leave.
std::vector<double> tails_of(const Variables& v);

/// Columns `columns` of A side by side.
HostMatrix<double> columns_of(const HostMatrix<double>& A, const std::vector<index_t>& columns);

/// Its first `rows` rows.
HostMatrix<double> first_rows(const HostMatrix<double>& A, index_t rows);

/// ||x||_2, in vectors of a core.
double norm(index_t n, const double* x);

/// Sum of products of the first n elements of two columns.
double dot(index_t n, const double* a, const double* b);
double dot(const HostMatrix<double>& A, index_t i, const HostMatrix<double>& B, index_t j, index_t n);

}  // namespace tesela::detail
