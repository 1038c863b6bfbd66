#include "tools/commands/mimo/rate_picture.hpp"

#include "tools/commands/support/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

constexpr double left = 70, top = 40, wide = 560, tall = 380, key = 190;

struct Axes {
  double from, to, decades;
  double x(double db) const { return left + wide * (to > from ? (db - from) / (to - from) : 0.5); }
  double y(double rate) const { return top + tall * std::min(1.0, -std::log10(std::min(rate, 1.0)) / decades); }
};

std::string curve_of(const RateCurve& curve, const std::vector<double>& db, const Axes& axes, const char* color) {
  std::string line, marks;
  for (std::size_t k = 0; k < db.size(); ++k) {
    if (!(curve.rate[k] > 0) || -std::log10(curve.rate[k]) > axes.decades) continue;
    const double x = axes.x(db[k]), y = axes.y(curve.rate[k]);
    line += fmt::format("{:.1f},{:.1f} ", x, y);
    if (curve.dashed) continue;
    marks += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>", x, y, color);
    if (curve.low.empty()) continue;
    const double low = curve.low[k] > 0 ? axes.y(curve.low[k]) : top + tall;
    marks += fmt::format("<path d='M{0:.1f} {1:.1f}V{2:.1f}' stroke='{3}'/>", x, axes.y(curve.high[k]), low, color);
  }
  return fmt::format("<polyline fill='none' stroke='{}' stroke-width='1.5'{} points='{}'/>{}\n", color,
                     curve.dashed ? " stroke-dasharray='5 4'" : "", line, marks);
}

}  // namespace

std::string rate_picture(const std::string& title, const std::vector<double>& db,
                         const std::vector<RateCurve>& curves) {
  double least = 0.1;
  for (const RateCurve& c : curves)
    for (const double r : c.rate)
      if (r > 0 && !c.dashed) least = std::min(least, r);
  const Axes axes{db.front(), db.back(), std::ceil(-std::log10(least) + 0.01)};
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' font-family='sans-serif' "
      "font-size='12'>"
      "<rect width='100%' height='100%' fill='white'/><text x='{2}' y='22' font-size='14'>{3}</text>\n",
      left + wide + key, top + tall + 50, left, escaped(title));
  for (int d = 0; d <= static_cast<int>(axes.decades); ++d)
    svg += fmt::format(
        "<path d='M{0} {1:.1f}h{2}' stroke='#ddd'/><text x='{3}' y='{4:.1f}' text-anchor='end'>{5}</text>\n", left,
        axes.y(std::pow(10.0, -d)), wide, left - 6, axes.y(std::pow(10.0, -d)) + 4,
        d == 0 ? std::string("1") : fmt::format("1e-{}", d));
  for (const double x : db)
    svg += fmt::format(
        "<path d='M{0:.1f} {1}v{2}' stroke='#eee'/><text x='{0:.1f}' y='{3}' text-anchor='middle'>{4:g}</text>\n",
        axes.x(x), top, tall, top + tall + 18, x);
  svg += fmt::format("<text x='{}' y='{}' text-anchor='middle'>Eb/N0 in dB</text>\n", left + wide / 2, top + tall + 40);
  std::size_t color = 0;
  double at = top + 10;
  for (const RateCurve& c : curves) {
    const char* const paint = curve_colors[color++ % std::size(curve_colors)];
    svg += curve_of(c, db, axes, paint);
    svg += fmt::format("<path d='M{0} {1}h24' stroke='{2}' stroke-width='2'{3}/><text x='{4}' y='{5}'>{6}</text>\n",
                       left + wide + 12, at, paint, c.dashed ? " stroke-dasharray='5 4'" : "", left + wide + 42, at + 4,
                       escaped(c.name));
    at += 20;
  }
  return svg + "</svg>\n";
}

}  // namespace tesela::cli
