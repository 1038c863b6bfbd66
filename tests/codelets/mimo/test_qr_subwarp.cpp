#include "tests/support/host_warp.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/codelets/mimo/internal/small_qr_subwarp_body.hpp>

// The algorithm for small matrices in the lanes of a warp (small_qr.cu), run on a core and compared with SmallQr.

using namespace tesela::test;
using namespace tesela::kernels;

namespace {

template <class F>
F as(std::complex<double> x) {
  if constexpr (std::is_floating_point_v<F>)
    return static_cast<F>(x.real());
  else
    return F(x);
}

template <class F>
struct Batch {
  index_t m, n, count, right;
  std::vector<F> a, b, tau;
  std::vector<int> order, info;
  Batch(index_t rows, index_t cols, index_t matrices, index_t sides)
      : m(rows),
        n(cols),
        count(matrices),
        right(sides),
        a(std::size_t(ld() * n * count), F(7)),
        b(std::size_t(ld() * std::max<index_t>(right * count, 1)), F(7)),
        tau(std::size_t(std::min(m, n) * count)),
        order(std::size_t(n * count)),
        info(std::size_t(count), 99) {}
  index_t ld() const { return m + 1; }
  Block<F> A() { return {a.data(), m, n * count, ld()}; }
  Block<F> B() { return {b.data(), m, right * count, ld()}; }
  Block<F> Tau() { return {tau.data(), std::min(m, n), count, std::min(m, n)}; }
  Block<int> Order() { return {order.data(), n, count, n}; }
  Block<int> Info() { return {info.data(), 1, count, 1}; }
};

template <int S, class F>
void lane_channels(const typename SmallQr<F>::Args& args, Batch<F>& p) {
  std::vector<typename mimo::NumberFor<F>::type> room(std::size_t(mimo::shared_numbers_per_warp<S>));
  for (index_t first = 0; first < p.count; first += 32 / S)
    HostWarp::run([&](HostWarp& warp) {
      if (args.rotations)
        mimo::lane_qr<S, F, true>(warp, args, p.A(), p.B(), p.Tau(), p.Order(), p.Info(), first, room.data());
      else
        mimo::lane_qr<S, F, false>(warp, args, p.A(), p.B(), p.Tau(), p.Order(), p.Info(), first, room.data());
    });
}

template <class F>
void same(bool rotations, index_t m, index_t n, ColumnOrder order, index_t right, const char* kind, double scale,
          index_t count = 5) {
  const bool mmse = order == ColumnOrder::mmse_sqrd;
  const typename SmallQr<F>::Args args{n, right, order, mmse ? 0.1 * scale * scale : 0, rotations};
  Batch<F> p(m, n, count, right);
  const auto from = random_channels<double>({n, m, count, 1}, parse_channel("test", kind), 5);
  for (index_t j = 0; j < n * count; ++j)
    for (index_t i = 0; i < m; ++i) p.A()(i, j) = as<F>(from(i, j) * scale);
  for (index_t j = 0; j < right * count; ++j)
    for (index_t i = 0; i < m; ++i) p.B()(i, j) = as<F>({std::sin(double(i + 3 * j)), 0.5});
  Batch<F> expected = p;
  SmallQr<F>::cpu(args, {expected.A()}, {expected.B()}, {expected.Tau()}, {expected.Order()}, {expected.Info()}, {});
  const index_t size = std::max(m, n);
  if (size <= 4)
    lane_channels<4, F>(args, p);
  else if (size <= 8)
    lane_channels<8, F>(args, p);
  else
    lane_channels<16, F>(args, p);
  CAPTURE(rotations, m, n, int(order), right, kind, scale);
  CHECK(p.order == expected.order);
  CHECK(p.info == expected.info);
  const double eps = std::numeric_limits<decltype(std::abs(F()))>::epsilon();
  const auto far = [](const std::vector<F>& x, const std::vector<F>& y) {
    double largest = 0;
    for (std::size_t e = 0; e < x.size(); ++e) largest = std::max(largest, double(std::abs(x[e] - y[e])));
    return largest;
  };
  if (kind == std::string("rayleigh")) {
    // R has the scale of the matrix, and reflectors and tau have scale 1; `bound` covers both.
    const double bound = 2000 * eps * std::max(scale, 1.0);
    CHECK(far(p.tau, expected.tau) <= 2000 * eps);
    CHECK(far(p.a, expected.a) <= bound);
    CHECK(far(p.b, expected.b) <= 2000 * eps);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("lanes with one column each factor like a core", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using F = TestType;
  for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {4, 4}, {5, 2}, {2, 5}, {8, 8}, {3, 7}, {16, 9}})
    for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::sqrd, ColumnOrder::mmse_sqrd})
      for (const index_t right : {0, 3}) {
        if (order == ColumnOrder::mmse_sqrd && m <= n) continue;
        for (const bool rotations : {false, true}) same<F>(rotations, m, n, order, right, "rayleigh", 1);
      }
  same<F>(false, 4, 4, ColumnOrder::natural, 5, "rayleigh", 1, 9);
}

TEMPLATE_TEST_CASE("lanes factor any number and size of matrices, also empty or not finite", "", float,
                   std::complex<double>) {
  using F = TestType;
  const double high = sizeof(F) == 4 ? 1e36 : 1e300;
  for (const bool rotations : {false, true}) {
    for (const double scale : {high, 1 / high}) same<F>(rotations, 4, 3, ColumnOrder::sqrd, 1, "rayleigh", scale);
    same<F>(rotations, 4, 4, ColumnOrder::natural, 1, "zero", 1);
  }
  Batch<F> p(4, 3, 9, 0);
  for (std::size_t e = 0; e < p.a.size(); ++e) p.a[e] = F(std::sin(double(e)));
  p.A()(2, 4) = F(NAN), p.A()(1, 5) = F(INFINITY), p.A()(3, 26) = F(-INFINITY);
  if constexpr (!std::is_floating_point_v<F>) p.A()(2, 4) = {1, NAN};
  lane_channels<4, F>({3, 0, ColumnOrder::natural, 0}, p);
  for (index_t k = 0; k < 9; ++k) CHECK(p.info[std::size_t(k)] == (k == 1 ? -(1 + 2 + 4) : k == 8 ? -(1 + 3 + 8) : 0));
}
