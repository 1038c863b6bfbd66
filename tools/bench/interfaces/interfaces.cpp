#include "tools/app/command.hpp"
#include "tools/app/numbers.hpp"
#include <tesela/runtime/errors.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace tesela::bench {
namespace {

using cli::Command;

/// Where CMake found them; the first is empty where the module was not built.
constexpr const char* python = TESELA_BENCH_PYTHON;
constexpr const char* module_path = TESELA_BENCH_MODULE;
constexpr const char* script = TESELA_BENCH_SCRIPT;

/// Goes on as the script, with the Python that the module was built for, or says what is missing.
int run_script(std::vector<std::string> words) {
  if (*python == 0)
    throw EnvironmentError(
        "bench interfaces: Python's module was not built, since no Python with its headers and nanobind was found; "
        "scripts/setup installs them, scripts/build builds it");
  for (const char* file : {python, module_path, script})
    if (!std::filesystem::exists(file))
      throw EnvironmentError(std::string("bench interfaces: ") + file +
                             " is not there: it runs from the tree that it was built in");
  const char* before = std::getenv("PYTHONPATH");
  setenv("PYTHONPATH", (module_path + (before != nullptr ? ":" + std::string(before) : "")).c_str(), 1);
  words.insert(words.begin(), {python, script});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(python, arguments.data());
  throw EnvironmentError(std::string("bench interfaces: cannot run ") + python + ": " +
                         std::generic_category().message(errno));
}

const Command interfaces_command(
    Command::Group::bench, "interfaces", "Python's module against SciPy, or on a GPU against CuPy and PyTorch",
    [](cli::App& app) {
      struct Options {
        bool quick = false, small = false;
        int repeat = 3;
        std::string csv, device;
      };
      auto o = std::make_shared<Options>();
      app.add_flag("--quick", o->quick, "a quarter of the sizes");
      app.add_flag("--small", o->small, "orders 5 and 50, where each microsecond counts");
      app.add_option("-r,--repeat", o->repeat, "runs; the median counts")->check(cli::between(1, 1000))->show_default();
      app.add_option("--device", o->device, "arrays of this library on a GPU, instead of NumPy's")
          ->check(cli::one_of({"cupy", "torch"}));
      app.add_option("--csv", o->csv, "write the table to FILE")->type_name("FILE");
      return std::function<int()>([o] {
        std::vector<std::string> words{"--repeat", std::to_string(o->repeat)};
        if (o->quick) words.emplace_back("--quick");
        if (o->small) words.emplace_back("--small");
        if (!o->device.empty()) words.insert(words.end(), {"--device", o->device});
        if (!o->csv.empty()) words.insert(words.end(), {"--csv", o->csv});
        return run_script(std::move(words));
      });
    });

}  // namespace
}  // namespace tesela::bench
