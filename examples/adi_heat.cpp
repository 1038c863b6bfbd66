// The heat equation u_t = alpha (u_xx + u_yy) on the unit square, zero on the boundary, by alternating directions: in
// each time step all grid lines along x are tridiagonal systems, then all along y. The method is Peaceman and
// Rachford's, of second order in space and time. adi_heat --help lists the options. Without options it is a short run
// that checks its result.
#include "support/grid_run.hpp"
#include <tesela/tesela.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

using namespace tesela;
using grid_run::largest_difference, grid_run::show_progress;

namespace {

struct Options {
  index_t n = 128;             // intervals along a side
  index_t steps = 64;          // time steps
  double alpha = 1, time = 0;  // end time; 0 selects 0.02 / alpha
  index_t tile = 0;            // order of tiles; 0 selects one per GPU or core
  std::string out = {};
  bool study = false;

  index_t unknowns() const { return n - 1; }  // per side, without the boundaries
  index_t points() const { return unknowns() * unknowns(); }
  double end() const { return time > 0 ? time : 0.02 / alpha; }
  double dt() const { return end() / static_cast<double>(steps); }
  /// The diagonals of alpha dt / 2 d²/dx² on the grid are c, -2 c, c.
  double c() const { return alpha * dt() / 2 * static_cast<double>(n * n); }
};

// ---- The method

/// Returns I + c d²: one matrix for all grid lines of a direction.
Tridiagonal<double> matrix(Runtime& runtime, double c, index_t unknowns, SystemsIn systems, index_t tile) {
  const auto diagonal = [&](const char* name, double value) {
    const bool columns = systems == SystemsIn::columns;
    TileMatrix<double> a(runtime, columns ? unknowns : 1, columns ? 1 : unknowns,
                         columns ? TileShape{tile, 1} : TileShape{1, tile}, name);
    a.copy_from(std::vector<double>(static_cast<std::size_t>(unknowns), value).data(), a.m());
    return a;
  };
  return {diagonal("dl", c), diagonal("d", 1 - 2 * c), diagonal("du", c)};
}

/// A grid with x as the fastest index, in one tile per GPU or core or in smaller ones by --tile.
class Square {
 public:
  Square(Runtime& runtime, const Options& o)
      : Square(runtime, o, o.tile > 0 ? std::min(o.tile, o.unknowns()) : o.unknowns(), tile_of(runtime, o)) {}

  /// Inserts a time step by Peaceman and Rachford: half a step implicit in x and explicit in y, then half a step
  /// explicit in x and implicit in y.
  void step(Graph& g) const {
    const TridiagonalOptions along_x{.systems = SystemsIn::columns}, along_y{.systems = SystemsIn::rows};
    tridiagonal_multiply(g, explicit_y_, u_, v_, along_y);
    tridiagonal_solve(g, implicit_x_, v_, along_x);
    tridiagonal_multiply(g, explicit_x_, v_, u_, along_x);
    tridiagonal_solve(g, implicit_y_, u_, along_y);
  }
  const TileMatrix<double>& u() const { return u_; }

 private:
  static index_t tile_of(Runtime& runtime, const Options& o) {
    const index_t workers = std::max(runtime.gpus() > 0 ? runtime.gpus() : runtime.cpus(), 1);
    return std::min(o.tile > 0 ? o.tile : ceil_div(o.unknowns(), workers), o.unknowns());
  }
  Square(Runtime& runtime, const Options& o, index_t tile_x, index_t tile_y)
      : u_(runtime, o.unknowns(), o.unknowns(), {tile_x, tile_y}, "u"),
        v_(runtime, o.unknowns(), o.unknowns(), {tile_x, tile_y}, "v"),
        explicit_x_(matrix(runtime, o.c(), o.unknowns(), SystemsIn::columns, tile_x)),
        implicit_x_(matrix(runtime, -o.c(), o.unknowns(), SystemsIn::columns, tile_x)),
        explicit_y_(matrix(runtime, o.c(), o.unknowns(), SystemsIn::rows, tile_y)),
        implicit_y_(matrix(runtime, -o.c(), o.unknowns(), SystemsIn::rows, tile_y)) {}

