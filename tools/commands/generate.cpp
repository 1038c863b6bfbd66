#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include "tools/app/outputs.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

namespace tesela::cli {
namespace {

struct Options {
  index_t m = -1, n = 1000;
  std::string pattern, random = "uniform", out, precision = "d";
  std::uint64_t seed = 1;
  bool quiet = false;
};

template <class T>
int run(const Options& o) {
  const index_t m = o.m >= 0 ? o.m : o.n;
  const std::string kind = o.pattern.empty() ? o.random : o.pattern == "random" ? "uniform" : o.pattern;
  write_matrix(o.out, generate<T>({m, o.n}, parse_random_kind(kind), o.seed));
  if (!o.quiet) fmt::print("{}: {} x {}, {}\n", o.out, m, o.n, kind);
  return done;
}

const Command generate_command(Command::Group::top, "generate", "write a generated matrix to a file", [](App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-m,--m", o->m, "rows (default: n)")->non_negative();
  app.add_option("-n,--n", o->n, "columns")->non_negative()->show_default();
  auto* random = add_random(app, o->random, random_kinds());
  add_deprecated_alias(app, "--pattern", o->pattern, random)->check(one_of({"random", "index"}));
  app.add_option("-s,--seed", o->seed, "of the random numbers")->non_negative()->show_default();
  app.add_option("-p,--precision", o->precision, "s (single) or d (double)")->check(one_of({"s", "d"}))->show_default();
  add_output(app, Output::matrix, "-o,--out", o->out, "FILE.mtx (Matrix Market), .npy (NumPy), .csv or .txt")
      ->required();
  add_quiet(app, o->quiet);
  app.footer(
      "Examples:\n"
      "  tesela generate --m 1500 --n 1100 --seed 7 --out A.npy\n"
      "  tesela generate --m 400 --n 100 --random kappa:1e12 --out A.mtx");
  return std::function<int()>([o] { return o->precision == "s" ? run<float>(*o) : run<double>(*o); });
});

}  // namespace
}  // namespace tesela::cli
