#include "tools/bench/harness/row_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace tesela::bench {
namespace {

bool any(const std::vector<Row>& rows, auto test) { return std::any_of(rows.begin(), rows.end(), test); }

struct Labels {
  std::string title, y;
  bool logarithmic = false;
};

Labels labels_of(const std::string& benchmark, const std::vector<Row>& rows) {
  const Case& first = rows.front().what;
  const std::string p = first.precision, precision = p == "s" ? "single" : "double";
  const std::string place = first.data == "device" ? "on the devices" : "on the host";
  if (benchmark == "adi")
    return {fmt::format("Heat equation by alternating directions, {}, {}", precision, place), "GB/s"};
  if (benchmark == "eig-study") return {"Classical iterations and the two-stage method", "spectra a second", true};
  if (benchmark == "gemm") return {fmt::format("{}gemm, operands {}", p, place), "GFLOP/s"};
  if (benchmark == "gemm-kernels") return {p + "gemm by kernel", "GFLOP/s", true};
  if (benchmark == "givens") {
    const bool stages = first.title.find(" x ") != std::string::npos;
    return {stages ? "R by plane rotations, in stages" : "R and Q by plane rotations, in chains", "Melement/s", true};
  }
  if (benchmark == "memory-access") return {"Sum of two n x n matrices, by assignment of threads", "GB/s", true};
  if (benchmark == "ols") return {fmt::format("{}gels, A {}", p, place), "GFLOP/s"};
  if (benchmark == "overhead") return {"Empty tasks: cost of the layer over starpu_task_insert", "µs a task"};
  if (benchmark == "qr") return {fmt::format("{}geqrf, A {}", p, place), "GFLOP/s"};
  if (benchmark == "qr-orthogonalize") return {fmt::format("Q and R of {}, {}", first.title, precision), "GFLOP/s"};
  if (benchmark == "qr-trees")
    return {fmt::format("{}geqrf, {} x {} in tiles of {}", p, first.m, first.n, first.tile), "GFLOP/s"};
  if (benchmark == "tall-skinny")
    return {fmt::format("R of A = Q R, {}, {}, {}", first.title, precision, place), "GB/s of A", true};
  if (benchmark == "toeplitz")
    return {
        fmt::format("All {} of a symmetric Toeplitz matrix", first.data == "vectors" ? "eigenpairs" : "eigenvalues"),
        "spectra a second", true};
  if (benchmark == "toeplitz-solve")
    return {fmt::format("One symmetric Toeplitz system, {}", first.data), "solves a second", true};
  if (benchmark == "toeplitz-study") return {"Spectra of random symmetric Toeplitz matrices", "eigenvalues found, %"};
  if (benchmark == "toeplitz-tiles")
    return {"Some eigenvalues of a symmetric Toeplitz matrix", "intervals a second", true};
  if (benchmark == "tridiag") return {fmt::format("Tridiagonal systems, {}, {}", precision, place), "GB/s"};
  if (benchmark == "tridiag-study") return {"Cyclic reduction and Thomas's method", "times as fast as thomas", true};
  return {benchmark, first.rate_unit};
}

struct PeerColor {
  std::string_view peer, color;
};
constexpr std::array known{
    // Tesela's peers
    PeerColor{"tesela", "#4c72b0"}, PeerColor{"tesela-rows", "#9db3d8"}, PeerColor{"tuned", "#4c72b0"},
    PeerColor{"chain", "#4c72b0"}, PeerColor{"diagonal", "#4c72b0"}, PeerColor{"levinson", "#4c72b0"},
    PeerColor{"gohberg-semencul", "#64b5cd"}, PeerColor{"gohberg-semencul-again", "#b0dae8"},
    PeerColor{"schur", "#ccb974"}, PeerColor{"cauchy-inverse", "#8172b3"}, PeerColor{"cauchy", "#da8bc3"},
    PeerColor{"cauchy-again", "#eec9e3"}, PeerColor{"gradients", "#55a868"}, PeerColor{"superfast", "#dd8452"},
    PeerColor{"superfast-again", "#eec2a9"},
    // NVIDIA's peers
    PeerColor{"cublas", "#c44e52"}, PeerColor{"cublasxt", "#dd8452"}, PeerColor{"cusolver", "#c44e52"},
    PeerColor{"cusolver-halves", "#e3a7a9"}, PeerColor{"cusolver-cholesky", "#c44e52"},
    PeerColor{"cusolver-lu", "#e3a7a9"}, PeerColor{"gtsv2", "#c44e52"}, PeerColor{"gtsv2-nopivot", "#dd8452"},
    PeerColor{"strided", "#c44e52"}, PeerColor{"interleaved-0", "#dd8452"}, PeerColor{"interleaved-1", "#eec2a9"},
    PeerColor{"interleaved-2", "#937860"}, PeerColor{"strided-0", "#c44e52"}, PeerColor{"strided-1", "#dd8452"},
    PeerColor{"rhs-0", "#937860"},
    // peers on cores
    PeerColor{"openblas", "#55a868"}, PeerColor{"lapack", "#55a868"}, PeerColor{"lapack-halves", "#aad4b4"},
    PeerColor{"lapack-cholesky", "#55a868"}, PeerColor{"lapack-lu", "#aad4b4"}, PeerColor{"thomas", "#55a868"},
    PeerColor{"givens", "#937860"}, PeerColor{"starpu", "#8172b3"}, PeerColor{"bound", "#b0b0b0"},
    // peers of studies
    PeerColor{"naive", "#8c8c8c"}, PeerColor{"shared", "#ccb974"}, PeerColor{"coarse", "#dd8452"},
    PeerColor{"cr", "#8c8c8c"}, PeerColor{"coalesced", "#4c72b0"}, PeerColor{"hybrid", "#da8bc3"},
    PeerColor{"element", "#4c72b0"}, PeerColor{"row", "#dd8452"}, PeerColor{"column", "#55a868"},
    PeerColor{"cores", "#dd8452"}, PeerColor{"GPU", "#4c72b0"}};

/// Colours for peers that are not in the list.
constexpr std::array spare{"#64b5cd", "#ccb974", "#937860", "#da8bc3", "#8172b3", "#8c8c8c", "#3b3b3b", "#bcbd22"};

/// Returns "chain" for "chain 128", "cr" for "cr, on device".
std::string base_of(const std::string& peer) { return peer.substr(0, peer.find_first_of(" ,")); }

/// Returns the colour half-way to white.
std::string lighter(const std::string& color) {
  std::string out = "#";
  for (std::size_t at = 1; at < 7; at += 2)
    out += fmt::format("{:02x}", (std::stoi(color.substr(at, 2), nullptr, 16) + 255) / 2);
  return out;
}

/// Returns the text after the size in a title: "20 at once" for "n = 4096, 20 at once".
std::string title_suffix(const std::string& title) {
  const std::size_t comma = title.find(", ");
  if (comma == std::string::npos) return "";
  std::string rest = title.substr(comma + 2);
  while (!rest.empty() && (std::isdigit(static_cast<unsigned char>(rest.front())) != 0 || rest.front() == ' '))
    rest.erase(rest.begin());
  return rest;
}

/// Returns "2²⁰" for a large power of two, otherwise the number.
std::string size_label(double x) {
  int exponent = 0;
  if (x < 65536 || std::frexp(x, &exponent) != 0.5) return fmt::format("{:.0f}", x);
  constexpr std::array digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto e = static_cast<std::size_t>(exponent - 1);
  return std::string("2") + digits[e / 10] + digits[e % 10];
}

/// Layout of the rows: the position of each along x, and its series.
struct Layout {
  std::string x_label;  ///< empty: bars
  std::vector<double> x;
  std::vector<std::string> series;
};

Layout layout_of(const std::vector<Row>& rows) {
  const auto distinct = [&](auto value) {
    std::set<double> all;
    for (const Row& row : rows) all.insert(static_cast<double>(value(row)));
    return all.size();
  };
  const bool distinct_gpus = distinct([](const Row& row) { return row.gpus; }) > 1;
  constexpr std::size_t most_lines = 10;
  const auto lines = [&](const char* label, auto x, auto rest) {
    Layout layout{label, {}, {}};
    for (const Row& row : rows) {
      const std::string further = rest(row);
      layout.x.push_back(static_cast<double>(x(row)));
      layout.series.push_back(row.timing.peer + (further.empty() ? "" : ", " + further));
    }
    std::set<std::pair<std::string, double>> points;
    for (std::size_t r = 0; r < rows.size(); ++r) points.emplace(layout.series[r], layout.x[r]);
    const std::set<std::string> different(layout.series.begin(), layout.series.end());
    return different.size() <= most_lines && (points.size() == rows.size() || distinct_gpus) ? layout : Layout{};
  };
  if (distinct_gpus) {
    const bool one_case = !any(rows, [&](const Row& row) { return row.what.title != rows.front().what.title; });
    return lines(
        "GPUs", [](const Row& row) { return row.gpus; },
        [&](const Row& row) { return one_case ? std::string() : row.what.title; });
  }
  if (distinct([](const Row& row) { return row.what.n; }) > 2)
    return lines(
        "n", [](const Row& row) { return row.what.n; }, [](const Row& row) { return title_suffix(row.what.title); });
  return {};
}

}  // namespace

