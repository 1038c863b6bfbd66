#include "interfaces/c/arguments.hpp"
#include "interfaces/c/objects.hpp"
#include <tesela/algorithms/qr/lapack_form.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/matrix_tasks.hpp>

namespace tesela::c {
namespace {

/// tesela_qr
struct AnyQr : Object {
  static std::string kind() { return "a QR factorization"; }
};
template <class T>
struct QrObject : AnyQr {
  QrObject(QrFactorization<T> f, const MatrixView<T>& of)
      : factorization(std::move(f)), factors("the array of qr", factorization.factors(), of) {}
  static std::string kind() { return "a QR factorization in " + precision<T>(); }
  std::string what() const override { return kind(); }
  const QrFactorization<T> factorization;
  const Tiles<T> factors;  ///< A, which must not be overwritten
};

template <class T>
std::shared_ptr<QrObject<T>> q_of(const tesela_qr* qr) {
  return object<QrObject<T>>("qr", qr);
}

/// Returns the operation for 'N', 'T' or 'C'; a complex Q has no 'T'.
template <class T>
Op operation_of_q(char trans) {
  const Op op = operation<T>("trans", trans);
  if (is_complex<T> && op == Op::transpose)
    throw WrongArgument("trans", in_quotes(trans) + ": a complex Q has the adjoint 'C' only");
  return op;
}

template <class T>
QrFactorization<T> checked_qr(Graph& g, const TileMatrix<T>& A) {
  QrFactorization<T> made = tesela::qr(g, A);
  report_not_finite(g, A, FinitePart::upper);
  return made;
}

/// Returns the info of a check of matrix `of`.
Code info_of(const Status& status, const char* of) {
  return status.ok() ? 0 : failed(status.info, not_finite_column(of, status));
}

}  // namespace

/// Factors A = Q R, m x n (LAPACK geqrf).
///
/// A        R overwrites the upper triangle and part of Q the rest; the handle holds Q's block factors. Only
///          tesela_?ormqr and tesela_?orgqr (unmqr and ungqr) read this form, not LAPACK. A must stay unchanged until
///          the handle is freed.
/// info     j > 0: column j of R is not finite, and there is no handle.
template <Number T>
Code geqrf(index_t m, index_t n, T* a, index_t lda, tesela_qr** qr) {
  require_sizes({{"m", m}, {"n", n}});
  const Array<T> array("a", a, {m, n}, "lda", lda);
  require_output_pointer("qr", qr);
  const Session session;
  FactoredQr<T> factored = tesela::qr<T>(session.runtime(), array);
  if (!factored.status.ok()) return failed(factored.status.info, not_finite_column("R", factored.status));
  hand_out(qr, std::make_shared<QrObject<T>>(std::move(factored.factors), array));
  return 0;
}

/// Factors A = Q R, m x n, as LAPACK does: ormqr and orgqr of any LAPACK read the result (LAPACK geqrf).
///
/// A        R overwrites the upper triangle, the reflectors' vectors the rest; tau, min(m, n) numbers, has their
///          factors. They are computed on the host from Q, which takes additional memory and time (docs/c.md).
/// info     as in geqrf.
template <Number T>
Code geqrf_tau(index_t m, index_t n, T* a, index_t lda, T* tau) {
  require_sizes({{"m", m}, {"n", n}});
  const index_t k = std::min(m, n);
  const Array<T> array("a", a, {m, n}, "lda", lda), factors("tau", tau, k);
  require_no_overlap({array, factors});
  const Session session;
  HostMatrix<T> q(m, k);
  {
    const FactoredQr<T> factored = tesela::qr<T>(session.runtime(), array);
    if (!factored.status.ok()) return failed(factored.status.info, not_finite_column("R", factored.status));
    if (const Code info = info_of(factored.factors.form_q(session.runtime(), q), "Q"); info != 0) return info;
  }
  to_lapack_form(m, n, a, lda, q, tau);
  return 0;
}

/// Overwrites C (m x n) with op(Q) C for side 'L' or C op(Q) for 'R' (LAPACK ormqr). The order of Q is the number of
/// rows of A; trans is 'N' or 'T', for complex numbers 'N' or 'C'. info = j > 0: column j of the product is not finite.
template <Number T>
Code ormqr(char side, char trans, index_t m, index_t n, tesela_qr* qr, T* c, index_t ldc) {
  const Side where = choice("side", side, 'L', 'R') ? Side::left : Side::right;
  const Op op = operation_of_q<T>(trans);
  require_sizes({{"m", m}, {"n", n}});
  const auto q = q_of<T>(qr);
  const QrFactorization<T>& f = q->factorization;
  if ((where == Side::left ? m : n) != f.m())
    throw WrongArgument(where == Side::left ? "m" : "n", "Q is of order " + std::to_string(f.m()));
  const Array<T> array("c", c, {m, n}, "ldc", ldc);
  require_no_overlap({array}, {q->factors.memory});
  const Session session;
  return info_of(f.apply(session.runtime(), where, op, array), "op(Q) C or C op(Q)");
}

/// Stores the first n columns of Q, which has m rows, in `q` (LAPACK orgqr). info as in ormqr.
template <Number T>
Code orgqr(index_t m, index_t n, tesela_qr* qr, T* q, index_t ldq) {
  require_sizes({{"m", m}, {"n", n}});
  const auto held = q_of<T>(qr);
  const QrFactorization<T>& f = held->factorization;
  if (m != f.m()) throw WrongArgument("m", "Q is of order " + std::to_string(f.m()));
  if (n > m) throw WrongArgument("n", "Q has " + std::to_string(m) + " columns");
  const Array<T> array("q", q, {m, n}, "ldq", ldq);
  require_no_overlap({array}, {held->factors.memory});
  const Session session;
  return info_of(f.form_q(session.runtime(), array), "Q");
}

/// As geqrf, for a matrix in tiles; waits.
template <Number T>
Code geqrf_tile(tesela_matrix* a, tesela_qr** qr) {
  const Tiles<T> A = tiles<T>("a", a);
  require_output_pointer("qr", qr);
  const Session session;
  Graph g(session);
  auto made = std::make_shared<QrObject<T>>(checked_qr<T>(g, A), A.memory);
  const Status status = g.wait();
  if (!status.ok()) return failed(status.info, not_finite_column("R", status));
  hand_out(qr, std::move(made));
  return 0;
}

/// As ormqr, for C in tiles; waits. For side 'L' the rows of C have the tile rows of A; for 'R' its columns have them.
template <Number T>
Code ormqr_tile(char side, char trans, tesela_qr* qr, tesela_matrix* c) {
  const Side where = choice("side", side, 'L', 'R') ? Side::left : Side::right;
  const Op op = operation_of_q<T>(trans);
  const auto q = q_of<T>(qr);
  const Tiles<T> C = tiles<T>("c", c);
  require_no_overlap<Tiles<T>>({C}, {q->factors});
  const Session session;
  Graph g(session);
  q->factorization.apply(g, where, op, C);
  report_not_finite(g, C);
  return info_of(g.wait(), "op(Q) C or C op(Q)");
}

/// As orgqr, into a matrix in tiles with the rows and tile rows of A; waits.
template <Number T>
Code orgqr_tile(tesela_qr* qr, tesela_matrix* q) {
  const auto held = q_of<T>(qr);
  const Tiles<T> Q = tiles<T>("q", q);
  require_no_overlap<Tiles<T>>({Q}, {held->factors});
  const Session session;
  Graph g(session);
  held->factorization.form_q(g, Q);
  report_not_finite(g, Q);
  return info_of(g.wait(), "Q");
}

/// Inserts geqrf_tile into a graph. The handle can be used for further insertions at once.
template <Number T>
Code geqrf_async(tesela_graph* graph, tesela_matrix* a, tesela_qr** qr) {
  const auto into = object<GraphObject>("graph", graph);
  const Tiles<T> A = tiles<T>("a", a);
  require_output_pointer("qr", qr);
  const Session session;
  into->insert([&](Graph& g) { hand_out(qr, std::make_shared<QrObject<T>>(checked_qr<T>(g, A), A.memory)); });
  return 0;
}

/// Inserts ormqr_tile into a graph.
template <Number T>
Code ormqr_async(tesela_graph* graph, char side, char trans, tesela_qr* qr, tesela_matrix* c) {
  const auto into = object<GraphObject>("graph", graph);
  const Side where = choice("side", side, 'L', 'R') ? Side::left : Side::right;
  const Op op = operation_of_q<T>(trans);
  const auto q = q_of<T>(qr);
  const Tiles<T> C = tiles<T>("c", c);
  require_no_overlap<Tiles<T>>({C}, {q->factors});
  const Session session;
  into->insert([&](Graph& g) {
    q->factorization.apply(g, where, op, C);
    report_not_finite(g, C);
  });
  return 0;
}

/// Inserts orgqr_tile into a graph.
template <Number T>
Code orgqr_async(tesela_graph* graph, tesela_qr* qr, tesela_matrix* q) {
  const auto into = object<GraphObject>("graph", graph);
  const auto held = q_of<T>(qr);
  const Tiles<T> Q = tiles<T>("q", q);
  require_no_overlap<Tiles<T>>({Q}, {held->factors});
  const Session session;
  into->insert([&](Graph& g) {
    held->factorization.form_q(g, Q);
    report_not_finite(g, Q);
  });
  return 0;
}

/// Inserts a copy of R into a graph: min(m, n) … m rows by n, with zeros below its diagonal and the tiles of A.
template <Number T>
Code extract_r_async(tesela_graph* graph, tesela_qr* qr, tesela_matrix* r) {
  const auto into = object<GraphObject>("graph", graph);
  const auto held = q_of<T>(qr);
  const Tiles<T> R = tiles<T>("r", r);
  require_no_overlap<Tiles<T>>({R}, {held->factors});
  const Session session;
  into->insert([&](Graph& g) { held->factorization.extract_r(g, R); });
  return 0;
}

/// Destroys the handle: A may change again. NULL is allowed.
Code qr_free(tesela_qr* qr) { return free_handle<AnyQr>("qr", qr); }

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

struct QrResult {
  AnyArray q = nb::none(), r, p = nb::none();
  nb::tuple copied;
};

template <class T>
struct Factors {
  std::optional<NewMatrix<T>> q, r;
  Columns<T> a;
  Status status = {};
};

/// Returns R and the first `columns` columns of Q. Without Q, R overwrites a or its copy.
template <class T>
Factors<T> factors(const c::Session& session, const Argument& a, index_t columns, bool with_q, bool overwrite_a) {
  Factors<T> found{std::nullopt, std::nullopt, Columns<T>::overwriting(session, a, overwrite_a)};
  if (!with_q) {
    found.status = tesela::qr<T>(session.runtime(), found.a, {}, {});
    return found;
  }
  found.q.emplace(Shape{a.rows(), columns}, a.place());
  found.r.emplace(Shape{columns, a.cols()}, a.place());
  found.status = tesela::qr<T>(session.runtime(), found.a, found.q->view(), found.r->view());
  return found;
}

QrResult qr(const ArrayLike& a_given, const std::string& mode, Flag overwrite_a) {
  const Argument a("a", a_given, Numbers::complex_too);
  if (a.is_vector()) throw nb::value_error("a must be a matrix");
  if (mode != "full" && mode != "economic" && mode != "r")
    throw nb::value_error("mode must be 'full', 'economic' or 'r'");
  const index_t columns = mode == "economic" ? std::min(a.rows(), a.cols()) : a.rows();
  return in_number_type({&a}, [&]<class T>(T) {
    Factors<T> found = with_workers(
        [&](const c::Session& session) { return factors<T>(session, a, columns, mode != "r", overwrite_a); });
    if (!found.status.ok())
      raise_lin_alg_error(column("r", found.status.info - 1) + " is not finite", "not finite", nb::none());
    QrResult result;
    result.copied = copied<T>({{&a, &found.a}});
    if (found.q) result.q = std::move(*found.q).to_python();
    result.r = found.r ? std::move(*found.r).to_python() : to_python(a, std::move(found.a));
    return result;
  });
}

/// Returns Q c, or c Q for `right`, and R in the upper triangle of a matrix, for a = Q R with a square Q.
nb::tuple qr_apply(const ArrayLike& a_given, const ArrayLike& c_given, Flag right) {
  const Argument a("a", a_given, Numbers::complex_too), c("c", c_given, Numbers::complex_too);
  if (a.is_vector() || c.is_vector()) throw nb::value_error("a and c must be matrices");
  right ? c.require_cols(a.rows()) : c.require_rows(a.rows());
  return in_number_type({&a, &c}, [&]<class T>(T) {
    auto [product, r, status] = with_workers([&](const c::Session& session) {
      auto factored = Columns<T>::overwriting(session, a, false), applied = Columns<T>::overwriting(session, c, false);
      const FactoredQr<T> f = tesela::qr<T>(session.runtime(), factored);
      if (f.status.ok()) f.factors.apply(session.runtime(), right ? Side::right : Side::left, Op::none, applied);
      return std::tuple(std::move(applied), std::move(factored), f.status);
    });
    if (!status.ok()) raise_lin_alg_error(column("r", status.info - 1) + " is not finite", "not finite", nb::none());
    return nb::make_tuple(to_python(c, std::move(product)), to_python(a, std::move(r)));
  });
}

const Part part([](nb::module_& m) {
  m.def("_qr_apply", qr_apply, "a"_a, "c"_a, "right"_a);
  ResultClass<QrResult> result(m, "QrResult", "Result of `qr`: q, r and p, or a part. It can be unpacked.");
  result.member("q", &QrResult::q, "Orthonormal columns, or None.")
      .member("r", &QrResult::r, "Upper trapezoid.")
      .member("p", &QrResult::p, "Columns of a in their order with pivoting, or None.")
      .member("copied", &QrResult::copied, copied_doc)
      .prints({"q", "r"});
  unpacks<QrResult>(result, [](const QrResult& r) {
    nb::list members;
    for (const AnyArray* member : {&r.q, &r.r, &r.p})
      if (!member->is_none()) members.append(*member);
    return nb::tuple(members);
  });
  m.def("qr", qr, "a"_a, nb::kw_only(), "mode"_a = "full", "overwrite_a"_a = false, R"(Factor a = q r by tiles.

Parameters
----------
a : (m, n) array
mode : {'full', 'economic', 'r'}
    'full' returns q with m columns, 'economic' with min(m, n), and 'r' returns r alone, as in scipy.linalg.qr.
overwrite_a : bool
    Whether the function may overwrite the array, which saves a copy if it is in Fortran order; with mode 'r' r is then
    a itself.

Examples
--------
>>> import numpy as np, tesela
>>> q, r = tesela.qr(np.array([[3., 1.], [4., 2.]]))
>>> bool(np.allclose(q @ r, [[3, 1], [4, 2]]))
True
)");
});

}  // namespace
}  // namespace tesela::python
#endif
