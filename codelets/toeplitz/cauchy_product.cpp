#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_part_body.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_rows.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tesela::kernels {
namespace cauchy {
namespace {

using Complex = std::complex<double>;

double angle(index_t n) { return std::numbers::pi / static_cast<double>(n + 1); }

/// Returns sum_k x(k) exp(-2 pi i j k / length) of a real sequence, for j = 0 ... length / 2.
std::vector<Complex> transformed(std::vector<double> x) {
  const auto n = static_cast<index_t>(x.size());
  std::vector<Complex> y(static_cast<std::size_t>(n / 2 + 1));
  fft::real_to_complex<double>(n, 1, x.data(), n, y.data(), n / 2 + 1);
  return y;
}

template <class T>
void add_tables(index_t n, int part, T* toeplitz, T* hankel) {
  const index_t rows = cauchy_rows(n, part), length = cauchy_length(n);
  const auto scale = 1 / static_cast<double>(length);
  const auto cot = [&](index_t k) { return scale / std::tan(static_cast<double>(k) * angle(n)); };
  std::vector<Complex> t(static_cast<std::size_t>(length)), h(t);
  for (index_t k = 1; k < rows; ++k) {
    t[static_cast<std::size_t>(k)] = cot(k);
    t[static_cast<std::size_t>(length - k)] = -cot(k);
  }
  for (index_t k = 0; k < 2 * rows - 1; ++k) h[static_cast<std::size_t>(k)] = cot(k + part + 1);
  for (auto [from, to] : {std::pair{&t, toeplitz}, std::pair{&h, hankel}}) {
    fft::transform<double>(fft::Direction::forward, length, 1, from->data(), length);
    for (index_t k = 0; k < length; ++k) {
      to[2 * k] = static_cast<T>((*from)[static_cast<std::size_t>(k)].real());
      to[2 * k + 1] = static_cast<T>((*from)[static_cast<std::size_t>(k)].imag());
    }
  }
}

}  // namespace

template <class T>
void multiply(index_t n, const T* tables, index_t ld_tables, const T* c, index_t ldc, const T* x, T* y, T* z) {
  using toeplitz::CauchyPart;
  const toeplitz::Host core;
  const index_t length = cauchy_length(n), half = cauchy_rows(n, 0);
  const In<T> all{{tables, 2 * length, 6, ld_tables}};
  const CauchyPart<T> parts[] = {CauchyPart<T>(n, 0, all, c, ldc, x, y, z),
                                 CauchyPart<T>(n, 1, all, c + half, ldc, x + half, y + half, z + 2 * length)};
  for (const CauchyPart<T>& p : parts) toeplitz::cauchy_part_begin(core, p);
  core.transform(fft::Direction::forward, length, 2, z, length);
  for (const CauchyPart<T>& p : parts) core.each(length, 1, toeplitz::PartMiddle<T>{p});
  core.transform(fft::Direction::backward, length, 2, z, length);
  for (const CauchyPart<T>& p : parts) core.each(p.rows, 1, toeplitz::PartEnd<T>{p});
}

template <class T>
void residual(const In<T>& c, const In<T>& tables, double sigma, const T* x, const T* y, T* r, T* z) {
  multiply(c.rows, tables.data, tables.ld, c.data, c.ld, y, r, z);
  for (index_t a = 0; a < c.rows; ++a) r[a] = x[a] - (r[a] - static_cast<T>(sigma) * y[a]);
}

TESELA_FUNCTIONS_FOR_REALS(multiply)
TESELA_FUNCTIONS_FOR_REALS(residual)

}  // namespace cauchy

using namespace cauchy;

