#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tesela {
namespace {

Expression call_of(const char* function, std::vector<Expression> arguments, TextPlace place) {
  std::vector<std::string> names(arguments.size());
  return {Expression::Kind::call, function, 0, std::move(arguments), std::move(names), place};
}

/// Returns the terms of both, with the intercept of `main` alone.
Expression joined(const Expression& other, const Expression& main) {
  const Expression one{Expression::Kind::number, "1", 1, {}, {}, main.place};
  return call_of("+", {call_of("(", {other}, other.place), one, call_of("(", {main}, main.place)}, main.place);
}

/// Returns whether e contains [endogenous ~ instruments] as a summand.
bool has_brackets(const Expression& e) {
  return e.calls("[") || (e.calls("+") && std::any_of(e.arguments.begin(), e.arguments.end(), has_brackets));
}

/// Returns e with the part `side` of each [endogenous ~ instruments] in its place.
Expression with_side(const Expression& e, std::size_t side) {
  if (e.calls("[")) return call_of("(", {e.arguments[side]}, e.place);
  if (!e.calls("+")) return e;
  Expression sum = e;
  for (Expression& term : sum.arguments) term = with_side(term, side);
  return sum;
}

/// Adds the regressors in brackets of the summands of e to `all`.
void add_endogenous(const Expression& e, std::vector<Expression>& all) {
  if (e.calls("[")) all.push_back(e.arguments[0]);
  if (e.calls("+"))
    for (const Expression& term : e.arguments) add_endogenous(term, all);
}

/// Returns e with `previous` in place of each dot, as update() of R.
Expression with_dots(const Expression& e, const Expression& previous) {
  if (e.kind == Expression::Kind::name && e.text == ".") return call_of("(", {previous}, e.place);
  Expression result = e;
  for (Expression& argument : result.arguments) argument = with_dots(argument, previous);
  return result;
}

/// Returns the length of the label before a colon at the beginning of an equation, without the colon; npos without one.
std::size_t length_of_label(std::string_view line) {
  char quote = 0;
  int depth = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '`' || c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == ')') {
      depth += c == '(' ? 1 : -1;
    } else if (c == '~') {
      return std::string_view::npos;
    } else if (c == ':' && depth == 0) {
      return k;
    }
  }
  return std::string_view::npos;
}

/// Returns the part of the text before the first of these characters outside of quotes.
std::string_view part_before(std::string_view text, std::string_view ends) {
  char quote = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (quote != 0) {
      if (text[k] == quote) quote = 0;
    } else if (text[k] == '`' || text[k] == '"' || text[k] == '\'') {
      quote = text[k];
    } else if (ends.find(text[k]) != std::string_view::npos) {
      return text.substr(0, k);
    }
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Reads the right-hand side of an equation into e.
void read_right_side(ExpressionReader& line, EquationFormula& e) {
  std::vector<Expression> parts{line.read()};
  while (line.take('|')) parts.push_back(line.read());
  line.expect_end();
  if (has_brackets(parts[0])) {
    if (parts.size() > 1) line.fail("[endogenous ~ instruments] goes without parts behind |");
    e.regressors = with_side(parts[0], 0);
    e.instruments = with_side(parts[0], 1);
    std::vector<Expression> endogenous;
    add_endogenous(parts[0], endogenous);
    const TextPlace place = endogenous.front().place;
    e.endogenous = call_of("+", std::move(endogenous), place);
  } else if (parts.size() == 1) {
    e.regressors = std::move(parts[0]);
  } else if (parts.size() == 2) {
    e.instruments = with_dots(parts[1], parts[0]);
    e.regressors = std::move(parts[0]);
  } else if (parts.size() == 3) {  // exogenous | endogenous | instruments
    e.regressors = joined(parts[1], parts[0]);
    e.instruments = joined(parts[2], parts[0]);
    e.endogenous = std::move(parts[1]);
  } else {
    line.fail("more than three parts: exogenous | endogenous | instruments");
  }
}

/// Reads an equation, or the line of instruments, in `text`, which begins at `offset` of its line.
void read_equation(std::string_view whole, std::size_t offset, index_t number, ModelFormulas& model) {
  ExpressionReader line(whole, number, model.source);
  line.skip_to(offset);
  if (line.at_end()) return;
  std::string label;
  if (const std::size_t length = length_of_label(whole.substr(offset)); length != std::string_view::npos) {
    label = trimmed(whole.substr(offset, length));
    if (label.empty()) line.fail("a label must precede the colon");
    if (label.size() > 1 && label.front() == '`' && label.back() == '`') label = label.substr(1, label.size() - 2);
    line.skip_to(offset + length + 1);
  }
  if (label == "instruments") {
    if (model.instruments) line.fail("a second line of instruments");
    line.expect('~', "'~'");
    model.instruments = line.read();
    return line.expect_end();
  }
  if (label.empty()) label = "eq" + std::to_string(model.equations.size() + 1);
  for (const EquationFormula& other : model.equations)
    if (other.label == label) line.fail("a second equation is called " + label);
  EquationFormula e{std::move(label), line.read(), {}};
  line.expect('~', "'~'");
  read_right_side(line, e);
  model.equations.push_back(std::move(e));
}

}  // namespace

ModelFormulas parse_model(std::string_view text, const std::string& source) {
  ModelFormulas model{source, {}, {}};
  for (index_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = part_before(text.substr(0, end), "#");
    text.remove_prefix(std::min(end + 1, text.size()));
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t length = part_before(line.substr(begin), ";").size();
      read_equation(line.substr(0, begin + length), begin, number, model);
      begin += length + 1;
    }
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

ModelFormulas read_or_parse_model(const std::string& text_or_path) {
  if (text_or_path.find('~') != std::string::npos) return parse_model(text_or_path, "formula");
  if (std::error_code none; !std::filesystem::exists(text_or_path, none))
    throw FileError(text_or_path, "is neither a file nor a formula, such as \"y ~ x1 + x2\"");
  return read_model(text_or_path);
}

Expression parse_terms(std::string_view text, const std::string& source) {
  ExpressionReader line(text, 1, source);
  line.take('~');
  Expression terms = line.read();
  line.expect_end();
  return terms;
}

}  // namespace tesela
