// Transport in a closed square by finite volumes: u_t + div(v u) = div(k grad u) + r u, with a vortex v, a diffusivity
// k and a rate r that vary over the square, and no flux through its walls. A time step alternates directions (Peaceman
// and Rachford): all rows of cells along x are tridiagonal systems, each with its own matrix, then all along y. It is
// of second order in space and time. adi_flow --help lists the options. Without options it is a short run that checks
// its result.
#include "support/grid_run.hpp"
#include <tesela/tesela.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <numbers>

using namespace tesela;

namespace {

constexpr double pi = std::numbers::pi;

struct Options {
  index_t n = 0, steps = 0;  // cells along a side, time steps
  double time = 0.5, speed = 1, diffusivity = 0.05;
  index_t tile = 0;  // order of tiles; 0 selects one per GPU or core
  std::string out = {};
  bool study = false, blob = false;

  double dt() const { return time / static_cast<double>(steps); }
  double h() const { return 1 / static_cast<double>(n); }
};

// ---- The flow

/// Stream function; differences of its values give velocities at faces whose sum over each cell is zero.
double stream(const Options& o, double x, double y) { return o.speed / pi * std::sin(pi * x) * std::sin(pi * y); }

double diffusivity(const Options& o, double x, double y) {
  return o.diffusivity * (1 + 0.5 * std::sin(2 * pi * x) * std::cos(3 * pi * y));
}

/// The solution is exp(-t) shape(x, y) for this rate, which follows from the equation.
double shape(double x, double y) { return 2 + std::cos(pi * x) * std::cos(2 * pi * y); }
double rate(const Options& o, double x, double y) {
  const double vx = o.speed * std::sin(pi * x) * std::cos(pi * y), vy = -o.speed * std::cos(pi * x) * std::sin(pi * y);
  const double kx = o.diffusivity * pi * std::cos(2 * pi * x) * std::cos(3 * pi * y),
               ky = -1.5 * o.diffusivity * pi * std::sin(2 * pi * x) * std::sin(3 * pi * y);
  const double sx = -pi * std::sin(pi * x) * std::cos(2 * pi * y),
               sy = -2 * pi * std::cos(pi * x) * std::sin(2 * pi * y);
  const double laplace = -5 * pi * pi * std::cos(pi * x) * std::cos(2 * pi * y), s = shape(x, y);
  return (-s + (vx - kx) * sx + (vy - ky) * sy - diffusivity(o, x, y) * laplace) / s;
}

// ---- The method

/// Coefficients of a cell: a x(before) + b x(own) + c x(behind).
struct Cell {
  double a, b, c;
};

/// Returns the cell's share of fluxes through two opposite faces, with means as values at faces. Faces in walls have
/// neither velocity nor diffusivity.
Cell fluxes(double h, double v_before, double k_before, double v_behind, double k_behind) {
  return {(v_before / 2 + k_before / h) / h, (v_before / 2 - k_before / h - v_behind / 2 - k_behind / h) / h,
          (-v_behind / 2 + k_behind / h) / h};
}

/// Returns the operator of one direction in cell (i, j), with half of the rate.
Cell operator_at(const Options& o, SystemsIn direction, index_t i, index_t j) {
  const double h = o.h(), x = h * static_cast<double>(i), y = h * static_cast<double>(j);  // of its lower left corner
  const bool along_x = direction == SystemsIn::columns;
  const auto velocity = [&](double to) {
    return along_x ? (stream(o, to, y + h) - stream(o, to, y)) / h : -(stream(o, x + h, to) - stream(o, x, to)) / h;
  };
  const auto k = [&](double to) { return along_x ? diffusivity(o, to, y + h / 2) : diffusivity(o, x + h / 2, to); };
  const index_t place = along_x ? i : j;
  const double before = along_x ? x : y, behind = before + h;
  const bool open_before = place > 0, open_behind = place + 1 < o.n;
  Cell cell = fluxes(h, open_before ? velocity(before) : 0, open_before ? k(before) : 0,
                     open_behind ? velocity(behind) : 0, open_behind ? k(behind) : 0);
  if (!o.blob) cell.b += rate(o, x + h / 2, y + h / 2) / 2;
  return cell;
}

TileMatrix<double> cells(Runtime& runtime, const Options& o, const TileShape& tile, const char* name,
                         const std::function<double(index_t, index_t)>& value) {
  std::vector<double> values;
  for (index_t j = 0; j < o.n; ++j)
    for (index_t i = 0; i < o.n; ++i) values.push_back(value(i, j));
  TileMatrix<double> a(runtime, o.n, o.n, tile, name);
  a.copy_from(values.data(), o.n);
  return a;
}

/// Returns I + factor L for the operator L of one direction: a matrix for each line of cells.
Tridiagonal<double> matrices(Runtime& runtime, const Options& o, const TileShape& tile, SystemsIn direction,
                             double factor) {
  const auto band = [&](const char* name, auto pick) {
    return cells(runtime, o, tile, name, [&](index_t i, index_t j) { return pick(operator_at(o, direction, i, j)); });
  };
  return {band("dl", [&](const Cell& c) { return factor * c.a; }),
          band("d", [&](const Cell& c) { return 1 + factor * c.b; }),
          band("du", [&](const Cell& c) { return factor * c.c; })};
}

/// Returns tiles of one per GPU or core, or smaller ones by --tile.
TileShape suitable_tile(const Runtime& runtime, const Options& o) {
  const index_t workers = std::max(runtime.gpus() > 0 ? runtime.gpus() : runtime.cpus(), 1);
  const index_t tile = std::min(o.tile > 0 ? o.tile : ceil_div(o.n, workers), o.n);
  return {o.tile > 0 ? tile : o.n, tile};
}

double initial(const Options& o, double x, double y) {
  return o.blob ? std::exp(-((x - 0.5) * (x - 0.5) + (y - 0.75) * (y - 0.75)) / 0.0128) : shape(x, y);
}

class Flow {
 public:
  Flow(Runtime& runtime, const Options& o) : Flow(runtime, o, suitable_tile(runtime, o)) {}

