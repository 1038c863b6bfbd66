#include "tools/bench/least_squares/glm_rows.hpp"

#include "tools/problems/least_squares/glm_data.hpp"
#include <tesela/algorithms/qr/qr.hpp>

#include <fmt/format.h>

namespace tesela::bench {
namespace {

template <class T>
Peer make_peer(const std::string& name, const GlmData<T>& data) {
  if (name == "lapack") return lapack_glm(data);
  if (name == "cusolver") return cusolver_glm(name, true, data);
  if (name == "cusolver-part") return cusolver_glm(name, false, data);
  if (name == "factor") return tesela_gls_factor(name, data);
  return tesela_glm(name, name == "tesela" ? GlmMethod::seminormal : *find_named(glm_methods(), name), data);
}

double published_seconds(const GlmRows& rows, index_t n, const std::string& precision, const std::string& peer) {
  if (precision != "s" || peer.starts_with("cusolver")) return 0;
  for (const PublishedModel& row : rows.published)
    if (row.n == n) return peer == "lapack" ? row.lapack : row.ours;
  return 0;
}

}  // namespace

void require_sizes(const GlmRows& rows) {
  for (const index_t n : rows.n)
    if (n > rows.m || n < 1 || rows.p < rows.m - n)
      throw ArgumentError(rows.benchmark, "--n", std::to_string(n) + ": 1 <= n <= m <= n + p is needed");
}

template <class T>
void add_glm_rows(Report& report, Runtime& runtime, const FactorOptions& o, const GlmRows& rows) {
  for (const index_t n : rows.n) {
    const GlmCase what{rows.m,
                       n,
                       rows.p,
                       rows.rhs,
                       suitable_glm_tiles(runtime, GlmMethod::seminormal, rows.m, n, rows.p),
                       o.common.seed,
                       o.on_device()};
    const GlmData<T> data(runtime, what);
    std::vector<Peer> peers;
    for (const std::string& name : o.peers) peers.push_back(make_peer(name, data));
    const Case row{fmt::format("{} x {}, p = {}", rows.m, n, rows.p),      rows.m, n,        rows.p,
                   fmt::format("{}x{}", what.tiles.a.mb, what.tiles.a.nb), o.data, "GFLOP/s"};
    const auto m = static_cast<double>(rows.m), k = static_cast<double>(n),
               columns = static_cast<double>(rows.p + rows.rhs);
    const double flops = qr_flops(rows.m, n) + 2 * k * columns * (2 * m - k) + qr_flops(rows.p, rows.m - n);
    report.add(row, alternate(peers, o.common.repeat), 0, [&](double seconds) { return flops / seconds * 1e-9; });
    for (Row& r : report.rows())
      if (r.what.title == row.title) r.published_s = published_seconds(rows, n, o.common.precision, r.timing.peer);
  }
  report.note("rates by R of A, Q^T [B b] and R of the rest of B^T, for every peer");
  if (!rows.published.empty()) report.note("published: a GPU of 2014 or before, and sggglm, single precision");
  if (o.on_device())
    report.note("A, B and b on the devices, put back before each run outside the time");
  else if (runtime.gpus() > 0)
    report.note("A, B and b in page-locked host memory, all transfers timed");
}

template void add_glm_rows<float>(Report&, Runtime&, const FactorOptions&, const GlmRows&);
template void add_glm_rows<double>(Report&, Runtime&, const FactorOptions&, const GlmRows&);

}  // namespace tesela::bench
