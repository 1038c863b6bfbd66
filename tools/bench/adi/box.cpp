#include "tools/bench/adi/box.hpp"

#include "tools/bench/adi/box_body.hpp"

namespace tesela {
namespace {

constexpr auto for_each_point = [](index_t nx, index_t lines, const auto& f) {
  for (index_t line = 0; line < lines; ++line)
    for (index_t x = 0; x < nx; ++x) f(x, line);
};

}  // namespace

template <class T>
void BoxLaplace<T>::cpu(const Args& args, In<T> before, In<T> u, In<T> after, Out<T> w) {
  for_each_point(u.rows, u.cols, detail::BoxLaplaceElement<T>{args, before, u, after, w});
}

template <class T>
void BoxLines<T>::cpu(const Args& args, Out<T> lines, std::span<const In<T>> planes) {
  detail::box_lines<T>(args, lines, planes, for_each_point);
}

template <class T>
void BoxAddLines<T>::cpu(const Args& args, InOut<T> planes, std::span<const In<T>> lines) {
  detail::box_add_lines<T>(args, planes, lines, for_each_point);
}

template struct BoxLaplace<float>;
template struct BoxLaplace<double>;
template struct BoxLines<float>;
template struct BoxLines<double>;
template struct BoxAddLines<float>;
template struct BoxAddLines<double>;

}  // namespace tesela
