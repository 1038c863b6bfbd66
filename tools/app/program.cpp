#include "tools/app/program.hpp"

#include "tools/app/command.hpp"
#include "tools/app/help.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/plan_report.hpp"
#include "tools/app/sizes.hpp"
#include "tools/app/standard_streams.hpp"
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/io/file_batch.hpp>
#include <tesela/tiles/io/streams.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <system_error>

namespace tesela::cli {
namespace {

/// Returns the error message for the first list with an empty element ("1,,2", "1,2,") among the words of a command
/// line; CLI11 drops such elements.
std::optional<std::string> empty_list_element(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  const CLI::Option* option = nullptr;  // the option that the word belongs to
  std::string path;
  for (const std::string& word : words) {
    std::string_view value = word;
    if (word.size() > 1 && word[0] == '-') {
      // --name=value, --name, -nVALUE
      const std::size_t end = word.starts_with("--") ? std::min(word.find('='), word.size()) : 2;
      if (const CLI::Option* named = command->get_option_no_throw(word.substr(0, end))) {
        option = named;
        value.remove_prefix(std::min(word.size(), word.starts_with("--") ? end + 1 : end));
        if (value.empty()) continue;
      }
    } else if (option == nullptr) {
      const auto inner = command->get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
      if (!inner.empty()) command = inner.front(), path += (path.empty() ? "" : " ") + word;
      continue;
    }
    if (option == nullptr || option->get_delimiter() == '\0') continue;
    const std::vector<std::string> elements = split_list(value, option->get_delimiter());
    if (const auto empty = std::find(elements.begin(), elements.end(), ""); empty != elements.end())
      return fmt::format("{0}: {1}: element {2} of '{3}' is empty; see tesela {0} --help", path, option->get_name(),
                         empty - elements.begin() + 1, value);
  }
  return std::nullopt;
}

int exit_code(ErrorKind kind) {
  return kind == ErrorKind::cancelled ? interrupted() : kind == ErrorKind::wrong_use ? wrong_use : environment;
}

int complain(std::string_view what, int code) {
  const bool named = what.starts_with("tesela: ") || what.starts_with("tesela ");
  print_error(named ? std::string(what) : fmt::format("tesela: {}", what));
  return code;
}

/// Rejects empty values, which come from unset shell variables; CLI11 reads an empty number as 0.
CLI::Validator not_empty(const std::string& type) {
  const bool number = type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
  const std::string what = number                            ? "number"
                           : type == "FILE" || type == "DIR" ? "name"
                           : type == "TILE"                  ? "tile"
                                                             : "word";
  return {[what](const std::string& text) { return text.empty() ? "an empty " + what : std::string(); }, ""};
}

/// Reports an error of CLI11 in the form of our own messages.
int report_option_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string path, what = error.what();
  const CLI::App* command = &app;
  for (auto inner = app.get_subcommands(); !inner.empty(); inner = inner.front()->get_subcommands()) {
    command = inner.front();
    path += (path.empty() ? "" : " ") + command->get_name();
  }
  if (const auto words = app.remaining(true);
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !words.empty())
    what = unknown_options(*command, words);
  if (error.get_name() == "RequiredError" && command->get_require_subcommand_min() > 0 && command->parsed() > 0 &&
      command->get_subcommands().empty()) {
    what = "a command is missing";
    if (!path.empty())
      for (const CLI::App* one : command->get_subcommands(nullptr))
        what += (what.ends_with("missing") ? ": " : ", ") + one->get_name();
  }
  for (const auto& [verb, then] :
       {std::pair{" excludes ", "contradict each other: give one of them"}, std::pair{" requires ", "belong together"}})
    if (const auto at = what.find(verb); at != std::string::npos)
      what = fmt::format("{} and {} {}", what.substr(0, at), what.substr(at + std::string_view(verb).size()), then);
  // A file in place of a number
  const auto begin = what.find(": '"), end = what.find("' is not a");
  if (begin != std::string::npos && end != std::string::npos && begin + 3 < end)
    if (const std::string named =
            option_for_file(*command, what.substr(begin + 3, end - begin - 3), what.substr(0, begin));
        !named.empty())
      what += ": " + named;
  constexpr std::string_view conversion = "Could not convert: ", equals = " = ";
  if (const auto at = what.find(equals); what.starts_with(conversion) && at != std::string::npos)
    what = fmt::format("{}: '{}' is not a number that it accepts",
                       what.substr(conversion.size(), at - conversion.size()), what.substr(at + equals.size()));
  print_error(path.empty() ? fmt::format("tesela: {}; see tesela --help", what)
                           : fmt::format("tesela: {0}: {1}; see tesela {0} --help", path, what));
  return wrong_use;
}

int run(std::vector<std::string> words) {
  for (const std::string& word : words)  // CLI11 reads `--flag=` as true
    if (word.starts_with("--") && word.find('=') + 1 == word.size()) {
      print_error(fmt::format("tesela: nothing follows {}; see tesela --help", word));
      return wrong_use;
    }
  CLI::App app("Linear algebra as task graphs of tiled codelets, over CPU cores and GPUs.");
  app.name("tesela");
  app.formatter(help_formatter());
  app.set_help_flag("-h,--help", "show the common options");
  app.set_help_all_flag("--help-all", "show every option");
  app.set_version_flag("--version", std::string("tesela ") + config::version);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  tesela info\n"
      "  tesela gemm --n 4096 --repeat 5\n"
      "  tesela gemm --a A.mtx --b B.npy --out C.mtx --trace trace/\n"
      "  tesela generate --n 100 --out - | tesela qr --a - --out-r R.npy\n"
      "  STARPU_SCHED=dmda STARPU_NCPU=1 tesela gemm --m 517 --n 389 --k 611 --tile 64x48 --json -\n"
      "Matrices are read from Matrix Market files (repeated entries are summed) or NumPy's .npy.\n"
      "A file may be a pipe or -, standard input or output; with --out - the report goes to standard error.\n"
      "Exit codes: 0 done, 1 numerical failure, 2 wrong use or unreadable input, 3 environment, 130 Ctrl-C\n"
      "(other signals: 128 + their number).");
  // In `tesela` this group is empty and only its name is listed: tesela-bench contains the benchmarks.
  CLI::App* bench = app.add_subcommand("bench", "same-run comparisons with peers, written as CSV and a plot");
  bench->require_subcommand(1);
  CLI::App* toeplitz =
      app.add_subcommand("toeplitz", "Toeplitz matrices, T(i, j) = t(i - j): systems, eigenvalues, counts");
  toeplitz->require_subcommand(1);
  toeplitz->footer("");
  CLI::App* mimo = app.add_subcommand("mimo", "detection of many streams that send at once, y = H s + v");
  mimo->require_subcommand(1);
  mimo->footer("");