  TileMatrix<double> u_, v_;
  Tridiagonal<double> explicit_x_, implicit_x_, explicit_y_, implicit_y_;
};

// ---- The exact solution

/// The initial field is a sum of these sines, which only decay.
struct Mode {
  double size;
  int x, y;
};
constexpr Mode modes[] = {{1, 1, 1}, {0.6, 2, 3}, {-0.5, 5, 2}};

/// Decay of a mode until a step: in the equation's solution, and in the method's solution without rounding.
double exact_decay(const Options& o, const Mode& m, index_t step) {
  const double squares = m.x * m.x + m.y * m.y;
  return std::exp(-o.alpha * squares * std::numbers::pi * std::numbers::pi * static_cast<double>(step) * o.dt());
}
double discrete_decay(const Options& o, const Mode& m, index_t step) {
  const auto eigenvalue = [&](int wave) {  // eigenvalue of -c d²
    const double sine = std::sin(wave * std::numbers::pi / static_cast<double>(2 * o.n));
    return 4 * o.c() * sine * sine;
  };
  const double x = eigenvalue(m.x), y = eigenvalue(m.y);
  return std::pow(1 - 2 * (x + y) / ((1 + x) * (1 + y)), static_cast<double>(step));
}

/// Returns the sum of the modes, each times decay(mode).
std::vector<double> field(const Options& o, const std::function<double(const Mode&)>& decay) {
  const index_t n = o.unknowns();
  std::vector<double> u(static_cast<std::size_t>(o.points()));
  for (const Mode& m : modes) {
    const auto sines = [&](int wave) {
      std::vector<double> s;
      for (index_t i = 1; i <= n; ++i)
        s.push_back(std::sin(wave * std::numbers::pi * static_cast<double>(i) / static_cast<double>(o.n)));
      return s;
    };
    const auto x = sines(m.x), y = sines(m.y);
    const double size = m.size * decay(m);
    double* point = u.data();
    for (const double sy : y)
      for (const double sx : x) *point++ += size * sy * sx;
  }
  return u;
}

/// The integral of u²: on the grid, and of the equation's solution.
double energy(const Options& o, const std::vector<double>& u) {
  double sum = 0;
  for (const double value : u) sum += value * value;
  return sum / static_cast<double>(o.n * o.n);
}
double exact_energy(const Options& o, index_t step) {
  double sum = 0;
  for (const Mode& m : modes) sum += std::pow(m.size * exact_decay(o, m, step), 2);
  return sum / 4;
}

// ---- Runs

struct Result {
  double error = 0;     // largest distance to the equation's solution
  double rounding = 0;  // largest distance to the method's solution
  double seconds = 0;   // of the time steps
};

/// Runs all time steps. Calls `report` with the step and the field before the first step and after each quarter.
Result simulate(Runtime& runtime, const Options& o,
                const std::function<void(index_t step, const std::vector<double>& u, double error)>& report) {
  const Square grid(runtime, o);
  Result result;
  std::vector<double> u = field(o, [](const Mode&) { return 1; });
  grid.u().copy_from(u.data(), grid.u().m());
  report(0, u, 0);
  for (index_t step = 0; step < o.steps;) {
    const index_t quarter = 4 * step / o.steps + 1, stop = ceil_div(quarter * o.steps, index_t{4});
    const auto start = std::chrono::steady_clock::now();
    while (step < stop) {
      Graph g(runtime);
      for (const index_t wait = std::min(step + 16, stop); step < wait; ++step) grid.step(g);
      const Status status = g.wait();
      if (!status.ok()) throw Error("a system is singular");
      show_progress(step, o.steps);
    }
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    grid.u().copy_to(u.data(), grid.u().m());
    result.error = largest_difference(u, field(o, [&](const Mode& m) { return exact_decay(o, m, step); }));
    result.rounding = std::max(
        result.rounding, largest_difference(u, field(o, [&](const Mode& m) { return discrete_decay(o, m, step); })));
    report(step, u, result.error);
  }
  return result;
}

/// Checks the rounding error, a few units of c per step.
bool right(const Options& o, const Result& result) {
  const double steps = static_cast<double>(o.steps);
  const double bound = std::numeric_limits<double>::epsilon() * (100 + steps + 4 * o.c() * steps);
  std::printf("largest distance to the method's exact solution: %.1e (bound %.1e)\n", result.rounding, bound);
  return result.rounding <= bound;
}

bool run(Runtime& runtime, const Options& o) {
  std::printf("%lld intervals a side, %lld steps to t = %g: %lld unknowns\n", static_cast<long long>(o.n),
              static_cast<long long>(o.steps), o.end(), static_cast<long long>(o.points()));
  std::printf("%10s %12s %14s %12s\n", "t", "energy", "exact energy", "max error");
  if (!o.out.empty()) std::filesystem::create_directories(o.out);
  const Result result = simulate(runtime, o, [&](index_t step, const std::vector<double>& u, double error) {
    std::printf("%10.6f %12.8f %14.8f %12.2e\n", static_cast<double>(step) * o.dt(), energy(o, u),
                exact_energy(o, step), error);
    if (o.out.empty()) return;
    const std::string path = o.out + "/heat-" + std::to_string(step);
    grid_run::write_picture(u.data(), o.unknowns(), 1.5, path + ".ppm");
    write_matrix(path + ".npy", u.data(), {o.unknowns(), o.unknowns()}, o.unknowns());
  });
  std::printf("%.3g ms a step, %.3g million unknowns a second\n", 1e3 * result.seconds / static_cast<double>(o.steps),
              1e-6 * static_cast<double>(o.points() * o.steps) / result.seconds);
  return right(o, result);
}

/// Twice as many intervals and steps each time: the error must fall by four.
bool study(Runtime& runtime, Options o) {
  std::printf("to t = %g\n%8s %8s %12s %8s\n", o.end(), "n", "steps", "max error", "order");
  bool good = true;
  double last = 0;
  for (int row = 0; row < 4; ++row, o.n *= 2, o.steps *= 2) {
    const Result result = simulate(runtime, o, [](index_t, const std::vector<double>&, double) {});
    const double order = std::log2(last / result.error);
    std::printf(row > 0 ? "%8lld %8lld %12.3e %8.3f\n" : "%8lld %8lld %12.3e\n", static_cast<long long>(o.n),
                static_cast<long long>(o.steps), result.error, order);
    if (row == 3) good = right(o, result) && order > 1.9 && order < 2.1;
    last = result.error;
  }
  return good;
}

constexpr auto help =
    "usage: adi_heat [options]\n"
    "  --n N        intervals along a side, N - 1 unknowns between the boundaries\n"
    "               (default 128; first grid of a study 16)\n"
    "  --steps S    time steps (default N / 2)\n"
    "  --alpha A    diffusivity (default 1)\n"
    "  --time T     end time (default 0.02 / A)\n"
    "  --tile B     tiles of B x B (default: one per GPU or core)\n"
    "  --out DIR    writes the field at five times: pictures (.ppm) and NumPy files (.npy)\n"
    "  --study      four grids, each twice as fine in space and time as the last, and the order of convergence\n"
    "Exit code 1 if the result is wrong or the order of the study is not 2.\n";

constexpr grid_run::Usage usage{"adi_heat", help};

Options parse(int argc, char** argv) {
  Options o;
  o.n = o.steps = 0;
  usage.parse(
      argc, argv, [&](const std::string& option) { return option == "--study" && (o.study = true); },
      [&](const std::string& option, const std::string& value) {
        if (option == "--out") {
          o.out = value;
          return true;
        }
        const double number = usage.positive(option, value, option == "--alpha" || option == "--time");
        if (option == "--alpha")
          o.alpha = number;
        else if (option == "--time")
          o.time = number;
        else if (option == "--n")
          o.n = static_cast<index_t>(number);
        else if (option == "--steps")
          o.steps = static_cast<index_t>(number);
        else if (option == "--tile")
          o.tile = static_cast<index_t>(number);
        else
          return false;
        return true;
      });
  if (o.n == 0) o.n = o.study ? 16 : 128;
  if (o.n < 2) usage.refuse("--n", std::to_string(o.n), "at least one point must lie between the boundaries");
  if (o.steps == 0) o.steps = std::max<index_t>(o.n / 2, 1);
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  return usage.run([&] {
    Runtime runtime;
    return options.study ? study(runtime, options) : run(runtime, options);
  });
}
