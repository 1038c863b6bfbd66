#include "tools/commands/support/pictures.hpp"
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tesela::cli {
namespace {

using Rgb = std::array<double, 3>;

/// From the first stage to the last: dark blue to yellow, each lighter than the one before, also in grey or to the
/// colour-blind.
Rgb colour_of(index_t stage, index_t stages) {
  constexpr std::array<Rgb, 6> anchors{
      {{52, 42, 112}, {50, 92, 150}, {34, 140, 141}, {76, 184, 112}, {172, 217, 78}, {253, 231, 96}}};
  const double x = stages < 2 ? 0.0
                              : static_cast<double>(stage - 1) / static_cast<double>(stages - 1) *
                                    static_cast<double>(anchors.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(x), anchors.size() - 2);
  Rgb mixed{};
  for (std::size_t c = 0; c < 3; ++c)
    mixed[c] = anchors[k][c] + (x - static_cast<double>(k)) * (anchors[k + 1][c] - anchors[k][c]);
  return mixed;
}

std::string css(const Rgb& rgb) {
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(std::lround(rgb[0])),
                     static_cast<int>(std::lround(rgb[1])), static_cast<int>(std::lround(rgb[2])));
}

const char* text_on(const Rgb& rgb) { return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140 ? "#222" : "#fff"; }

/// 1, 2, 5, 10, 20, 50 … : the distance of labels so that at most `most` of them count to `end`.
index_t label_distance(index_t end, index_t most) {
  index_t distance = 1;
  for (int k = 0; ceil_div(end, distance) > most; ++k) distance = k % 3 == 1 ? distance / 2 * 5 : distance * 2;
  return distance;
}

class Picture {
 public:
  explicit Picture(const Schedule& schedule) : s_(schedule), stages_(std::max<index_t>(s_.stages(), 1)) {
    const index_t side = std::max<index_t>({s_.m, s_.n, 1});
    cell_ = std::clamp(std::floor(704.0 / static_cast<double>(side)), 2.0, 32.0);
    gap_ = cell_ >= 6 ? 1 : 0;
    grid_width_ = cell_ * static_cast<double>(s_.n);
    grid_height_ = cell_ * static_cast<double>(s_.m);
    bars_left_ = grid_left + grid_width_ + 76;
    bars_width_ = std::clamp(16.0 * static_cast<double>(stages_), 200.0, 480.0);
    bars_height_ = std::clamp(grid_height_, 120.0, 280.0);
  }

  std::string svg() {
    const std::string title = fmt::format("{}, {} x {}: {} {} in {} stages", s_.order, s_.m, s_.n,
                                          s_.eliminations.size(), what(), s_.stages());
    const double width = std::max(bars_left_ + bars_width_ + 24, 32 + 8.5 * static_cast<double>(title.size()));
    const double height = grid_top + std::max(grid_height_ + 16, bars_height_ + 48);
    body_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\" fill=\"#444\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#fff\"/>\n",
        width, height);
    text(16, 26, title, "font-size=\"16\" fill=\"#222\"");
    grid();
    bars();
    return body_ + "</svg>\n";
  }

 private:
  const char* what() const { return s_.sums == Sums::none ? "rotations" : "entries"; }
  static constexpr double grid_left = 44, grid_top = 66;

  void box(double x, double y, double w, double h, const std::string& fill) {
    body_ +=
        fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"{}\"/>\n", x, y, w, h, fill);
  }
  void text(double x, double y, const std::string& words, const char* style) {
    body_ += fmt::format("<text x=\"{:g}\" y=\"{:g}\" {}>{}</text>\n", x, y, style, words);
  }
  void entry(index_t row, index_t column, const std::string& fill) {
    box(grid_left + cell_ * static_cast<double>(column), grid_top + cell_ * static_cast<double>(row), cell_ - gap_,
        cell_ - gap_, fill);
  }

  void grid() {
    for (index_t j = 0; s_.sums == Sums::none && j < s_.n; ++j)
      for (index_t i = 0; i <= std::min(s_.heads[static_cast<std::size_t>(j)], s_.m - 1); ++i)
        entry(i, j, i == s_.heads[static_cast<std::size_t>(j)] ? "#cfcfcf" : "#ececec");
    for (const Elimination& e : s_.eliminations) {
      const Rgb colour = colour_of(e.stage, stages_);
      entry(e.row, e.column, css(colour));
      if (cell_ >= 17)
        text(grid_left + cell_ * (static_cast<double>(e.column) + 0.5) - gap_ / 2,
             grid_top + cell_ * (static_cast<double>(e.row) + 0.5) + 0.13 * cell_, std::to_string(e.stage),
             fmt::format("text-anchor=\"middle\" font-size=\"{:.1f}\" fill=\"{}\"", 0.4 * cell_, text_on(colour))
                 .c_str());
    }
    const double longest = cell_ * static_cast<double>(std::max(s_.m, s_.n));
    const index_t distance =
        label_distance(std::max(s_.m, s_.n), std::max<index_t>(static_cast<index_t>(longest / 24), 1));
    for (index_t j = distance; j <= s_.n; j += distance)
      text(grid_left + cell_ * (static_cast<double>(j) - 0.5), grid_top - 6, std::to_string(j),
           "text-anchor=\"middle\"");
    for (index_t i = distance; i <= s_.m; i += distance)
      text(grid_left - 7, grid_top + cell_ * (static_cast<double>(i) - 0.5) + 4, std::to_string(i),
           "text-anchor=\"end\"");
  }

  void bars() {
    std::vector<index_t> rotations(static_cast<std::size_t>(stages_));
    for (const Elimination& e : s_.eliminations) ++rotations[static_cast<std::size_t>(e.stage - 1)];
    const index_t most = std::max<index_t>(*std::max_element(rotations.begin(), rotations.end()), 1);
    const double step = bars_width_ / static_cast<double>(stages_), floor = grid_top + bars_height_;
    const auto level = [&](index_t count) {
      return bars_height_ * static_cast<double>(count) / static_cast<double>(most);
    };
    const index_t rise = label_distance(most, 8);
    for (index_t count = 0; count <= most; count += rise) {
      box(bars_left_, floor - level(count), bars_width_, 1, "#dddddd");
      text(bars_left_ - 7, floor - level(count) + 4, std::to_string(count), "text-anchor=\"end\"");
    }
    for (index_t stage = 1; stage <= stages_; ++stage) {
      const index_t count = rotations[static_cast<std::size_t>(stage - 1)];
      if (count > 0)
        box(bars_left_ + step * static_cast<double>(stage - 1) + 0.08 * step, floor - level(count), 0.84 * step,
            level(count), css(colour_of(stage, stages_)));
    }
    const index_t distance = label_distance(stages_, static_cast<index_t>(bars_width_ / 26));
    for (index_t stage = distance; stage <= stages_; stage += distance)
      text(bars_left_ + step * (static_cast<double>(stage) - 0.5), floor + 17, std::to_string(stage),
           "text-anchor=\"middle\"");
    text(bars_left_ + bars_width_ / 2, floor + 37, "stage", "text-anchor=\"middle\"");
    text(bars_left_, grid_top - 18, what() + std::string(" in each stage"), "");
  }

  const Schedule& s_;
  index_t stages_;
  double cell_ = 0, gap_ = 0, grid_width_ = 0, grid_height_ = 0, bars_left_ = 0, bars_width_ = 0, bars_height_ = 0;
  std::string body_;
};

}  // namespace

std::string draw_schedule(const Schedule& schedule) {
  require(std::max(schedule.m, schedule.n) <= largest_picture, "schedule", "--svg",
          fmt::format("{} x {} is more than the {} rows and columns that a picture shows", schedule.m, schedule.n,
                      largest_picture));
  return Picture(schedule).svg();
}

}  // namespace tesela::cli
