#include "tools/app/runs.hpp"
#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/algorithms/mimo/mimo_list.hpp>
#include <tesela/tiles/io/arrays.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

/// Returns the nearest s of each signal, a column each; NaN for signals without one.
template <class T>
HostMatrix<std::complex<T>> nearest_points(const MimoData<T>& data, const MimoList& found) {
  const index_t streams = data.shape.streams, most = found.distances.rows();
  HostMatrix<std::complex<T>> points(streams, data.shape.signals);
  for (index_t k = 0; k < points.cols(); ++k)
    for (index_t j = 0; j < streams; ++j) {
      const auto label = [&](index_t row) { return found.labels(row, k * most); };
      if (found.counts[static_cast<std::size_t>(k)] == 0)
        points(j, k) = {NAN, NAN};
      else if (data.integers)
        points(j, k) = {static_cast<T>(label(j)), static_cast<T>(label(j + streams))};
      else
        points(j, k) = std::complex<T>(data.point(j, k, label(j)));
    }
  return points;
}

}  // namespace

template <class T>
int run_lists(const CommonOptions& common, const ListChoice& choice, const MimoOptions& search,
              const MimoSource<T>& source, Report& report) {
  const MimoData<T> data = source.all();
  MimoListOptions options{choice.within, choice.most,      search.order, search.form,
                          search.n0,     search.max_nodes, search.batch};
  const std::vector<Constellation> none;
  MimoList found;
  double gap = 0, mistakes = 0, failed = 0, uncertified = 0, all = 0, most = 0;
  const index_t signals = data.shape.signals;
  {
    Runtime runtime(common.runtime());
    const auto list = [&](Graph& g, const MimoListOptions& how) {
      return mimo_list(g, data.shape, data.channels, data.y, data.integers ? none : data.alphabets, how);
    };
    run_timed(common, runtime, report,
              {[] {},
               [&](Graph& g, bool) {
                 found = list(g, options);
                 return 0.0;
               }});
    options.order = options.order == ColumnOrder::sqrd ? ColumnOrder::mmse_vblast : ColumnOrder::sqrd;
    Graph g(runtime);
    const MimoList other = list(g, options);
    for (index_t k = 0; k < signals; ++k) {
      const auto e = static_cast<std::size_t>(k);
      const SearchReport& r = found.reports[e];
      failed += (r.flags & SearchReport::failed) != 0 ? 1 : 0;
      uncertified += (r.flags & SearchReport::uncertified) != 0 ? 1 : 0;
      all += found.counts[e], most = std::max(most, static_cast<double>(found.counts[e]));
      const int flags = r.flags | other.reports[e].flags;
      if ((flags & (SearchReport::failed | SearchReport::uncertified)) != 0) continue;
      mistakes += found.counts[e] != other.counts[e] ? 1 : 0;
      for (index_t p = 0; p < std::min<index_t>(found.distances.rows(), found.counts[e]); ++p)
        gap =
            std::fmax(gap, std::abs(found.distances(p, k) - other.distances(p, k)) / (r.distance > 0 ? r.distance : 1));
    }
  }
  report_nodes(found.reports, report);
  report.check("points", all);
  report.check("most_points", most);
  report.check("uncertified", uncertified);
  // Of two orders; a point on the sphere itself may be on either side.
  report.check_count("count_mismatches", mistakes, uncertified);
  report.check("distance_gap", Measured{gap, common.precision == "s" ? 1e-6 : 1e-12});
  if (failed > 0) {
    report.check("failed", failed);
    report.fail(fmt::format("dependent columns, or numbers beyond 2^30: {:.0f} signals have no answer", failed));
  }
  if (report.good() && !choice.out_within.empty()) {
    std::vector<int> rows;
    const index_t width = found.labels.rows();
    for (index_t k = 0; k < signals; ++k)
      for (index_t p = 0; p < std::min<index_t>(found.distances.rows(), found.counts[static_cast<std::size_t>(k)]);
           ++p) {
        rows.push_back(static_cast<int>(k));
        const int* const one = &found.labels(0, k * found.distances.rows() + p);
        rows.insert(rows.end(), one, one + width);
      }
    write_array(choice.out_within, {static_cast<index_t>(rows.size()) / (width + 1), width + 1}, rows.data());
  }
  if (report.good() && !choice.out_points.empty()) {
    ArrayWriter<std::complex<T>> file(choice.out_points, file_dims(source, data.shape.streams));
    write_signals(file, nearest_points(data, found), source.antennas_rows());
    file.commit();
  }
  return report.finish();
}

TESELA_FUNCTIONS_FOR_REALS(run_lists)

}  // namespace tesela::cli
