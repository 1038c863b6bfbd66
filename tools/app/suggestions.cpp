#include "tools/app/arguments.hpp"
#include "tools/app/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>

namespace tesela::cli {
namespace {

/// Returns the number of single insertions, deletions, replacements and swaps of neighbours between two words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Names of a task elsewhere, and the commands for it.
struct Elsewhere {
  std::string_view names, commands;
};

constexpr std::array<Elsewhere, 10> elsewhere{{
    {" solve linsolve gesv inv inverse ",
     "lu (any square matrix), cholesky (positive definite), tridiag, toeplitz solve, or ols (any shape)"},
    {" gesdd gesvd singular pinv rank ", "svd; ols solves problems of any rank"},
    {" lstsq regress regression lm fit leastsquares gels gelsd gelsy ",
     "ols, wls (weights), lse (constraints), nnls (x >= 0), glm, or sem (formulas)"},
    {" iv 2sls tsls 3sls sur ivreg system ", "sem"},
    {" eigen eigh eigvals eigvalsh eigenvalues spectrum syev syevd sygvd ", "eig, or toeplitz eig"},
    {" chol potrf posv spd ", "cholesky"},
    {" getrf plu ", "lu"},
    {" geqrf householder givens orth ", "qr, or gqr (two matrices)"},
    {" matmul mm multiply product dot ", "gemm"},
    {" detect detection ber decode ", "mimo detect, or mimo ber"},
}};

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  std::string found;
  std::size_t least = std::min<std::size_t>(3, word.size());
  // Among equally similar names prefers the longest common beginning.
  const auto shared = [&](const std::string& name) {
    return std::mismatch(word.begin(), word.end(), name.begin(), name.end()).first - word.begin();
  };
  for (const std::string& name : words) {
    const std::size_t d = distance(word, name);
    if (d < least || (d == least && !found.empty() && shared(name) > shared(found))) least = d, found = name;
  }
  return found;
}

std::string unknown_command(const CLI::App& group, const std::string& word) {
  const std::string help = group.get_parent() == nullptr ? "tesela" : "tesela " + group.get_name();
  if (word.starts_with('-')) return fmt::format("tesela: {}; see {} --help", unknown_options(group, {word}), help);
  const std::string lower = in_lower_case(word);
  if (group.get_parent() == nullptr && !word.empty())
    for (const auto& [names, commands] : elsewhere)
      for (const std::string_view name : {std::string_view(lower), std::string_view(lower).substr(1)})
        if (!name.empty() && names.find(fmt::format(" {} ", name)) != std::string_view::npos)
          return fmt::format("tesela: '{}' is not a command: {}; see tesela --help", word, commands);
  std::vector<std::string> commands;
  for (const CLI::App* command : group.get_subcommands(nullptr)) commands.push_back(command->get_name());
  const std::string similar = nearest(lower, commands);
  return fmt::format("tesela: '{}' is not a command{}; see {} --help", word,
                     similar.empty() ? "" : fmt::format(", did you mean '{}'?", similar), help);
}

std::string unknown_options(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional() && !option->get_group().empty())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  std::string text;
  for (const std::string& word : words) {
    if (!word.starts_with("-") || word.size() < 2) continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string similar = nearest(in_lower_case(name), names);
    text += fmt::format("{}'{}' is not an option{}", text.empty() ? "" : ", ", name,
                        similar.empty() ? "" : fmt::format(" (did you mean {}?)", similar));
  }
  if (!text.empty()) return text;
  text = fmt::format("unexpected '{}'", words.front());
  std::error_code ignored;
  if (std::filesystem::exists(words.front(), ignored))
    for (const CLI::Option* option : command.get_options())
      if (option->nonpositional() && option->get_type_name().starts_with("FILE") && option->count() == 0)
        return text + fmt::format(": name its option, as in {} {}", option->get_name(), words.front());
  return text;
}

}  // namespace tesela::cli