  /// Inserts half a step implicit in x and explicit in y, then half a step explicit in x and implicit in y.
  void step(Graph& g) const {
    const TridiagonalOptions along_x{.systems = SystemsIn::columns}, along_y{.systems = SystemsIn::rows};
    tridiagonal_multiply(g, explicit_y_, u_, v_, along_y);
    tridiagonal_solve(g, implicit_x_, v_, along_x);
    tridiagonal_multiply(g, explicit_x_, v_, u_, along_x);
    tridiagonal_solve(g, implicit_y_, u_, along_y);
  }
  std::vector<double> u() const {
    std::vector<double> values(static_cast<std::size_t>(u_.m() * u_.n()));
    u_.copy_to(values.data(), u_.m());
    return values;
  }

 private:
  Flow(Runtime& runtime, const Options& o, const TileShape& tile)
      : u_(cells(runtime, o, tile, "u",
                 [&](index_t i, index_t j) {
                   return initial(o, o.h() * (static_cast<double>(i) + 0.5), o.h() * (static_cast<double>(j) + 0.5));
                 })),
        v_(runtime, o.n, o.n, tile, "v"),
        explicit_x_(matrices(runtime, o, tile, SystemsIn::columns, o.dt() / 2)),
        implicit_x_(matrices(runtime, o, tile, SystemsIn::columns, -o.dt() / 2)),
        explicit_y_(matrices(runtime, o, tile, SystemsIn::rows, o.dt() / 2)),
        implicit_y_(matrices(runtime, o, tile, SystemsIn::rows, -o.dt() / 2)) {}