  int code = done;
  std::deque<App> apps;  // addresses stay valid
  for (const Command& command : commands()) {
    CLI::App* parent = command.group == Command::Group::bench      ? bench
                       : command.group == Command::Group::toeplitz ? toeplitz
                       : command.group == Command::Group::mimo     ? mimo
                                                                   : &app;
    CLI::App* sub = parent->add_subcommand(command.name, command.summary);
    sub->footer("");  // without the parent's footer
    App& options = apps.emplace_back(*sub);
    auto action = command.setup(options);
    group_options(*sub);
    for (CLI::Option* option : sub->get_options())
      if (option->get_items_expected_max() > 0) option->check(not_empty(option->get_type_name()));
    sub->callback([&code, &options, action = std::move(action)] {
      require_inputs(options);
      require_problem(options);
      require_plan_alone(options);
      require_outputs(options);
      announce_dense_inputs(options);
      if (writes_to_standard_output(options)) redirect_reports_to_stderr();
      code = action();
    });
  }
  add_completion(app);
  if (const auto problem = empty_list_element(app, words)) {
    print_error(fmt::format("tesela: {}", *problem));
    return wrong_use;
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 expects the reverse order
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const CLI::App& group = bench->parsed() ? *bench : toeplitz->parsed() ? *toeplitz : mimo->parsed() ? *mimo : app;
    const auto unknown = app.remaining(true);
    if (group.get_subcommands().empty() && !unknown.empty()) {
      print_error(unknown_command(group, unknown.front()));
      return wrong_use;
    }
    return error.get_exit_code() == 0 ? app.exit(error) : report_option_error(app, error);
  }
  return code;
}

