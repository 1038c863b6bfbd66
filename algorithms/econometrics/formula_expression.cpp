#include <tesela/algorithms/econometrics/formula_expression.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace tesela {
namespace {

using Kind = Expression::Kind;

constexpr int deepest = 100;     // levels of nested parentheses and operators
constexpr int power = 10;        // precedence of ^; signs are just below it
constexpr int sign_of_term = 9;  // of a sign before an operand
constexpr int sums = 5;          // of + and -

struct Operator {
  std::string_view spelling, name;
  int precedence;
};
// In the order of their search: longer spellings first.
constexpr std::array<Operator, 19> operators{{{"||", "|", 1},
                                              {"|", "|", 1},
                                              {"&&", "&", 2},
                                              {"&", "&", 2},
                                              {"==", "==", 4},
                                              {"!=", "!=", 4},
                                              {"<=", "<=", 4},
                                              {">=", ">=", 4},
                                              {"<", "<", 4},
                                              {">", ">", 4},
                                              {"+", "+", sums},
                                              {"-", "-", sums},
                                              {"**", "^", 10},
                                              {"*", "*", 6},
                                              {"/", "/", 6},
                                              {"%in%", "%in%", 7},
                                              {":", ":", 8},
                                              {"^", "^", power},
                                              {"!", "!", 3}}};
constexpr int negation = 3;  // of !

bool digit(char c) { return c >= '0' && c <= '9'; }
// Returns whether c belongs to a name; bytes of UTF-8 beyond ASCII count as letters.
bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool begins_name(std::string_view text, std::size_t at) {
  return at < text.size() && (letter(text[at]) || text[at] == '.') &&
         !(text[at] == '.' && at + 1 < text.size() && digit(text[at + 1]));
}

Expression call_of(std::string_view function, TextPlace place, std::vector<Expression> arguments) {
  Expression e{Kind::call, std::string(function), 0, std::move(arguments), {}, place};
  e.names.resize(e.arguments.size());
  return e;
}

const Operator* named_operator(std::string_view name) {
  const auto* const found =
      std::find_if(operators.begin(), operators.end(), [&](const Operator& o) { return o.name == name; });
  return found == operators.end() ? nullptr : found;
}

std::string text_of_sum(const Expression& e) {
  std::string text = text_of(e.arguments.front());
  for (std::size_t k = 1; k < e.arguments.size(); ++k) {
    const Expression& term = e.arguments[k];
    const bool minus = term.calls("-");
    text.append(minus ? " - " : " + ").append(text_of(minus ? term.arguments.front() : term));
  }
  return text;
}

std::string text_of_call(const Expression& e) {
  const auto argument = [&](std::size_t k) { return text_of(e.arguments[k]); };
  if (e.text == "(") return std::string("(").append(argument(0)).append(")");
  if (e.text == "[") return std::string("[").append(argument(0)).append(" ~ ").append(argument(1)).append("]");
  if (e.text == "+" && e.arguments.size() > 1) return text_of_sum(e);
  if (named_operator(e.text) != nullptr && e.arguments.size() == 1) return e.text + argument(0);
  if (named_operator(e.text) != nullptr) {
    const bool tight = e.text == "/" || e.text == "^" || e.text == ":";
    return argument(0).append(tight ? e.text : " " + e.text + " ").append(argument(1));
  }
  std::string text = e.text + "(";
  for (std::size_t k = 0; k < e.arguments.size(); ++k)
    text.append(k > 0 ? ", " : "").append(e.names[k].empty() ? "" : e.names[k] + " = ").append(argument(k));
  return text + ")";
}

}  // namespace

void fail_at(const std::string& source, TextPlace place, const std::string& problem) {
  throw FileError(source,
                  "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " + problem);
}

std::string quoted_name(const std::string& name) {
  const bool plain = begins_name(name, 0) &&
                     std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || digit(c) || c == '.'; });
  return plain ? name : std::string(1, '`').append(name).append(1, '`');
}

std::string text_of(const Expression& e) {
  switch (e.kind) {
    case Kind::number: return e.text;
    case Kind::string: {
      std::string text = "\"";
      for (const char c : e.text) text.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
      return text + "\"";
    }
    case Kind::name: return e.text == "." ? e.text : quoted_name(e.text);
    case Kind::call: return text_of_call(e);
  }
  return {};
}

void ExpressionReader::fail(const std::string& problem) const { fail_at(source_, place(), problem); }

void ExpressionReader::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
}

bool ExpressionReader::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

bool ExpressionReader::take(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void ExpressionReader::expect(char c, const char* what) {
  if (!take(c)) fail(std::string("expected ") + what);
}

void ExpressionReader::expect_end() {
  if (!at_end()) fail("unexpected " + here());
}

std::string ExpressionReader::here() const {
  return at_ == text_.size() ? "end of the line" : std::string{'\'', text_[at_], '\''};
}

std::string ExpressionReader::quoted(char quote) {
  std::string result;
  for (std::size_t k = at_ + 1; k < text_.size(); ++k) {
    if (text_[k] == quote) {
      at_ = k + 1;
      return result;
    }
    if (quote != '`' && text_[k] == '\\' && k + 1 < text_.size()) ++k;
    result += text_[k];
  }
  fail(quote == '`' ? "a backquote is not closed" : "a quote is not closed");
}

std::string ExpressionReader::name() {
  if (text_[at_] == '`') {
    std::string result = quoted('`');
    if (result.empty()) fail("a name is missing between backquotes");
    return result;
  }
  const std::size_t begin = at_;
  while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

Expression ExpressionReader::number() {
  Expression e{Kind::number, {}, 0, {}, {}, place()};
  const char* const first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), e.number);
  if (error != std::errc()) fail("a number beyond double precision");
  e.text.assign(first, end);
  at_ += static_cast<std::size_t>(end - first);
  if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // R's mark of an integer
  if (at_ < text_.size() && (letter(text_[at_]) || text_[at_] == '.')) fail("unexpected " + here());
  return e;
}

