#include "tests/support/commands/process.hpp"
#include "tests/support/commands/temporary_folder.hpp"
#include "tests/support/machine.hpp"

#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace tesela::test;
using Catch::Matchers::StartsWith;

namespace {

struct Refusal {
  Words words;
  int code;
  std::string told;
};

}  // namespace

TEST_CASE("invalid words are refused in one short line") {
  const auto& [words, code, told] = GENERATE(values<Refusal>({
      {{"gemm", "--n", "abc"}, 2, "tesela: gemm: --n: 'abc' is not a number of 0 or more; see tesela gemm --help\n"},
      {{"gemm", "--n", "1.5"}, 2, "tesela: gemm: --n: '1.5' is not a number that it accepts; see"},
      {{"gemm", "--alpha", "two"}, 2, "--alpha: 'two' is not a number"},
      {{"gemm", "--seed", "-1"}, 2, "--seed: '-1' is not a number of 0 or more"},
      {{"toeplitz", "eig", "--smallets", "3"}, 2, "(did you mean --smallest?); see tesela toeplitz eig --help"},
      {{"bench", "gemm", "--repeat", "x"},
       2,
       "tesela: bench gemm: --repeat: 'x' is not a positive number; see tesela bench"},
      {{}, 2, "tesela: a command is missing; see tesela --help"},
      {{""}, 2, "'' is not a command; see tesela --help"},
      {{"help", "lu", "foo"}, 2, "'lu foo' is not a command"},
      {{"help", "gem"}, 2, "'gem' is not a command, did you mean 'gemm'?"},
      {{"help", "toeplitz", "egi"}, 2, "did you mean 'eig'?"},
      {{"gemm", "--n", "-5"}, 2, "--n: '-5' is not a number of 0 or more"},
      {{"gemm", "--repeat", "0"}, 2, "--repeat: '0' is not a positive number"},
      {{"gemm", "--n", "nan"}, 2, "--n: 'nan' is not"},
      {{"gemm", "--n", "1e999"}, 2, "--n: '1e999' is not"},
      {{"gemm", "--n", "20", "--alpha", "nan"}, 2, "--alpha: nan is not finite"},
      {{"gemm", "--n", "20", "--precision", "s", "--beta", "1e50"}, 2, "--beta: 1e+50 does not fit single precision"},
      {{"gemm", "--n", "20", "--tile", "x"}, 2, "tesela: --tile: 'x'"},
      {{"toeplitz", "eig", "--n", "100", "--smallest", "200"},
       2,
       "--smallest: 200 eigenvalues of a matrix of order 100"},
      {{"toeplitz", "eig", "--n", "100", "--largest", "101"}, 2, "--largest: 101 eigenvalues of a matrix of order 100"},
      {{"gemm", "--n", "20", "--ncuda", "4096"}, 3, "--ncuda 4096"},
      {{"gemm", "--n", "20", "--ncuda", "0", "--kernel", "tuned"}, 3, "--kernel tuned"},
      {{"bench", "gemm", "--n", "20", "--ncuda", "0", "--kernel", "tuned"}, 3, "bench gemm: --kernel tuned"},
      {{"gem"}, 2, "'gem' is not a command, did you mean 'gemm'?"},
      {{"gmem", "--n", "5"}, 2, "did you mean 'gemm'?"},
      {{"toeplitz", "egi"}, 2, "'egi' is not a command, did you mean 'eig'?"},
      {{"bench", "tridag"}, 2, "did you mean 'tridiag'?"},
      {{"qr", "--n", "20", "--tree", "willow"}, 2, "qr: --tree: 'willow' is none of sameh-kuck"},
      {{"qr", "--n", "20", "--tree", "domain:0"}, 2, "qr: --tree: 'domain:0' is not domain:D[:greedy|:binary]"},
      {{"ols", "--n", "20", "--tree", "willow"}, 2, "ols: --tree: 'willow' is none of"},
      {{"qr", "--n", "20", "--method", "givens-stages", "--order", "x"}, 2, "qr: --order: 'x' is none of"},
      {{"schedule", "--order", "x"}, 2, "--order: 'x' is none of"},
      {{"bench", "ols", "--tree", "willow"}, 2, "--tree: 'willow'"},
      {{"bench", "qr-trees", "--trees", "willow"}, 2, "--trees: 'willow'"},
      {{"gemm", "--n", "20", "--random", "willow"}, 2, "--random: 'willow' is none of"},
      {{"toeplitz", "count", "--n", "20", "--random", "willow"}, 2, "--random: 'willow' is none of"},
      {{"gemm", "--n", "20", "--pattern", "index", "--random", "zero"}, 2, "--pattern: is an earlier name of --random"},
      {{"bench", "gemm-kernels", "--ncpu", "1"}, 2, "--ncpu"},
      {{"bench", "overhead", "--precision", "s"}, 2, "--precision"},
      {{"schedule", "--m", "2000000", "--n", "300000"}, 2, "tesela: schedule: --m, --n: 2000000 x 300000 is beyond"},
      {{"schedule", "--staircase", "2,,4"},
       2,
       "schedule: --staircase: element 2 of '2,,4' is empty; see tesela schedule"},
      {{"toeplitz", "count", "--n", "20", "--sigma=1,,2"}, 2, "toeplitz count: --sigma: element 2 of '1,,2' is empty"},
      {{"toeplitz", "count", "--n", "20", "--sigma", ",1"}, 2, "--sigma: element 1 of ',1' is empty"},
      {{"toeplitz", "count", "--n", "20", "--sigma", "-1,2,"}, 2, "--sigma: element 3 of '-1,2,' is empty"},
      {{"bench", "gemm", "-n20,,30"}, 2, "bench gemm: --n: element 2 of '20,,30' is empty"},
      {{"bench", "gemm", "--ncuda", "0", "-n", "20,"}, 2, "bench gemm: --n: element 2 of '20,' is empty"},
      {{"mimo", "ber", "--detectors", "zf,,sd"}, 2, "mimo ber: --detectors: '' is none of sd, sd-plain"},
      {{"mimo", "ber", "--detectors", "zf,"}, 2, "mimo ber: --detectors: '' is none of sd, sd-plain"},
      {{"mimo", "ber", "--soft", "mmse,"}, 2, "mimo ber: --soft: '' is none of sts, max-log"},
      {{"mimo", "ber", "--ebn0", "7:"}, 2, "mimo ber: --ebn0: '7:' is neither"},
      {{"gqr", "--n", "3", "--random-b", "willow"}, 2, "tesela: --random-b: 'willow' is none of"},
      {{"glm", "--n", "3", "--random-b", "willow"}, 2, "--random-b: 'willow' is none of"},
      {{"lse", "--n", "3", "--random-b", "willow"}, 2, "--random-b: 'willow' is none of"},
      {{"wls", "--n", "3", "--by", "sigma", "--random-b", "willow"}, 2, "--random-b: 'willow' is none of"},
      {{"quaternions"}, 2, "'quaternions' is not a command; see tesela --help"},
  }));
  CAPTURE(words);
  const Outcome run = run_tesela(words);
  CAPTURE(run.err);
  CHECK(run.code == code);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, ContainsSubstring(told));
  CHECK_THAT(run.err, StartsWith("tesela: ") && !ContainsSubstring("tesela: tesela"));
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  CHECK(run.err.size() < 300);
}

