#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/tiles/io/csv_table.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <csv.h>
#include <limits>
#include <map>
#include <string_view>

namespace tesela {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Returns the delimiter that is most frequent in the first line, outside quotes.
char delimiter_of(std::span<const char> bytes) {
  constexpr std::array<char, 3> candidates{',', ';', '\t'};
  std::array<int, 3> counts{};
  bool quoted = false;
  for (const char c : bytes) {
    if (c == '"') quoted = !quoted;
    if ((c == '\n' || c == '\r') && !quoted) break;
    for (std::size_t k = 0; k < 3; ++k) counts[k] += c == candidates[k] && !quoted ? 1 : 0;
  }
  return candidates[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

/// Reads rows in order and keeps the wanted columns.
class Reader {
 public:
  Reader(std::span<const char> bytes, const std::string& name, const std::vector<std::string>* wanted,
         const std::vector<std::string>& labels)
      : name_(name), wanted_(wanted), labels_(labels) {
    if (bytes.size() >= 3 && std::memcmp(bytes.data(), "\xEF\xBB\xBF", 3) == 0) bytes = bytes.subspan(3);
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
      throw EnvironmentError("libcsv cannot start");
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter_of(bytes)));
    csv_set_space_func(&parser_, [](unsigned char c) { return c == ' ' ? 1 : 0; });  // a tab may separate fields
    try {
      read(bytes);
    } catch (...) {
      csv_free(&parser_);
      throw;
    }
    csv_free(&parser_);
    if (!has_header_) throw FileError(name_, "has no header line");
    table_.rows = static_cast<index_t>(table_.lines.size());
  }

  std::vector<std::string> names() && { return std::move(header_); }
  Table table() && { return std::move(table_); }

 private:
  bool done() const { return has_header_ && wanted_ == nullptr; }  // only the names are requested

  void read(std::span<const char> bytes) {
    // Line by line, so that messages can name the line.
    while (!bytes.empty() && !done()) {
      const void* end = std::memchr(bytes.data(), '\n', bytes.size());
      const std::size_t length =
          end == nullptr ? bytes.size() : static_cast<std::size_t>(static_cast<const char*>(end) - bytes.data()) + 1;
      if (std::memchr(bytes.data(), 0, length) != nullptr) fail("a byte of value 0");
      if (field_ == 0) row_line_ = line_;
      if (csv_parse(&parser_, bytes.data(), length, &on_field, &on_row, this) != length) fail_to_parse();
      rethrow();
      bytes = bytes.subspan(length);
      ++line_;
    }
    if (!done() && csv_fini(&parser_, &on_field, &on_row, this) != 0) fail("a quote that does not end");
    rethrow();
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw FileError(name_, "line " + std::to_string(line_) + ": " + problem);
  }
  [[noreturn]] void fail_to_parse() const {
    rethrow();
    if (csv_error(const_cast<csv_parser*>(&parser_)) == CSV_ENOMEM) throw OutOfMemory(name_ + ": no memory for it");
    fail("a quote is not allowed here");
  }
  void rethrow() const {
    if (!problem_.empty()) throw FileError(name_, problem_);
  }

  // No exception may pass through libcsv's frames.
  static void on_field(void* text, std::size_t length, void* self) noexcept {
    auto& reader = *static_cast<Reader*>(self);
    if (!reader.problem_.empty() || reader.done()) return;
    try {
      reader.field(std::string_view(static_cast<const char*>(text), length));
    } catch (const std::exception& e) {
      reader.problem_ = e.what();
    }
  }
  static void on_row(int, void* self) noexcept {
    auto& reader = *static_cast<Reader*>(self);
    if (!reader.problem_.empty() || reader.done()) return;
    try {
      reader.row();
    } catch (const std::exception& e) {
      reader.problem_ = e.what();
    }
  }

  void field(std::string_view text) {
    const std::size_t k = field_++;
    if (!has_header_) {
      header_.emplace_back(text);
    } else if (k < header_.size() && place_[k] >= 0) {
      const auto at = static_cast<std::size_t>(place_[k]);
      table_.columns[at].push_back(numbers_[at] ? number(text, k) : label(text, numbering_[at]));
    }
  }

  void row() {
    if (!has_header_) {
      has_header_ = true;
      if (wanted_ != nullptr) find_columns();
    } else if (field_ != header_.size()) {
      problem_ = "line " + std::to_string(row_line_) + ": " + std::to_string(field_) + " fields; the header has " +
                 std::to_string(header_.size());
    } else {
      table_.lines.push_back(row_line_);
    }
    field_ = 0;
    row_line_ = line_;
  }

  void find_columns() {
    place_.assign(header_.size(), -1);
    for (std::size_t w = 0; w < wanted_->size(); ++w) {
      const std::string& wanted = (*wanted_)[w];
      const auto at = std::find(header_.begin(), header_.end(), wanted);
      if (at == header_.end()) {
        problem_ = "line 1: no column is called " + wanted;
        return;
      }
      if (std::find(at + 1, header_.end(), wanted) != header_.end()) {
        problem_ = "line 1: two columns are called " + wanted;
        return;
      }
      place_[static_cast<std::size_t>(at - header_.begin())] = static_cast<index_t>(w);
    }
    table_.names = *wanted_;
    for (const std::string& name : *wanted_)
      numbers_.push_back(std::find(labels_.begin(), labels_.end(), name) == labels_.end());
    numbering_.resize(wanted_->size());
    table_.columns.resize(wanted_->size());
  }

  static bool nothing(std::string_view text) { return text.empty() || text == "NA" || text == "NaN" || text == "."; }

  static double label(std::string_view text, std::map<std::string, double>& numbering) {
    if (nothing(text)) return missing;
    return numbering.emplace(text, static_cast<double>(numbering.size())).first->second;
  }

  double number(std::string_view text, std::size_t k) {
    if (nothing(text)) return missing;
    // As strtod, without its names of numbers and other bases. (text ends with a zero byte.)
    if (text.find_first_not_of("0123456789+-.eE") == std::string_view::npos) {
      char* end = nullptr;
      const double value = std::strtod(text.data(), &end);
      if (end == text.data() + text.size()) {
        const bool integer = text.find_first_of(".eE") == std::string_view::npos;
        const char* const changed = !std::isfinite(value)          ? " is beyond double precision"
                                    : value == 0 && !is_zero(text) ? " is below double precision's smallest number"
                                    : integer && !is_exactly(text, value)
                                        ? " is an integer that double precision does not "
                                          "hold; with a decimal point it is rounded"
                                        : nullptr;
        if (changed == nullptr) return value;
        problem_ = place(k) + std::string(text) + changed;
        return missing;
      }
    }
    problem_ = place(k) + "'" + std::string(text.substr(0, 40)) + "' is not a finite number";
    return missing;
  }
  std::string place(std::size_t k) const {
    return "line " + std::to_string(row_line_) + ", column " + header_[k] + ": ";
  }

  const std::string& name_;
  const std::vector<std::string>* wanted_;
  const std::vector<std::string>& labels_;
  std::vector<bool> numbers_;  // for each wanted column: false for labels
  std::vector<std::map<std::string, double>> numbering_;
  csv_parser parser_{};
  std::vector<std::string> header_;
  std::vector<index_t> place_;  // index of each field's column in the table; -1: not wanted
  Table table_;
  bool has_header_ = false;
  std::size_t field_ = 0;
  index_t line_ = 1, row_line_ = 1;
  std::string problem_;
};

}  // namespace

index_t Table::find(const std::string& name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : at - names.begin();
}

std::vector<std::string> read_csv_names(std::span<const char> bytes, const std::string& name) {
  return Reader(bytes, name, nullptr, {}).names();
}
Table read_csv(std::span<const char> bytes, const std::string& name, const std::vector<std::string>& wanted,
               const std::vector<std::string>& labels) {
  return Reader(bytes, name, &wanted, labels).table();
}

}  // namespace tesela
