#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tests/support/vector_targets.hpp"

using namespace tesela::test;

namespace {

template <class T>
void agrees_with_brute(const Problem<T>& p, const MimoOptions& options) {
  const Detection all = detect(p, {.method = MimoMethod::brute}), found = detect(p, options);
  CAPTURE(static_cast<int>(options.order), p.shape.streams, p.shape.antennas);
  CHECK(differences(all, found) == 0);
  CHECK(found.uncertified() == 0);
  CHECK(found.ties() == all.ties());
  for (std::size_t k = 0; k < found.reports.size(); ++k)
    CHECK(std::abs(found.reports[k].distance - all.reports[k].distance) <= 1e-13 * (1 + all.reports[k].distance));
}

std::vector<MimoOptions> every_order() {
  std::vector<MimoOptions> all;
  for (const auto& order : column_orders()) all.push_back({.order = order.value});
  all.push_back({.order = ColumnOrder::norm, .up = false});
  all.push_back({.order = ColumnOrder::gradient, .up = false});
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("sd finds the symbols of brute force in every order", "", float, double) {
  for (const index_t streams : {1, 2, 4})
    for (const index_t more : {0, 2})
      for (const double db : {0.0, 10.0, 30.0}) {
        const char* const names = streams == 4 ? "qpsk,16qam,qpsk,qpsk" : "16qam";
        const auto p = problem<TestType>({streams, streams + more, 60, 1}, names, "rayleigh", db);
        for (const MimoOptions& options : every_order()) agrees_with_brute(p, options);
      }
}

TEMPLATE_TEST_CASE("sd finds the symbols of brute force for dependent columns, few antennas and a zero channel", "",
                   float, double) {
  for (const char* const channel : {"rank:1", "zero", "kappa:1e6", "correlated:0.95"})
    for (const auto& [streams, antennas] : {std::pair<index_t, index_t>{2, 2}, {3, 3}, {3, 2}, {3, 1}, {2, 5}}) {
      const auto p =
          problem<TestType>({streams, antennas, 30, 1}, streams == 3 ? "qpsk,16qam,qpsk" : "16qam", channel, 10);
      CAPTURE(channel);
      for (const MimoOptions& options : every_order()) agrees_with_brute(p, options);
    }
}

TEMPLATE_TEST_CASE("sd finds the symbols of brute force in complex form, for any points and mixed alphabets", "", float,
                   double) {
  for (const char* const names : {"bpsk", "8psk", "16qam", "qpsk,8psk,bpsk"})
    for (const char* const channel : {"rayleigh", "rank:1", "zero"}) {
      const auto p = problem<TestType>({3, 3, 20, 1}, names, channel, 8);
      for (MimoOptions options : every_order()) {
        options.form = SearchForm::complex;
        agrees_with_brute(p, options);
      }
    }
}

TEMPLATE_TEST_CASE("sd finds the symbols of brute force for 4 x 4 and 4 x 6 with 16-QAM", "", float, double) {
  for (const index_t antennas : {4, 6, 3})
    for (const double db : {0.0, 30.0})
      agrees_with_brute(problem<TestType>({4, antennas, 12, 1}, "16qam", "rayleigh", db), {});
  agrees_with_brute(problem<TestType>({4, 4, 8, 1}, "16qam", "rank:1", 10), {});
  agrees_with_brute(problem<TestType>({4, 4, 3, 1}, "16qam", "zero", 10), {});
}

TEMPLATE_TEST_CASE("sd selects the lowest labels if equal columns give ties", "", float, double) {
  auto p = problem<TestType>({3, 3, 40, 1}, "16qam", "rayleigh", 12);
  for (index_t k = 0; k < 40; ++k)
    for (index_t i = 0; i < 3; ++i) p.h(i, 3 * k + 2) = p.h(i, 3 * k);  // exchanging streams 0 and 2 gives a tie
  p.y = received(p.shape, p.h, p.alphabets, p.sent, p.n0, 3);
  for (const MimoOptions& options : every_order()) agrees_with_brute(p, options);
  const Detection found = detect(p, {});
  CHECK(found.ties() > 20);
  for (index_t k = 0; k < 40; ++k) CHECK(found.labels(0, k) <= found.labels(2, k));
}

TEST_CASE("two orders of sd agree on large problems, and a larger radius finds the same or a nearer point") {
  const auto p = problem<double>({8, 8, 60, 1}, "64qam", "rayleigh", 14);
  const Detection one = detect(p, {.order = ColumnOrder::mmse_vblast}), other = detect(p, {.order = ColumnOrder::sqrd});
  CHECK(differences(one, other) == 0);
  const auto small = problem<double>({2, 2, 100, 1}, "16qam", "rayleigh", 5);
  const Detection all = detect(small, {});
  for (const double radius : {1e-300, 1e-3, 0.5, 2.0, 1e10}) {
    CAPTURE(radius);
    CHECK(differences(all, detect(small, {.radius = radius})) == 0);
  }
}

TEST_CASE("sd does not depend on the batch size or the number of signals per channel") {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t coherence : {0, 1, 3, 7, 50, 64}) {
    const auto p = problem<double>({2, 3, 150, coherence}, "16qam", "rayleigh", 6);
    const Detection all = detect(p, {.method = MimoMethod::brute});
    for (const index_t batch : {0, 1, 4, 10, 49, 1000}) {
      CAPTURE(coherence, batch);
      CHECK(differences(all, detect(p, {.batch = batch})) == 0);
      CHECK(differences(all, detect(p, {.order = ColumnOrder::gradient, .batch = batch})) == 0);
    }
    CHECK(differences(all, detect(p, {.method = MimoMethod::brute, .batch = 9})) == 0);
  }
}

TEST_CASE("sd works at both ends of the range and with mixed scales") {
  for (const double scale : {1e150, 1e-150, 1e300, 1e-300}) {
    const auto p = problem<double>({2, 3, 50, 1}, "16qam", "rayleigh", 9);
    auto q = problem<double>({2, 3, 50, 1}, "16qam", "rayleigh", 9);
    for (index_t e = 0; e < q.h.size(); ++e) q.h.data()[e] *= scale;
    for (index_t e = 0; e < q.y.size(); ++e) q.y.data()[e] *= scale;
    for (const auto method : {MimoMethod::sd, MimoMethod::brute}) {
      const Detection one = detect(p, {.method = method}), other = detect(q, {.method = method});
      CHECK(differences(one, other) == 0);
      for (std::size_t k = 0; k < 50; ++k)
        CHECK(std::abs(other.reports[k].distance / scale / one.reports[k].distance - 1) < 1e-10);
    }
  }
  auto p = problem<double>({2, 2, 4, 1}, "qpsk", "rayleigh", 9);
  for (index_t e = 0; e < 4; ++e) p.h.data()[e] *= 1e-280, p.h.data()[4 + e] *= 1e280;
  agrees_with_brute(p, {});
}

TEMPLATE_TEST_CASE("sd-plain enlarges an empty sphere and finds the nearest point in it", "", float, double) {
  for (const char* const names : {"16qam", "8psk,qpsk"})
    for (const char* const channel : {"rayleigh", "rank:1", "zero"}) {
      auto p = problem<TestType>({2, 2, 60, 1}, names, channel, 4);
      for (const double radius : {0.0, 1e-6, 0.3, 3.0})
        agrees_with_brute(p, {.method = MimoMethod::sd_plain, .radius = radius});
      p.n0 = 0;
      agrees_with_brute(p, {.method = MimoMethod::sd_plain});
    }
  const RuntimeOfCores cores;  // lanes of a GPU share trees, which visits more nodes
  const auto p = problem<double>({5, 5, 300, 1}, "16qam", "rayleigh", 7);
  double plain = 0, sorted = 0;
  const MimoOptions natural{.order = ColumnOrder::natural, .radius = 1.9};
  MimoOptions listed = natural;
  listed.method = MimoMethod::sd_plain;
  const Detection one = detect(p, natural), other = detect(p, listed);
  CHECK(differences(one, other) == 0);
  for (std::size_t k = 0; k < 300; ++k)
    sorted += static_cast<double>(one.reports[k].nodes), plain += static_cast<double>(other.reports[k].nodes);
  CHECK((plain / 300 > 1500 && plain / 300 < 4500));  // 2593 expected
  CHECK(sorted / 300 < 60);
}

TEST_CASE("max_nodes limits the nodes of sd, and cut searches are flagged as uncertified") {
  const auto p = problem<double>({4, 4, 200, 1}, "16qam", "rayleigh", 0);
  const Detection full = detect(p, {.order = ColumnOrder::natural}),
                  cut = detect(p, {.order = ColumnOrder::natural, .max_nodes = 40});
  CHECK(full.uncertified() == 0);
  CHECK(cut.uncertified() > 0);
  for (std::size_t k = 0; k < 200; ++k) {
    CHECK(cut.reports[k].nodes <= 40);
    CHECK(cut.reports[k].distance >= full.reports[k].distance * (1 - 1e-12));
    if ((cut.reports[k].flags & SearchReport::uncertified) == 0)
      CHECK(cut.reports[k].distance <= full.reports[k].distance * (1 + 1e-12));
  }
  const Detection least = detect(p, {.max_nodes = 1});  // the first leaf is always reached
  for (const SearchReport& r : least.reports) CHECK(r.nodes == 8);
}

TEST_CASE("the mean number of nodes of sd is near the expected number for each order") {
  // Expected for n = 10, 16-QAM and 7 dB, in no source of docs/sources.md: natural 32.9, gradient down 45.6 and
  // up 20.4, sqrd 19.7, mmse-vblast 18.9.
  const RuntimeOfCores cores;  // GPUs reorder hard signals
  const auto p = problem<double>({5, 5, 4000, 1}, "16qam", "rayleigh", 7);
  const auto mean = [&](const MimoOptions& options) {
    double sum = 0;
    const Detection found = detect(p, options);
    for (const SearchReport& r : found.reports) sum += static_cast<double>(r.nodes);
    return sum / 4000;
  };
  const double natural = mean({.order = ColumnOrder::natural}),
               down = mean({.order = ColumnOrder::gradient, .up = false}), up = mean({.order = ColumnOrder::gradient}),
               sqrd = mean({.order = ColumnOrder::sqrd}), best = mean({});
  CAPTURE(natural, down, up, sqrd, best);  // a few bad channels change the means by a tenth
  CHECK((natural > 28 && natural < 42));
  CHECK((down > 38 && down < 56));
  for (const double good : {up, sqrd, best}) CHECK((good > 17 && good < 24));
}

TEMPLATE_TEST_CASE("sd reuses the memory of an existing result and overwrites its contents", "[sanitize]", float,
                   double) {
  const auto p = problem<TestType>({2, 2, 30, 4}, "16qam", "rayleigh", 12);
  const Detection wanted = detect(p, {});
  Detection found;
  Graph g(runtime());
  for (int time = 0; time < 3; ++time) {
    mimo_detect(g, p.shape, p.h, p.y, p.alphabets, {.n0 = p.n0, .batch = 8}, found);
    CHECK(differences(found, wanted) == 0);
    const int* const labels = found.labels.data();
    const SearchReport* const reports = found.reports.data();
    const std::vector<PinnedMemory> pinned = [&] {
      std::vector<PinnedMemory> both;
      both.emplace_back(runtime(), found.labels.data(), sizeof(int) * 60);
      both.emplace_back(runtime(), found.reports.data(), sizeof(SearchReport) * 30);
      return both;
    }();
    std::fill_n(found.labels.data(), 60, 99);
    for (SearchReport& r : found.reports) r = {-1, -1, SearchReport::failed};
    mimo_detect(g, p.shape, p.h, p.y, p.alphabets, {.n0 = p.n0, .batch = 8}, found);
    CHECK((found.labels.data() == labels && found.reports.data() == reports));
    CHECK(differences(found, wanted) == 0);
    for (std::size_t k = 0; k < 30; ++k) CHECK(found.reports[k].distance == wanted.reports[k].distance);
    CHECK((found.failed() == 0 && found.uncertified() == 0));
  }
  const auto other = problem<TestType>({3, 3, 7, 0}, "qpsk", "rayleigh", 12);
  mimo_detect(g, other.shape, other.h, other.y, other.alphabets, {.n0 = other.n0}, found);
  CHECK(differences(found, detect(other, {})) == 0);
  CHECK((found.labels.shape() == Shape{3, 7} && found.reports.size() == 7));
}

TEST_CASE("sd finds an element that is not finite in every batch, and the graph remains usable") {
  const auto good = problem<double>({2, 3, 40, 3}, "16qam", "rayleigh", 12);
  Graph g(runtime());
  for (const index_t signal : {0, 3, 20, 39}) {
    const auto p = problem<double>({2, 3, 40, 3}, "16qam", "rayleigh", 12);
    HostMatrix<std::complex<double>> y = p.y.clone(), h = p.h.clone();
    y(2, signal) = {0, std::nan("")};
    const std::string column = std::to_string(signal), of_h = std::to_string(signal / 3 * 2 + 1);
    check_throws<ArgumentError>("y: the value at [2, " + column + "]",
                                [&] { mimo_detect(g, p.shape, p.h, y, p.alphabets, {.batch = 6}); });
    h(0, signal / 3 * 2 + 1) = {HUGE_VAL, 0};
    check_throws<ArgumentError>("channels: the value at [0, " + of_h + "]",
                                [&] { mimo_detect(g, p.shape, h, p.y, p.alphabets, {.batch = 6}); });
    CHECK(differences(mimo_detect(g, p.shape, p.h, p.y, p.alphabets, {.batch = 6}), detect(good, {})) == 0);
  }
}

TEST_CASE("sd and brute accept zero signals and refuse invalid arguments") {
  const auto none = problem<double>({2, 2, 0, 0}, "qpsk", "rayleigh", 5);
  CHECK(detect(none, {}).labels.shape() == Shape{2, 0});
  CHECK(detect(problem<double>({2, 2, 0, 1}, "qpsk", "rayleigh", 5), {.method = MimoMethod::brute}).reports.empty());

  Graph g(runtime());
  const auto refused = [&](const std::string& why, const MimoShape& shape, const Problem<double>& p,
                           MimoOptions o = {}) {
    check_throws<ArgumentError>(why, [&] { mimo_detect(g, shape, p.h, p.y, p.alphabets, o); });
  };
  auto p = problem<double>({2, 3, 5, 1}, "16qam", "rayleigh", 5);
  refused("channels: 3 x 10, not 3 x 12", {2, 3, 6, 1}, p);
  refused("y: 3 x 5, not 3 x 8", {2, 3, 8, 2},
          {p.shape, p.alphabets, HostMatrix<std::complex<double>>(3, 8), p.y.clone(), {}, 0});
  refused("alphabets: 2 for 1", {1, 3, 10, 1},
          {p.shape, p.alphabets, p.h.clone(), HostMatrix<std::complex<double>>(3, 10), {}, 0});
  refused("n0", p.shape, p, {.n0 = -1});
  refused("n0", p.shape, p, {.n0 = std::nan("")});
  refused("max_nodes", p.shape, p, {.max_nodes = -1});
  refused("streams: 33", {33, 3, 5, 1}, p);
  refused("antennas: 129", {2, 129, 5, 1}, p);
  p.y(1, 4) = {0, std::numeric_limits<double>::infinity()};
  refused("y: the value at [1, 4] (from zero) is not finite", p.shape, p);
  p.h(2, 7) = {std::nan(""), 0};
  refused("channels: the value at [2, 7] (from zero) is not finite", p.shape, p);
  const auto psk = problem<double>({2, 2, 1, 1}, "8psk", "rayleigh", 5);
  refused("real form", psk.shape, psk, {.form = SearchForm::real});
  refused("form: real", psk.shape, psk, {.method = MimoMethod::mmse, .form = SearchForm::real});
  const auto large = problem<double>({3, 3, 1, 1}, "1024qam", "rayleigh", 5);
  refused("brute", large.shape, large, {.method = MimoMethod::brute});
}

TEST_CASE("an element that is not finite is found at its place in large inputs") {  // several threads search
  const MimoShape shape{4, 4, 70000, 1};
  auto p = problem<double>(shape, "qpsk", "rayleigh", 20);
  Graph g(runtime());
  for (const index_t column : {index_t{0}, index_t{140000}, p.h.cols() - 1}) {
    const auto before = std::exchange(p.h(3, column), {0, std::nan("")});
    check_throws<ArgumentError>("channels: the value at [3, " + std::to_string(column) + "]", [&] {
      mimo_detect(g, shape, p.h, p.y, p.alphabets, {.method = MimoMethod::mmse, .n0 = 0.1, .batch = 70000});
    });
    p.h(3, column) = before;
  }
}

TEMPLATE_TEST_CASE("sd on a GPU finds the symbols of brute force on cores", "[gpu][sanitize]", float, double) {
  require_gpu();
  std::vector<std::pair<Problem<TestType>, Detection>> all;
  for (const char* const channel : {"rayleigh", "rank:1", "zero"})
    for (const char* const names : {"16qam", "8psk"})
      for (const index_t coherence : {0, 1, 7}) {
        auto p = problem<TestType>({2, 3, 100, coherence}, names, channel, 8);
        Detection brute = detect(p, {.method = MimoMethod::brute});
        all.emplace_back(std::move(p), std::move(brute));
      }
  shared_runtime.reset();
  {
    Runtime gpu({.cpus = 0, .gpus = 1});
    for (auto& [p, brute] : all)
      for (MimoOptions options : every_order()) {
        options.n0 = p.n0;
        Graph g(gpu);
        const Detection found = mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options);
        CHECK(differences(brute, found) == 0);
        CHECK(found.ties() == brute.ties());
      }
  }
}

