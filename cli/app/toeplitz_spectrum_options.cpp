#include "cli/app/toeplitz_spectrum_options.hpp"

#include "cli/app/numbers.hpp"

#include <charconv>
#include <cmath>

namespace tesela::cli {

void SpectrumSettings::add_to(CLI::App& app) {
  app.add_option("--preset", preset,
                 "fast (what was measured to be), or published: the published code's choices, a tolerance of 0.1 and "
                 "Levinson's recursion among them")
      ->check(CLI::IsMember({"fast", "published"}))
      ->capture_default_str();
  app.add_option(
         "--method", method,
         "lanczos (intervals by counting, Lanczos in each), dense (LAPACK on the symmetric and the skew half) or "
         "auto (dense for whole spectra where it is faster, which takes at most two cores and no GPU)")
      ->check(CLI::IsMember({"auto", "lanczos", "dense"}))
      ->capture_default_str();
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
  app.add_option(
         "--solver", solver,
         "what a Lanczos step solves with: cauchy (an inverse in the sine basis; fast) or levinson (a recursion of "
         "n steps each time; published)")
      ->check(CLI::IsMember({"cauchy", "levinson"}));
  app.add_option("--counter", counter,
                 "whose pivots count the eigenvalues of an interval: cauchy or levinson, as above")
      ->check(CLI::IsMember({"cauchy", "levinson"}));
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
  if (method != "auto") o.method = method == "dense" ? SpectrumMethod::dense : SpectrumMethod::lanczos;
  if (per_interval > 0) o.per_interval = per_interval;
  if (dk > 0) o.dk = dk;
  if (max_attempts > 0) o.max_attempts = max_attempts;
  if (krylov_factor > 0) {
    o.krylov_factor = krylov_factor;
    o.krylov_more = 0;  // the preset's, which belongs to its factor
  }
  if (tolerance > 0) o.tolerance = tolerance;
  if (!shift.empty()) o.midpoint = shift == "midpoint";
  if (!start.empty()) o.fixed_start = start == "fixed";
  const auto named = [](const std::string& name) {
    return name == "levinson" ? ToeplitzSolver::levinson : ToeplitzSolver::cauchy;
  };
  if (!solver.empty()) o.solver = named(solver);
  if (!counter.empty()) o.counter = named(counter);
  o.window = window;
  o.group = group;
  o.seed = seed;
  return o;
}

}  // namespace tesela::cli
