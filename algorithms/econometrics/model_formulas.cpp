#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tesela {
namespace {

using Kind = ExpressionStep::Kind;

bool digit(char c) { return c >= '0' && c <= '9'; }
// Returns whether c belongs to a name; bytes of UTF-8 beyond ASCII count as letters.
bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

/// Reads one line.
class Parser {
 public:
  Parser(std::string_view line, index_t number, const std::string& source)
      : text_(line), line_(number), source_(source) {}

  bool blank() {
    skip_blanks();
    return at_ == text_.size();
  }

  /// Reads a label, the text before a colon at the beginning of a line; returns an empty string without one.
  std::string label() {
    bool quoted = false;
    for (std::size_t k = 0; k < text_.size(); ++k) {
      if (text_[k] == '`') quoted = !quoted;
      if (quoted) continue;
      if (text_[k] == '~') return {};
      if (text_[k] != ':') continue;
      std::string_view all = text_.substr(0, k);
      while (!all.empty() && (all.front() == ' ' || all.front() == '\t')) all.remove_prefix(1);
      while (!all.empty() && (all.back() == ' ' || all.back() == '\t')) all.remove_suffix(1);
      if (all.empty()) fail("a label must precede the colon");
      if (all.size() > 1 && all.front() == '`' && all.back() == '`') all = all.substr(1, all.size() - 2);
      at_ = k + 1;
      return std::string(all);
    }
    return {};
  }

  ModelTerm dependent() { return one_term(); }

  void expect(char c, const char* what) {
    if (!take(c)) fail(std::string("expected ") + what);
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect_end() {
    if (!blank()) fail("unexpected " + here());
  }

  /// Reads terms between plus signs. The intercept is first, unless it is removed.
  std::vector<ModelTerm> terms() {
    std::vector<ModelTerm> all;
    bool intercept = true, first = true;
    for (;; first = false) {
      const bool minus = take('-');
      const bool plus = !minus && take('+');
      if (!minus && !plus && !first) break;
      skip_blanks();
      if (at_ < text_.size() && (text_[at_] == '0' || text_[at_] == '1') &&
          (at_ + 1 == text_.size() || !(digit(text_[at_ + 1]) || letter(text_[at_ + 1]) || text_[at_ + 1] == '.'))) {
        intercept = (text_[at_] == '1') != minus;
        ++at_;
        continue;
      }
      if (minus) fail("only 1, the intercept, can be removed");
      ModelTerm term = one_term();
      for (const ModelTerm& other : all)
        if (other.text == term.text) fail_at(term.place, term.text + " appears twice");
      all.push_back(std::move(term));
    }
    if (intercept) all.insert(all.begin(), {intercept_name, {{Kind::number, 1, {}, 0, place()}}, place()});
    return all;
  }

  TextPlace place() const { return {line_, static_cast<index_t>(at_) + 1}; }
  [[noreturn]] void fail(const std::string& problem) const { fail_at(place(), problem); }
  [[noreturn]] void fail_at(TextPlace place, const std::string& problem) const {
    throw FileError(source_,
                    "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " + problem);
  }

 private:
  static constexpr int deepest = 100;  // levels of nested parentheses

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  std::string here() const { return at_ == text_.size() ? "end of the line" : std::string{'\'', text_[at_], '\''}; }

  std::string name() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '`') {
      const std::size_t end = text_.find('`', at_ + 1);
      if (end == std::string_view::npos) fail("a backquote is not closed");
      if (end == at_ + 1) fail("a name is missing between backquotes");
      std::string result(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return result;
    }
    const std::size_t begin = at_;
    if (at_ < text_.size() && (letter(text_[at_]) || text_[at_] == '.'))
      while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) ++at_;
    if (at_ == begin) fail("expected a name, found " + here());
    return std::string(text_.substr(begin, at_ - begin));
  }

