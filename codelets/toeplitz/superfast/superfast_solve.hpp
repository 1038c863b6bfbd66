#pragma once

#include <tesela/codelets/toeplitz/superfast/superfast.hpp>
#include <tesela/codelets/toeplitz/toeplitz.hpp>

#include <span>

namespace tesela::kernels {

// Refined solves with the trees of superfast.hpp for k right-hand sides (see RefinedSolveArgs). A product with the
// approximate inverse is SuperfastForward for each subtree, SuperfastTop for each tree, and SuperfastBackward for each
// subtree.
//
// state     superfast_state(n, k), kept between the tasks of a solve.
// sine      n x k: the vector to multiply by the inverse, in the sine basis.
// work      superfast_work(n, k).
// eliminated, message and remaining: see SuperfastForward and SuperfastTop.

/// Scales B to size 1 and transforms it to the sine basis.
template <class T>
struct SuperfastBegin {
  static constexpr auto name = "superfast_begin";
  static constexpr std::uint32_t color = 0xc7c7c7;
  using Args = RefinedSolveArgs<T>;
  static void cpu(const Args& args, In<T> spectrum, InOut<T> b, Out<double> outcome, Out<T> state, Out<T> sine,
                  Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, InOut<T> b, Out<double> outcome,
                   Out<T> state, Out<T> sine, Scratch<T> work);
};

/// Arguments of a subtree's tasks.
struct SuperfastSubtreeArgs {
  SuperfastTree tree;
  index_t index = 0;  ///< from 0 in level `cut`
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(tree.levels - tree.cut); }
};

/// Substitutes forward in a subtree.
///
/// factors     SuperfastSubtree's.
/// eliminated  one row per row of the subtree, k columns, for SuperfastBackward.
/// message     right-hand sides of the skeleton, then the effect of the eliminated unknowns on other nodes:
///             tree.places(tree.cut) x 2 k.
template <class T>
struct SuperfastForward {
  static constexpr auto name = "superfast_forward";
  static constexpr std::uint32_t color = 0xdd8452;
  using Args = SuperfastSubtreeArgs;
  static void cpu(const Args& args, In<T> factors, In<T> sine, Out<T> eliminated, Out<T> message);
};

/// Substitutes through the levels above the subtrees.
///
/// remaining  unknowns of each subtree's skeleton, tree.places(tree.cut) x k side by side.
/// tiles      messages of all subtrees, then the factors of the levels above, up to the root.
template <class T>
struct SuperfastTop {
  static constexpr auto name = "superfast_top";
  static constexpr std::uint32_t color = 0x8172b3;
  struct Args {
    SuperfastTree tree;
  };
  static void cpu(const Args& args, Out<T> remaining, std::span<const In<T>> tiles);
};

/// Substitutes backward in a subtree; `part` becomes its rows of the product.
template <class T>
struct SuperfastBackward {
  static constexpr auto name = "superfast_backward";
  static constexpr std::uint32_t color = 0xc44e52;
  using Args = SuperfastSubtreeArgs;
  static void cpu(const Args& args, In<T> factors, In<T> eliminated, In<T> remaining, Out<T> part);
};

/// Arguments of SuperfastImprove.
template <class T>
struct SuperfastImproveArgs : RefinedSolveArgs<T> {
  bool first = false;  ///< whether the product is the first solution
};

/// Adds a product to X, keeps the better solution, and transforms the residual to the sine basis.
///
/// outcome  its first number becomes 1 if more steps are known not to help, else 0.
/// parts    of the product, from SuperfastBackward, in the order of the sine basis.
template <class T>
struct SuperfastImprove {
  static constexpr auto name = "superfast_improve";
  static constexpr std::uint32_t color = 0x937860;
  using Args = SuperfastImproveArgs<T>;
  static void cpu(const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome, InOut<T> state, Out<T> sine,
                  Scratch<T> work, std::span<const In<T>> parts);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome,
                   InOut<T> state, Out<T> sine, Scratch<T> work, std::span<const In<T>> parts);
};

/// Scales X back and judges it.
///
/// outcome, info  see RefinedSolveArgs; a breakdown has order n.
/// roots          skeletons of the roots.
template <class T>
struct SuperfastEnd {
  static constexpr auto name = "superfast_end";
  static constexpr std::uint32_t color = 0x8c8c8c;
  using Args = RefinedSolveArgs<T>;
  static void cpu(const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome, InOut<T> state, InOut<int> info,
                  std::span<const In<T>> roots);
  static void cuda(CudaContext& context, const Args& args, In<T> spectrum, InOut<T> b, InOut<double> outcome,
                   InOut<T> state, InOut<int> info, std::span<const In<T>> roots);
};

/// Return the shapes of `state` and `work` for k right-hand sides.
Shape superfast_state(index_t n, index_t k);
Shape superfast_work(index_t n, index_t k);

}  // namespace tesela::kernels