TEST_CASE("an integer may have an exponent") {
  const Outcome run = run_tesela({"gemm", "--n", "1e2", "--repeat", "1", "--ncuda", "0"});
  CHECK(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring(" n=100 ") || ContainsSubstring(" n=100\n"));
  CHECK(run_tesela({"gemm", "--n", "1.5"}).code == 2);
}

TEST_CASE("help is a command") {
  for (const Words& words : {Words{"help"}, {"help", "gemm"}, {"help", "toeplitz", "eig"}}) {
    CAPTURE(words);
    Words option(words.begin() + 1, words.end());
    option.emplace_back("--help");
    const Outcome run = run_tesela(words);
    CHECK(run.code == 0);
    CHECK_THAT(run.out, ContainsSubstring("Usage"));
    CHECK(run.out == run_tesela(option).out);
  }
}

TEST_CASE("help shows the common options on a screen, and all options with --all") {
  for (const Words& command : {Words{"qr"}, {"eig"}, {"mimo", "detect"}, {"toeplitz", "eig"}, {"bench", "eig"}}) {
    CAPTURE(command);
    const std::string common = run_tesela(Words{"help"} + command).out,
                      all = run_tesela(Words{"help"} + command + Words{"--all"}).out;
    CHECK(all == run_tesela(command + Words{"--help-all"}).out);
    CHECK_THAT(common, ContainsSubstring(" --all shows ") && ContainsSubstring("--repeat INT"));
    for (const char* rare : {"--sched POLICY", "--ncuda INT", "--streams INT", "\nMore options:\n"}) {
      CHECK_THAT(common, !ContainsSubstring(rare));
      CHECK_THAT(all, ContainsSubstring(rare));
    }
    const auto options = common.substr(common.find(":\n"));
    std::istringstream lines(options.substr(0, options.find("\ntesela help")));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
      CHECK(line.size() <= 84);  // a list of names is not broken
    CHECK(count < 48);
  }
  for (const char* command :
       {"eig", "gemm", "tridiag", "qr", "ols", "lse", "glm", "wls", "sem", "lu", "cholesky", "gqr"}) {
    const std::string common = run_tesela({"help", command}).out;
    CAPTURE(command, common);
    CHECK(std::count(common.begin(), common.end(), '\n') <= 40);  // a screen
    CHECK_THAT(common, ContainsSubstring("--json FILE") && ContainsSubstring("tesela " + std::string(command)));
  }
  CHECK_THAT(run_tesela({"help", "eig"}).out, !ContainsSubstring("--factor"));
  CHECK(run_tesela({"help", "help"}).out == run_tesela({"help"}).out);
  CHECK_THAT(run_tesela({"help", "generate"}).out, ContainsSubstring("FILE.mtx, .npy, .csv or .txt"));
  CHECK_THAT(run_tesela({"help", "gqr"}).out, ContainsSubstring("--factor FILE"));
  CHECK_THAT(run_tesela({"help", "qr"}).out,
             ContainsSubstring("uniform, normal, index") && ContainsSubstring("min(m, n) x n"));
  CHECK_THAT(run_tesela({"help", "eig", "--all"}).out, ContainsSubstring("[A, B)"));
}