template <class T>
void ToeplitzToCauchy<T>::cpu(const Args&, In<T> t, Out<T> c) {
  const index_t n = t.rows, period = 2 * (n + 1);
  std::vector<double> cosines(static_cast<std::size_t>(period)), sines(cosines);
  for (index_t k = 1; k < n; ++k) {
    sines[static_cast<std::size_t>(k)] = static_cast<double>(t(k, 0));
    cosines[static_cast<std::size_t>(k)] = static_cast<double>(n - k + 1) * static_cast<double>(t(k, 0));
  }
  const auto u = transformed(std::move(sines)), v = transformed(std::move(cosines));
  const double scale = 2 / static_cast<double>(n + 1);
  for (int part = 0; part < 2; ++part)
    for (index_t a = 0; a < cauchy_rows(n, part); ++a) {
      const index_t i = 2 * a + part + 1, row = part * cauchy_rows(n, 0) + a;
      const double f = static_cast<double>(i) * angle(n), sum = -u[static_cast<std::size_t>(i)].imag();
      c(row, 0) = static_cast<T>(-std::sqrt(scale) * sum / 2);
      c(row, 1) = static_cast<T>(std::sqrt(scale) * std::sin(f));
      c(row, 2) = static_cast<T>(static_cast<double>(t(0, 0)) +
                                 scale * (v[static_cast<std::size_t>(i)].real() + sum / std::tan(f)));
    }
}

template <class T>
void CauchyTables<T>::cpu(const Args& args, Out<T> tables) {
  const index_t n = args.n;
  for (int part = 0; part < 2; ++part) {
    add_tables(n, part, &tables(0, 2 * part), &tables(0, 2 * part + 1));
    for (index_t a = 0; a < cauchy_rows(n, part); ++a) {
      const double f = static_cast<double>(2 * a + part + 1) * angle(n);
      tables(part * cauchy_rows(n, 0) + a, 4) = static_cast<T>(1 / std::sin(f));
      tables(part * cauchy_rows(n, 0) + a, 5) = static_cast<T>(2 / std::tan(f));
    }
  }
}

template <class T>
void CauchyInverseError<T>::cpu(const Args&, In<T> c, In<T> tables, In<double> sigma, In<T> inverse, In<T> starts,
                                Out<double> quality, Scratch<T> work) {
  const index_t n = c.rows;
  T *const y = work.data, *const r = y + n, *const z = r + n;
  for (index_t s = 0; s < sigma.rows; ++s) {
    cauchy::multiply(n, tables.data, tables.ld, &inverse(0, 3 * s), inverse.ld, starts.data, y, z);
    residual(c, tables, sigma(s, 0), starts.data, y, r, z);
    for (int part = 0; part < 2; ++part)
      quality(part, s) = static_cast<double>(blas::nrm2(cauchy_rows(n, part), r + part * cauchy_rows(n, 0)));
  }
}

template <class T>
void CauchyInvertPart<T>::cpu(const Args& args, In<T> c, In<T> tables, In<double> sigma, In<T> starts, Out<T> inverse,
                              Out<double> report, Out<double> quality, Scratch<T> work) {
  cauchy::invert_part(c, sigma(0, 0), args.part, inverse, report.data);
  const toeplitz::Host core;
  const index_t n = c.rows, rows = inverse.rows, first = args.part * cauchy_rows(n, 0);
  T *const z = work.data, *const y = z + 2 * cauchy_length(n), *const r = y + rows;
  const T* const x = &starts(first, 0);
  toeplitz::cauchy_part_product(core, toeplitz::CauchyPart<T>(n, args.part, tables, inverse.data, inverse.ld, x, y, z));
  toeplitz::cauchy_part_product(core, toeplitz::CauchyPart<T>(n, args.part, tables, &c(first, 0), c.ld, y, r, z));
  for (index_t a = 0; a < rows; ++a) r[a] = x[a] - (r[a] - static_cast<T>(sigma(0, 0)) * y[a]);
  quality(0, 0) = static_cast<double>(blas::nrm2(rows, r));
}

TESELA_STRUCTS_FOR_REALS(ToeplitzToCauchy, CauchyTables, CauchyInverseError, CauchyInvertPart)

}  // namespace tesela::kernels
