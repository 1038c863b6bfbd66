#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/page_parts.hpp>
#include <tesela/runtime/trace/trace_picture.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tesela {
namespace {

using nlohmann::json;

/// Returns a number of nine digits, which JSON prints in as few.
json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::strtod(text, nullptr);
}

json numbers(const std::vector<double>& values) {
  json all = json::array();
  for (const double value : values) all.push_back(number(value));
  return all;
}

template <class Range, class F>
json array_of(const Range& range, const F& element) {
  json all = json::array();
  for (const auto& one : range) all.push_back(element(one));
  return all;
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

/// Returns the numbers as a text: the bytes of each, 1, 2 or 4, then all of them, little-endian, in base 64.
std::string packed(const std::vector<std::uint32_t>& numbers) {
  const std::uint32_t most = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
  const unsigned size = most < 256 ? 1 : most < 65536 ? 2 : 4;
  std::vector<unsigned char> bytes;
  bytes.reserve(numbers.size() * size);
  for (const std::uint32_t number : numbers)
    for (unsigned k = 0; k < size; ++k) bytes.push_back(static_cast<unsigned char>(number >> 8 * k));
  return std::to_string(size) + base64(bytes);
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
json tasks_json(const Trace& trace, const TraceSummary& summary, Numbered<std::string>& kernels) {
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
  return {{"count", trace.tasks.size()},
          {"unit", number(unit)},
          {"start", packed(start)},
          {"length", packed(length)},
          {"waited", packed(waited)},
          {"fetched", packed(fetched)},
          {"id", packed(id)},
          {"kind", packed(kind)},
          {"kinds", array_of(kinds.all(),
                             [](const Kind& k) {
                               return json::array({std::get<0>(k), std::get<1>(k), number(std::get<2>(k))});
                             })},
          {"worker", packed(worker)},
          {"priority", packed(priority)},
          {"priorities", priorities.all()},
          {"labels", labelled ? labels : ""},
          {"before", packed(before)},
          {"edges", packed(edges)},  // how many places before the task each predecessor is
          {"path", packed(path)}};
}

json summary_json(const TraceSummary& s) {
  const auto place = [](bool gpu) { return gpu ? "GPU" : "core"; };
  return {{"seconds", number(s.seconds)},
          {"kernels", array_of(s.kernels,
                               [&](const KernelSummary& k) {
                                 return json{{"kernel", k.kernel},         {"place", place(k.gpu)},
                                             {"tasks", k.tasks},           {"seconds", number(k.seconds)},
                                             {"median", number(k.median)}, {"share", number(k.share)},
                                             {"gflops", number(k.gflops)}};
                               })},
          {"models", array_of(s.models,
                              [&](const ModelSummary& m) {
                                return json{{"kernel", m.kernel},       {"tiles", m.tiles},
                                            {"place", place(m.gpu)},    {"tasks", m.tasks},
                                            {"least", number(m.least)}, {"median", number(m.median)},
                                            {"most", number(m.most)},   {"model", number(m.model)}};
                              })},
          {"workers", array_of(s.workers,
                               [](const WorkerSummary& w) {
                                 return json{{"name", w.name},
                                             {"tasks", w.tasks},
                                             {"busy", number(w.busy)},
                                             {"data", number(w.data)},
                                             {"ready", number(w.ready)},
                                             {"insertion", number(w.insertion)},
                                             {"dependences", number(w.dependences)},
                                             {"end", number(w.end)}};
                               })},
          {"path_seconds", number(s.path_seconds)},
          {"path_bound", number(s.path_bound)},
          {"area_bound", number(s.area_bound)},
          {"lower_bound", number(s.lower_bound())},
          {"unmodelled", s.unmodelled}};
}

json memory_json(const Trace& trace) {
  return {{"names", trace.memories},
          {"links", array_of(trace.links,
                             [](const LinkUse& link) {
                               return json{{"from", link.from},
                                           {"to", link.to},
                                           {"transfers", link.transfers},
                                           {"bytes", number(link.bytes)}};
                             })},
          {"seconds", array_of(trace.samples, [](const TraceSample& s) { return number(s.seconds); })},
          {"used", array_of(trace.samples, [](const TraceSample& s) { return numbers(s.used); })},
          {"moved", array_of(trace.samples, [](const TraceSample& s) { return numbers(s.moved); })}};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

/// Returns a JSON text that may be part of a <script>.
std::string harmless(const std::string& text) {
  std::string out;
  for (const char c : text) c == '<' ? out += "\\u003c" : out += c;
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
  const json tasks = tasks_json(trace, summary, kernels);
  const auto described = [&](const std::string& kernel) {
    const auto color = trace.colors.find(kernel);
    char text[8];
    std::snprintf(text, sizeof text, "#%06x", color == trace.colors.end() ? 0x8c8c8cu : color->second & 0xFFFFFFu);
    return json{{"name", kernel}, {"color", text}};
  };
  const json data{{"title", title},
                  {"summary", summary_json(summary)},
                  {"kernels", array_of(kernels.all(), described)},
                  {"incomplete", trace.incomplete},
                  {"tasks", tasks},
                  {"memory", memory_json(trace)}};
  // Bytes that are not UTF-8 become U+FFFD.
  const std::string all =
      "{\"report\":" + report + "," + data.dump(-1, ' ', false, json::error_handler_t::replace).substr(1);
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped(title) + "</title>\n<style>\n" + detail::page_style +
         "</style></head>\n<body><main id=\"page\"></main>\n" +
         "<noscript>This page draws the run with JavaScript, which is turned off here.</noscript>\n" +
         "<script type=\"application/json\" id=\"data\">" + harmless(all) + "</script>\n<script>" + detail::page_d3 +
         "</script>\n<script>\n" + detail::page_script + "</script></body></html>\n";
}

}  // namespace tesela
