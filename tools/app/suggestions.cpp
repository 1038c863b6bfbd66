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

constexpr std::array<Elsewhere, 14> elsewhere{{
    {" pinv ", "svd; ols solves problems of any rank, and Python's tesela.pinv returns the matrix"},
    {" solve linsolve gesv inv inverse ",
     "lu (any square matrix), cholesky (positive definite), tridiag, toeplitz solve, or ols (any shape)"},
    {" gesdd gesvd singular rank cond ", "svd; ols solves problems of any rank"},
    {" princomp prcomp components factor ", "pca"},
    {" ridge tikhonov lasso regularization regularize tsvd ", "ols --ridge or ols --truncate"},
    {" orthogonal deming odr totalleastsquares ", "tls"},
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

/// Names of an option elsewhere, and what Tesela has for it.
struct Synonym {
  std::string_view names = {};     ///< without dashes
  std::string_view options = {};   ///< the first of these that the command has, perhaps with a value
  std::string_view hint = {};      ///< added to the option, or in its place
  std::string_view commands = {};  ///< only in these; empty: in all
};

constexpr auto synonyms = std::to_array<Synonym>({
    // Regression
    {" robust hc hc0 hc1 hc2 hc3 white vce vcov cov-type covariance se ", "--cov robust"},
    {" cluster clusters groups ", "--cov cluster:COLUMN"},
    {" cov robust hc hc0 hc1 hc2 hc3 white vce vcov cov-type covariance cluster clusters ", "",
     "standard errors are classical here, `tesela sem DATA MODEL --method ols --cov robust` has robust ones",
     " ols wls glm lse "},
    {" weights weight w ", "--weights", "`tesela wls` has weights", " ols lse nnls glm "},
    {" weight w ", "--weights"},
    {" formula equation equations fml ", "--model"},
    {" data csv table dataset df ", "--data"},
    {" x design features exog ", "--a"},
    {" y target response endog right-hand-side vector ", "--b"},
    {" instruments instrument iv z ", "", "instruments belong to the model: 'y ~ x | z', or a line 'instruments: ~ z'",
     " sem "},
    {" instruments instrument iv z ", "", "`tesela sem` has instruments", " ols wls glm "},
    {" intercept no-intercept fit-intercept add-constant constant noconstant ", "",
     "a formula has an intercept, and '- 1' in it removes that", " ols wls glm sem lse "},
    {" endog exog dependent lhs ", "", "a formula names the variables: 'y ~ x1 + x2'", " sem "},
    {" nonneg nonnegative positive bounds ", "", "`tesela nnls` has x >= 0", " ols wls "},
    {" ridge lambda l2 alpha regularization tikhonov ", "--ridge", "", " ols "},
    {" lasso l1 ", "", "there is no l1 penalty, --ridge has the 2-norm", " ols "},
    {" ridge lambda lasso l1 l2 alpha regularization ", "", "`tesela ols` has --ridge", " wls glm nnls lse sem tls "},
    {" constraint constraints restrictions ", "--constraints"},
    {" constraint constraints restrictions ", "", "`tesela lse` has constraints", " ols wls glm nnls "},
    {" conf confidence conf-level ci alpha ", "--level"},
    {" small debiased df dof ddof ", "--dof small"},
    {" stderr standard-errors bse errors ", "--std-errors"},
    {" variance variances known ", "--known-variances|--variances"},
    // Eigenvalues
    {" k nev neigs num-eigenvalues eigenvalues howmany count few nvals top subset ", "--smallest K", "or --largest K"},
    {" k nev howmany count few nvals top num n-components components ", "--largest K", "", " svd "},
    {" which order ", "--smallest K", "or --largest K", " eig "},
    {" il iu subset-by-index ", "--index I,J"},
    {" vl vu interval subset-by-value values ", "--range A,B"},
    {" eigenvectors evecs vecs v jobz ", "--vectors"},
    {" symmetric sym lower upper triangle ", "--uplo lower", "or --symmetrize"},
    // Singular values
    {" vectors vecs compute-uv ", "", "U and V belong to the result, --values leaves them out", " svd "},
    {" no-vectors values-only novectors singular-values-only no-uv jobz ", "--values", "", " svd "},
    {" full-matrices all ", "--full", "", " svd "},
    {" economy econ thin reduced skinny compact ", "", "this is the default, --full has square U and V", " svd "},
    {" u ", "--out-u", "", " svd "},
    {" v vt vh out-vt out-vh ", "--out-v", "for V, not V^T", " svd "},
    {" s sigma out-s singular-values ", "--out", "", " svd "},
    {" tol rtol eps tolerance threshold ", "", "there is no tolerance, --largest K keeps K values", " svd "},
    // Structured matrices
    {" a matrix ", "", "the diagonals come from files, --dl, --d and --du", " tridiag "},
    {" column c col first-column ", "--t"},
    {" r first-row ", "--row"},
    {" lower sub subdiagonal l ", "--dl"},
    {" upper super superdiagonal u ", "--du"},
    {" diag diagonal main ", "--d|--diagonal"},
    {" off offdiagonal off-diag e subdiagonal ", "--off-diagonal"},
    // Radio
    {" channel-matrix channels ", "--h"},
    {" received ", "--y"},
    {" modulation mod mapper alphabet qam symbols ", "--constellation"},
    {" noise sigma2 noise-variance variance no ", "--n0|--noise"},
    {" snr snrdb snr-db ebno ebn0db eb-n0 ", "--ebn0", "or, with --h, --n0", " mimo detect "},
    {" snr snrdb snr-db ebno ebn0db eb-n0 ", "--ebn0"},
    {" detector decoder ", "--method|--detectors"},
    {" tx streams ", "--nt"},
    {" rx antennas ", "--nr"},
    // Every command
    {" matrix file input in ", "--a|--t|--d|--h|--data"},
    {" out output save outfile result o ", "--out|--out-q|--out-s"},
    {" transpose-a trans-a transa ta ", "--op-a t"},
    {" transpose-b trans-b transb tb ", "--op-b t"},
    {" size order dim dimension ", "--n"},
    {" rows nrow nrows ", "--m"},
    {" cols columns ncol ncols ", "--n"},
    {" scheduler policy schedule ", "--sched", "STARPU_SCHED sets it as well"},
    {" threads nthreads num-threads cores cpus cpu workers n-jobs ", "--ncpu"},
    {" gpus gpu cuda devices device ngpu ", "--ncuda"},
    {" block blocksize block-size nb bs tilesize tile-size ", "--tile"},
    {" runs reps repetitions trials times nrep ", "--repeat"},
    {" dtype type float single double float32 float64 prec ", "--precision"},
    {" algorithm algo solver driver lapack-driver engine ", "--method"},
    {" tol rtol eps cond tolerance rank ", "--rcond|--tol|--tolerance"},
    {" gantt profile fxt timeline ", "--trace DIR"},
    {" rng random-state random-seed ", "--seed"},
    {" v ", "--version|--verbose"},
});

bool has_option(const CLI::App& command, std::string_view name) {
  const auto options = command.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
  return std::ranges::any_of(options,
                             [name](const CLI::Option* option) { return option->check_name(std::string(name)); });
}

bool lists(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

/// Returns a hint for the name of an option elsewhere, ": TEXT" or " (did you mean TEXT?)"; empty for other names.
std::string from_elsewhere(const CLI::App& command, std::string name) {
  name.erase(0, name.find_first_not_of('-'));
  std::ranges::replace(name, '_', '-');
  for (const auto& [names, options, hint, commands] : synonyms) {
    if (!lists(names, name) || (!commands.empty() && !lists(commands, command_name(command)))) continue;
    for (const std::string& option : split_list(options, '|'))
      if (!option.empty() && has_option(command, option.substr(0, option.find(' '))))
        return hint.starts_with("or") ? fmt::format(" (did you mean {} {}?)", option, hint)
                                      : fmt::format(" (did you mean {}?{}{})", option, hint.empty() ? "" : " ", hint);
    if (!hint.empty() && !commands.empty()) return fmt::format(": {}", hint);
  }
  return {};
}

/// Returns the most similar option, up to letter case for one letter, with one mistake for two or three.
std::string nearest_option(const std::string& name, const std::vector<std::string>& names) {
  const std::string found = nearest(name, names);
  const std::size_t letters = name.size() - std::min(name.find_first_not_of('-'), name.size());
  return distance(name, found) > (letters < 2 ? 0U : letters < 4 ? 1U : 2U) ? "" : found;
}

/// Returns the names of the group's commands with this option, also in their groups: "toeplitz solve".
std::vector<std::string> commands_with(const CLI::App& group, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::App* command : group.get_subcommands(nullptr)) {
    if (has_option(*command, option)) names.push_back(command_name(*command));
    for (const std::string& inner : commands_with(*command, option)) names.push_back(inner);
  }
  return names;
}

/// Returns the message for an option in place of a command; empty if no command has the option.
std::string misplaced_option(const CLI::App& group, const std::string& option) {
  constexpr std::size_t few = 4;
  const std::vector<std::string> commands = commands_with(group, option);
  if (commands.empty()) return {};
  std::string names;
  if (commands.size() <= few)
    for (const std::string& name : commands) names += (names.empty() ? " of " : ", ") + name;
  return fmt::format("'{}' is an option{}: it follows the command, as in `tesela {} {}`", option, names,
                     commands.front(), option);
}

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
  if (word.starts_with('-')) {
    const std::string misplaced = misplaced_option(group, word.substr(0, word.find('=')));
    return fmt::format("tesela: {}; see {} --help", misplaced.empty() ? unknown_options(group, {word}) : misplaced,
                       help);
  }
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

std::string option_for_file(const CLI::App& command, const std::string& path, const std::string& instead_of) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) || std::filesystem::is_directory(path, ignored)) return {};
  if (instead_of == "--rhs" && has_option(command, "--b")) return fmt::format("name its option, as in --b {}", path);
  for (const CLI::Option* option : command.get_options())
    if (option->nonpositional() && option->get_type_name().starts_with("FILE") && option->count() == 0)
      return fmt::format("name its option, as in {} {}", option->get_name(), path);
  return {};
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
    std::string hint = from_elsewhere(command, in_lower_case(name));
    if (const std::string similar = nearest_option(in_lower_case(name), names); hint.empty() && !similar.empty())
      hint = fmt::format(" (did you mean {}?)", similar);
    text += fmt::format("{}'{}' is not an option{}", text.empty() ? "" : ", ", name, hint);
  }
  if (!text.empty()) return text;
  text = fmt::format("unexpected '{}'", words.front());
  if (const std::string named = option_for_file(command, words.front()); !named.empty()) return text + ": " + named;
  if (command.get_option_no_throw("formula") != nullptr) text += ": quote a formula, as in \"y ~ x1 + x2\"";
  return text;
}

}  // namespace tesela::cli
