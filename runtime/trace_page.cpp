#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/page_parts.hpp>
#include <tesela/runtime/trace_page.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tesela {
namespace {

/// Returns a JSON string that may be part of a <script>. Bytes that are not UTF-8 become "?".
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[k];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == '<' || c == '&') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else if (c < 0x80) {
      out += text[k];
    } else {
      const auto length = static_cast<std::size_t>(std::countl_one(c));
      const auto follows = [&](char next) { return (static_cast<unsigned char>(next) & 0xC0) == 0x80; };
      const std::string sequence = text.substr(k, length);
      if (length < 2 || length > 4 || sequence.size() < length ||
          !std::all_of(sequence.begin() + 1, sequence.end(), follows)) {
        out += '?';
        continue;
      }
      out += sequence;
      k += length - 1;
    }
  }
  return out + '"';
}

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
std::string number(index_t value) { return std::to_string(value); }
std::string number(std::size_t value) { return std::to_string(value); }

/// Builds a JSON array or object.
class Json {
 public:
  explicit Json(char open) : text_(1, open), close_(open == '[' ? ']' : '}') {}
  Json& add(const std::string& json) {
    if (text_.size() > 1) text_ += ',';
    text_ += json;
    return *this;
  }
  Json& add(const char* key, const std::string& json) { return add('"' + std::string(key) + "\":" + json); }
  std::string text() const { return text_ + close_; }

 private:
  std::string text_;
  char close_;
};

template <class Range, class F>
std::string array_of(const Range& range, const F& json) {
  Json all('[');
  for (const auto& element : range) all.add(json(element));
  return all.text();
}

/// Returns the bytes in base 64.
std::string base64(const std::vector<unsigned char>& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() * 4 / 3 + 8);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const auto byte = [&](std::size_t n) { return n < bytes.size() ? std::uint32_t{bytes[n]} : 0; };
    const std::uint32_t three = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    out += digits[three >> 18];
    out += digits[three >> 12 & 63];
    out += k + 1 < bytes.size() ? digits[three >> 6 & 63] : '=';
    out += k + 2 < bytes.size() ? digits[three & 63] : '=';
  }
  return out;
}

/// Returns the numbers as a quoted text: the bytes of each, 1, 2 or 4, then all of them, little-endian, in base 64.
std::string packed(const std::vector<std::uint32_t>& numbers) {
  const std::uint32_t most = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
  const unsigned size = most < 256 ? 1 : most < 65536 ? 2 : 4;
  std::vector<unsigned char> bytes;
  bytes.reserve(numbers.size() * size);
  for (const std::uint32_t number : numbers)
    for (unsigned k = 0; k < size; ++k) bytes.push_back(static_cast<unsigned char>(number >> 8 * k));
  return '"' + std::to_string(size) + base64(bytes) + '"';
}

