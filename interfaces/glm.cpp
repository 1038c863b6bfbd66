#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/least_squares/glm.hpp>

extern "C" {
/// Results of ggglm other than x and y. Set size to sizeof(tesela_ggglm_result).
typedef struct tesela_ggglm_result {
  size_t size;
  int64_t status;         ///< TESELA_OK, TESELA_RANK_DEFICIENT, or the reason why there is no solution
  int64_t rank;           ///< rank of A
  int64_t rank_b;         ///< rank of the last n - rank rows of Q^H B
  double condition;       ///< condition of A with columns of unit norm
  double condition_b;     ///< condition of those rows
  double backward_error;  ///< measured
  double backward_bound;  ///< bound of backward_error
  double distance;        ///< distance of d from the range of [A B]
} tesela_ggglm_result;
}  // extern "C"

namespace tesela::c {
/// Solves the general Gauss-Markov linear model, min ||y||_2 subject to d = A x + B y (LAPACK ggglm).
///
/// A, B, d  A is n x m, B n x p, for any n, m and p; all three are overwritten.
/// x, y     m and p numbers. If A is rank deficient, which is not a failure, x has least norm.
/// info     > 0: the status; there is no x.
template <Number T>
Code ggglm(index_t n, index_t m, index_t p, T* a, index_t lda, T* b, index_t ldb, T* d, T* x, T* y,
           tesela_ggglm_result* result) {
  require_sizes({{"n", n}, {"m", m}, {"p", p}});
  const Array<T> array_a("a", a, {n, m}, "lda", lda), array_b("b", b, {n, p}, "ldb", ldb), array_d("d", d, n),
      array_x("x", x, m), array_y("y", y, p);
  require_no_overlap({array_a, array_b, array_d, array_x, array_y});
  tesela_ggglm_result whole = read_versioned_struct("result", result);
  const Session session;
  const Glm<T> answer = glm(session, array_a, array_b, array_d);
  array_x.take(answer.X);
  array_y.take(answer.U);
  whole.status = code_of(answer.status);
  whole.rank = answer.rank;
  whole.rank_b = answer.rank_b;
  whole.condition = answer.condition;
  whole.condition_b = answer.condition_b;
  whole.backward_error = answer.backward_error.error;
  whole.backward_bound = answer.backward_error.limit();
  if (!answer.distances.empty()) whole.distance = answer.distances[0];
  write_versioned_struct(whole, result);
  return is_solved(answer.status) ? 0 : failed(whole.status, description(answer.status));
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/solutions.hpp"

namespace tesela::python {
namespace {

struct GlmResult {
  AnyArray x, y;
  index_t rank = 0, rank_b = 0;
  double condition = 1, condition_b = 1, backward_error = 0, backward_bound = 0;
  bool original_units = true;
  std::string status;
};

GlmResult solve_glm(const ArrayLike& a_given, const ArrayLike& b_given, const ArrayLike& d_given, Flag overwrite_a,
                    Flag overwrite_b) {
  constexpr Numbers any = Numbers::complex_too;
  const Argument a("a", a_given, any), b("b", b_given, any), d("d", d_given, any);
  b.require_rows(a.rows());
  d.require_rows(a.rows());
  return in_number_type({&a, &b, &d}, [&]<class T>(T) {
    auto found = with_workers([&](const c::Session& session) {
      const auto columns_a = Columns<T>::overwriting(session, a, overwrite_a && a.apart({&b})),
                 columns_b = Columns<T>::overwriting(session, b, overwrite_b),
                 right = Columns<T>::overwriting(session, d, false);
      return glm(session, columns_a, columns_b, right);
    });
    const bool solved = is_solved(found.status);
    GlmResult result;
    result.x = solved ? to_python_like(d, std::move(found.X)) : nb::none();
    result.y = solved ? to_python_like(d, std::move(found.U)) : nb::none();
    result.rank_b = found.rank_b;
    result.condition_b = found.condition_b;
    return finished("glm", std::move(result), found, solved);
  });
}

const Part part([](nb::module_& m) {
  ResultClass<GlmResult>(m, "GlmResult", "Result of `glm`.")
      .member("x", &GlmResult::x, "The solution.")
      .member("y", &GlmResult::y, "The y of least norm with d = a x + b y.")
      .member("rank", &GlmResult::rank, "Rank of a.")
      .member("rank_b", &GlmResult::rank_b, "Rank of the last n - rank rows of q' b.")
      .member("condition", &GlmResult::condition, "Condition of a with columns of unit norm.")
      .member("condition_b", &GlmResult::condition_b, "Condition of those rows.")
      .member("backward_error", &GlmResult::backward_error, "Measured.")
      .member("backward_bound", &GlmResult::backward_bound, "Bound of backward_error.")
      .member("original_units", &GlmResult::original_units,
              "False if x minimizes ||D x||, where D holds the column norms; they differ too much for ||x||.")
      .member("status", &GlmResult::status, "'ok' or 'rank deficient'.")
      .prints({"x", "rank", "rank_b", "status"});
  m.def("glm", solve_glm, "a"_a, "b"_a, "d"_a, nb::kw_only(), "overwrite_a"_a = false, "overwrite_b"_a = false,
        R"(Solve the general Gauss-Markov linear model: min ||y|| subject to d = a x + b y (LAPACK ggglm).

Any shapes and ranks, of real or complex numbers. Among several x with the least ||y|| the result has the least norm, or the least ||D x|| if its
original_units is False.

Parameters
----------
a : (n, m) array
b : (n, p) array
d : (n,) or (n, k) array

Raises
------
numpy.linalg.LinAlgError
    If no x and y satisfy the equation (status 'inconsistent') or a number is not finite.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.glm(np.ones((3, 1)), np.eye(3), np.array([1., 2., 3.])).x, 12)
array([2.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
