#include "tools/bench/harness/published.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace tesela::bench {
namespace {

// {source, its file}, written by tools/bench/CMakeLists.txt.
constexpr std::pair<std::string_view, std::string_view> files[] = {
#include "published.inc"
};

/// Takes the text before a separator, which goes as well.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view field = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), field.size() + 1));
  return field;
}

template <class Number>
Number number(std::string_view field, std::string_view line) {
  Number value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    throw std::logic_error("published figures: '" + std::string(line) + "'");
  return value;
}

Figure parse(std::string_view source, std::string_view line) {
  std::string_view rest = line;
  Figure f;
  f.source = source;
  for (std::string_view* const name : {&f.table, &f.section, &f.row, &f.column}) *name = take(rest, ',');
  if (const std::string_view n = take(rest, ','); !n.empty()) f.n = number<index_t>(n, line);
  for (std::string_view* const name : {&f.precision, &f.device, &f.quantity, &f.unit}) *name = take(rest, ',');
  f.value = number<double>(rest, line);
  return f;
}

}  // namespace

const std::vector<Figure>& published_figures() {
  static const std::vector<Figure> all = [] {
    std::vector<Figure> figures;
    for (auto [source, text] : files)
      while (!text.empty()) {
        const std::string_view line = take(text, '\n');
        if (!line.empty() && !line.starts_with('#') && !line.starts_with("table,"))
          figures.push_back(parse(source, line));
      }
    return figures;
  }();
  return all;
}

double published_value(const FigureName& name) {
  const auto fits = [](std::string_view wanted, std::string_view is) { return wanted.empty() || wanted == is; };
  for (const Figure& f : published_figures())
    if (fits(name.source, f.source) && fits(name.table, f.table) && fits(name.row, f.row) &&
        fits(name.column, f.column) && (name.n == 0 || name.n == f.n) && fits(name.precision, f.precision) &&
        fits(name.quantity, f.quantity))
      return f.value;
  return 0;
}

double published_chain_seconds(std::string_view precision, std::string_view matrix, index_t n, std::string_view peer,
                               int gpus) {
  const bool chain = peer.starts_with("chain");
  if ((!chain && peer != "lapack") || peer.find(',') != std::string_view::npos || gpus > 2) return 0;
  FigureName name{.source = "cinvestav-2014",
                  .row = matrix,
                  .column = !chain      ? "MKL 12 threads"
                            : gpus == 2 ? "2 K20X"
                                        : "K20X",
                  .n = n,
                  .precision = precision};
  // Table 6.1 names no precision. Its orders reach 20000, which only single precision reached (section 6.2).
  if (matrix == "dense" && precision == "s") name.precision = "not stated";
  return published_value(name);
}

}  // namespace tesela::bench