Expression ExpressionReader::call(const std::string& function, TextPlace begin, int depth) {
  Expression e = call_of(function.size() > 3 && function.starts_with("np.") ? function.substr(3) : function, begin, {});
  while (!take(')')) {
    if (!e.arguments.empty() && !take(',')) fail("expected ',' or ')' in " + function + "(...)");
    if (at_end()) fail("expected ')' at the end of " + function + "(...)");
    std::size_t after = at_;  // of a name and =
    while (after < text_.size() && (letter(text_[after]) || digit(text_[after]) || text_[after] == '.')) ++after;
    const std::string label(text_.substr(at_, after - at_));
    while (after < text_.size() && (text_[after] == ' ' || text_[after] == '\t')) ++after;
    const bool named = !label.empty() && !digit(label[0]) && after < text_.size() && text_[after] == '=' &&
                       text_.substr(after, 2) != "==";
    if (named) at_ = after + 1;
    e.names.push_back(named ? label : std::string());
    e.arguments.push_back(binary(0, depth + 1));
  }
  if (e.text == "Q" && e.arguments.size() == 1 && e.arguments[0].kind == Kind::string && !e.arguments[0].text.empty() &&
      e.arguments[0].text != "." && e.arguments[0].text.find('`') == std::string::npos)
    return {Kind::name, e.arguments[0].text, 0, {}, {}, begin};
  if (e.text == "lag" && e.arguments.size() == 2 && e.arguments[1].kind == Kind::number && e.arguments[1].number == 1)
    e.arguments.pop_back(), e.names.pop_back();
  return e;
}

Expression ExpressionReader::primary(int depth) {
  if (depth > deepest) fail("too many nested parentheses and operators");
  if (at_end()) fail("expected a name, found " + here());
  const TextPlace begin = place();
  const char c = text_[at_];
  if (take('(')) {
    Expression inner = binary(0, depth + 1);
    expect(')', "')'");
    std::vector<Expression> arguments;
    arguments.push_back(std::move(inner));
    return call_of("(", begin, std::move(arguments));
  }
  if (take('[')) {
    std::vector<Expression> arguments;
    arguments.push_back(binary(above_bars, depth + 1));
    expect('~', "'~' of [endogenous ~ instruments]");
    arguments.push_back(binary(above_bars, depth + 1));
    expect(']', "']'");
    return call_of("[", begin, std::move(arguments));
  }
  if (c == '"' || c == '\'') return {Kind::string, quoted(c), 0, {}, {}, begin};
  if (digit(c) || (c == '.' && at_ + 1 < text_.size() && digit(text_[at_ + 1]))) return number();
  if (c != '`' && !begins_name(text_, at_)) fail("expected a name, found " + here());
  std::string word = name();
  if (c != '`' && take('(')) return call(word, begin, depth);
  if (c == '`' && word == ".") fail("a column called . cannot be named in a formula");
  return {Kind::name, std::move(word), 0, {}, {}, begin};
}

Expression ExpressionReader::unary(int depth) {
  if (depth > deepest) fail("too many nested parentheses and operators");
  skip_blanks();
  const TextPlace begin = place();
  for (const auto& [sign, precedence] : {std::pair{'-', sign_of_term}, {'+', sign_of_term}, {'!', negation}}) {
    if (sign == '!' && text_.substr(at_, 2) == "!=") continue;
    if (!take(sign)) continue;
    std::vector<Expression> arguments;
    arguments.push_back(binary(precedence, depth + 1));
    if (sign == '+') return std::move(arguments.front());
    return call_of(std::string_view(&sign, 1), begin, std::move(arguments));
  }
  return primary(depth);
}

std::string_view ExpressionReader::peek_operator(std::size_t& length) {
  skip_blanks();
  for (const Operator& o : operators)
    if (o.name != "!" && text_.substr(at_).starts_with(o.spelling)) {
      length = o.spelling.size();
      return o.name;
    }
  return {};
}

Expression ExpressionReader::binary(int least, int depth) {
  Expression left = unary(depth);
  for (int chain = depth;;) {
    std::size_t length = 0;
    const std::string_view sign = peek_operator(length);
    const int precedence = sign.empty() ? -1 : named_operator(sign)->precedence;
    if (precedence < least) return left;
    const TextPlace begin = place();
    at_ += length;
    const bool sum = precedence == sums;
    // ^ groups from the right, and its exponent may have a sign.
    Expression right = binary(precedence == power ? sign_of_term : precedence + 1, depth + 1);
    if (sum && sign == "-") {
      std::vector<Expression> negated;
      negated.push_back(std::move(right));
      right = call_of("-", begin, std::move(negated));
    }
    if (sum && left.calls("+")) {
      left.arguments.push_back(std::move(right));
      left.names.emplace_back();
      continue;
    }
    if (++chain > deepest) fail("too many nested parentheses and operators");
    std::vector<Expression> both;
    both.push_back(std::move(left));
    both.push_back(std::move(right));
    left = call_of(sum ? "+" : sign, begin, std::move(both));
  }
}

}  // namespace tesela
