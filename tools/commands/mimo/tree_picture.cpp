#include "tools/commands/mimo/rate_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tesela::cli {
namespace {

constexpr double left = 60, top = 60, row = 48;
constexpr std::size_t most_nodes = 4000;

}  // namespace

std::string tree_picture(const std::string& title, const SearchTree& tree) {
  const std::size_t count = std::min(tree.nodes.size(), most_nodes), levels = tree.levels.size();
  // Each leaf has a place; another node is above the middle of its children, which have larger numbers.
  std::vector<double> x(count), sum(count);
  std::vector<int> children(count);
  for (std::size_t k = 0; k < count; ++k)
    if (tree.nodes[k].parent >= 0) ++children[static_cast<std::size_t>(tree.nodes[k].parent)];
  double places = 0;
  for (std::size_t k = 0; k < count; ++k)
    if (children[k] == 0) x[k] = places++;
  double root = 0, first = 0;
  for (std::size_t k = count; k-- > 0;) {
    if (children[k] > 0) x[k] = sum[k] / children[k];
    if (tree.nodes[k].parent >= 0)
      sum[static_cast<std::size_t>(tree.nodes[k].parent)] += x[k];
    else
      root += x[k], ++first;
  }
  root = first > 0 ? root / first : 0;
  const double step = std::clamp(900 / std::max(places, 1.0), 3.0, 30.0), size = std::clamp(step / 3, 1.5, 5.0);
  const auto at_x = [&](double place) { return left + 40 + step * place; };
  const auto at_y = [&](int level) { return top + row * static_cast<double>(static_cast<int>(levels) - level); };
  std::vector<bool> answer(count);
  for (std::size_t k = count; k-- > 0;)
    if (tree.nodes[k].best) {  // the last node marked as nearest
      for (int node = static_cast<int>(k); node >= 0; node = tree.nodes[static_cast<std::size_t>(node)].parent)
        answer[static_cast<std::size_t>(node)] = true;
      break;
    }
  std::string edges, marks;
  for (std::size_t k = 0; k < count; ++k) {
    const VisitedNode& node = tree.nodes[k];
    const double above = node.parent < 0 ? root : x[static_cast<std::size_t>(node.parent)];
    const char* const color = answer[k] ? "#c44e52" : node.best ? "#dd8452" : "#4c72b0";
    edges += fmt::format("<path d='M{:.1f} {:.1f}L{:.1f} {:.1f}' stroke='{}'/>\n", at_x(above), at_y(node.level + 1),
                         at_x(x[k]), at_y(node.level), answer[k] ? "#c44e52" : "#ccc");
    marks += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{:.1f}' fill='{}'><title>{}: {:.4g}</title></circle>\n",
                         at_x(x[k]), at_y(node.level), size, color, k + 1, node.distance);
  }
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' font-family='sans-serif' "
      "font-size='12'><rect width='100%' height='100%' fill='white'/><text x='{2}' y='22' "
      "font-size='14'>{3}{4}</text>\n",
      at_x(std::max(places, 15.0)) + 40, at_y(0) + 40, left - 50, title,
      count < tree.nodes.size() ? fmt::format(", the first {} of {} nodes", count, tree.nodes.size())
                                : fmt::format(", {} nodes", count));
  for (std::size_t level = 0; level < levels; ++level)
    svg += fmt::format("<text x='{}' y='{:.1f}'>{}</text>\n", left - 50, at_y(static_cast<int>(level)) + 4,
                       tree.levels[level]);
  svg += edges + marks;
  svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{:.1f}' fill='#222'/>\n", at_x(root),
                     at_y(static_cast<int>(levels)), size);
  return svg + "</svg>\n";
}

}  // namespace tesela::cli
