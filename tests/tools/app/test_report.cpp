#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include "tools/app/answer.hpp"
#include "tools/app/progress.hpp"
#include "tools/app/standard_streams.hpp"
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/reading.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <poll.h>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

// The report for a person, and its lines about files.

using namespace tesela::test;

namespace {

const Words cores{"--ncuda", "0"};

/// A file with this text in a temporary folder.
struct Texts {
  TemporaryFolder folder;
  std::string operator()(const std::string& name, const std::string& text) const {
    put(folder / name, text);
    return folder / name;
  }
};

std::string doubles(const std::string& shape, const std::vector<double>& values) {
  return npy("{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }", bytes_of(values));
}

Outcome succeeds(const Words& words, const ProcessOptions& options = {}) {
  const Outcome run = run_tesela(words + cores, options);
  CAPTURE(words, run.out, run.err);
  REQUIRE(run.code == 0);
  return run;
}

std::size_t at(const Outcome& run, const std::string& text) {
  CAPTURE(run.out, text);
  REQUIRE(run.out.find(text) != std::string::npos);
  return run.out.find(text);
}

}  // namespace

TEST_CASE("the report shows the answer, the status, bounds, times, the scheduler and files, in this order") {
  const Texts file;
  const std::string a = file("a.txt", "2 0\n0 4\n0 0\n"), b = file("b.txt", "2\n8\n0\n"), x = file.folder / "x.npy";
  const Words command{"ols", "--a", a, "--b", b};
  const Outcome run = succeeds(command + Words{"--out", x, "--sched", "eager"});
  const std::size_t answer = at(run, "\nX\n  1                 1\n  2                 2\n"),
                    status = at(run, "\nstatus  ok\n"), error = at(run, "\nbackward_error "),
                    bound = at(run, " (at most "), time = at(run, "\ntime    "),
                    scheduler = at(run, "scheduler eager\n"),
                    wrote = at(run, "\nwrote   " + x + ": vector of 2, float64\n");
  CHECK((answer < status && status < error && error < bound && bound < time && time < scheduler && scheduler < wrote));
  CHECK_THAT(run.out, ContainsSubstring("s in all, with input, checks and output"));
  for (const char* detail : {"worker ", "bound   ", "busy s"}) {
    CHECK_THAT(run.out, !ContainsSubstring(detail));
    CHECK_THAT(succeeds(command + Words{"--verbose"}).out, ContainsSubstring(detail));
  }
  const Outcome quiet = succeeds(command + Words{"--quiet"});
  CHECK((quiet.out.empty() && quiet.err.empty()));
  const nlohmann::json report = Command{command}(Words{"--out", x} + cores);
  CHECK(report["answer"]["X"] == nlohmann::json({1.0, 2.0}));
  CHECK(report["written"][0]["contents"] == "vector of 2, float64");
}

TEST_CASE("a failure is one line on standard error with --quiet") {
  const Texts file;
  const std::string zero = file("z.txt", "0 0\n0 0\n");
  const Outcome quiet = run_tesela(Words{"lu", "--a", zero, "--quiet"} + cores);
  CHECK((quiet.code == 1 && quiet.out.empty()));
  CHECK(quiet.err == "tesela: lu: the pivot of column 1 is zero or not finite\n");
}

TEST_CASE("a long answer shows its first and last numbers, and the JSON has at most 1000") {
  HostMatrix<double> long_one(100, 1), wide(2, 9);
  for (index_t i = 0; i < 100; ++i) long_one(i, 0) = static_cast<double>(i + 1) / 8;
  for (index_t k = 0; k < 18; ++k) wide.data()[k] = static_cast<double>(k);
  const std::string text = cli::answer_table("x", long_one);
  CHECK_THAT(text, ContainsSubstring("x, 100 x 1\n") && ContainsSubstring("    5             0.625\n  ...\n   96 ") &&
                       ContainsSubstring("  100              12.5\n") && !ContainsSubstring("   50 "));
  CHECK_THAT(cli::answer_table("w", wide), ContainsSubstring("                 4   ...                12"));
  CHECK(cli::answer_json(long_one).size() == 100);
  CHECK(cli::answer_json(wide)[1][8] == 17);
  CHECK(cli::answer_json(HostMatrix<double>::zeros(1001, 1)).is_null());
  CHECK(cli::answer_table("e", HostMatrix<float>(0, 1)) == "e\n");
}