std::string color_of_peer(const std::string& peer) {
  const auto find = [](std::string_view name) {
    return std::find_if(known.begin(), known.end(), [&](const PeerColor& k) { return k.peer == name; });
  };
  if (const auto it = find(peer); it != known.end()) return std::string(it->color);
  const auto it = find(base_of(peer));
  return it != known.end() ? std::string(it->color) : std::string();
}

Chart chart_of(const std::string& benchmark, const std::vector<Row>& rows, const std::string& where) {
  Chart chart;
  if (rows.empty()) return chart;
  Labels labels = labels_of(benchmark, rows);
  if (rows.front().what.rate_unit == "ms") labels.y = "ms", labels.logarithmic = true;
  chart.title = labels.title + (where.empty() ? "" : "\n" + where);
  chart.y_label =
      labels.y + (any(rows, [](const Row& row) { return row.rate_low != row.rate_high; }) ? " (median, min to max)"
                                                                                          : " (one run)");
  chart.logarithmic = labels.logarithmic;
  const Layout layout = layout_of(rows);
  chart.x_label = layout.x_label;
  if (!layout.x.empty()) {
    const std::set<double> values(layout.x.begin(), layout.x.end());
    chart.x.assign(values.begin(), values.end());
    for (const double x : chart.x) chart.categories.push_back(size_label(x));
    chart.ideal = layout.x_label == "GPUs";
    chart.logarithmic = chart.logarithmic && !chart.ideal;
  } else {
    for (const Row& row : rows)
      if (std::find(chart.categories.begin(), chart.categories.end(), row.what.title) == chart.categories.end())
        chart.categories.push_back(row.what.title);
  }

  const std::vector<double> none(chart.categories.size(), NAN);
  std::size_t spares = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    const std::string name = layout.x.empty() ? row.timing.peer : layout.series[r];
    auto series = std::find_if(chart.series.begin(), chart.series.end(), [&](const auto& s) { return s.name == name; });
    if (series == chart.series.end()) {
      // A second series of a colour uses the same, dashed as a line and lighter as a bar; further series use spare
      // colours.
      std::string color = color_of_peer(row.timing.peer);
      const auto taken = [&] {
        return std::any_of(chart.series.begin(), chart.series.end(), [&](const auto& s) { return s.color == color; });
      };
      const bool again = taken();
      if (again && layout.x.empty()) color = lighter(color);
      const bool third = std::any_of(chart.series.begin(), chart.series.end(),
                                     [&](const auto& s) { return s.color == color && s.dashed; });
      if (color.empty() || third) color = spare[spares++ % spare.size()];
      series = chart.series.insert(chart.series.end(), {name, color, none, none, none, again});
    }
    const auto c = static_cast<std::size_t>(
        layout.x.empty()
            ? std::find(chart.categories.begin(), chart.categories.end(), row.what.title) - chart.categories.begin()
            : std::find(chart.x.begin(), chart.x.end(), layout.x[r]) - chart.x.begin());
    series->value[c] = row.rate;
    series->low[c] = std::min(row.rate_low, row.rate_high);
    series->high[c] = std::max(row.rate_low, row.rate_high);
  }
  return chart;
}

}  // namespace tesela::bench