GPU_TEMPLATE_TEST_CASE("sd on a GPU names an element that is not finite in every order and form", "", float, double) {
  for (const char* const names : {"16qam", "8psk"})
    for (MimoOptions options : every_order()) {
      auto p = problem<TestType>({2, 3, 100, 1}, names, "rayleigh", 8);
      options.n0 = p.n0, options.batch = 25;
      p.y(1, 60) = {0, static_cast<TestType>(std::nan(""))};
      Graph g(runtime);
      check_throws<ArgumentError>("y: the value at [1, 60]",
                                  [&] { mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options); });
    }
}

TEMPLATE_TEST_CASE("warps share the trees of hard signals in sd on a GPU", "[gpu][sanitize]", float, double) {
  require_gpu();
  std::vector<std::pair<Problem<TestType>, Detection>> all;
  for (const char* const names : {"16qam", "8psk"})
    for (const char* const channel : {"rank:1", "correlated:0.97"}) {
      auto p = problem<TestType>({4, 4, 12, 1}, names, channel, 2);
      Detection alone = detect(p, {.order = ColumnOrder::natural});
      all.emplace_back(std::move(p), std::move(alone));
    }
  long long most = 0;
  for (const auto& [p, alone] : all)
    for (const SearchReport& r : alone.reports) most = std::max(most, r.nodes);
  CHECK(most > 1000);  // more steps than one lane does alone
  shared_runtime.reset();
  Runtime gpu({.cpus = 0, .gpus = 1});
  for (auto& [p, alone] : all) {
    Graph g(gpu);
    const Detection found = mimo_detect(g, p.shape, p.h, p.y, p.alphabets, {.order = ColumnOrder::natural, .n0 = p.n0});
    CHECK(differences(alone, found) == 0);
    CHECK(found.ties() == alone.ties());
    for (std::size_t k = 0; k < found.reports.size(); ++k)
      CHECK(std::abs(found.reports[k].distance - alone.reports[k].distance) <= 1e-12 * alone.reports[k].distance);
  }
}