TEST_CASE("--no-check leaves out measured errors, and the status notes it") {
  for (const Words& command : {Words{"ols", "--n", "8"},
                               {"wls", "--n", "8"},
                               {"lse", "--n", "8"},
                               {"glm", "--n", "8"},
                               {"nnls", "--n", "8"},
                               {"tls", "--n", "8"},
                               {"ols", "--n", "8", "--ridge", "auto"},
                               {"lu", "--n", "8", "--rhs", "1"},
                               {"cholesky", "--n", "8", "--rhs", "1"},
                               {"qr", "--n", "8"},
                               {"gqr", "--n", "8"},
                               {"gemm", "--n", "8"},
                               {"tridiag", "--n", "8"},
                               {"toeplitz", "solve", "--n", "8"},
                               {"toeplitz", "count", "--n", "8"},
                               {"sem", "--samples", "60"}}) {
    CAPTURE(command);
    const Outcome run = run_tesela(command + cores + Words{"--no-check", "--json", "-"});
    REQUIRE(run.code == 0);
    const auto report = nlohmann::json::parse(run.out);
    CHECK(report["status"] == "ok (not checked)");
    CHECK(report["limits"].empty());
  }
}

TEST_CASE("every command shows its memory with --plan, without a run") {
  for (const Words& command : {Words{"ols"},
                               {"wls"},
                               {"lse"},
                               {"glm"},
                               {"nnls"},
                               {"tls"},
                               {"lu"},
                               {"cholesky"},
                               {"gqr"},
                               {"gemm"},
                               {"tridiag"},
                               {"toeplitz", "solve"},
                               {"toeplitz", "eig"}}) {
    CAPTURE(command);
    const Outcome run = run_tesela(command + Words{"--n", "2000", "--plan", "--json", "-"} + cores);
    CAPTURE(run.out, run.err);
    REQUIRE(run.code == 0);
    CHECK(nlohmann::json::parse(run.out)["plan"]["host"]["peak_bytes"] > 2000 * 8);
    CHECK(nlohmann::json::parse(run.out)["plan"]["fits"] == true);
  }
  const Outcome large = run_tesela(Words{"lu", "--n", "1e6", "--plan"} + cores);
  CHECK(large.code == 3);
  CHECK_THAT(large.out, ContainsSubstring("status  does not fit: "));
}

TEST_CASE("a coordinate file that becomes a large dense matrix is announced before it is read") {
  const Texts file;
  const std::string sparse =
      file("sp.mtx", "%%MatrixMarket matrix coordinate real general\n30000 30000 2\n1 1 1\n2 2 1\n");
  const Outcome plan = run_tesela(Words{"lu", "--a", sparse, "--plan"} + cores);
  CHECK_THAT(plan.err, ContainsSubstring("note: " + sparse + " lists 2 entries, and is read as a dense matrix of " +
                                         "30000 x 30000: 6.71 GiB"));
  CHECK_THAT(plan.out, ContainsSubstring("factor "));
}

TEST_CASE("a command without files and without a size is refused") {
  for (const Words& command : {Words{"ols"},
                               {"lu"},
                               {"cholesky"},
                               {"qr"},
                               {"eig"},
                               {"gemm"},
                               {"tridiag"},
                               {"toeplitz", "solve"},
                               {"ols", "--seed", "3"},
                               {"lse", "--out", "x.npy"}}) {
    CAPTURE(command);
    const Outcome run = run_tesela(command);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring("no input: name a file") &&
                            ContainsSubstring(", or generate a problem by --n or --random"));
    const bool tables = command[0] == "ols" || command[0] == "lse";
    CHECK((run.err.find("as in `tesela " + command[0] + " data.csv \"y ~ x1 + x2\"`") != std::string::npos) == tables);
  }
  CHECK(run_tesela(Words{"ols", "--random", "uniform", "--n", "9"} + cores).code == 0);
}