TEST_CASE("counts are printed as integers") {
  const Outcome rank = run_tesela({"ols", "--m", "1300", "--n", "1234", "--ncuda", "0"});
  CHECK(rank.code == 0);
  CHECK_THAT(rank.out, ContainsSubstring("rank                 1234\n"));
  const Outcome found = run_tesela({"toeplitz", "eig", "--n", "1500", "--ncuda", "0"});
  CHECK(found.code == 0);
  CHECK_THAT(found.out, ContainsSubstring("found                1500\n"));
}

TEST_CASE("commands that run tasks write a trace with --trace") {
  for (const Words& command : {Words{"toeplitz", "count", "--n", "200"}, {"toeplitz", "slice", "--n", "200"}}) {
    CAPTURE(command);
    const TemporaryFolder folder;
    const Outcome run = run_tesela(command + Words{"--ncuda", "0", "--trace", folder.path()});
    CHECK(run.code == 0);
    CHECK_THAT(run.err, ContainsSubstring("trace.svg"));
    CHECK(std::filesystem::exists(folder.path() + "/trace.json"));
  }
}

TEST_CASE("earlier names of options work and do not appear in help") {
  const TemporaryFolder folder;
  const auto output = [&](const Words& words) {
    const Outcome run = run_tesela(words + Words{"--out", folder / "x.mtx"});
    CAPTURE(words, run.err);
    CHECK(run.code == 0);
    return contents(folder / "x.mtx");
  };
  for (const auto& [earlier, now] : std::vector<std::pair<Words, Words>>{
           {{"generate", "--n", "5", "--pattern", "index"}, {"generate", "--n", "5", "--random", "index"}},
           {{"generate", "--n", "5", "--pattern", "random"}, {"generate", "-n", "5", "-s", "1", "-p", "d"}},
           {{"gemm", "--n", "5", "--pattern", "index"}, {"gemm", "-n", "5", "--random", "index", "-t", "2"}},
           {{"gemm", "--random", "--n", "5"}, {"gemm", "--n", "5", "--random", "uniform"}},
           {{"toeplitz", "solve", "--n", "9", "--kind", "spd"}, {"toeplitz", "solve", "-n", "9", "--random", "spd"}}})
    CHECK(output(earlier) == output(now));
  for (const Words& command : {Words{"gemm"}, {"generate"}, {"toeplitz", "solve"}, {"bench", "givens"}}) {
    const std::string help = run_tesela(command + Words{"--help-all"}).out;
    for (const char* earlier : {"--pattern", "--kind", "--nb", "--mb"}) CHECK_THAT(help, !ContainsSubstring(earlier));
  }
}

