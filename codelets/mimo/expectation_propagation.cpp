#include <tesela/codelets/mimo/internal/channel_detectors.hpp>
#include <tesela/codelets/mimo/internal/propagation.hpp>
#include <tesela/codelets/mimo/internal/soft_bits.hpp>

#include <algorithm>

// Expectation propagation as a detector of symbols and of bits.

namespace tesela::kernels::mimo {
namespace {

template <class F, class T>
class Sliced final : public ChannelDetector<T> {
 public:
  Sliced(const ChannelView<T>& view, double n0)
      : propagation_(view, n0, steps_of_symbols), columns_(view.template cols<F>()) {}

  bool channel(const ChannelView<T>& view) override {
    this->measure(view);
    propagation_.channel(view);
    return true;
  }
  bool detect(const std::vector<Complex<double>>& y, int* chosen) override {
    const Scale<double> scale(propagation_.exponent() - this->exponent());
    std::vector<Complex<double>> scaled;
    for (const Complex<double> x : y) scaled.push_back(scale(x));
    if (!propagation_.detect(std::move(scaled), {})) return false;
    for (index_t j = 0; j < columns_; ++j) chosen[j] = propagation_.likeliest(j);
    return true;
  }

 private:
  Propagation<F> propagation_;
  index_t columns_;
};

}  // namespace

template <class T>
std::unique_ptr<ChannelDetector<T>> expectation_propagation(const ChannelView<T>& view, double n0, bool real_form) {
  if (real_form) return std::make_unique<Sliced<double, T>>(view, n0);
  return std::make_unique<Sliced<Complex<double>, T>>(view, n0);
}
template std::unique_ptr<ChannelDetector<float>> expectation_propagation(const ChannelView<float>&, double, bool);
template std::unique_ptr<ChannelDetector<double>> expectation_propagation(const ChannelView<double>&, double, bool);

template <class F, class T>
void propagate_bits(const typename SoftDetector<T>::Args& args, const Block<const std::complex<T>>& h,
                    const Block<const std::complex<T>>& y, ChannelView<T> view, const std::vector<int>& widths,
                    const Block<T>& llrs, const Block<double>& nodes) {
  Propagation<F> propagation(view, args.n0, steps_of_bits);
  const index_t columns = view.template cols<F>();
  Penalties<T> penalties(view, widths, columns);
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) {
      view.h = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
      propagation.channel(view);
    }
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    penalties.receive(&llrs(0, k), propagation.n0());
    const bool known =
        propagation.detect(scaled_signal(signal, view.antennas, propagation.exponent()), penalties.of_points());
    nodes(0, k) = known ? static_cast<double>(args.streams) : SoftDetector<T>::no_answer;
    std::fill_n(&llrs(0, k), llrs.rows, T(0));
    if (!known) continue;
    index_t place = 0;
    for (index_t j = 0; j < args.streams; ++j)
      for (int bit = widths[static_cast<std::size_t>(j)]; bit-- > 0; ++place)
        for (index_t c = j; c < columns; c += args.streams) {
          LogSum sums[2];
          const SearchColumn& column = view.columns[c];
          for (int p = column.first; p < column.first + column.count; ++p)
            sums[view.points[p].label >> bit & 1].add(propagation.metrics()[static_cast<std::size_t>(p)],
                                                      propagation.n0());
          if (sums[1].sum == 0) continue;  // the other axis has this bit
          llrs(place, k) = cut_likelihood<T>(likelihood_of(sums[0], sums[1], propagation.n0()), args.clip);
        }
  }
}

template void propagate_bits<double, float>(const SoftDetector<float>::Args&, const Block<const std::complex<float>>&,
                                            const Block<const std::complex<float>>&, ChannelView<float>,
                                            const std::vector<int>&, const Block<float>&, const Block<double>&);
template void propagate_bits<double, double>(const SoftDetector<double>::Args&,
                                             const Block<const std::complex<double>>&,
                                             const Block<const std::complex<double>>&, ChannelView<double>,
                                             const std::vector<int>&, const Block<double>&, const Block<double>&);
template void propagate_bits<Complex<double>, float>(const SoftDetector<float>::Args&,
                                                     const Block<const std::complex<float>>&,
                                                     const Block<const std::complex<float>>&, ChannelView<float>,
                                                     const std::vector<int>&, const Block<float>&,
                                                     const Block<double>&);
template void propagate_bits<Complex<double>, double>(const SoftDetector<double>::Args&,
                                                      const Block<const std::complex<double>>&,
                                                      const Block<const std::complex<double>>&, ChannelView<double>,
                                                      const std::vector<int>&, const Block<double>&,
                                                      const Block<double>&);

}  // namespace tesela::kernels::mimo
