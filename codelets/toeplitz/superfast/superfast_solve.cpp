#include <tesela/codelets/toeplitz/internal/superfast_solve_body.hpp>
#include <tesela/codelets/toeplitz/internal/superfast_sweep.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>

#include <algorithm>

namespace tesela::kernels {

using superfast::Message;
using superfast::Node;
namespace {

/// Substitutes forward in the subtree of node j; `data` and `z` move behind its nodes and their unknowns.
template <class T>
Message<T> forward_subtree(const SuperfastTree& tree, int level, index_t j, const In<T>& sine, const T*& data, T*& z) {
  const index_t k = sine.cols;
  std::vector<T> b, y;
  Message<T> first, second;
  if (level < tree.levels) {
    first = forward_subtree(tree, level + 1, 2 * j, sine, data, z);
    second = forward_subtree(tree, level + 1, 2 * j + 1, sine, data, z);
  }
  const auto node = Node<const T>::at(data);
  if (level < tree.levels) {
    join(node, k, first, second, b, y);
  } else {
    const index_t start = tree.part * cauchy_rows(tree.n, 0) + tree.first(level, j);
    b.resize(at(node.m * k));
    y.resize(b.size());
    for (index_t c = 0; c < k; ++c) std::copy_n(&sine(start, c), node.m, b.data() + c * node.m);
  }
  Message<T> to = forward(node, k, b, y, z);
  data += node.size();
  z += node.gone() * k;
  return to;
}

/// Substitutes backward in the subtree whose root is the last of `nodes`, and drops its nodes; z moves before their
/// unknowns.
template <class T>
void backward_subtree(const SuperfastTree& tree, int level, index_t j, std::vector<Node<const T>>& nodes, const T*& z,
                      const T* remaining, index_t ld, const Out<T>& part) {
  const index_t k = part.cols;
  const Node<const T> node = nodes.back();
  nodes.pop_back();
  z -= node.gone() * k;
  const std::vector<T> x = backward(node, k, z, remaining, ld);
  if (level < tree.levels) {
    backward_subtree(tree, level + 1, 2 * j + 1, nodes, z, x.data() + node.first, node.m, part);
    backward_subtree(tree, level + 1, 2 * j, nodes, z, x.data(), node.m, part);
    return;
  }
  const index_t start = tree.first(level, j) - tree.first(tree.cut, j >> (level - tree.cut));
  for (index_t c = 0; c < k; ++c) std::copy_n(x.data() + c * node.m, node.m, &part(start, c));
}

/// Substitutions above the subtrees.
template <class T>
class Top {
 public:
  Top(const SuperfastTree& tree, std::span<const In<T>> tiles, const Out<T>& remaining)
      : tree_(tree), tiles_(tiles), remaining_(remaining), k_(tiles.front().cols / 2) {}

  void run() {
    static_cast<void>(up(0, 0));
    down(0, 0, nullptr, 0);
  }

 private:
  Node<const T> node(int level, index_t j) const {
    const index_t before = 2 * tree_.subtrees() - (index_t{2} << level);  // tiles of lower levels
    return Node<const T>::at(tiles_[at(before + j)].data);
  }

  Message<T> up(int level, index_t j) {
    const auto parent = node(level, j);
    std::array<Message<T>, 2> children;
    for (const index_t i : {0, 1})
      children[at(i)] = level + 1 < tree_.cut ? up(level + 1, 2 * j + i)
                                              : read(tiles_[at(2 * j + i)], i == 0 ? parent.first : parent.second);
    std::vector<T> b, y;
    join(parent, k_, children[0], children[1], b, y);
    std::vector<T>& z = eliminated_[at((index_t{1} << level) + j)];
    z.resize(at(parent.gone() * k_));
    return forward(parent, k_, b, y, z.data());
  }