TEST_CASE("the same option has the same name, value and text in every command") {
  const auto commands_of = [](const Words& group) {
    std::vector<Words> all;
    std::istringstream lines(run_tesela(group + Words{"--help"}).out);
    bool inside = false;
    for (std::string line; std::getline(lines, line);)
      if (line.empty() || line[0] != ' ')
        inside = line.ends_with(':') && line != "Options:" && !line.starts_with("Example");
      else if (inside && line[2] != ' ')
        all.push_back(group + Words{line.substr(2, line.find(' ', 2) - 2)});
    return all;
  };
  std::vector<Words> commands;
  const std::set<Words> groups{{}, {"bench"}, {"toeplitz"}, {"mimo"}}, without_report{{"completion"}},
      without_checks{{"completion"}, {"generate"}, {"info"}, {"predict"}, {"trace"}, {"tune"}};
  for (const Words& group : groups) {
    const std::vector<Words> all = commands_of(group);
    CAPTURE(group);
    REQUIRE(all.size() >= 3);
    for (const Words& command : all)
      if (!groups.contains(command)) commands.push_back(command);
  }
  const std::map<std::string, std::string> wanted{
      {"--random", "KIND"}, {"--json", "FILE"}, {"--trace", "DIR"}, {"--tree", "ORDER"}, {"--order", "ORDER"},
      {"--a", "FILE"},      {"--b", "FILE"},    {"--t", "FILE"},    {"--out-q", "FILE"}, {"--svg", "FILE"}};
  const std::map<std::string, std::string> shorts{{"--n", "-n"},      {"--m", "-m"},         {"--k", "-k"},
                                                  {"--json", "-j"},   {"--precision", "-p"}, {"--seed", "-s"},
                                                  {"--repeat", "-r"}, {"--out", "-o"},       {"--tile", "-t"}};
  for (const Words& command : commands) {
    const Outcome help = run_tesela(command + Words{"--help-all"});
    CHECK(help.code == 0);
    CAPTURE(command);
    if (command[0] != "bench") {
      CHECK((help.out.find("--quiet") != std::string::npos) == !without_report.contains(command));
      CHECK((help.out.find("--no-check") != std::string::npos) == !without_checks.contains(command));
    }
    std::istringstream lines(help.out);
    std::map<char, std::string> letters;
    for (std::string line, text; std::getline(lines, line);) {
      if (!line.starts_with("  -")) continue;
      CAPTURE(command, line);
      const std::string names = line.substr(2, line.find(' ', 2) - 2), name = names.substr(names.find("--"));
      if (const auto value = wanted.find(name); value != wanted.end())
        CHECK(line.substr(2 + names.size() + 1, value->second.size()) == value->second);
      if (const auto letter = shorts.find(name); letter != shorts.end()) CHECK(names == letter->second + "," + name);
      // Newer versions of CLI11 refuse --x and -x as different options when the program starts.
      std::istringstream parts(names);
      for (std::string part; std::getline(parts, part, ',');)
        if (part.find_first_not_of('-') + 1 == part.size() && part != "--h")  // of mimo, with -h for help
          CHECK(letters.try_emplace(part.back(), names).first->second == names);
      // The text starts in its column on this line or the next.
      const bool here = line.size() > 26 && line[25] == ' ' && line[26] != ' ';
      CHECK((here || (std::getline(lines, text) && text.starts_with(std::string(26, ' ')) && text.size() > 27)));
    }
  }
  CHECK_THAT(run_tesela({"qr", "--help-all"}).out, ContainsSubstring("domain:D[:greedy|:binary]"));
  for (const char* benchmark : {"gemm", "qr", "memory-access", "overhead"})
    CHECK_THAT(run_tesela({"bench", benchmark, "--help-all"}).out, !ContainsSubstring("--trace"));
}

TEST_CASE("the first line shows the main options, and JSON shows all") {
  const TemporaryFolder folder;
  const auto first_line = [](const Outcome& run) { return run.out.substr(0, run.out.find('\n')); };
  const Outcome gemm = run_tesela({"gemm", "-n", "50", "-t", "32x16", "--ncuda", "0", "-j", folder / "r.json"});
  CHECK(first_line(gemm) == "gemm: m=50 n=50 k=50 input=uniform precision=d tile=32x16x16");
  CHECK(nlohmann::json::parse(contents(folder / "r.json"))["problem"]["alpha"] == 1);
  CHECK(first_line(run_tesela({"qr", "-n", "50", "-t", "25", "--ncuda", "0"})) ==
        "qr: m=50 n=50 input=uniform precision=d method=tiles tile=25x25");
  CHECK(first_line(run_tesela({"tridiag", "-n", "50", "--batch", "3", "--periodic", "--ncuda", "0"})) ==
        "tridiag: n=50 batch=3 rhs=1 periodic=true input=dominant precision=d method=auto tile=50x1");
  CHECK(first_line(run_tesela({"toeplitz", "solve", "-n", "50", "--sigma", "0.5", "--ncuda", "0"})) ==
        "toeplitz solve: n=50 rhs=1 sigma=0.5 input=random precision=d method=gohberg-semencul");
}