TEMPLATE_TEST_CASE("sd on a GPU solves thousands of easy and hard signals with and without limits on nodes", "[gpu]",
                   float, double) {
  require_gpu();
  struct Case {
    Problem<TestType> p;
    MimoOptions options;
    Detection alone;
  };
  std::vector<Case> all;
  const auto add = [&](Problem<TestType> p, const MimoOptions& options) {
    Detection alone = detect(p, options);
    all.push_back({std::move(p), options, std::move(alone)});
  };
  add(problem<TestType>({5, 5, 20000, 1}, "16qam", "rayleigh", 7), {});
  add(problem<TestType>({5, 5, 20000, 0}, "16qam", "rayleigh", 7), {.order = ColumnOrder::gradient});
  add(problem<TestType>({4, 4, 3000, 12}, "64qam", "rayleigh", 14), {.order = ColumnOrder::natural});
  add(problem<TestType>({4, 4, 1000, 1}, "16qam", "correlated:0.95", 2), {.order = ColumnOrder::natural});
  add(problem<TestType>({8, 8, 300, 1}, "16qam", "rayleigh", 6), {});
  add(problem<TestType>({4, 4, 3000, 0}, "16qam", "rayleigh", 4), {});
  add(problem<TestType>({4, 4, 2000, 1}, "64qam", "rayleigh", 14), {.order = ColumnOrder::su_wassell});
  add(problem<TestType>({2, 2, 100, 1}, "1024qam", "rayleigh", 20), {});
  add(problem<TestType>({4, 4, 2000, 1}, "16qam", "rayleigh", 0), {.order = ColumnOrder::natural, .max_nodes = 40});
  add(problem<TestType>({3, 3, 200, 1}, "16qam", "rayleigh", 4), {.method = MimoMethod::sd_plain});
  add(problem<TestType>({3, 3, 1000, 1}, "qpsk,8psk,bpsk", "rayleigh", 0), {.radius = 0.01});
  shared_runtime.reset();
  Runtime gpu({.cpus = 0, .gpus = 1});
  for (auto& [p, options, alone] : all) {
    CAPTURE(p.shape.streams, p.shape.signals, options.max_nodes);
    MimoOptions same = options;
    same.n0 = p.n0;
    Graph g(gpu);
    const Detection found = mimo_detect(g, p.shape, p.h, p.y, p.alphabets, same);
    CHECK(found.ties() == alone.ties());
    if (options.max_nodes == 0) CHECK(differences(alone, found) == 0);
    if (options.max_nodes == 0) CHECK(found.uncertified() == 0);
    // Different rounding may end a limited search elsewhere.
    CHECK(differences(alone, found) <= found.uncertified() + alone.uncertified());
  }
}
