#pragma once

#include <tesela/codelets/mimo/search_alphabet.hpp>
#include <tesela/runtime/access.hpp>
#include <tesela/runtime/codelet.hpp>

#include <cmath>
#include <complex>
#include <vector>

namespace tesela::kernels {

/// Finds for each of some signals y (Nr x K) the s with the least ||y - H s||, among all s of the columns' alphabets.
///
/// labels   Nt x K.
/// report   1 x K.
/// h        Nr x (Nt C), C channels; signal k has channel k / coherence. Each channel's QR factorization, or each
///          signal's if the order needs the signal, is part of the task. The caller need not scale.
/// columns  two per stream in real form (real parts first, then imaginary parts), one in complex form.
/// work     work_size() rows, one column per channel or signal.
template <class T>
struct SphereSearch {
  static constexpr auto name = "sphere_search";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t streams = 0;      ///< Nt
    index_t coherence = 1;    ///< signals per channel
    double n0 = 0;            ///< for the orders that need it
    double radius = 0;        ///< as in MimoOptions
    long long max_nodes = 0;  ///< as in MimoOptions
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool up = true, real_form = true;  ///< up: as in MimoOptions; real_form: columns are real and imaginary parts
    bool plain = false;                ///< children in their stored order, not by distance
    int labels = 0;                    ///< of all streams together, only for the performance model
    /// Returns a key of the noise and the order, on which the number of nodes depends.
    auto cost_key() const {
      const int noise = n0 > 0 ? static_cast<int>(std::lround(3 * std::log2(n0))) : 0;
      return (((noise * 16 + static_cast<int>(order)) * 2 + (up ? 1 : 0)) * 2 + (real_form ? 1 : 0)) * 8192 +
             labels * 2 + (plain ? 1 : 0);
    }
  };
  /// Returns the flops of the factorizations and the first paths; the number of further nodes is known only afterwards.
  static double flops(const Args& args, Shape h, Shape y, Shape, Shape, Shape, Shape, Shape) {
    const double f = args.real_form ? 2 : 1, m = f * static_cast<double>(h.rows),
                 n = f * static_cast<double>(args.streams);
    const double unit = args.real_form ? 1 : 4;
    return unit * (2 * m * n * n * static_cast<double>(h.cols) / std::fmax(1.0, static_cast<double>(args.streams)) +
                   (4 * m * n + n * n) * static_cast<double>(y.cols));
  }
  static index_t work_size(index_t antennas, index_t streams, bool real_form);
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                   In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports,
                   Scratch<T> work);
};

/// Finds the same as SphereSearch in complex form by a comparison of all candidates: the reference. Only on cores.
///
/// Method   computes in double and from H itself. The last streams' H s are stored, and the remaining y is compared
///          with all of them at once.
template <class T>
struct BruteSearch {
  static constexpr auto name = "brute_search";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    index_t streams = 0;    ///< Nt
    index_t coherence = 1;  ///< signals per channel
    double candidates = 0;  ///< number of all s, for the performance model
    auto cost_key() const { return static_cast<int>(std::lround(2 * std::log2(candidates + 1))); }
  };
  static double flops(const Args& args, Shape h, Shape y, Shape, Shape, Shape, Shape) {
    return 6 * args.candidates * static_cast<double>(h.rows) * static_cast<double>(y.cols);
  }
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports);
};

/// Lists for each of some signals all s with ||y - H s|| <= radius, nearest first (lowest labels first among equals).
/// Only on cores.
///
/// radius    0 requests only the nearest.
/// labels    (rows most) x K: the first `most` vectors. Rows are labels of streams, or with `integers` the parts of 2
///           streams (real parts first).
/// distances most x K.
/// counts    1 x K: the number of vectors.
/// integers  s has arbitrary integer real and imaginary parts. The report has the flag `failed` if columns are
///           dependent, or if a part is 2^30 - 1 or more (2^22 - 1 in single precision). The other tiles are
///           SphereSearch's.
template <class T>
struct SphereList {
  static constexpr auto name = "sphere_list";
  static constexpr std::uint32_t color = 0xdd8452;
  struct Args {
    index_t streams = 0;        ///< Nt
    index_t coherence = 1;      ///< signals per channel
    double n0 = 0, radius = 0;  ///< n0: noise variance for the mmse_ orders
    long long max_nodes = 0;    ///< nodes after which a signal ends uncertified; 0: no limit
    index_t most = 1;
    ColumnOrder order = ColumnOrder::mmse_vblast;
    bool real_form = true, integers = false;  ///< real_form: columns are real and imaginary parts
    auto cost_key() const { return static_cast<int>(order) * 4 + (real_form ? 2 : 0) + (integers ? 1 : 0); }
  };
  static void cpu(const Args& args, In<std::complex<T>> h, In<std::complex<T>> y, In<SearchColumn> columns,
                  In<SearchPoint> points, Out<int> labels, Out<double> distances, Out<int> counts,
                  Out<SearchReport> reports);
};

/// A child that a search visited. Level 0 has the leaves.
struct VisitedNode {
  int level = 0, parent = -1;  ///< the parent's index in the list, -1 for the root
  int column = 0, child = 0;   ///< the decided column, and the index in that column's list
  double distance = 0;         ///< of the path down to it, without the part of y that no s reaches
  bool best = false;           ///< a leaf that was the nearest up to then
};

/// Returns the nodes of one signal's search on a core, as SphereSearch performs it, in the order of visits; not a task.
template <class T>
std::vector<VisitedNode> trace_search(const typename SphereSearch<T>::Args& args, const Block<const std::complex<T>>& h,
                                      const std::complex<T>* y, const SearchColumn* columns, const SearchPoint* points);

}  // namespace tesela::kernels
