#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/algorithms/qr/qr.hpp>

#include <vector>

namespace tesela::detail {

/// Returns whether an m x n x k product is large enough for a GPU; a core finishes smaller ones during the transfer.
bool large_enough_for_gpu(index_t m, index_t n, index_t k);

/// Returns the options for qr of an m x n matrix: on a GPU if there is one and the size suits it.
QrOptions qr_options(index_t m, index_t n);

/// Returns R of A = Q R, min(m, n) x n with zeros below its diagonal, for any size of A. A is copied.
HostMatrix<double> triangle_of(Graph& g, const HostMatrix<double>& A);

/// Returns op(A) op(B) in host memory. Waits for the graph.
HostMatrix<double> product(Graph& g, Op op, Op op_b, const HostMatrix<double>& A, const HostMatrix<double>& B);
/// Computes C = op(A) op(B) for blocks. If both are blocks of one matrix, they must be the same block.
void multiply(Graph& g, Op op, Op op_b, const Block<const double>& A, const Block<const double>& B,
              HostMatrix<double>& C);
Block<const double> block_of(const HostMatrix<double>& A);

/// Returns the columns among the first `count` of the triangle A that are, within `tolerance` of their norms,
/// combinations of earlier columns. Transforms A so that the other columns form a triangle without gaps: column c then
/// has heights[c] nonzero rows. `norms` are the norms of the columns.
std::vector<index_t> drop_dependent(HostMatrix<double>& A, index_t count, const std::vector<double>& norms,
                                    double tolerance, std::vector<int>& heights);

/// All variables in an orthogonal basis that begins with the span of the instruments. Column c is 2^exponents[c] times
/// the column of A.
struct Variables {
  HostMatrix<double> A;
  std::vector<int> exponents, heights;
  std::vector<double> norms;
  std::vector<double> tails = {};  ///< see orthogonal_norms
  index_t rows = 0;                ///< dimension of the span of the instruments
  index_t instruments = 0;
  index_t observations = 0;
  double tolerance = 0;
  std::vector<index_t> dropped = {};

  index_t count() const { return A.cols(); }
};

/// Returns the tolerance for dependence: the option, or its default.
double dependence_tolerance(const ModelTriangle& triangle, const SemOptions& options);

/// Runs drop_dependent on a large square A by one or two QR factorizations with the dependent columns after the others.
/// Waits for the graph.
std::vector<index_t> drop_dependent_by_qr(Graph& g, HostMatrix<double>& A, index_t count,
                                          const std::vector<double>& norms, double tolerance,
                                          std::vector<int>& heights);

/// Returns the variables of a model's triangle. `all`: every variable is an instrument. Waits for the graph if
/// instruments are dependent.
Variables model_variables(Graph& g, const ModelTriangle& triangle, index_t instruments, bool all, double tolerance);

/// Returns, for each variable that is not an instrument, the norm of its part orthogonal to the instruments.
std::vector<double> orthogonal_norms(const Variables& v);

/// Returns the given columns of A side by side.
HostMatrix<double> columns_of(const HostMatrix<double>& A, const std::vector<index_t>& columns);

/// Returns the first `rows` rows of A.
HostMatrix<double> first_rows(const HostMatrix<double>& A, index_t rows);

/// Returns ||x||_2, computed with vector instructions.
double norm(index_t n, const double* x);

/// Returns the sum of products of the first n elements of two columns.
double dot(index_t n, const double* a, const double* b);
double dot(const HostMatrix<double>& A, index_t i, const HostMatrix<double>& B, index_t j, index_t n);

}  // namespace tesela::detail