/// Numbers objects in order of their first use.
template <class T>
class Numbered {
 public:
  std::uint32_t number_of(const T& object) {
    const auto [it, is_new] = numbers_.try_emplace(object, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(object);
    return it->second;
  }
  const std::vector<T>& all() const { return all_; }

 private:
  std::map<T, std::uint32_t> numbers_;
  std::vector<T> all_;
};

/// Returns the tasks as packed arrays. Times are multiples of `unit` seconds.
std::string tasks_json(const Trace& trace, const TraceSummary& summary, Numbered<std::string>& kernels) {
  const double unit = std::max(summary.seconds / 4e9, 1e-9);
  const auto ticks = [&](double seconds) {
    return static_cast<std::uint32_t>(std::clamp(std::round(seconds / unit), 0.0, 4294967295.0));
  };
  std::map<int, std::uint32_t> rows;
  for (const auto& [id, name] : trace.workers) rows.emplace(id, static_cast<std::uint32_t>(rows.size()));
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (std::size_t t = 0; t < trace.tasks.size(); ++t) index.emplace(trace.tasks[t].id, t);
  std::vector<std::uint32_t> start, length, waited, fetched, id, before, edges, kind, worker, priority;
  using Kind = std::tuple<std::uint32_t, std::string, double>;  // kernel, tiles, Gflop
  Numbered<Kind> kinds;
  Numbered<int> priorities;
  std::string labels;
  bool labelled = false;
  for (const TracedTask& task : trace.tasks) {
    start.push_back(ticks(task.start));
    length.push_back(ticks(task.end - task.start));
    waited.push_back(ticks(task.start - task.submitted));
    fetched.push_back(ticks(task.fetch_end - task.fetch_begin));
    id.push_back(static_cast<std::uint32_t>(task.id));
    kind.push_back(kinds.number_of({kernels.number_of(task.kernel), task.tiles, task.gflop}));
    worker.push_back(rows[task.worker]);
    priority.push_back(priorities.number_of(task.priority));
    labels += task.label + '\n';
    labelled = labelled || !task.label.empty();
    std::uint32_t count = 0;
    for (const std::uint64_t other : task.depends_on)
      if (const auto it = index.find(other); it != index.end() && it->second + 1 < start.size()) {
        edges.push_back(static_cast<std::uint32_t>(start.size() - 1 - it->second));
        ++count;
      }
    before.push_back(count);
  }
  std::vector<std::uint32_t> path(summary.path.begin(), summary.path.end());
  return Json('{')
      .add("count", number(trace.tasks.size()))
      .add("unit", number(unit))
      .add("start", packed(start))
      .add("length", packed(length))
      .add("waited", packed(waited))
      .add("fetched", packed(fetched))
      .add("id", packed(id))
      .add("kind", packed(kind))
      .add("kinds", array_of(kinds.all(),
                             [](const Kind& k) {
                               return Json('[')
                                   .add(std::to_string(std::get<0>(k)))
                                   .add(quoted(std::get<1>(k)))
                                   .add(number(std::get<2>(k)))
                                   .text();
                             }))
      .add("worker", packed(worker))
      .add("priority", packed(priority))
      .add("priorities", array_of(priorities.all(), [](int p) { return std::to_string(p); }))
      .add("labels", labelled ? quoted(labels) : "\"\"")
      .add("before", packed(before))
      .add("edges", packed(edges))  // how many places before the task each predecessor is
      .add("path", packed(path))
      .text();
}

std::string summary_json(const TraceSummary& s) {
  const auto place = [](bool gpu) { return gpu ? std::string("\"GPU\"") : std::string("\"core\""); };
  return Json('{')
      .add("seconds", number(s.seconds))
      .add("kernels", array_of(s.kernels,
                               [&](const KernelSummary& k) {
                                 return Json('{')
                                     .add("kernel", quoted(k.kernel))
                                     .add("place", place(k.gpu))
                                     .add("tasks", number(k.tasks))
                                     .add("seconds", number(k.seconds))
                                     .add("median", number(k.median))
                                     .add("share", number(k.share))
                                     .add("gflops", number(k.gflops))
                                     .text();
                               }))
      .add("models", array_of(s.models,
                              [&](const ModelSummary& m) {
                                return Json('{')
                                    .add("kernel", quoted(m.kernel))
                                    .add("tiles", quoted(m.tiles))
                                    .add("place", place(m.gpu))
                                    .add("tasks", number(m.tasks))
                                    .add("least", number(m.least))
                                    .add("median", number(m.median))
                                    .add("most", number(m.most))
                                    .add("model", number(m.model))
                                    .text();
                              }))
      .add("workers", array_of(s.workers,
                               [](const WorkerSummary& w) {
                                 return Json('{')
                                     .add("name", quoted(w.name))
                                     .add("tasks", number(w.tasks))
                                     .add("busy", number(w.busy))
                                     .add("data", number(w.data))
                                     .add("ready", number(w.ready))
                                     .add("insertion", number(w.insertion))
                                     .add("dependences", number(w.dependences))
                                     .add("end", number(w.end))
                                     .text();
                               }))
      .add("path_seconds", number(s.path_seconds))
      .add("path_bound", number(s.path_bound))
      .add("area_bound", number(s.area_bound))
      .add("lower_bound", number(s.lower_bound()))
      .add("unmodelled", number(s.unmodelled))
      .text();
}

std::string memory_json(const Trace& trace) {
  const auto numbers = [](const std::vector<double>& values) {
    return array_of(values, [](double v) { return number(v); });
  };
  std::vector<double> seconds;
  for (const TraceSample& s : trace.samples) seconds.push_back(s.seconds);
  return Json('{')
      .add("names", array_of(trace.memories, quoted))
      .add("links", array_of(trace.links,
                             [](const LinkUse& link) {
                               return Json('{')
                                   .add("from", quoted(link.from))
                                   .add("to", quoted(link.to))
                                   .add("transfers", number(link.transfers))
                                   .add("bytes", number(link.bytes))
                                   .text();
                             }))
      .add("seconds", numbers(seconds))
      .add("used", array_of(trace.samples, [&](const TraceSample& s) { return numbers(s.used); }))
      .add("moved", array_of(trace.samples, [&](const TraceSample& s) { return numbers(s.moved); }))
      .text();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

/// Returns a JSON text that may be part of a <script>.
std::string harmless(const std::string& json) {
  std::string out;
  for (const char c : json) out += c == '<' ? "\\u003c" : std::string(1, c);
  return out;
}

}  // namespace

void require_trace_page() {
  if (*detail::page_d3 == 0)
    throw EnvironmentError(
        "this build of Tesela writes no reports, since D3 was not found: install Debian's libjs-d3 (scripts/setup "
        "does) "
        "and build again");
}

std::string trace_page(const Trace& trace, const TraceSummary& summary, const std::string& title,
                       const std::string& report) {
  require_trace_page();
  Numbered<std::string> kernels;
  const std::string tasks = tasks_json(trace, summary, kernels);
  Json data('{');
  data.add("title", quoted(title))
      .add("report", harmless(report))
      .add("summary", summary_json(summary))
      .add("kernels", array_of(kernels.all(),
                               [&](const std::string& kernel) {
                                 const auto color = trace.colors.find(kernel);
                                 char text[8];
                                 std::snprintf(text, sizeof text, "#%06x",
                                               color == trace.colors.end() ? 0x8c8c8cu : color->second & 0xFFFFFFu);
                                 return Json('{').add("name", quoted(kernel)).add("color", quoted(text)).text();
                               }))
      .add("incomplete", number(trace.incomplete))
      .add("tasks", tasks)
      .add("memory", memory_json(trace));
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped(title) + "</title>\n<style>\n" + detail::page_style +
         "</style></head>\n<body><main id=\"page\"></main>\n" +
         "<noscript>This page draws the run with JavaScript, which is turned off here.</noscript>\n" +
         "<script type=\"application/json\" id=\"data\">" + data.text() + "</script>\n<script>" + detail::page_d3 +
         "</script>\n<script>\n" + detail::page_script + "</script></body></html>\n";
}

}  // namespace tesela