  TileMatrix<double> u_, v_;
  Tridiagonal<double> explicit_x_, implicit_x_, explicit_y_, implicit_y_;
};

// ---- Runs

/// Returns the sum over the cells times their area.
double mass(const Options& o, const std::vector<double>& u) {
  double sum = 0;
  for (const double value : u) sum += value;
  return sum * o.h() * o.h();
}

/// Returns the largest distance to the exact solution.
double error(const Options& o, const std::vector<double>& u, double t) {
  std::vector<double> exact;
  for (index_t j = 0; j < o.n; ++j)
    for (index_t i = 0; i < o.n; ++i)
      exact.push_back(std::exp(-t) *
                      shape(o.h() * (static_cast<double>(i) + 0.5), o.h() * (static_cast<double>(j) + 0.5)));
  return grid_run::largest_difference(u, exact);
}

struct Result {
  double error = 0;    // at the end
  double drift = 0;    // largest relative change of the mass
  double seconds = 0;  // of the time steps
};

/// Runs all time steps. Calls `report` with the step and the field before the first step and after each quarter.
Result simulate(Runtime& runtime, const Options& o,
                const std::function<void(index_t step, const std::vector<double>& u)>& report) {
  const Flow flow(runtime, o);
  std::vector<double> u = flow.u();
  const double start_mass = mass(o, u);
  Result result;
  report(0, u);
  for (index_t step = 0; step < o.steps;) {
    const index_t quarter = 4 * step / o.steps + 1, stop = ceil_div(quarter * o.steps, index_t{4});
    const auto start = std::chrono::steady_clock::now();
    while (step < stop) {
      Graph g(runtime);
      for (const index_t wait = std::min(step + 16, stop); step < wait; ++step) flow.step(g);
      if (!g.wait().ok()) throw Error("a system is singular");
      grid_run::show_progress(step, o.steps);
    }
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    u = flow.u();
    result.drift = std::max(result.drift, std::abs(mass(o, u) / start_mass - 1));
    report(step, u);
  }
  result.error = error(o, u, o.time);
  return result;
}

bool run(Runtime& runtime, const Options& o) {
  std::printf("%lld x %lld cells, %lld steps to t = %g\n", static_cast<long long>(o.n), static_cast<long long>(o.n),
              static_cast<long long>(o.steps), o.time);
  std::printf("%10s %16s%s\n", "t", "mass", o.blob ? "" : "    max error");
  if (!o.out.empty()) std::filesystem::create_directories(o.out);
  const Result result = simulate(runtime, o, [&](index_t step, const std::vector<double>& u) {
    const double t = static_cast<double>(step) * o.dt();
    std::printf("%10.6f %16.12f", t, mass(o, u));
    std::printf(o.blob ? "\n" : " %12.2e\n", error(o, u, t));
    if (o.out.empty()) return;
    const std::string path = o.out + "/flow-" + std::to_string(step);
    grid_run::write_picture(u.data(), o.n, o.blob ? 1 : 3, path + ".ppm");
    write_matrix(path + ".npy", u.data(), {o.n, o.n}, o.n);
  });
  const auto points = static_cast<double>(o.n * o.n * o.steps);
  std::printf("%.3g ms a step, %.3g million cells a second\n", 1e3 * result.seconds / static_cast<double>(o.steps),
              1e-6 * points / result.seconds);
  if (o.blob) {
    const double bound = 10 * std::numeric_limits<double>::epsilon() * std::sqrt(points);
    std::printf("largest relative change of the mass: %.1e (bound %.1e)\n", result.drift, bound);
    return result.drift <= bound;
  }
  const double bound = 5 * (1 + o.speed + o.diffusivity) * (o.h() * o.h() + o.dt() * o.dt());
  std::printf("largest error: %.1e (bound %.1e)\n", result.error, bound);
  return result.error <= bound;
}

/// Twice as many cells and steps each time: the error must fall by four.
bool study(Runtime& runtime, Options o) {
  std::printf("to t = %g\n%8s %8s %12s %8s\n", o.time, "n", "steps", "max error", "order");
  double last = 0, order = 0;
  for (int row = 0; row < 4; ++row, o.n *= 2, o.steps *= 2) {
    const Result result = simulate(runtime, o, [](index_t, const std::vector<double>&) {});
    order = std::log2(last / result.error);
    std::printf(row > 0 ? "%8lld %8lld %12.3e %8.3f\n" : "%8lld %8lld %12.3e\n", static_cast<long long>(o.n),
                static_cast<long long>(o.steps), result.error, order);
    last = result.error;
  }
  return order > 1.9 && order < 2.1;
}

constexpr auto help =
    "usage: adi_flow [options]\n"
    "  --n N            cells along a side (default 128; first grid of a study 16)\n"
    "  --steps S        time steps (default N / 2, with --blob N)\n"
    "  --time T         end time (default 0.5, with --blob 2)\n"
    "  --speed V        largest velocity of the vortex (default 1)\n"
    "  --diffusivity K  mean diffusivity (default 0.05, with --blob 0.002)\n"
    "  --tile B         tiles of B x B cells (default: one per GPU or core)\n"
    "  --blob           stirs a blob without a rate instead of the exact solution\n"
    "  --out DIR        writes the field at five times: pictures (.ppm) and NumPy files (.npy)\n"
    "  --study          four grids, each twice as fine in space and time as the last, and the order of convergence\n"
    "Exit code 1 if the error, the change of the blob's mass, or the order of the study is wrong.\n";

constexpr grid_run::Usage usage{"adi_flow", help};

Options parse(int argc, char** argv) {
  Options o;
  o.time = o.diffusivity = 0;
  usage.parse(
      argc, argv,
      [&](const std::string& option) {
        return (option == "--study" && (o.study = true)) || (option == "--blob" && (o.blob = true));
      },
      [&](const std::string& option, const std::string& value) {
        if (option == "--out") {
          o.out = value;
          return true;
        }
        const bool whole = option == "--n" || option == "--steps" || option == "--tile";
        const double number = usage.positive(option, value, !whole);
        if (option == "--n")
          o.n = static_cast<index_t>(number);
        else if (option == "--steps")
          o.steps = static_cast<index_t>(number);
        else if (option == "--tile")
          o.tile = static_cast<index_t>(number);
        else if (option == "--time")
          o.time = number;
        else if (option == "--speed")
          o.speed = number;
        else if (option == "--diffusivity")
          o.diffusivity = number;
        else
          return false;
        return true;
      });
  if (o.study && o.blob) usage.refuse("--blob", "--study", "the blob has no exact solution");
  if (o.n == 0) o.n = o.study ? 16 : 128;
  if (o.steps == 0) o.steps = o.blob ? o.n : std::max<index_t>(o.n / 2, 1);
  if (o.time == 0) o.time = o.blob ? 2 : 0.5;
  if (o.diffusivity == 0) o.diffusivity = o.blob ? 0.002 : 0.05;
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
