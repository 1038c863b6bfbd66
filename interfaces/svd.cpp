#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/svd/low_rank_svd.hpp>
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/algorithms/svd/svd_batch.hpp>

namespace tesela::c {

/// Computes A = U diag(s) V^H, m x n, with k = min(m, n) values, descending (LAPACK gesdd).
///
/// jobz     'S' computes the first k columns of U and rows of V^H; 'A' all m and n; 'N' none: u and vt are not used.
/// A        only read.
/// s        k numbers.
/// u, vt    m x k and k x n, or m x m and n x n.
/// info     > 0: A is not finite, a value overflows, or the iteration did not converge; tesela_error() has the message.
template <Number T>
Code gesdd(char jobz, index_t m, index_t n, T* a, index_t lda, real_t<T>* s, T* u, index_t ldu, T* vt, index_t ldvt) {
  const bool all = jobz == 'A' || jobz == 'a', economic = jobz == 'S' || jobz == 's', some = all || economic;
  if (!some && jobz != 'N' && jobz != 'n')
    throw WrongArgument("jobz", in_quotes(jobz) + " is none of 'S', 'A' and 'N'");
  require_sizes({{"m", m}, {"n", n}});
  const index_t k = std::min(m, n);
  const Array<T> array("a", a, {m, n}, "lda", lda);
  const Array<real_t<T>> values("s", s, k);
  const auto left = Array<T>::if_wanted(some, "u", u, {m, all ? m : k}, "ldu", ldu);
  const auto right = Array<T>::if_wanted(some, "vt", vt, {all ? n : k, n}, "ldvt", ldvt);
  require_no_overlap({array, values, left, right});
  const Session session;
  const Svd<T> found = svd<T>(session, array,
                              {.vectors = all    ? SvdVectors::all
                                          : some ? SvdVectors::economic
                                                 : SvdVectors::none});
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::transform(found.values.begin(), found.values.end(), s,
                 [](double value) { return static_cast<real_t<T>>(value); });
  if (!some) return 0;
  left.take(*found.u);
  for (index_t j = 0; j < right.cols; ++j)
    for (index_t i = 0; i < right.rows; ++i) vt[i + j * ldvt] = conj((*found.v)(j, i));
  return 0;
}

/// Computes A_k = U_k diag(s_k) V_k^H for `count` matrices m x n with min(m, n) <= 64 and max(m, n) <= 1024.
///
/// jobz     as in gesdd.
/// A        matrix k begins at a + k n lda; only read.
/// s        min(m, n) numbers for each matrix.
/// u, vt    for each matrix as in gesdd: matrix k begins at u + k c ldu, where c is min(m, n) or m, and at vt + k n
/// ldvt. info     > 0: the number of the first matrix, from 1, that is not finite, overflows, or did not converge;
///          tesela_error() has the message. The results of matrices that are not finite are NaN; the others are valid.
template <Number T>
Code gesdd_batch(char jobz, index_t count, index_t m, index_t n, T* a, index_t lda, real_t<T>* s, T* u, index_t ldu,
                 T* vt, index_t ldvt) {
  const bool all = jobz == 'A' || jobz == 'a', economic = jobz == 'S' || jobz == 's', some = all || economic;
  if (!some && jobz != 'N' && jobz != 'n')
    throw WrongArgument("jobz", in_quotes(jobz) + " is none of 'S', 'A' and 'N'");
  require_sizes({{"count", count}, {"m", m}, {"n", n}});
  const index_t k = std::min(m, n), of_u = all ? m : k, of_v = all ? n : k;
  if (k > largest_svd_batch_side) throw WrongArgument(m < n ? "m" : "n", std::to_string(k) + " is more than 64");
  if (std::max(m, n) > largest_svd_batch_length)
    throw WrongArgument(m < n ? "n" : "m", std::to_string(std::max(m, n)) + " is more than 1024");
  const Array<T> array("a", a, {m, n * count}, "lda", lda);
  const Array<real_t<T>> values("s", s, k * count);
  const auto left = Array<T>::if_wanted(some, "u", u, {m, of_u * count}, "ldu", ldu);
  const auto right = Array<T>::if_wanted(some, "vt", vt, {of_v, n * count}, "ldvt", ldvt);
  require_no_overlap({array, values, left, right});
  const Session session;
  const SvdBatch<T> found = svd_batch<T>(session, array, count,
                                         all    ? SvdVectors::all
                                         : some ? SvdVectors::economic
                                                : SvdVectors::none);
  std::copy_n(found.values.data(), found.values.size(), s);
  if (some) {
    left.take(*found.u);
    for (index_t i = 0; i < count; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t r = 0; r < of_v; ++r) vt[r + (i * n + j) * ldvt] = conj((*found.v)(j, i * of_v + r));
  }
  if (found.ok()) return 0;
  return failed(static_cast<Code>(found.failures.front().matrix + 1), to_string(found.failures.front()));
}

/// Computes a decomposition of rank k by products with random vectors: A ~ U diag(s) V^H.
///
/// A            m x n; only read.
/// rank         k, at most min(m, n); `oversampling` more random vectors, 10 is usual; `power` iterations, 2 are usual.
/// seed         of the random vectors, not negative; the result depends only on it.
/// s            k numbers, descending.
/// u, vt        m x k and k x n.
/// error_bound  one number: ||A - U diag(s) V^H||_2 is not larger, with probability 1 - 3^-20.
/// info         > 0: A is not finite or a value overflows; tesela_error() has the message.
template <Number T>
Code low_rank_svd(index_t m, index_t n, T* a, index_t lda, index_t rank, index_t oversampling, index_t power,
                  index_t seed, real_t<T>* s, T* u, index_t ldu, T* vt, index_t ldvt, double* error_bound) {
  require_sizes({{"m", m}, {"n", n}, {"rank", rank}, {"oversampling", oversampling}, {"power", power}, {"seed", seed}});
  if (rank > std::min(m, n))
    throw WrongArgument("rank", std::to_string(rank) + " of " + std::to_string(std::min(m, n)));
  if (power > 1000) throw WrongArgument("power", std::to_string(power) + " is more than 1000");
  require_pointer("error_bound", error_bound);
  const Array<T> array("a", a, {m, n}, "lda", lda), left("u", u, {m, rank}, "ldu", ldu),
      right("vt", vt, {rank, n}, "ldvt", ldvt);
  const Array<real_t<T>> values("s", s, rank);
  require_no_overlap({array, values, left, right});
  const Session session;
  const LowRankSvd<T> found = tesela::low_rank_svd<T>(
      session, array, {rank, oversampling, static_cast<int>(power), static_cast<std::uint64_t>(seed)});
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::transform(found.values.begin(), found.values.end(), s,
                 [](double value) { return static_cast<real_t<T>>(value); });
  left.take(*found.u);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < rank; ++i) vt[i + j * ldvt] = conj((*found.v)(j, i));
  *error_bound = found.error_bound;
  return 0;
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

struct SvdResult {
  AnyArray u, s, vh;
};

/// Returns the conjugate.
template <class T>
HostMatrix<T> conjugated(HostMatrix<T> x) {
  if constexpr (is_complex<T>)
    std::transform(x.data(), x.data() + x.size(), x.data(), [](T value) { return conj(value); });
  return x;
}

/// Copies U and V from tiles to memory at the argument's place.
template <class T>
void take_tiles(const c::Session& session, const Argument& a, Svd<T>& found, std::optional<NewMatrix<T>>& u,
                std::optional<NewMatrix<T>>& v) {
  if (found.u_tiles) u.emplace(copied_to(session, *found.u_tiles, a.place())), found.u_tiles.reset();
  if (found.v_tiles) v.emplace(copied_to(session, *found.v_tiles, a.place())), found.v_tiles.reset();
}

/// Returns (u, s, vh), or s alone; of the `largest` values if given.
AnyArray svd(const ArrayLike& a_given, Flag full_matrices, Flag compute_uv, std::optional<index_t> largest) {
  const Argument a("a", a_given, Numbers::complex_too);
  if (a.is_vector()) throw nb::value_error("a must be a matrix");
  SvdOptions options;
  options.vectors = !compute_uv ? SvdVectors::none : full_matrices && !largest ? SvdVectors::all : SvdVectors::economic;
  options.largest = largest;
  return in_number_type({&a}, [&]<class T>(T) -> AnyArray {
    options.in_tiles = !is_complex<T> && a.place().on_device();
    std::optional<NewMatrix<T>> u, v;
    Svd<T> found = with_workers([&](const c::Session& session) {
      Svd<T> result = tesela::svd<T>(session, Columns<T>(session, a), options);
      take_tiles(session, a, result, u, v);
      return result;
    });
    if (found.status.verdict == SvdStatus::Verdict::not_finite)
      raise_lin_alg_error(element("a", found.status.row, found.status.column) + " is not finite", "not finite",
                          nb::none());
    if (!found.status.ok()) raise_lin_alg_error("svd: " + to_string(found.status), to_string(found.status), nb::none());
    std::vector<real_t<T>> values;
    for (const double value : found.values) values.push_back(static_cast<real_t<T>>(value));
    const nb::object s = to_python(values, a.place());
    if (!compute_uv) return s;
    if (found.u) u.emplace(std::move(*found.u), a.place());
    if (found.v) v.emplace(conjugated(std::move(*found.v)), a.place());
    const nb::object vh = std::move(*v).to_python().attr("T");
    return nb::cast(SvdResult{std::move(*u).to_python(), s, vh});
  });
}

/// Returns (u, s, conj(v)) for `count` matrices, one below the other in C order: u is m x (c count), s min(m, n) x
/// count and v n x (c' count), all in Fortran order; u and v are None without compute_uv. The `result` of a LinAlgError
/// is the number of the first matrix that failed, from 0.
nb::tuple svd_batch(const ArrayLike& a_given, index_t count, Flag full_matrices, Flag compute_uv) {
  const Argument a("a", a_given, Numbers::complex_too);
  const SvdVectors vectors = !compute_uv ? SvdVectors::none : full_matrices ? SvdVectors::all : SvdVectors::economic;
  return in_number_type({&a}, [&]<class T>(T) -> nb::tuple {
    // The columns of the transpose are A's rows: A^T = conj(V) S conj(U)^H.
    SvdBatch<T> found = with_workers([&](const c::Session& session) {
      return tesela::svd_batch<T>(session, Columns<T>(session, a.transposed()), count, vectors);
    });
    if (!found.ok()) {
      const SvdBatchFailure& first = found.failures.front();
      raise_lin_alg_error("svd: " + to_string(first.status), to_string(first.status), nb::int_(first.matrix));
    }
    const nb::object s = to_python(std::move(found.values), a.place());
    if (!found.u) return nb::make_tuple(nb::none(), s, nb::none());
    return nb::make_tuple(to_python(conjugated(std::move(*found.v)), a.place()), s,
                          to_python(std::move(*found.u), a.place()));
  });
}

struct LowRankResult {
  AnyArray u, s, vh;
  double error_bound = 0;
};

LowRankResult randomized_svd(const ArrayLike& a_given, index_t rank, index_t oversampling, int power,
                             std::uint64_t seed) {
  const Argument a("a", a_given, Numbers::complex_too);
  if (a.is_vector()) throw nb::value_error("a must be a matrix");
  return in_number_type({&a}, [&]<class T>(T) -> LowRankResult {
    const bool in_tiles = !is_complex<T> && a.place().on_device();
    std::optional<NewMatrix<T>> u, v;
    LowRankSvd<T> found = with_workers([&](const c::Session& session) {
      LowRankSvd<T> result =
          low_rank_svd<T>(session, Columns<T>(session, a), {rank, oversampling, power, seed, in_tiles});
      take_tiles(session, a, result, u, v);
      return result;
    });
    if (found.status.verdict == SvdStatus::Verdict::not_finite)
      raise_lin_alg_error(element("a", found.status.row, found.status.column) + " is not finite", "not finite",
                          nb::none());
    if (!found.status.ok())
      raise_lin_alg_error("randomized_svd: " + to_string(found.status), to_string(found.status), nb::none());
    std::vector<real_t<T>> values;
    for (const double value : found.values) values.push_back(static_cast<real_t<T>>(value));
    if (found.u) u.emplace(std::move(*found.u), a.place());
    if (found.v) v.emplace(conjugated(std::move(*found.v)), a.place());
    const nb::object vh = std::move(*v).to_python().attr("T");
    return {std::move(*u).to_python(), to_python(values, a.place()), vh, found.error_bound};
  });
}

const Part part([](nb::module_& m) {
  m.def("_svd_batch", svd_batch, "a"_a, "count"_a, "full_matrices"_a, "compute_uv"_a);
  ResultClass<LowRankResult> low_rank(m, "LowRankResult",
                                      "Result of `randomized_svd`: u, s, vh and error_bound. It unpacks as u, s, vh.");
  low_rank.member("u", &LowRankResult::u, "Left singular vectors, as columns.")
      .member("s", &LowRankResult::s, "Singular values, descending.")
      .member("vh", &LowRankResult::vh, "Right singular vectors, as rows.")
      .member("error_bound", &LowRankResult::error_bound, "Bound of the 2-norm of a - u diag(s) vh.")
      .prints({"s", "error_bound"});
  unpacks<LowRankResult>(low_rank, [](const LowRankResult& r) { return nb::make_tuple(r.u, r.s, r.vh); });
  m.def("_randomized_svd", randomized_svd, "a"_a, "rank"_a, "oversampling"_a, "power"_a, "seed"_a);
  ResultClass<SvdResult> result(m, "SvdResult", "Result of `svd`: u, s and vh. It can be unpacked.");
  result.member("u", &SvdResult::u, "Left singular vectors, as columns.")
      .member("s", &SvdResult::s, "Singular values, descending.")
      .member("vh", &SvdResult::vh, "Right singular vectors, as rows.")
      .prints({"s"});
  unpacks<SvdResult>(result, [](const SvdResult& r) { return nb::make_tuple(r.u, r.s, r.vh); });
  m.def("_svd", svd, "a"_a, "full_matrices"_a, "compute_uv"_a, "largest"_a = nb::none());
});

}  // namespace
}  // namespace tesela::python
#endif
