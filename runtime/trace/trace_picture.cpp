#include <tesela/runtime/shortest.hpp>
#include <tesela/runtime/trace/trace_picture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace tesela {
namespace {

constexpr double width = 1200, right = 24, legend_line = 20, axis = 44, letter = 7;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

/// Appearance of a kernel: its colour, and stripes if an earlier kernel looks similar.
struct Look {
  std::uint32_t color = 0;
  int stripes = 0;  ///< number of the pattern; 0: none
  std::size_t tasks = 0;
  double seconds = 0;
  std::string fill;
};

bool alike(std::uint32_t a, std::uint32_t b) {
  const auto channel = [](std::uint32_t c, int shift) { return static_cast<double>(c >> shift & 255); };
  double distance = 0;
  for (const int shift : {0, 8, 16}) distance += std::pow(channel(a, shift) - channel(b, shift), 2);
  return distance < 48 * 48;
}

/// Returns the distance of marks, 1, 2 or 5 times a power of ten, for at most `most` marks.
double mark_distance(double length, int most) {
  const double least = length / most, power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

class Picture {
 public:
  /// `number` distinguishes the pictures of one file.
  Picture(const Trace& trace, double from, double to, std::string title = "", int number = 0)
      : from_(from), to_(to > from ? to : end_of(trace)), title_(std::move(title)), number_(number) {
    span_ = std::min(to_, end_of(trace)) - from_;
    for (TraceMark mark : trace.marks) {
      if (mark.seconds >= to_) continue;
      if (mark.seconds <= from_) marks_.clear();  // the last one before the picture names its beginning
      mark.seconds = std::max(mark.seconds, from_);
      marks_.push_back(mark);
    }
    for (TracedTask task : trace.tasks) {
      if (task.end <= from_ || task.start >= to_) continue;
      task.start = std::max(task.start, from_);
      task.end = std::min(task.end, to_);
      Look& look = looks_[task.kernel];
      ++look.tasks;
      look.seconds += task.end - task.start;
      busy_[task.worker] += task.end - task.start;
      tasks_.push_back(std::move(task));
    }
    std::vector<std::uint32_t> used;
    for (auto& [kernel, look] : looks_) {
      look.color = trace.colors.at(kernel);
      look.stripes = static_cast<int>(
          std::count_if(used.begin(), used.end(), [&](std::uint32_t c) { return alike(c, look.color); }));
      used.push_back(look.color);
    }
    for (const auto& [worker, name] : trace.workers) {
      if (!busy_.contains(worker)) continue;
      names_[worker] = fmt::format("{}, {:.0f} %", name, 100 * busy_[worker] / span_);
      row_.emplace(worker, static_cast<int>(row_.size()));
    }
    pitch_ = std::clamp(560.0 / std::max<double>(1, static_cast<double>(row_.size())), 12.0, 40.0);
    std::size_t longest = 0;
    for (const auto& [worker, name] : names_) longest = std::max(longest, name.size());
    left_ = 16 + letter * static_cast<double>(longest);
  }

  double left() const { return left_; }
  void set_left(double left) { left_ = left; }

  /// Draws the picture and returns its elements; then height() is known.
  std::string draw() {
    const std::string legend = draw_legend();
    draw_axis();
    for (const auto& [worker, row] : row_)
      svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_ - 8, middle(row) + 4,
                          escaped(names_[worker]));
    draw_bars();
    draw_path();
    return fmt::format(
               "<defs>\n{}</defs>\n<text x=\"8\" y=\"18\" font-size=\"13\">{}{} in {} on {}, {:.0f} % of it in "
               "kernels{}"
               "</text>\n",
               patterns(), title_.empty() ? "" : escaped(title_) + ": ", counted(std::ssize(tasks_), "task"),
               duration(span_), counted(std::ssize(row_), "worker"), busy(), path_text_) +
           legend + svg_;
  }
  double height() const { return top_ + pitch_ * static_cast<double>(row_.size()) + axis; }

  static double end_of(const Trace& trace) {
    double end = 0;
    for (const TracedTask& task : trace.tasks) end = std::max(end, task.end);
    return end;
  }

 private:
  double middle(int row) const { return top_ + pitch_ * (row + 0.5); }
  double x(double seconds) const { return left_ + (width - left_ - right) * (seconds - from_) / (to_ - from_); }

  static std::string duration(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.3g} µs", seconds * 1e6)
           : seconds < 1  ? fmt::format("{:.3g} ms", seconds * 1e3)
                          : fmt::format("{:.3g} s", seconds);
  }

  double busy() const {
    double sum = 0;
    for (const auto& [worker, seconds] : busy_) sum += seconds;
    return 100 * sum / (span_ * static_cast<double>(std::max<std::size_t>(busy_.size(), 1)));
  }

