#include <tesela/algorithms/mimo/internal/ordered_tiles.hpp>
#include <tesela/algorithms/mimo/orderings.hpp>
#include <tesela/codelets/mimo/small_qr.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {

namespace mimo {

void require_finite(const char* argument, const HostMatrix<double>& a) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      if (!std::isfinite(a(i, j)))
        refuse(argument,
               "the value at [" + std::to_string(i) + ", " + std::to_string(j) + "] (from zero) is not finite");
}

}  // namespace mimo

using namespace mimo;
using kernels::OrderedQrs;
namespace {

constexpr Named<OrderingBuild> builds[] = {
    {OrderingBuild::full, "full", "each by reflectors, independently"},
    {OrderingBuild::prefix, "prefix", "orders with equal first columns share their first steps"},
};
constexpr Named<OrderingStrategy> strategies[] = {
    {OrderingStrategy::per_signal, "per-signal", "a QR for each signal"},
    {OrderingStrategy::copy_all, "copy-all", "all n! in host memory"},
    {OrderingStrategy::lazy, "lazy", "all n! where they were computed, copied on request"},
    {OrderingStrategy::owner, "owner", "all n! distributed over the GPUs; a search runs on the GPU of its block"},
};

double factorial(index_t n) {
  double product = 1;
  for (index_t k = 2; k <= n; ++k) product *= static_cast<double>(k);
  return product;
}

/// Returns the blocks of a table. Each has the orders of two first columns, in whole groups; small tables have one.
index_t blocks_of(index_t n) { return n < 6 ? 1 : n * (n - 1); }

HostMatrix<double> checked(HostMatrix<double> h, const OrderingOptions& options) {
  const index_t n = h.rows();
  if (h.cols() != n || n < 1) refuse("H", to_string(h.shape()) + "; n x n");
  if (n > 20) refuse("n", std::to_string(n) + "; at most 20");
  require_finite("H", h);
  const bool table = options.strategy != OrderingStrategy::per_signal;
  if (n > OrderedQrs::most && !table) refuse("n", std::to_string(n) + "; at most 11");
  if (n > OrderedQrs::most)
    throw EnvironmentError("mimo orderings: all factorizations of " + std::to_string(n) + " columns take " +
                           std::to_string(static_cast<std::uint64_t>(ordering_bytes(n))) +
                           " bytes; at most 11 columns, or per-signal orders (mimo detect --order gradient)");
  return h;
}

/// Returns H 2^-exponent.
HostMatrix<double> scaled(const HostMatrix<double>& h, int& exponent, bool& zero) {
  double largest = 0;
  for (index_t e = 0; e < h.size(); ++e) largest = std::fmax(largest, std::abs(h.data()[e]));
  zero = largest == 0;
  exponent = zero ? 0 : std::ilogb(largest);
  HostMatrix<double> made(h.rows(), h.cols());
  for (index_t e = 0; e < h.size(); ++e) made.data()[e] = std::ldexp(h.data()[e], -exponent);
  return made;
}

/// Returns LAPACK's geqrf with its factors in an additional column.
HostMatrix<double> factored(const HostMatrix<double>& a) {
  using Qr = kernels::SmallQr<double>;
  const index_t n = a.rows();
  HostMatrix<double> packed(n, n + 1);
  std::copy_n(a.data(), n * n, packed.data());
  double nothing = 0;
  int info = 0;
  std::vector<int> order(static_cast<std::size_t>(n));
  Qr::cpu({n, 0, ColumnOrder::natural, 0}, {{packed.data(), n, n, n}}, {{&nothing, 1, 1, 1}},
          {{packed.data() + n * n, n, 1, n}}, {{order.data(), n, 1, n}}, {{&info, 1, 1, 1}}, {{nullptr, 0, 0, 0}});
  return packed;
}

HostMatrix<double> upper(const HostMatrix<double>& packed) {
  HostMatrix<double> r = HostMatrix<double>::zeros(packed.rows(), packed.rows());
  for (index_t j = 0; j < r.cols(); ++j)
    for (index_t i = 0; i <= j; ++i) r(i, j) = packed(i, j);
  return r;
}

}  // namespace

std::span<const Named<OrderingBuild>> ordering_builds() { return builds; }
std::span<const Named<OrderingStrategy>> ordering_strategies() { return strategies; }

double ordering_bytes(index_t n) {
  constexpr auto group = static_cast<double>(OrderedQrs::together);
  return std::ceil(factorial(n) / group) * group * static_cast<double>(n * n) * 8;
}

