#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::bench {
namespace {

struct TilesOptions : Options {
  std::vector<index_t> n{4096, 16384}, wanted{20, 100};
};

/// Returns the root mean square of the eigenvalues.
template <class T>
double rms_of(const HostMatrix<T>& t) {
  double squares = 0;
  const index_t n = t.rows();
  for (index_t k = 0; k < n; ++k)
    squares += (k == 0 ? 1 : 2) * static_cast<double>(n - k) * std::pow(static_cast<double>(t(k, 0)), 2);
  return std::sqrt(squares / static_cast<double>(n));
}

/// Checks that all eigenvalues were found, the same by all peers. Returns the error relative to its bound.
template <class T>
double check(const Spectrum<T>& s, std::vector<double>& agreed, double bound) {
  if (!s.good() || (!agreed.empty() && agreed.size() != s.values.size()))
    throw WrongResult(fmt::format("bench toeplitz-tiles: {} eigenvalues of {}", s.values.size(), s.expected));
  if (agreed.empty()) agreed = s.values;
  double error = 0;
  for (std::size_t i = 0; i < agreed.size(); ++i) error = std::max(error, std::abs(agreed[i] - s.values[i]));
  if (!(error <= bound)) throw WrongResult(fmt::format("bench toeplitz-tiles: error {:.2e}", error));
  return error / bound;
}

template <class T>
void run(const TilesOptions& o) {
  Runtime runtime(o.runtime());
  Report report("toeplitz-tiles", o, &runtime);
  for (const index_t n : o.n)
    for (const index_t wanted : o.wanted) {
      const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, o.common.seed}, n);
      const std::span<const T> column(t.data(), static_cast<std::size_t>(n));
      const double rms = rms_of(t), order = static_cast<double>(n),
                   bound = 100 * static_cast<double>(std::numeric_limits<T>::epsilon()) *
                           std::max(8.0, std::sqrt(order)) * rms;
      std::vector<Peer> peers;
      std::vector<double> agreed;
      Spectrum<T> s;
      for (const Named<LanczosTasks>& tasks : lanczos_tasks()) {
        SpectrumOptions spectrum;
        spectrum.method = SpectrumMethod::lanczos;
        spectrum.tasks = tasks.value;
        spectrum.low = static_cast<double>(t(0, 0));
        // In the middle of the spectrum; the eigenvalues of a random matrix are nearly normal.
        spectrum.high = spectrum.low + static_cast<double>(wanted) * rms * std::sqrt(2 * std::numbers::pi) / order;
        const auto once = [&runtime, &s, column, spectrum] {
          Graph g(runtime);
          return seconds_of([&] { s = toeplitz_spectrum<T>(g, column, spectrum); });
        };
        peers.push_back(checked(tasks.name, once, [&s, &agreed, bound] { return check(s, agreed, bound); }));
      }
      std::swap(peers[0], peers[1]);  // fused is the reference
      report.add({fmt::format("n = {}, {} wanted", n, wanted), 0, n, wanted, "", "", "1/s", o.common.precision},
                 alternate(peers, o.common.repeat), 0, [](double seconds) { return 1 / seconds; });
      for (std::size_t p = report.rows().size() - peers.size(); p < report.rows().size(); ++p)
        report.rows()[p].more = {{"found", static_cast<double>(s.values.size())},
                                 {"intervals", static_cast<double>(s.intervals)},
                                 {"steps", static_cast<double>(s.steps)}};
    }
  report.note("the eigenvalues of an interval in the middle of the spectrum of a random matrix, counts included");
  report.finish();
}

const cli::Command toeplitz_tiles_command(
    cli::Command::Group::bench, "toeplitz-tiles", "one interval of a Toeplitz spectrum: fused steps and tiles",
    [](cli::App& app) {
      auto o = std::make_shared<TilesOptions>();
      o->common.repeat = 5;
      o->add_to(app, "toeplitz-tiles");
      app.add_list("-n,--n", o->n, "orders")->positive()->show_default();
      app.add_list("--wanted", o->wanted, "eigenvalues, about")->positive()->show_default();
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
