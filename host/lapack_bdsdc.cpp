#include <tesela/host/by_type.hpp>
#include <tesela/host/internal/lapack_calls.hpp>
#include <tesela/host/lapack_svd.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

extern "C" {
#define TESELA_LAPACK(t, T)                                                                                            \
  void t##bdsdc_(const char*, const char*, const int*, T*, T*, T*, const int*, T*, const int*, T*, int*, T*, int*,     \
                 int*, std::size_t, std::size_t);                                                                      \
  void t##lasd0_(const int*, const int*, T*, T*, T*, const int*, T*, const int*, const int*, int*, T*, int*);          \
  void t##lasd2_(const int*, const int*, const int*, int*, T*, T*, const T*, const T*, T*, const int*, T*, const int*, \
                 T*, T*, const int*, T*, const int*, int*, int*, int*, int*, int*, int*);                              \
  void t##lasd3_(const int*, const int*, const int*, const int*, T*, T*, const int*, T*, T*, const int*, T*,           \
                 const int*, T*, const int*, T*, const int*, const int*, const int*, T*, int*);
TESELA_LAPACK(s, float)
TESELA_LAPACK(d, double)
#undef TESELA_LAPACK
}

namespace tesela::lapack {
namespace {

std::size_t size_of(index_t n) { return static_cast<std::size_t>(n); }

/// B = U diag(d) V^T for a bidiagonal B by LAPACK's divide and conquer. LAPACK's one workspace of 3 n^2 numbers exceeds
/// its 32-bit positions, so that the last joins (LAPACK lasd1) happen here, with three.
template <class T>
struct Halves {
  T* u;
  T* vt;
  index_t ldu, ldvt, most;

  /// Decomposes n rows and n + more columns from row and column `at` on; U and V^T are the identity there. The values
  /// are in no order.
  int solve(index_t at, index_t n, int more, T* d, T* e) const {
    if (n <= most) return by_lapack(at, n, more, d, e);
    const index_t above = n / 2, below = n - above - 1;
    int info = solve(at, above, 1, d, e);
    if (info == 0) info = solve(at + above + 1, below, more, d + above + 1, e + above + 1);
    return info != 0 ? info : join(at, above, below, more, d, e[above]);
  }

 private:
  T* u_at(index_t i) const { return u + i + i * ldu; }
  T* vt_at(index_t i) const { return vt + i + i * ldvt; }

  int by_lapack(index_t at, index_t n, int more, T* d, T* e) const {
    const int rows = narrow("bdsdc", n), ld_u = narrow("bdsdc", ldu), ld_vt = narrow("bdsdc", ldvt), leaf = 25;
    const index_t cols = n + more;
    std::vector<T> work(size_of(3 * cols * cols + 2 * cols));
    std::vector<int> integers(size_of(8 * n));
    int info = 0;
    by_type<T, slasd0_, dlasd0_>(&rows, &more, d, e, u_at(at), &ld_u, vt_at(at), &ld_vt, &leaf, integers.data(),
                                 work.data(), &info);
    return info;
  }

