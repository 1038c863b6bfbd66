#include "bench/least_squares/weights_peer.hpp"

#include "bench/least_squares/ols_tiles.hpp"
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/codelets/least_squares/normal_residual.hpp>
#include <tesela/codelets/libraries/blas.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace tesela::bench {
namespace {

/// The backward error of sqrt(w) A, sqrt(w) B over its bound; throws WrongResult where that is above 1.
template <class T>
double check(const std::string& peer, const OlsData<T>& data, const std::vector<T>& weights, const HostMatrix<T>& X) {
  const blas::Threads threads(blas::all_cores());
  kernels::NormalResidual<double> sums([&] {
    HostMatrix<double> x(X.rows(), X.cols());
    std::copy_n(X.data(), X.size(), x.data());
    return x;
  }());
  const HostMatrix<T>&a = data.original_a(), &b = data.original_b();
  constexpr index_t most = 16384;
  for (index_t first = 0; first < a.rows(); first += most) {
    const index_t count = std::min(most, a.rows() - first);
    const auto scaled = [&](const HostMatrix<T>& from) {
      HostMatrix<double> block(count, from.cols());
      for (index_t j = 0; j < from.cols(); ++j)
        for (index_t i = 0; i < count; ++i)
          block(i, j) = std::sqrt(static_cast<double>(weights[static_cast<std::size_t>(first + i)])) *
                        static_cast<double>(from(first + i, j));
      return block;
    };
    const HostMatrix<double> of_a = scaled(a), of_b = scaled(b);
    sums.add(count, of_a.data(), of_a.ld(), of_b.data(), of_b.ld());
  }
  const double error = sums.result().backward_error,
               bound = std::is_same_v<T, float> ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(a.cols()));
  if (!(error <= bound))
    throw WrongResult(fmt::format("bench wls: {}: backward error {:.3g}, above {:.3g}", peer, error, bound));
  return error / bound;
}

}  // namespace

template <class T>
Peer tesela_weights(const std::string& name, const OlsData<T>& data, std::vector<T> weights) {
  const auto tiles = std::make_shared<OlsTiles<T>>();
  const auto answer = std::make_shared<LeastSquares<T>>();
  const auto w = std::make_shared<const std::vector<T>>(std::move(weights));
  const auto run = [&data, tiles, answer, w] {
    tiles->restore(data);
    settle();
    return seconds_of([&] {
      Graph g(data.runtime());
      *answer = wls(g, *tiles->A, *tiles->B, *w, data.what().options);
    });
  };
  return checked(name, run, [&data, answer, w, name] {
    if (answer->status != OlsStatus::ok) throw WrongResult("bench wls: " + name + ": " + description(answer->status));
    return check(name, data, *w, answer->X);
  });
}

template Peer tesela_weights(const std::string&, const OlsData<float>&, std::vector<float>);
template Peer tesela_weights(const std::string&, const OlsData<double>&, std::vector<double>);

}  // namespace tesela::bench
