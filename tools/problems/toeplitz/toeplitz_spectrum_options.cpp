#include "tools/problems/toeplitz/toeplitz_spectrum_options.hpp"

#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"

namespace tesela::cli {

void SpectrumSettings::add_to(CLI::App& app) {
  app.add_option(
         "--preset", preset,
         "fast (chosen by measurements), or published: the published code's choices, including a tolerance of 0.1 and "
         "Levinson's recursion")
      ->check(CLI::IsMember({"fast", "published"}))
      ->capture_default_str();
  Choices().add(spectrum_methods()).add_option(app, "--method", method);
  app.add_option("--per-interval", per_interval, "eigenvalues in an interval at most (published: 2)")
      ->transform(cli::positive());
  app.add_option("--dk", dk, "Lanczos steps between tests of convergence (published: 2)")->transform(cli::positive());
  app.add_option("--max-attempts", max_attempts, "shifts tried in an interval (published: 5)")
      ->transform(cli::positive());
  app.add_option(
         "--krylov-factor", krylov_factor,
         "Lanczos steps at most, for each of the eigenvalues that an interval may hold (published: 5; fast: 2, and "
         "32 more)")
      ->transform(cli::positive());
  app.add_option("--tol", tolerance, "residual of a Ritz value, relative to it (default: by precision; published: 0.1)")
      ->transform(cli::positive());
  const Choices solvers = Choices().add(toeplitz_solvers());
  solvers.add_option(app, "--solver", solver, "solver of a Lanczos step: ");
  solvers.add_option(app, "--counter", counter, "method whose pivots count the eigenvalues of an interval: ");
  app.add_option("--shift", shift, "an interval's first shift: midpoint or random")
      ->check(CLI::IsMember({"midpoint", "random"}));
  app.add_option("--start", start, "first vectors: fixed ((e_1 +- e_n) / sqrt(2)) or random")
      ->check(CLI::IsMember({"fixed", "random"}));
  app.add_option("--window", window, "intervals in flight: bounds the memory (default: by workers)")
      ->transform(cli::positive());
  app.add_option("--group", group, "intervals that one task steps (default: 1 on cores, 64 on a GPU)")
      ->transform(cli::positive());
}

SpectrumOptions SpectrumSettings::options(std::uint64_t seed) const {
  SpectrumOptions o = preset == "published" ? SpectrumOptions::published() : SpectrumOptions();
  if (method != "auto") o.method = *find_named(spectrum_methods(), method);
  if (per_interval > 0) o.per_interval = per_interval;
  if (dk > 0) o.dk = dk;
  if (max_attempts > 0) o.max_attempts = max_attempts;
  if (krylov_factor > 0) {
    o.krylov_factor = krylov_factor;
    o.krylov_more = 0;  // the preset's value belongs to its factor
  }
  if (tolerance > 0) o.tolerance = tolerance;
  if (!shift.empty()) o.midpoint = shift == "midpoint";
  if (!start.empty()) o.fixed_start = start == "fixed";
  if (!solver.empty()) o.solver = *find_named(toeplitz_solvers(), solver);
  if (!counter.empty()) o.counter = *find_named(toeplitz_solvers(), counter);
  o.window = window;
  o.group = group;
  o.seed = seed;
  return o;
}

}  // namespace tesela::cli