TEST_CASE("vectors keep the shape of the input") {
  const Texts file;
  const std::string a = file("a.npy", doubles("2, 2", {2, 0, 0, 4})), x = file.folder / "x.npy";
  const auto shape_from = [&](const std::string& b) {
    succeeds({"lu", "--a", a, "--b", b, "--out", x});
    const std::string header = contents(x);
    return header.substr(header.find("'shape'"), 17);
  };
  CHECK(shape_from(file("v.npy", doubles("2,", {2, 4}))) == "'shape': (2, ), }");
  CHECK(shape_from(file("m.npy", doubles("2, 1", {2, 4}))) == "'shape': (2, 1), ");
  CHECK(shape_from(file("v.txt", "2\n4\n")) == "'shape': (2, ), }");
  succeeds({"eig", "--a", a, "--out", x});  // eigenvalues are a vector
  CHECK_THAT(contents(x), ContainsSubstring("'shape': (2, ), }"));
  CHECK(shape_from(file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n2\n4\n")) == "'shape': (2, 1), ");
  succeeds({"lu", "--a", a, "--b", file.folder / "v.npy", "--out", file.folder / "x.txt"});
  CHECK(contents(file.folder / "x.txt") == "1\n1\n");
}

TEST_CASE("arrays of integers, archives and compressed text are inputs of a command") {
  const Texts file;
  const std::string data = data_directory(), c = file.folder / "c.txt";
  const std::string one = file("i.txt", "1 0 0\n0 1 0\n0 0 1\n");
  for (const std::string a : {"/numpy/integer8.npy", "/numpy/two.npz:b"}) {
    succeeds({"gemm", "--a", data + a, "--b", one, "--out", c});
    CHECK(contents(c) == "11 12 13\n21 22 23\n31 32 33\n41 42 43\n");
  }
  for (const std::string a : {"/numpy/half.npy", "/scipy/array_general.mtx.gz", "/numpy/one.npz", "/numpy/table.txt"}) {
    succeeds({"gemm", "--a", data + a, "--b", one, "--out", c});
    CHECK(contents(c).starts_with("11.125 12.125 13.125\n"));
  }
}

TEST_CASE("help lists commands by purpose and fits the terminal") {
  const std::string all = run_tesela({"--help"}).out;
  CHECK(all.ends_with("\n"));
  std::size_t last = 0;
  for (const char* purpose : {"Systems of equations:", "  lu ", "Least squares and regression:", "  ols ",
                              "Eigenvalues and singular values:", "  eig ", "  svd ",
                              "Factorizations and products:", "Radio:", "Study and tools:"}) {
    CAPTURE(purpose);
    REQUIRE(all.find(purpose) != std::string::npos);
    CHECK(all.find(purpose) > last);
    last = all.find(purpose);
  }
  for (const char* columns : {"40", "60", "100"})
    for (const Words& command :
         {Words{}, {"ols"}, {"sem"}, {"mimo", "detect"}, {"toeplitz", "solve"}, {"eig", "--all"}}) {
      std::istringstream lines(run_tesela(Words{"help"} + command, {.environment = {{"COLUMNS", columns}}}).out);
      std::size_t widest = 0;
      for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("  supply:") && !line.starts_with("  instruments:")) {
          std::erase_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });  // of UTF-8
          widest = std::max(widest, line.size());
        }
      CAPTURE(columns, command);
      CHECK(widest <= static_cast<std::size_t>(std::atoi(columns)) + 4);
      CHECK(widest > static_cast<std::size_t>(std::atoi(columns)) - 12);
    }
  // A broken example is one command of a shell.
  const std::string narrow = run_tesela({"help", "ols", "--all"}, {.environment = {{"COLUMNS", "40"}}}).out;
  CHECK_THAT(narrow, ContainsSubstring("  tesela ols --a A.mtx --b b.mtx --out \\\n      x.mtx\n"));
  for (const char* group : {"\nInput:\n", "\nMethod:\n", "\nRun:\n", "\nOutput:\n"})
    CHECK_THAT(run_tesela({"help", "ols"}).out, ContainsSubstring(group));
}

