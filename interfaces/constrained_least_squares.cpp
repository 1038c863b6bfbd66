#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>

extern "C" {
/// Results of gglse other than x. Set size to sizeof(tesela_gglse_result).
typedef struct tesela_gglse_result {
  size_t size;
  int64_t status;               ///< TESELA_OK, TESELA_RANK_DEFICIENT, or the reason why there is no x
  int64_t constraint_rank;      ///< rank of B
  int64_t rank;                 ///< rank of A on the null space of B
  double constraint_condition;  ///< condition of the constraints that were kept
  double condition;             ///< condition of A on the null space of B
  double constraint_error;      ///< measured: ||B x - d|| / (||B||_F ||x|| + ||d||)
  double constraint_bound;      ///< bound of constraint_error
  double residual_norm;         ///< ||A x - c||_2
} tesela_gglse_result;
}  // extern "C"

namespace tesela::c {
/// Solves equality-constrained least squares, min ||A x - c||_2 subject to B x = d (LAPACK gglse).
///
/// A, B     m x n and p x n, of any shapes and ranks; A and c are overwritten.
/// x        the solution, of least norm if there are several. Rank-deficient A and redundant constraints are not
///          failures.
/// info     > 0: the status; there is no x.
template <Number T>
Code gglse(index_t m, index_t n, index_t p, T* a, index_t lda, const T* b, index_t ldb, T* c, const T* d, T* x,
           tesela_gglse_result* result) {
  require_sizes({{"m", m}, {"n", n}, {"p", p}});
  const Array<T> array_a("a", a, {m, n}, "lda", lda), array_c("c", c, m), array_x("x", x, n);
  const Array<const T> array_b("b", b, {p, n}, "ldb", ldb), array_d("d", d, p);
  require_no_overlap({array_a, array_c, array_x}, {array_b, array_d});
  tesela_gglse_result whole = read_versioned_struct("result", result);
  const Session session;
  const ConstrainedLeastSquares<T> answer = lse(session, array_a, array_c, array_b.copy(), array_d.copy());
  array_x.take(answer.X);
  whole.status = code_of(answer.status);
  whole.constraint_rank = answer.constraint_rank;
  whole.rank = answer.rank;
  whole.constraint_condition = answer.constraint_condition;
  whole.condition = answer.condition;
  whole.constraint_error = answer.constraint_error.error;
  whole.constraint_bound = answer.constraint_error.limit();
  if (!answer.residual_norms.empty()) whole.residual_norm = static_cast<double>(answer.residual_norms[0]);
  write_versioned_struct(whole, result);
  return is_solved(answer.status) ? 0 : failed(whole.status, description(answer.status));
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/solutions.hpp"

namespace tesela::python {
namespace {

struct ConstrainedResult {
  AnyArray x, residual_norms;
  index_t rank = 0, constraint_rank = 0;
  double condition = 1, constraint_condition = 1, constraint_error = 0, constraint_bound = 0;
  bool original_units = true;
  std::string status;
};

ConstrainedResult solve_lse(const ArrayLike& a_given, const ArrayLike& b_given, const ArrayLike& c_given,
                            const ArrayLike& d_given, Flag overwrite_a, Flag overwrite_b) {
  constexpr Numbers any = Numbers::complex_too;
  const Argument a("a", a_given, any), b("b", b_given, any), c("c", c_given, any), d("d", d_given, any);
  b.require_rows(a.rows());
  c.require_cols(a.cols());
  d.require_rows(c.rows());
  d.require_cols(b.cols());
  return in_number_type({&a, &b, &c, &d}, [&]<class T>(T) {
    auto found = with_workers([&](const c::Session& session) {
      const auto columns_a = Columns<T>::overwriting(session, a, overwrite_a && a.apart({&b, &c, &d})),
                 columns_b = Columns<T>::overwriting(session, b, overwrite_b && b.apart({&c, &d}));
      return lse(session, columns_a, columns_b, Columns<T>::on_host(c).copy(), Columns<T>::on_host(d).copy());
    });
    const bool solved = is_solved(found.status);
    ConstrainedResult result;
    result.x = solved ? to_python_like(b, std::move(found.X)) : nb::none();
    result.residual_norms = number_or_numbers(b, found.residual_norms);
    result.constraint_rank = found.constraint_rank;
    result.constraint_condition = found.constraint_condition;
    result.constraint_error = found.constraint_error.error;
    result.constraint_bound = found.constraint_error.limit();
    return finished("lse", std::move(result), found, solved);
  });
}

const Part part([](nb::module_& m) {
  ResultClass<ConstrainedResult>(m, "ConstrainedLeastSquaresResult", "Result of `lse`.")
      .member("x", &ConstrainedResult::x, "The solution.")
      .member("residual_norms", &ConstrainedResult::residual_norms, "||a x - b||, for each column of b.")
      .member("rank", &ConstrainedResult::rank, "Rank of a on the null space of c.")
      .member("constraint_rank", &ConstrainedResult::constraint_rank, "Rank of c.")
      .member("condition", &ConstrainedResult::condition, "Condition of a on the null space of c.")
      .member("constraint_condition", &ConstrainedResult::constraint_condition,
              "Condition of the constraints that were kept.")
      .member("constraint_error", &ConstrainedResult::constraint_error,
              "Measured: ||c x - d|| / (||c|| ||x|| + ||d||).")
      .member("constraint_bound", &ConstrainedResult::constraint_bound, "Bound of constraint_error.")
      .member("original_units", &ConstrainedResult::original_units,
              "False if x minimizes ||D x||, where D holds the column norms; they differ too much for ||x||.")
      .member("status", &ConstrainedResult::status, "'ok' or 'rank deficient'.")
      .prints({"x", "rank", "constraint_rank", "status"});
  m.def("lse", solve_lse, "a"_a, "b"_a, "c"_a, "d"_a, nb::kw_only(), "overwrite_a"_a = false, "overwrite_b"_a = false,
        R"(Solve least squares with equality constraints: min ||a x - b|| subject to c x = d (LAPACK gglse).

Any shapes and ranks, of real or complex numbers. Among several solutions x has the least norm, or the least ||D x|| if the result's
original_units is False. Redundant constraints are not an error.

Parameters
----------
a : (m, n) array
b : (m,) or (m, k) array
c : (p, n) array
d : (p,) or (p, k) array

Raises
------
numpy.linalg.LinAlgError
    If the constraints contradict each other (status 'inconsistent') or a number is not finite.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.lse(np.eye(2), np.array([1., 2.]), np.ones((1, 2)), np.array([1.])).x, 12) + 0.
array([0., 1.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
