#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/tiles/io/csv_column.hpp>
#include <tesela/tiles/io/csv_table.hpp>
#include <tesela/tiles/io/reading.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <csv.h>
#include <set>
#include <string_view>
#include <utility>

namespace tesela {
namespace {

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

/// Returns the delimiter that a first line such as "sep=;" names, and removes the line; 0 without one.
char named_delimiter(std::span<const char>& bytes) {
  constexpr std::string_view key = "sep=";
  const std::string_view text(bytes.data(), bytes.size());
  if (!text.starts_with(key) || text.size() < key.size() + 2) return 0;
  const char delimiter = text[key.size()];
  std::size_t length = key.size() + 1;
  if (text[length] == '\r') ++length;
  if (text[length - 1] != '\r' && text[length] != '\n') return 0;
  if (length < text.size() && text[length] == '\n') ++length;
  bytes = bytes.subspan(length);
  return delimiter;
}

/// Reads rows in order and keeps the wanted columns.
class Reader {
 public:
  Reader(std::span<const char> bytes, const std::string& name, const std::vector<ColumnRequest>* wanted,
         const std::vector<std::string>& missing)
      : name_(name), wanted_(wanted), fields_{.missing = missing} {
    if (bytes.size() >= 3 && std::memcmp(bytes.data(), "\xEF\xBB\xBF", 3) == 0) bytes = bytes.subspan(3);
    char delimiter = named_delimiter(bytes);
    if (delimiter != 0) line_ = 2;
    if (delimiter == 0) delimiter = delimiter_of(bytes);
    fields_.decimal_comma = delimiter != ',';
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
      throw EnvironmentError("libcsv cannot start");
    csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
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
    for (CsvColumn& column : columns_) {
      table_.names.push_back(column.name());
      table_.columns.push_back(std::move(column).values());
      table_.levels.push_back(std::move(column).levels());
    }
  }

  std::vector<std::string> names() && { return std::move(header_); }
  Table table() && { return std::move(table_); }

 private:
  bool done() const { return has_header_ && wanted_ == nullptr; }  // only the names are requested

  void read(std::span<const char> bytes) {
    const Reading reading(name_, bytes.size());
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
      Reading::store_unread(bytes.size());
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
    if (!has_header_)
      header_.emplace_back(text);
    else if (table_.lines.empty())
      first_row_.emplace_back(text);
    else
      keep(text, k);
  }

  /// Adds field k of a row to the columns that need it.
  void keep(std::string_view text, std::size_t k) {
    if (row_names_ && k == 0) row_name_ = text;
    const std::size_t at = row_names_ ? k - 1 : k;
    if (at >= header_.size()) return;
    for (const std::size_t column : places_[at])
      if (problem_.empty()) problem_ = columns_[column].add(text, row_line_, fields_);
  }

  std::string wrong_length() const {
    return "line " + std::to_string(row_line_) + ": " + std::to_string(field_) + " fields; the header has " +
           std::to_string(header_.size());
  }

  void row() {
    if (!has_header_) {
      has_header_ = true;
      if (wanted_ != nullptr) find_columns();
    } else {
      if (table_.lines.empty()) {
        // R's write.table gives rows a name and their column none. (An empty last field is a delimiter too many.)
        row_names_ = field_ == header_.size() + 1 && !first_row_.back().empty();
        for (std::size_t k = 0; k < first_row_.size(); ++k) keep(first_row_[k], k);
        first_row_.clear();
      }
      if (field_ != header_.size() + (row_names_ ? 1 : 0)) {
        if (problem_.empty() || table_.lines.empty()) problem_ = wrong_length();
      } else if (row_names_ && !seen_names_.insert(row_name_).second) {
        problem_ = wrong_length() + ", and the first field, '" + row_name_.substr(0, 40) +
                   "', is no name of a row, as it occurs twice";
      } else {
        table_.lines.push_back(row_line_);
      }
    }
    field_ = 0;
    row_line_ = line_;
  }

  void find_columns() {
    places_.resize(header_.size());
    for (const ColumnRequest& wanted : *wanted_) {
      const auto at = std::find(header_.begin(), header_.end(), wanted.name);
      if (at == header_.end()) {
        problem_ = "line 1: no column is called " + wanted.name;
        return;
      }
      if (std::find(at + 1, header_.end(), wanted.name) != header_.end()) {
        problem_ = "line 1: two columns are called " + wanted.name;
        return;
      }
      places_[static_cast<std::size_t>(at - header_.begin())].push_back(columns_.size());
      columns_.emplace_back(wanted);
    }
  }

  const std::string& name_;
  const std::vector<ColumnRequest>* wanted_;
  CsvFields fields_;
  csv_parser parser_{};
  std::vector<std::string> header_, first_row_;
  std::vector<std::vector<std::size_t>> places_;  // columns that keep each field
  std::vector<CsvColumn> columns_;
  Table table_;
  bool has_header_ = false, row_names_ = false;
  std::string row_name_;
  std::set<std::string> seen_names_;  // of rows
  std::size_t field_ = 0;
  index_t line_ = 1, row_line_ = 1;
  std::string problem_;
};

}  // namespace

index_t Table::find(const std::string& name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : at - names.begin();
}

const std::vector<std::string>& Table::levels_of(index_t column) const {
  static const std::vector<std::string> none;
  return static_cast<std::size_t>(column) < levels.size() ? levels[static_cast<std::size_t>(column)] : none;
}

std::vector<std::string> read_csv_names(std::span<const char> bytes, const std::string& name) {
  return Reader(bytes, name, nullptr, {}).names();
}
Table read_csv(std::span<const char> bytes, const std::string& name, const std::vector<ColumnRequest>& wanted,
               const std::vector<std::string>& missing) {
  return Reader(bytes, name, &wanted, missing).table();
}

}  // namespace tesela