TEST_CASE("progress has a measure, elapsed and remaining time, and leaves no line") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY), standard = dup(STDERR_FILENO);
  REQUIRE((terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0));
  const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(other >= 0);
  const auto shown = [&](const std::function<void()>& work) {
    dup2(other, STDERR_FILENO);
    CHECK(cli::start_progress());
    CHECK_FALSE(cli::start_progress());  // it runs
    work();
    cli::end_progress();
    dup2(standard, STDERR_FILENO);
    std::string text;
    std::array<char, 4096> part{};
    for (pollfd waiting{terminal, POLLIN, 0}; poll(&waiting, 1, 300) > 0;) {  // a terminal passes text on later
      const ssize_t size = read(terminal, part.data(), part.size());
      if (size <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  };
  using namespace std::chrono_literals;
  CHECK(shown([] { std::this_thread::sleep_for(200ms); }).empty());
  const std::string reading = shown([] {
    const Reading file("a_file_with_a_long_name_for_a_line.mtx", 1000);
    Reading::store_unread(550);
    std::this_thread::sleep_for(1400ms);
  });
  CHECK_THAT(reading,
             ContainsSubstring("reading ...g_name_for_a_line.mtx [#########           ]  45 %  1 s, 1 s left"));
  CHECK(reading.ends_with("\r\x1b[K"));
  CHECK_THAT(shown([] {
               const Reading pipe("-", 0);
               Reading::store_read(3 << 20);
               std::this_thread::sleep_for(800ms);
             }),
             ContainsSubstring("  3.0 MiB  0 s") && !ContainsSubstring("left"));
  CHECK_THAT(shown([] {
               cli::show_progress(cli::Stage::checking);
               std::this_thread::sleep_for(800ms);
             }),
             ContainsSubstring("checking the result") && ContainsSubstring("  0 s"));
  close(other);
  close(terminal);
  close(standard);
}

TEST_CASE("a command shows its progress on a terminal, unless it is quiet") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto on_terminal = [&](const Words& more) {
    std::thread slow([&] {
      std::ofstream out(pipe);
      out << "2 1\n" << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(1200));
      out << "1 3\n";
    });
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE((terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0));
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY), nowhere = open("/dev/null", O_WRONLY);
    const Words command = Words{tesela::test::tesela(), "lu", "--a", pipe} + more;
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      dup2(nowhere, STDOUT_FILENO), dup2(other, STDERR_FILENO);
      execv(words[0], words.data());
      _exit(127);
    }
    close(other);
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t size = 0; (size = read(terminal, part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(size));
    int status = 0;
    waitpid(child, &status, 0);
    slow.join();
    close(terminal), close(nowhere);
    CHECK(WEXITSTATUS(status) == 0);
    return text;
  };
  const std::string shown = on_terminal({});
  CHECK_THAT(shown, ContainsSubstring("reading ") && ContainsSubstring(" MiB  0 s"));
  CHECK(shown.ends_with("\r\x1b[K"));
  CHECK(on_terminal({"--quiet"}).empty());
}

TEST_CASE("a file that is being read shows how much of it was read") {
  const TemporaryFolder folder;
  std::string text = "%%MatrixMarket matrix array real general\n1000000 1\n";
  for (int i = 0; i < 1'000'000; ++i) text += "1.25\n";
  put(folder / "a.mtx", text);
  std::atomic<bool> done = false;
  std::set<std::uint64_t> seen;
  std::thread watch([&] {
    while (!done)
      if (const Reading::State now = Reading::now(); now.name == folder / "a.mtx" && now.bytes <= now.size)
        seen.insert(now.bytes);
  });
  read_matrix<double>(folder / "a.mtx");
  done = true;
  watch.join();
  CHECK(seen.size() > 3);
  CHECK(*seen.rbegin() > 2'000'000);
  CHECK(Reading::now().name.empty());
}

TEST_CASE("colour is only for terminals, and NO_COLOR turns it off") {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  CHECK(cli::coloured("ok", cli::Colour::green, terminal) == "\x1b[32mok\x1b[0m");
  CHECK(cli::coloured("ok", cli::Colour::green, -1) == "ok");
  setenv("NO_COLOR", "1", 1);
  CHECK(cli::coloured("ok", cli::Colour::green, terminal) == "ok");
  unsetenv("NO_COLOR");
  close(terminal);
}