/// Runs the command. run_program() reports a failure to print.
int run_and_print(std::vector<std::string> words) {
  try {
    use_vector_target("");  // throws if TESELA_ISA is invalid
    return run(std::move(words));
  } catch (const std::system_error&) {
    if (std::ferror(stdout) == 0) throw;
    return done;
  }
}

/// Runs the command, publishes its outputs, and prints the message of an exception.
int outcome(std::vector<std::string> words) {
  FileBatch outputs;
  try {
    stop_on_interrupt();
    const int code = run_and_print(std::move(words));
    if (was_interrupted()) return interrupted();  // too late to cancel a task
    outputs.publish();
    return code;
  } catch (const PlanShown& plan) {
    return plan.code;
  } catch (const Simulated& end) {
    return end.code;
  } catch (const Cancelled&) {
    return interrupted();
  } catch (const Error& error) {
    return complain(error.what(), exit_code(error.kind()));
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for this problem on this machine", environment);
  } catch (const std::system_error& error) {
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
    return complain(no_thread ? "no thread can be started (raise the limit, see `ulimit -u`)" : error.what(),
                    environment);
  } catch (const std::exception& error) {
    return complain(error.what(), environment);
  }
}

}  // namespace

std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    std::erase(words, "help");
    const bool of_two = !words.empty() && std::ranges::count(std::array{"bench", "toeplitz", "mimo", "predict"},
                                                             std::string_view(words.front())) > 0;
    if (const auto names = std::ranges::count_if(words, [](const auto& word) { return !word.starts_with('-'); });
        names > (of_two ? 2 : 1))
      return {fmt::format("{}", fmt::join(words, " "))};  // no command has this name
    words.emplace_back(std::erase(words, "--all") > 0 ? "--help-all" : "--help");
  }
  // CLI11 ends a command at -- if no argument is missing, so `predict record OPTIONS -- COMMAND` needs record behind
  // it.
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (words.size() > 1 && words[0] == "predict" && words[1] == "record" && mark != words.end())
    std::rotate(words.begin() + 1, words.begin() + 2, mark + 1);
  return words;
}

std::vector<std::string>::iterator command_in(std::vector<std::string>& words) {
  return std::find_if_not(words.begin(), words.end(), [](const std::string& word) { return word.starts_with('-'); });
}

int run_program(std::vector<std::string> words) {
  // StarPU's remarks on calibration and binding appear only with STARPU_SILENT=0.
  setenv("STARPU_SILENT", "1", 0);
  open_closed_standard_streams();
  silence_other_ranks();
  set_exit_codes(exit_code);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then a failed write with a message
  keep_streams();
  const int code = outcome(std::move(words));
  // Rank 0 has reported the error. MPI_Finalize would wait until all ranks have printed it too.
  if ((code == wrong_use || code == environment) && launched_with_others()) end_ranks(code);
  // The report states a numerical failure, so a lost report is the worse error.
  if (const auto problem = standard_output_problem(); problem && (code == done || code == numerical_failure)) {
    print_error(fmt::format("tesela: {}", *problem));
    return environment;
  }
  return code;
}

void end_program(int code) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const bool observed = true;
#else
  const bool observed = std::getenv("LD_PRELOAD") != nullptr || std::getenv("CUDA_INJECTION64_PATH") != nullptr;
#endif
  // Without address space OpenBLAS's threads never end, and its destructor waits for them. MPI ends in a destructor.
  if (code != environment && (observed || launched_with_others())) std::exit(code);
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace tesela::cli