  /// Returns the fills of kernels with stripes, white on their colour.
  std::string patterns() const {
    constexpr std::array shapes{"M0,6 L6,0", "M0,0 L6,6", "M0,3 L6,3", "M3,0 L3,6", "M0,0 L6,6 M0,6 L6,0"};
    std::string out;
    for (const auto& [kernel, look] : looks_)
      if (look.stripes > 0)
        out += fmt::format(
            "<pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" "
            "height=\"6\" "
            "fill=\"#{:06x}\"/><path d=\"{}\" stroke=\"#fff\" stroke-width=\"1.6\"/></pattern>\n",
            look.fill.substr(5, look.fill.size() - 6), look.color,
            shapes[static_cast<std::size_t>(look.stripes - 1) % shapes.size()]);
    return out;
  }

  /// Draws swatches in one or more lines, the kernels with the most work first; sets the start of the rows.
  std::string draw_legend() {
    std::vector<std::string> order;
    for (auto& [kernel, look] : looks_) {
      look.fill =
          look.stripes > 0 ? fmt::format("url(#k{}.{})", number_, order.size()) : fmt::format("#{:06x}", look.color);
      order.push_back(kernel);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](const std::string& a, const std::string& b) { return looks_[a].seconds > looks_[b].seconds; });
    std::string out;
    double at = 8, y = 40;
    for (const std::string& kernel : order) {
      const Look& look = looks_[kernel];
      const std::string text = fmt::format("{}: {}, {}", kernel, counted(static_cast<std::int64_t>(look.tasks), "task"),
                                           duration(look.seconds));
      const double space = 40 + letter * static_cast<double>(text.size());
      if (at > 8 && at + space > width) {
        at = 8;
        y += legend_line;
      }
      out += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"12\" fill=\"{}\"/><text x=\"{:.0f}\" "
          "y=\"{:.0f}\">{}</text>\n",
          at, y - 10, look.fill, at + 20, y, escaped(text));
      at += space;
    }
    top_ = y + (marks_.empty() ? 14 : 28);
    return out;
  }

  void draw_axis() {
    const double bottom = top_ + pitch_ * static_cast<double>(row_.size()) + 2;
    const double scale = to_ < 1e-3 ? 1e6 : to_ < 1 ? 1e3 : 1;
    const double step = mark_distance((to_ - from_) * scale, 10);
    svg_ += fmt::format("<path d=\"M{0:.1f},{1:.1f}H{2:.1f}\" stroke=\"#444\"/>\n", left_, bottom, width - right);
    for (double mark = std::ceil(from_ * scale / step - 1e-9) * step; mark <= to_ * scale * (1 + 1e-9); mark += step)
      svg_ += fmt::format(
          "<path d=\"M{0:.1f},{1:.1f}V{2:.1f}\" stroke=\"#e4e4e4\"/><path d=\"M{0:.1f},{2:.1f}v5\" stroke=\"#444\"/>"
          "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:.6g}</text>\n",
          x(mark / scale), top_, bottom, bottom + 18, std::abs(mark) < step / 2 ? 0.0 : mark);
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">time ({})</text>\n",
                        (left_ + width - right) / 2, bottom + 36,
                        scale == 1     ? "s"
                        : scale == 1e3 ? "ms"
                                       : "µs");
    for (const TraceMark& mark : marks_)
      svg_ += fmt::format(
          "<path d=\"M{0:.1f},{1:.1f}V{2:.1f}\" stroke=\"#444\" stroke-dasharray=\"4 3\"/>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\" font-size=\"11\">{5}</text>\n",
          x(mark.seconds), top_ - 10, bottom, x(mark.seconds) + 3, top_ - 2, escaped(mark.name));
  }

  /// Draws wide bars with a tooltip each. Bars thinner than a pixel become one path per worker and kernel, whose
  /// tooltip has their number and time; that limits the file size for a million tasks.
  void draw_bars() {
    struct Merged {
      double begin = 0, end = -1, seconds = 0;
      std::int64_t tasks = 0;
      std::string path;
    };
    const auto finish = [&](Merged& bar, int row) {
      if (bar.end >= bar.begin)
        bar.path += fmt::format("M{:.2f},{:.1f}h{:.2f}v{:.1f}h-{:.2f}z", bar.begin, middle(row) - bar_height() / 2,
                                std::max(bar.end - bar.begin, 0.3), bar_height(), std::max(bar.end - bar.begin, 0.3));
    };
    std::map<std::string, std::map<int, Merged>> thin;
    std::string wide;
    for (const TracedTask& task : tasks_) {
      const int row = row_[task.worker];
      const double begin = x(task.start), end = x(task.end);
      if (end - begin >= 1) {
        wide += bar(task, fmt::format("fill=\"{}\"", looks_[task.kernel].fill), tooltip(task));
        continue;
      }
      Merged& bar = thin[task.kernel][row];
      if (begin - bar.end > 0.15) {
        finish(bar, row);
        bar.begin = begin;
      }
      bar.end = end;
      bar.seconds += task.end - task.start;
      ++bar.tasks;
    }
    for (auto& [kernel, rows] : thin)
      for (auto& [row, bar] : rows) {
        finish(bar, row);
        svg_ += fmt::format(
            "<path fill=\"{}\" d=\"{}\"><title>{}, {} of this worker too short to draw\n{} together, {} "
            "each</title></path>\n",
            looks_[kernel].fill, bar.path, escaped(kernel), counted(bar.tasks, "task"), duration(bar.seconds),
            duration(bar.seconds / static_cast<double>(bar.tasks)));
      }
    svg_ += wide;
  }

  double bar_height() const { return pitch_ * 0.78; }

  /// Returns a bar with a white edge on its right if it is wide enough.
  std::string bar(const TracedTask& task, const std::string& style, const std::string& title) {
    const double begin = x(task.start), length = x(task.end) - begin;
    return fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" {}><title>{}</title></rect>\n", begin,
        middle(row_[task.worker]) - bar_height() / 2, length > 3 ? length - 0.6 : std::max(length, 0.3), bar_height(),
        style, title);
  }

  static std::string tooltip(const TracedTask& task) {
    const double seconds = task.end - task.start;
    std::string text =
        fmt::format("{}, task {}\n{} from {}", escaped(task.kernel), task.id, duration(seconds), duration(task.start));
    if (!task.tiles.empty()) text += "\ntiles " + escaped(task.tiles);
    if (task.gflop > 0 && seconds > 0) text += fmt::format("\n{:.3g} GFLOP/s", task.gflop / seconds);
    return text;
  }

  /// Draws dark edges around the tasks of the critical path between two marks, and thin lines from each to the next.
  void draw_path() {
    std::vector<std::vector<TracedTask>> runs(marks_.size() + 1);
    for (const TracedTask& task : tasks_)
      runs[static_cast<std::size_t>(std::count_if(marks_.begin(), marks_.end(), [&](const TraceMark& m) {
        return m.seconds <= task.start;
      }))].push_back(task);
    double longest = 0;
    for (const std::vector<TracedTask>& run : runs) {
      if (std::all_of(run.begin(), run.end(), [](const TracedTask& t) { return t.depends_on.empty(); })) continue;
      const std::vector<std::size_t> path = critical_path(run);
      double seconds = 0;
      std::string line;
      for (const std::size_t t : path) {
        seconds += run[t].end - run[t].start;
        line += fmt::format("{}{:.1f},{:.1f} {:.1f},{:.1f}", line.empty() ? "" : " ", x(run[t].start),
                            middle(row_[run[t].worker]), x(run[t].end), middle(row_[run[t].worker]));
        if (x(run[t].end) - x(run[t].start) >= 1)
          svg_ += bar(run[t], "fill=\"none\" pointer-events=\"none\" stroke=\"#000\"", "critical path");
      }
      svg_ += fmt::format(
          "<polyline points=\"{}\" fill=\"none\" stroke=\"#000\" stroke-width=\"0.7\" stroke-opacity=\"0.6\" "
          "pointer-events=\"none\"/>\n",
          line);
      longest = std::max(longest, seconds);
    }
    if (longest > 0) path_text_ = ", critical path " + duration(longest);
  }

  double from_, to_, span_ = 0;  // span_: to the end of this trace at most
  double left_ = 0, top_ = 0, pitch_ = 0;
  std::string title_, path_text_;
  int number_;
  std::vector<TraceMark> marks_;
  std::vector<TracedTask> tasks_;
  std::map<std::string, Look> looks_;
  std::map<int, double> busy_;
  std::map<int, int> row_;
  std::map<int, std::string> names_;
  std::string svg_;
};

}  // namespace

std::string trace_pictures(const std::vector<TitledTrace>& traces, double from, double to) {
  if (to <= from)
    for (const TitledTrace& t : traces) to = std::max(to, Picture::end_of(t.trace));
  std::vector<Picture> pictures;
  double left = 0, height = 0;
  for (const auto& [title, trace] : traces) {
    pictures.emplace_back(trace, from, to, title, static_cast<int>(pictures.size()));
    left = std::max(left, pictures.back().left());
  }
  std::string body;
  for (Picture& picture : pictures) {
    picture.set_left(left);
    const std::string drawn = picture.draw();
    body += height == 0 ? drawn : fmt::format("<g transform=\"translate(0,{:.0f})\">\n{}</g>\n", height, drawn);
    height += picture.height();
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
             "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             width, height) +
         body + "</svg>\n";
}

std::string trace_picture(const Trace& trace, double from, double to) {
  return trace_pictures({{"", trace}}, from, to);
}

}  // namespace tesela