TEST_CASE("completion scripts know every command, option and choice") {
  const TemporaryFolder folder;
  const auto script = [&](const std::string& shell) {
    const Outcome run = run_tesela({"completion", shell});
    REQUIRE(run.code == 0);
    std::ofstream(folder / shell) << run.out;
    return run.out;
  };
  const std::string bash = script("bash"), zsh = script("zsh"), fish = script("fish"), all = script("man");
  REQUIRE(run_tesela({"completion", "man", "--dir", folder / ""}).code == 0);
  for (const Words& command : {Words{"lu"}, {"sem"}, {"toeplitz", "solve"}, {"mimo", "detect"}, {"eig"}}) {
    const std::string help = run_tesela(Words{"help"} + command + Words{"--all"}).out;
    std::ifstream file(folder / ("tesela-" + command.front() + ".1"));
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    CHECK_THAT(all, ContainsSubstring("tesela\\-" + command.front() + " (1)"));
    int options = 0;
    for (std::size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
      std::size_t end = at + 2;
      while (end < help.size() && (std::isalnum(static_cast<unsigned char>(help[end])) != 0 || help[end] == '-')) ++end;
      if (help[at - 1] != ' ' && help[at - 1] != ',') continue;
      const std::string name = help.substr(at, end - at);
      if (name == "--help-all") continue;
      CAPTURE(command, name);
      CHECK_THAT(bash, ContainsSubstring(name + " ") || ContainsSubstring(name + "'"));
      CHECK_THAT(zsh, ContainsSubstring("*" + name + "["));
      CHECK_THAT(fish, ContainsSubstring(" -l " + name.substr(2) + " "));
      CHECK_THAT(page, ContainsSubstring(std::regex_replace(name, std::regex("-"), "\\-")));
      ++options;
    }
    CHECK(options > 8);
  }
  // The words of a command line, the last of them unfinished, and what bash offers.
  for (const auto& [line, offered] : std::vector<std::pair<std::string, std::string>>{
           {"toep", "toeplitz"},
           {"toeplitz so", "solve"},
           {"lu --piv", "--pivot"},
           {"lu --n 4 --pivot to", "tournament"},
           {"lu --by ''", "tiles stages"},
           {"qr --tree gr", "greedy"},
           {"qr --order do", "domain:"},
           {"qr --random ''", "uniform normal index graded band: kappa: rank: zero"},
           {"eig --random-b wil", "wilkinson"},
           {"tridiag --random ''", "dominant uniform toeplitz zero-diagonal near-singular"},
           {"lu --sched dm", "dmdas dmda"},
           {"completion f", "fish"},
           {"lu --n ''", ""}}) {
    const std::string count =
        "words=(tesela " + line + "); COMP_WORDS=(\"${words[@]}\"); COMP_CWORD=$((${#words[@]} - 1));";
    const Outcome bash_words =
        run({"/bin/bash", "-c", "source " + (folder / "bash") + "; " + count + " _tesela; echo \"${COMPREPLY[*]}\""});
    CAPTURE(line, bash_words.err);
    CHECK(bash_words.out == offered + "\n");
  }
  for (const char* shell : {"zsh", "fish"})
    if (const std::string program = std::string("/usr/bin/") + shell; std::filesystem::exists(program))
      CHECK(run({program, "-n", folder / shell}).err.empty());
  CHECK(run_tesela({"completion", "tcsh"}).code == 2);
  const Outcome nowhere = run_tesela({"completion", "man", "--dir", folder / "none"});
  CHECK(nowhere.code == 2);
  CHECK(nowhere.err == "tesela: " + (folder / "none/tesela.1") + ": cannot create: No such file or directory\n");
  CHECK(run_tesela({"completion", "man", "--dir", ""}).code == 2);
}