  /// Joins the decompositions of the rows above and below row `above`, which is d[above] and e.
  int join(index_t at, index_t above, index_t below, int more, T* d, T e) const {
    const index_t n = above + below + 1, m = n + more;
    T norm = std::max(std::abs(d[above]), std::abs(e)), alpha = d[above];
    d[above] = 0;
    for (index_t i = 0; i < n; ++i) norm = std::max(norm, std::abs(d[i]));
    if (norm == 0) norm = 1;
    for (index_t i = 0; i < n; ++i) d[i] /= norm;
    alpha /= norm, e /= norm;
    std::vector<int> idxp(size_of(n)), idx(idxp), idxc(idxp), coltyp(idxp), order(idxp);
    const auto sort = [](const T* values, int* positions, index_t count) {  // from 1, ascending
      std::iota(positions, positions + count, 1);
      std::sort(positions, positions + count, [&](int i, int j) { return values[i - 1] < values[j - 1]; });
    };
    sort(d, order.data(), above);
    sort(d + above + 1, order.data() + above + 1, below);
    const int nl = narrow("bdsdc", above), nr = narrow("bdsdc", below), ld_u = narrow("bdsdc", ldu),
              ld_vt = narrow("bdsdc", ldvt), rows = narrow("bdsdc", n), cols = narrow("bdsdc", m);
    std::vector<T> z(size_of(m)), sigma(size_of(n)), u2(size_of(n * n)), vt2(size_of(m * m));
    int k = 0, info = 0;
    by_type<T, slasd2_, dlasd2_>(&nl, &nr, &more, &k, d, z.data(), &alpha, &e, u_at(at), &ld_u, vt_at(at), &ld_vt,
                                 sigma.data(), u2.data(), &rows, vt2.data(), &cols, idxp.data(), idx.data(),
                                 idxc.data(), order.data(), coltyp.data(), &info);
    if (info != 0) return info;
    std::vector<T> q(size_of(k) * size_of(k));
    by_type<T, slasd3_, dlasd3_>(&nl, &nr, &more, &k, d, q.data(), &k, sigma.data(), u_at(at), &ld_u, u2.data(), &rows,
                                 vt_at(at), &ld_vt, vt2.data(), &cols, idxc.data(), coltyp.data(), z.data(), &info);
    for (index_t i = 0; i < n; ++i) d[i] *= norm;
    return info;
  }
};

/// Sorts the values in descending order, with the columns of U and the rows of V^T.
template <class T>
void sort_triples(index_t n, T* d, T* u, index_t ldu, T* vt, index_t ldvt) {
  std::vector<std::pair<index_t, index_t>> exchanges;
  for (index_t i = 0; i < n; ++i) {
    const index_t largest = std::max_element(d + i, d + n) - d;
    if (largest == i) continue;
    std::swap(d[i], d[largest]);
    std::swap_ranges(u + i * ldu, u + i * ldu + n, u + largest * ldu);
    exchanges.emplace_back(i, largest);
  }
  for (index_t j = 0; j < n; ++j)
    for (const auto& [i, k] : exchanges) std::swap(vt[i + j * ldvt], vt[k + j * ldvt]);
}

template <class T>
int by_halves(index_t n, T* d, T* e, T* u, index_t ldu, T* vt, index_t ldvt, index_t most) {
  constexpr T eps = std::numeric_limits<T>::epsilon() / 2;
  for (index_t j = 0; j < n; ++j) {
    std::fill_n(u + j * ldu, n, T(0));
    std::fill_n(vt + j * ldvt, n, T(0));
    u[j + j * ldu] = vt[j + j * ldvt] = 1;
  }
  T norm = 0;
  for (index_t i = 0; i < n; ++i) norm = std::max({norm, std::abs(d[i]), i + 1 < n ? std::abs(e[i]) : T(0)});
  if (norm == 0) return 0;
  for (index_t i = 0; i < n; ++i) {
    d[i] /= norm;
    if (std::abs(d[i]) < eps) d[i] = std::copysign(eps, d[i]);  // as bdsdc
    if (i + 1 < n) e[i] /= norm;
  }
  const Halves<T> halves{u, vt, ldu, ldvt, most};
  for (index_t first = 0; first < n;) {
    index_t end = first + 1;
    while (end < n && std::abs(e[end - 1]) >= eps) ++end;
    if (end - first == 1) {
      u[first + first * ldu] = std::copysign(T(1), d[first]);
      d[first] = std::abs(d[first]);
    } else if (const int info = halves.solve(first, end - first, 0, d + first, e + first); info != 0) {
      return info;
    }
    first = end;
  }
  for (index_t i = 0; i < n; ++i) d[i] *= norm;
  sort_triples(n, d, u, ldu, vt, ldvt);
  return 0;
}

}  // namespace

template <class T>
int bdsdc(index_t n, T* d, T* e, T* u, index_t ldu, T* vt, index_t ldvt, index_t most) {
  if (n == 0) return 0;
  const int order = narrow("bdsdc", n), ld_u = narrow("bdsdc", ldu), ld_vt = narrow("bdsdc", ldvt);
  if (n > most) return by_halves(n, d, e, u, ldu, vt, ldvt, most);
  std::vector<T> work(size_of(3 * n * n + 4 * n));
  std::vector<int> integers(size_of(8 * n));
  T no_q = 0;
  int no_iq = 0, info = 0;
  by_type<T, sbdsdc_, dbdsdc_>("U", "I", &order, d, e, u, &ld_u, vt, &ld_vt, &no_q, &no_iq, work.data(),
                               integers.data(), &info, 1, 1);
  return info;
}

template int bdsdc(index_t, float*, float*, float*, index_t, float*, index_t, index_t);
template int bdsdc(index_t, double*, double*, double*, index_t, double*, index_t, index_t);

}  // namespace tesela::lapack
