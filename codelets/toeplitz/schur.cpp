#include <tesela/codelets/toeplitz/internal/lattice.hpp>
#include <tesela/codelets/toeplitz/internal/schur_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/schur.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {
namespace {

constexpr index_t grain = lattice_grain;

/// The steps of a tile on its own pairs.
template <class T>
class Triangle {
 public:
  Triangle(index_t first, index_t count, double* report) : next_(first), end_(first + count), report_(report) {}

  /// Notes a pivot of this order.
  void pivot(T number, index_t order) {
    const auto beta = real_part(number);  // real up to rounding
    last_ = beta;
    report_[levinson_negative] += beta < 0 ? 1 : 0;
    report_[levinson_least] = std::min(report_[levinson_least], std::abs(static_cast<double>(beta)));
    if (beta == 0 || !is_finite(number)) breaks(order);
  }
  bool broken() const { return report_[levinson_breakdown] != 0; }
  T last_pivot() const { return last_; }

  /// Runs m steps on m pairs: half of the steps on half of the pairs, then on the others, then the other steps.
  void run(index_t m, T* u, T* v, T* rho, T* edge, T* work) {
    if (m == grain) return run_grain(u, v, rho, edge);
    const index_t half = m / 2;
    run(half, u, v, rho, edge, work);
    lattice_apply<T>({rho, half, u + half, v + half, half, edge, work});
    run(half, u + half, v + half, rho + half, edge + half, work);
  }

 private:
  void breaks(index_t order) { report_[levinson_breakdown] = static_cast<double>(order); }

  void run_grain(const T* from_u, const T* from_v, T* rho, T* edge) {
    T u[grain + lattice_padding] = {}, v[grain + lattice_padding] = {};
    std::copy_n(from_u, grain, u);
    std::copy_n(from_v, grain, v);
    for (index_t k = 0; k < grain; ++k) {
      rho[k] = 0;
      if (next_ == end_ || broken()) continue;
      const T r = converted<T>(-converted<with_parts<T, double>>(v[k]) / static_cast<double>(real_part(u[0])));
      const index_t order = ++next_ + 1;
      if (!is_finite(r)) {
        breaks(order);
        continue;
      }
      rho[k] = r;
      report_[levinson_growth] = std::max(report_[levinson_growth], static_cast<double>(std::abs(r)));
      lattice_step(k, r, u, v);
      pivot(u[0], order);
    }
    std::reverse_copy(u, u + grain, edge);
  }

  index_t next_, end_;
  double* report_;
  T last_ = 0;
};

}  // namespace

index_t schur_join_rows(index_t m) { return toeplitz_rows(fft::good_size(m)); }

template <class T>
void SchurGenerator<T>::cpu(const Args& args, In<T> t, Out<T> generator) {
  toeplitz::Host{}.each(generator.rows, 2, schur::Pairs<T>{t.data, t.rows, args.first, generator.data, generator.ld});
}

template <class T>
void SchurTriangle<T>::cpu(const Args& args, InOut<T> generator, Out<T> rho, Out<T> edge, InOut<double> report,
                           Scratch<T> work) {
  const index_t m = generator.rows;
  Triangle<T> triangle(args.first, args.count, report.data);
  if (args.first == 0) triangle.pivot(generator(0, 0), 1);
  triangle.run(m, generator.data, &generator(0, 1), rho.data, edge.data, work.data);
  rho.data[m] = T(static_cast<real_t<T>>(report.data[levinson_breakdown]));
  rho.data[m + 1] = triangle.last_pivot();
}

template <class T>
void SchurApply<T>::cpu(const Args&, In<T> rho, InOut<T> generator, InOut<T> edge, Scratch<T> work) {
  const index_t m = generator.rows;
  if (rho.data[m] != T(0)) return;
  lattice_apply<T>({rho.data, m, generator.data, &generator(0, 1), m, edge.data, work.data});
}

template <class T>
void SchurTransfer<T>::cpu(const Args&, In<T> rho, Out<T> transfer, Scratch<T> work) {
  // After k steps a has k coefficients and u, which is z times c, has k + 1.
  const index_t m = transfer.rows, part = std::max(grain, m / 8);
  T *const a = transfer.data, *const c = &transfer(0, 1), *const edge = work.data, *const more = edge + part;
  std::fill_n(a, m, T(0));
  std::fill_n(c, m, T(0));
  a[0] = 1;
  T last = 0;
  for (index_t k = 0; k < m; k += part) {
    c[k] = last;
    std::fill_n(edge, part, T(0));
    lattice_apply<T>({rho.data + k, part, c, a, k + part, edge, more});
    last = edge[part - 1];
  }
  std::copy(c + 1, c + m, c);
  c[m - 1] = last;
}

template <class T>
void SchurJoin<T>::cpu(const Args&, In<T> first, In<T> second, Out<T> joined, Scratch<T> work) {
  toeplitz::Host machine;
  schur::join<toeplitz::Host, T>(machine, {first.data, &first(0, 1)}, {second.data, &second(0, 1)}, first.rows,
                                 second.rows, 1, joined.data, &joined(0, 1), work.data);
}

template <class T>
void SchurInverse<T>::cpu(const Args&, In<T> transfer, In<T> rho, Out<T> inverse, InOut<double> report) {
  const index_t n = inverse.rows, m = rho.rows - 2;
  toeplitz::Host{}.each(n, 1,
                        schur::InverseColumn<T>{transfer.data, &transfer(0, 1), transfer.rows, rho.data + m,
                                                rho.data + m + 1, inverse.data});
  if (std::all_of(inverse.data, inverse.data + n, [](T x) { return is_finite(x); })) return;
  std::fill_n(inverse.data, n, T(0));
  report.data[levinson_breakdown] = static_cast<double>(n);
}

#define TESELA_SCHUR(T)              \
  template struct SchurGenerator<T>; \
  template struct SchurTriangle<T>;  \
  template struct SchurApply<T>;     \
  template struct SchurTransfer<T>;  \
  template struct SchurJoin<T>;      \
  template struct SchurInverse<T>;
TESELA_SCHUR(float)
TESELA_SCHUR(double)
TESELA_SCHUR(std::complex<double>)

}  // namespace tesela::kernels