  /// Returns a name in the form that the parser reads, with backquotes if necessary.
  static std::string quoted(const std::string& name) {
    const bool plain = (letter(name[0]) || name[0] == '.') &&
                       std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || digit(c) || c == '.'; });
    return plain ? name : std::string(1, '`').append(name).append(1, '`');
  }

  /// Reads the rest of a lag after "lag(".
  ExpressionStep lag(TextPlace begin) {
    ExpressionStep step{Kind::variable, 0, name(), 1, begin};
    if (take(',')) {
      skip_blanks();
      const char* first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), step.lag);
      if (error != std::errc() || step.lag < 1 || step.lag > 1'000'000'000)
        fail("a lag must be a whole number of at least 1");
      at_ += static_cast<std::size_t>(end - first);
    }
    expect(')', "')' after a lag");
    return step;
  }

  static std::string text_of(const ExpressionStep& step) {
    if (step.lag == 0) return quoted(step.variable);
    std::string text = std::string("lag(").append(quoted(step.variable));
    if (step.lag > 1) text.append(", ").append(std::to_string(step.lag));
    return text.append(1, ')');
  }

  ModelTerm one_term() {
    skip_blanks();
    const TextPlace begin = place();
    const bool backquoted = at_ < text_.size() && text_[at_] == '`';
    std::string word = name();
    if (backquoted || !take('(')) return {quoted(word), {{Kind::variable, 0, word, 0, begin}}, begin};
    if (word == "lag") {
      ExpressionStep step = lag(begin);
      std::string text = text_of(step);
      return {std::move(text), {std::move(step)}, begin};
    }
    if (word != "I") fail_at(begin, "no function is called " + word + ": there are lag and I");
    ModelTerm term{{}, {}, begin};
    const std::string text = sum(term.steps, 0);
    expect(')', "')' at the end of I(...)");
    term.text = std::string("I(").append(text).append(1, ')');
    return term;
  }

  // Each function returns the text that it has read, with normalized blanks.
  std::string sum(std::vector<ExpressionStep>& steps, int depth) {
    std::string text = product(steps, depth);
    for (;;) {
      const bool plus = take('+'), minus = !plus && take('-');
      if (!plus && !minus) return text;
      const TextPlace begin = place();
      text.append(plus ? " + " : " - ").append(product(steps, depth));
      steps.push_back({plus ? Kind::add : Kind::subtract, 0, {}, 0, begin});
    }
  }
  std::string product(std::vector<ExpressionStep>& steps, int depth) {
    std::string text = factor(steps, depth);
    for (;;) {
      const bool times = take('*'), over = !times && take('/');
      if (!times && !over) return text;
      const TextPlace begin = place();
      text.append(times ? " * " : " / ").append(factor(steps, depth));
      steps.push_back({times ? Kind::multiply : Kind::divide, 0, {}, 0, begin});
    }
  }
  std::string factor(std::vector<ExpressionStep>& steps, int depth) {
    if (depth > deepest) fail("too many nested parentheses");
    skip_blanks();
    const TextPlace begin = place();
    if (take('-')) {
      const std::string text = factor(steps, depth + 1);
      steps.push_back({Kind::negate, 0, {}, 0, begin});
      return std::string(1, '-').append(text);
    }
    if (take('(')) {
      const std::string text = sum(steps, depth + 1);
      expect(')', "')'");
      return std::string(1, '(').append(text).append(1, ')');
    }
    if (at_ < text_.size() &&
        (digit(text_[at_]) || (text_[at_] == '.' && at_ + 1 < text_.size() && digit(text_[at_ + 1])))) {
      double value = 0;
      const char* first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
      if (error != std::errc()) fail("a number beyond double precision");
      std::string text(first, end);
      at_ += static_cast<std::size_t>(end - first);
      steps.push_back({Kind::number, value, {}, 0, begin});
      return text;
    }
    const bool backquoted = at_ < text_.size() && text_[at_] == '`';
    const std::string word = name();
    if (!backquoted && take('(')) {
      if (word != "lag") fail_at(begin, "no function is called " + word + " here: there is lag");
      steps.push_back(lag(begin));
    } else {
      steps.push_back({Kind::variable, 0, word, 0, begin});
    }
    return text_of(steps.back());
  }

  std::string_view text_;
  index_t line_;
  const std::string& source_;
  std::size_t at_ = 0;
};

/// Returns the line up to a # outside of backquotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '`') quoted = !quoted;
    if (line[k] == '#' && !quoted) return line.substr(0, k);
  }
  return line;
}

}  // namespace

ModelFormulas parse_model(std::string_view text, const std::string& source) {
  ModelFormulas model{source, {}, {}};
  bool has_instruments = false;
  for (index_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Parser line(without_comment(text.substr(0, end)), number, source);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.blank()) continue;
    std::string label = line.label();
    if (label == "instruments") {
      if (has_instruments) line.fail("a second line of instruments");
      has_instruments = true;
      line.expect('~', "'~'");
      model.instruments = line.terms();
      line.expect_end();
      if (model.instruments.empty()) line.fail("no instruments");
      continue;
    }
    if (label.empty()) label = "eq" + std::to_string(model.equations.size() + 1);
    for (const EquationFormula& other : model.equations)
      if (other.label == label) line.fail("a second equation is called " + label);
    EquationFormula e{std::move(label), line.dependent(), {}, {}};
    line.expect('~', "'~'");
    e.regressors = line.terms();
    if (e.regressors.empty()) line.fail("no regressors");
    for (const ModelTerm& term : e.regressors)
      if (term.text == e.dependent.text) line.fail_at(term.place, term.text + " is the dependent variable");
    if (line.take('|')) {
      e.instruments = line.terms();
      if (e.instruments.empty()) line.fail("no instruments");
    }
    line.expect_end();
    model.equations.push_back(std::move(e));
  }
  if (model.equations.empty()) throw FileError(source, "has no equation");
  return model;
}

ModelFormulas read_model(const std::string& path) {
  const MappedFile file(path);
  std::string_view text(file.bytes().data(), file.bytes().size());
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // the byte order mark that some editors write
  return parse_model(text, path);
}

std::vector<std::string> variables_of(const std::vector<ModelTerm>& terms) {
  std::vector<std::string> names;
  for (const ModelTerm& term : terms)
    for (const ExpressionStep& step : term.steps)
      if (step.kind == Kind::variable && std::find(names.begin(), names.end(), step.variable) == names.end())
        names.push_back(step.variable);
  return names;
}

}  // namespace tesela
