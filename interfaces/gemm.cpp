#include "interfaces/c/arguments.hpp"
#include "interfaces/c/objects.hpp"
#include <tesela/algorithms/dense/gemm.hpp>

namespace tesela::c {

/// Computes C = alpha op(A) op(B) + beta C with op(A) m x k, op(B) k x n and C m x n (BLAS gemm).
///
/// transa, transb  'N', 'T' or 'C'.
/// beta            if 0, the contents of C are ignored.
/// C               must not overlap A or B. NaN and infinities propagate as in BLAS.
template <Number T>
Code gemm(char transa, char transb, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b,
          index_t ldb, T beta, T* c, index_t ldc) {
  const Op op_a = operation<T>("transa", transa), op_b = operation<T>("transb", transb);
  require_sizes({{"m", m}, {"n", n}, {"k", k}});
  const Array<const T> array_a("a", a, apply(op_a, {m, k}), "lda", lda),
      array_b("b", b, apply(op_b, {k, n}), "ldb", ldb);
  const Array<T> array_c("c", c, {m, n}, "ldc", ldc);
  require_no_overlap({array_c}, {array_a, array_b});
  const Session session;
  return tesela::gemm(session.runtime(), op_a, op_b, alpha, array_a, array_b, beta, array_c).info;
}

/// As gemm, for matrices in tiles with matching tile sizes along m, n and k; waits.
template <Number T>
Code gemm_tile(char transa, char transb, T alpha, tesela_matrix* a, tesela_matrix* b, T beta, tesela_matrix* c) {
  const Op op_a = operation<T>("transa", transa), op_b = operation<T>("transb", transb);
  const Tiles<T> A = tiles<T>("a", a), B = tiles<T>("b", b), C = tiles<T>("c", c);
  require_no_overlap<Tiles<T>>({C}, {A, B});
  const Session session;
  Graph g(session);
  tesela::gemm(g, op_a, op_b, alpha, A, B, beta, C);
  return g.wait().info;
}

/// Inserts gemm_tile into a graph.
template <Number T>
Code gemm_async(tesela_graph* graph, char transa, char transb, T alpha, tesela_matrix* a, tesela_matrix* b, T beta,
                tesela_matrix* c) {
  const auto into = object<GraphObject>("graph", graph);
  const Op op_a = operation<T>("transa", transa), op_b = operation<T>("transb", transb);
  const Tiles<T> A = tiles<T>("a", a), B = tiles<T>("b", b), C = tiles<T>("c", c);
  require_no_overlap<Tiles<T>>({C}, {A, B});
  const Session session;
  into->insert([&](Graph& g) { tesela::gemm(g, op_a, op_b, alpha, A, B, beta, C); });
  return 0;
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

#include <nanobind/stl/complex.h>

namespace tesela::python {
namespace {

/// Returns C = a b by columns; arrays by rows enter as transposes, without a copy.
template <class T>
NewMatrix<T> product(const Argument& a, const Argument& b, const GemmOptions& options) {
  const Op op_a = a.by_rows() ? Op::transpose : Op::none, op_b = b.by_rows() ? Op::transpose : Op::none;
  const Argument stored_a = a.by_rows() ? a.transposed() : a, stored_b = b.by_rows() ? b.transposed() : b;
  return with_workers([&](const c::Session& session) {  // the GIL is released here, so no Argument may be copied
    const Columns<T> columns_a(session, stored_a), columns_b(session, stored_b);
    NewMatrix<T> result(Shape{a.rows(), b.cols()}, a.place());
    gemm(session.runtime(), op_a, op_b, T(1), columns_a, columns_b, T(0), result.view(), options);
    return result;
  });
}

AnyArray matmul(const ArrayLike& a_given, const ArrayLike& b_given, const std::string& accuracy) {
  const auto found = find_named(gemm_accuracies(), accuracy);
  if (!found) throw nb::value_error("accuracy must be normwise or componentwise");
  const GemmOptions options{.accuracy = *found};
  Argument a("a", a_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  if (a.is_vector()) a = a.transposed();
  b.require_rows(a.cols());
  const bool row = a.is_vector(), column = b.is_vector();
  return in_number_type({&a, &b}, [&]<class T>(T) -> AnyArray {
    NewMatrix<T> result = product<T>(a, b, options);
    if (row && column) return nb::cast(with_parts<T, double>(std::move(result).on_host()(0, 0)));
    return std::move(result).to_python(row || column);
  });
}

const Part part([](nb::module_& m) {
  m.def("matmul", matmul, "a"_a, "b"_a, nb::kw_only(), "accuracy"_a = "normwise",
        R"(Return the product a b of matrices or vectors, as numpy.matmul.

Both may be in C or Fortran order, without a copy, and real or complex; the product is in Fortran order. Large products on
an H100 or H200 use integer units, with errors relative to the norms of the rows of a and the columns of b, or with
accuracy='componentwise' relative to |a| |b|.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.matmul(np.eye(2), np.array([3., 4.]))
array([3., 4.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