  void down(int level, index_t j, const T* remaining, index_t ld) {
    const auto parent = node(level, j);
    const std::vector<T> x = backward(parent, k_, eliminated_[at((index_t{1} << level) + j)].data(), remaining, ld);
    for (const index_t i : {0, 1}) {
      const T* const from = x.data() + (i == 0 ? 0 : parent.first);
      if (level + 1 < tree_.cut)
        down(level + 1, 2 * j + i, from, parent.m);
      else
        for (index_t c = 0; c < k_; ++c)
          std::copy_n(from + c * parent.m, i == 0 ? parent.first : parent.second, &remaining_(0, (2 * j + i) * k_ + c));
    }
  }

  Message<T> read(const In<T>& tile, index_t r) const {
    Message<T> message{std::vector<T>(at(r * k_)), std::vector<T>(at(r * k_))};
    for (index_t c = 0; c < k_; ++c) {
      std::copy_n(&tile(0, c), r, message.b.data() + c * r);
      std::copy_n(&tile(0, k_ + c), r, message.y.data() + c * r);
    }
    return message;
  }

  SuperfastTree tree_;
  std::span<const In<T>> tiles_;
  Out<T> remaining_;
  index_t k_;
  std::vector<std::vector<T>> eliminated_ = std::vector<std::vector<T>>(at(tree_.subtrees()));
};

}  // namespace

Shape superfast_state(index_t n, index_t k) { return {4 * toeplitz_rows(toeplitz_length(n)), k}; }
Shape superfast_work(index_t n, index_t k) { return {std::max(toeplitz_rows(toeplitz_length(n)), sine_rows(n)), k}; }

template <class T>
void SuperfastBegin<T>::cpu(const Args& args, In<T> spectrum, InOut<T> b, Out<double> outcome, Out<T> state,
                            Out<T> sine, Scratch<T> work) {
  toeplitz::Host machine;
  toeplitz::superfast_begin(machine, args, spectrum, b, outcome.data, state.data, sine, work.data);
}

template <class T>
void SuperfastForward<T>::cpu(const Args& args, In<T> factors, In<T> sine, Out<T> eliminated, Out<T> message) {
  const T* data = factors.data;
  T* z = eliminated.data;
  const Message<T> sent = forward_subtree(args.tree, args.tree.cut, args.index, sine, data, z);
  const index_t k = sine.cols, r = static_cast<index_t>(sent.b.size()) / k;
  for (index_t c = 0; c < k; ++c) {
    std::copy_n(sent.b.data() + c * r, r, &message(0, c));
    std::copy_n(sent.y.data() + c * r, r, &message(0, k + c));
  }
}

template <class T>
void SuperfastTop<T>::cpu(const Args& args, Out<T> remaining, std::span<const In<T>> tiles) {
  if (args.tree.cut > 0) Top<T>(args.tree, tiles, remaining).run();
}

template <class T>
void SuperfastBackward<T>::cpu(const Args& args, In<T> factors, In<T> eliminated, In<T> remaining, Out<T> part) {
  const SuperfastTree& tree = args.tree;
  const std::size_t count = at((index_t{2} << (tree.levels - tree.cut)) - 1);
  std::vector<Node<const T>> nodes;
  const T *data = factors.data, *z = eliminated.data;
  while (nodes.size() < count) {
    nodes.push_back(Node<const T>::at(data));
    data += nodes.back().size();
    z += nodes.back().gone() * part.cols;
  }
  backward_subtree(tree, tree.cut, args.index, nodes, z, &remaining(0, args.index * part.cols), remaining.ld, part);
}

template <class T>
void SuperfastImprove<T>::cpu(const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome, InOut<T> state,
                              Out<T> sine, Scratch<T> work, std::span<const In<T>> parts) {
  toeplitz::Host machine;
  toeplitz::superfast_improve(machine, args, spectrum, b, outcome.data, state.data, sine, work.data, parts);
}

template <class T>
void SuperfastEnd<T>::cpu(const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome, InOut<T> state,
                          InOut<int> info, std::span<const In<T>> roots) {
  toeplitz::Host machine;
  toeplitz::superfast_end(machine, args, spectrum, b, outcome.data, state.data, info.data, roots);
}

TESELA_STRUCTS_FOR_REALS(SuperfastBegin, SuperfastForward, SuperfastTop, SuperfastBackward, SuperfastImprove,
                         SuperfastEnd)

}  // namespace tesela::kernels