OrderedDetector::OrderedDetector(Runtime& runtime, HostMatrix<double> H, const Constellation& alphabet,
                                 const OrderingOptions& options)
    : runtime_(runtime),
      h_(checked(std::move(H), options)),
      options_(options),
      h_tiles_(whole(runtime, h_, "H")),
      base_tiles_(runtime, 1, 1, {1, 1}),
      r_tiles_(runtime, 1, 1, {1, 1}),
      column_tiles_(runtime, 1, 1, {1, 1}),
      point_tiles_(runtime, 1, 1, {1, 1}) {
  const auto product = alphabet.product();
  if (product.empty()) refuse("alphabet", alphabet.name + " is not square QAM");
  set_buffer(options.buffer);
  HostMatrix<double> a = scaled(h_, args_.exponent, args_.zero);
  // All streams have equal columns: the amplitudes and labels of the real parts.
  const std::vector<Constellation> one{alphabet};
  const SearchLists lists = lists_of(one, SearchForm::real);
  columns_ = HostMatrix<kernels::SearchColumn>(1, n());
  for (index_t j = 0; j < n(); ++j) {
    columns_(0, j) = lists.columns(0, 0);
    double square = 0;
    for (index_t i = 0; i < n(); ++i) square += a(i, j) * a(i, j);
    args_.reach += std::sqrt(square) * columns_(0, j).largest;
  }
  points_ = lists.points.clone();
  base_ = factored(a);
  r_ = upper(base_);
  base_tiles_ = whole(runtime, base_, "Q0");
  r_tiles_ = whole(runtime, r_, "R0");
  column_tiles_ = whole(runtime, columns_, "columns");
  point_tiles_ = whole(runtime, points_, "points");
  blocks_ = blocks_of(n());
  each_ = static_cast<index_t>(factorial(n())) / blocks_;
}

bool OrderedDetector::has_table() const { return options_.strategy != OrderingStrategy::per_signal; }

bool OrderedDetector::on_host() const {
  return has_table() && (options_.strategy == OrderingStrategy::copy_all || runtime_.gpus() == 0);
}

Priority OrderedDetector::at(index_t block) const {
  return options_.strategy == OrderingStrategy::owner ? on_gpu_number(static_cast<std::size_t>(block)) : on_gpu;
}

void OrderedDetector::set_buffer(index_t signals) {
  if (signals < 0) refuse("buffer", std::to_string(signals) + " is negative");
  options_.buffer = signals;
}

double OrderedDetector::host_bytes() const { return 8 * static_cast<double>(home_.size()); }

void OrderedDetector::prepare(Graph& g) {
  if (!has_table()) return;
  const index_t rows = n() * n() * OrderedQrs::together, cols = ceil_div(each_, OrderedQrs::together);
  // Stored only when complete, so that the detector is usable after a cancelled or failed graph.
  HostMatrix<double> home = std::move(home_);
  std::optional<TileMatrix<double>> table = std::exchange(table_, std::nullopt);
  if (on_host()) {
    if (!table) home = HostMatrix<double>(rows, cols * blocks_);
    table.reset();
    table = TileMatrix<double>::map(runtime_, home.data(), rows, cols * blocks_, rows, {rows, cols}, "QRs");
  } else if (!table) {
    table.emplace(runtime_, rows, cols * blocks_, TileShape{rows, cols}, "QRs");
  }
  for (index_t b = 0; b < blocks_; ++b)
    g.insert<kernels::OrderedQr>(at(b), {n(), options_.build, b * each_, each_}, r_tiles_(0, 0), (*table)(0, b));
  g.wait();
  if (on_host()) {
    table.reset();
    table = whole(runtime_, home, "QRs");
  }
  home_ = std::move(home), table_ = std::move(table);
  factorizations_ += static_cast<double>(each_ * blocks_);
}

HostMatrix<double> OrderedDetector::factors(std::span<const int> order) const {
  if (static_cast<index_t>(order.size()) != n()) refuse("order", "has another length");
  const auto rank = static_cast<index_t>(permutation_rank(order));
  const index_t m = n(), numbers = m * m, rows = numbers * OrderedQrs::together;
  std::vector<double> one(static_cast<std::size_t>(numbers));
  const auto take = [&](const Block<const double>& packed, index_t k) {
    for (index_t e = 0; e < numbers; ++e) one[static_cast<std::size_t>(e)] = element(packed, k, e);
  };
  if (on_host() && table_) {
    take(block_of(home_), rank);
  } else if (table_) {
    take((*table_)(0, rank / each_).read(), rank % each_);
  } else {
    HostMatrix<double> packed(rows, 1);
    std::vector<int> listed{0};
    listed.insert(listed.end(), order.begin(), order.end());
    kernels::ListedQr::cpu({}, {block_of(r_)}, {{listed.data(), m + 1, 1, m + 1}}, {{packed.data(), rows, 1, rows}});
    take(block_of(packed), 0);
  }
  const auto at = [&](index_t i, index_t j) { return one[static_cast<std::size_t>(i + j * m)]; };
  HostMatrix<double> made = HostMatrix<double>::zeros(m, 2 * m);
  for (index_t j = 0; j < m; ++j) {
    for (index_t i = 0; i <= j; ++i) made(i, j) = std::ldexp(at(i, j), args_.exponent);
    double* const x = &made(0, m + j);
    x[j] = 1;
    const auto reflect = [&](index_t k, double tau, auto v) {
      double sum = x[k];
      for (index_t i = k + 1; i < m; ++i) sum += v(i) * x[i];
      x[k] -= tau * sum;
      for (index_t i = k + 1; i < m; ++i) x[i] -= v(i) * tau * sum;
    };
    for (index_t k = 0; k < m; ++k) reflect(k, base_(k, m), [&](index_t i) { return base_(i, k); });
    for (index_t k = 0; k < m; ++k) {
      double square = 0;
      for (index_t i = k + 1; i < m; ++i) square += at(i, k) * at(i, k);
      if (square > 0) reflect(k, 2 / (1 + square), [&](index_t i) { return at(i, k); });
    }
  }
  return made;
}

}  // namespace tesela
