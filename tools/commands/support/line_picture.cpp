#include "tools/commands/support/pictures.hpp"
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {
namespace {

constexpr double left = 80, top = 40, wide = 560, tall = 380, key = 190;

/// An axis, from low to high, or from 10^low to 10^high.
struct Axis {
  bool logarithmic;
  double low = std::numeric_limits<double>::infinity(), high = -low;

  bool shows(double x) const { return std::isfinite(x) && (!logarithmic || x > 0); }
  double on_axis(double x) const { return logarithmic ? std::log10(x) : x; }
  void include(double x) { low = std::min(low, on_axis(x)), high = std::max(high, on_axis(x)); }
  /// Returns the place of x from 0 to 1.
  double place(double x) const { return (on_axis(x) - low) / (high - low); }
  /// Makes room for points on the ends, and for an axis without points.
  void make_room(bool from_zero) {
    if (low > high) low = 0, high = 1;
    if (from_zero && !logarithmic) low = std::min(low, 0.0);
    const double size = std::max(std::abs(low), std::abs(high));
    const double room = high - low > 1e-9 * size ? 0.02 * (high - low) : std::max(0.5, 1e-3 * size);
    if (!from_zero || logarithmic) low -= room;
    high += room;
  }
  /// Returns about six numbers at round places.
  std::vector<double> ticks() const {
    std::vector<double> all;
    const double raw = (high - low) / 6, power = std::pow(10, std::floor(std::log10(raw)));
    double step = raw <= power ? power : raw <= 2 * power ? 2 * power : raw <= 5 * power ? 5 * power : 10 * power;
    if (logarithmic) step = std::max(1.0, std::ceil(raw));
    for (int k = 0; k < 20; ++k)
      if (const double t = (std::ceil(low / step) + k) * step; t <= high)
        all.push_back(logarithmic ? std::pow(10, t) : t);
    return all;
  }
};

struct Axes {
  Axis x, y;
  bool shows(const std::pair<double, double>& p) const { return x.shows(p.first) && y.shows(p.second); }
  double across(double value) const { return left + wide * x.place(value); }
  double down(double value) const { return top + tall * (1 - y.place(value)); }
};

Axes axes_of(const LinePicture& picture) {
  Axes axes{{picture.log_x}, {picture.log_y}};
  bool bars = false;
  for (const LinePicture::Line& line : picture.lines) {
    bars = bars || line.bars;
    for (const auto* const points : {&line.points, &line.marks})
      for (const auto& p : *points)
        if (axes.shows(p)) axes.x.include(p.first), axes.y.include(p.second);
  }
  axes.x.make_room(false);
  if (bars) axes.x.low -= 0.5, axes.x.high += 0.5;
  axes.y.make_room(bars);
  return axes;
}

std::string frame(const LinePicture& picture, const Axes& axes) {
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' font-family='sans-serif' "
      "font-size='12'>"
      "<rect width='100%' height='100%' fill='white'/><text x='{2}' y='22' font-size='14'>{3}</text>\n",
      left + wide + key, top + tall + 55, left, escaped(picture.title));
  for (const double t : axes.y.ticks())
    svg += fmt::format(
        "<path d='M{0} {1:.1f}h{2}' stroke='#ddd'/><text x='{3}' y='{4:.1f}' text-anchor='end'>{5:.3g}</text>\n", left,
        axes.down(t), wide, left - 6, axes.down(t) + 4, std::abs(t) < 1e-300 ? 0 : t);
  for (const double t : axes.x.ticks())
    svg += fmt::format(
        "<path d='M{0:.1f} {1}v{2}' stroke='#eee'/><text x='{0:.1f}' y='{3}' text-anchor='middle'>{4:.3g}</text>\n",
        axes.across(t), top, tall, top + tall + 18, std::abs(t) < 1e-300 ? 0 : t);
  svg += fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n", left + wide / 2, top + tall + 42,
                     escaped(picture.x_label));
  return svg + fmt::format("<text transform='translate(16 {}) rotate(-90)' text-anchor='middle'>{}</text>\n",
                           top + tall / 2, escaped(picture.y_label));
}

std::string line_of(const LinePicture::Line& line, const Axes& axes, const char* color) {
  std::string points, bars;
  for (const auto& p : line.points) {
    if (!axes.shows(p)) continue;
    const double x = axes.across(p.first), y = axes.down(p.second);
    if (line.bars) {
      const double width = 0.7 * (axes.across(p.first + 0.5) - axes.across(p.first - 0.5));
      bars += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' fill-opacity='0.7'/>\n",
                          x - width / 2, y, width, std::max(0.0, top + tall - y), color);
    } else {
      points += fmt::format("{:.1f},{:.1f} ", x, y);
    }
  }
  if (!points.empty())
    bars += fmt::format("<polyline fill='none' stroke='{}' stroke-width='1.5' points='{}'/>\n", color, points);
  for (const auto& p : line.marks)
    if (axes.shows(p))
      bars += fmt::format(
          "<circle cx='{0:.1f}' cy='{1:.1f}' r='4' fill='{2}'/><text x='{0:.1f}' y='{3:.1f}' "
          "text-anchor='middle'>{4:.3g}</text>\n",
          axes.across(p.first), axes.down(p.second), color, axes.down(p.second) - 9, p.first);
  return bars;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return safe;
}

std::string draw(const LinePicture& picture) {
  const Axes axes = axes_of(picture);
  std::string svg = frame(picture, axes);
  double at = top + 10;
  for (std::size_t k = 0; k < picture.lines.size(); ++k) {
    const char* const color = curve_colors[k % std::size(curve_colors)];
    svg += line_of(picture.lines[k], axes, color);
    svg += fmt::format("<path d='M{0} {1}h24' stroke='{2}' stroke-width='3'/><text x='{3}' y='{4}'>{5}</text>\n",
                       left + wide + 12, at, color, left + wide + 42, at + 4, escaped(picture.lines[k].name));
    at += 20;
  }
  return svg + "</svg>\n";
}

void write_text(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tesela::cli
