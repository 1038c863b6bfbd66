#include <tesela/codelets/tridiagonal/internal/cyclic_reduction_body.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <map>

using namespace tesela;
using namespace tesela::kernels;

namespace {

/// A number whose reads and writes are counted if it lies in an array.
struct Counted {
  double value = 0;
  static inline std::map<const Counted*, std::array<int, 2>> accesses;  // reads, writes of each element of an array

  Counted(double x = 0) : value(x) {}
  Counted(const Counted& other) : value(other.read()) {}
  Counted& operator=(const Counted& other) {
    value = other.read();
    if (const auto at = accesses.find(this); at != accesses.end()) ++at->second[1];
    return *this;
  }
  double read() const {
    if (const auto at = accesses.find(this); at != accesses.end()) ++at->second[0];
    return value;
  }
  Counted& operator+=(const Counted& x) { return value += x.read(), *this; }
  Counted& operator-=(const Counted& x) { return value -= x.read(), *this; }
  friend Counted operator-(const Counted& x) { return -x.read(); }
  friend Counted operator+(const Counted& x, const Counted& y) { return x.read() + y.read(); }
  friend Counted operator*(const Counted& x, const Counted& y) { return x.read() * y.read(); }
  friend Counted operator/(const Counted& x, const Counted& y) { return x.read() / y.read(); }
  friend bool operator==(const Counted& x, const Counted& y) { return x.value == y.value; }
};

constexpr std::size_t n = 8;
using Array = std::array<Counted, n>;

/// Returns reads and writes of all elements of an array since start().
std::array<int, 2> sum(const Array& array) {
  std::array<int, 2> all{};
  for (const Counted& x : array)
    for (const std::size_t way : {0, 1}) all[way] += Counted::accesses.at(&x)[way];
  return all;
}

void start(std::initializer_list<Array*> arrays) {
  Counted::accesses.clear();
  for (Array* const array : arrays)
    for (Counted& x : *array) Counted::accesses[&x] = {};
}

}  // namespace

// The source prints 12 reads and 4 writes of a row's reduction (Table 1), and 7 reads and 1 write of its substitution
// (Table 2), where x and b are separate arrays.
TEST_CASE("accesses of a row in cyclic reduction: Tables 1 and 2 of the cyclic reduction paper") {
  Array dl, d, du, b, ndl, nd, ndu;
  dl.fill(1), d.fill(4), du.fill(1), b.fill(1);
  const cr::Rows<const Counted> from{dl.data(), d.data(), du.data(), b.data(), 0, 1, 0, 1, n, n, 1, true, true};
  const cr::Rows<Counted> to{ndl.data(), nd.data(), ndu.data(), b.data(), 0, 1, 1, 2, n, n / 2, 1, true, true};
  start({&dl, &d, &du, &b, &ndl, &nd, &ndu});
  CHECK(cr::reduce_row(from, to, 1));  // row 3, from rows 2, 3, 4
  CHECK(sum(dl) == std::array{3, 0});
  CHECK(sum(d) == std::array{3, 0});
  CHECK(sum(du) == std::array{3, 0});
  CHECK(sum(b) == std::array{3, 1});
  CHECK(sum(ndl) == std::array{0, 1});
  CHECK(sum(nd) == std::array{0, 1});
  CHECK(sum(ndu) == std::array{0, 1});

  start({&dl, &d, &du, &b});
  from.rhs(2, 0) = cr::unknown<Counted>(from.equation(2), from.rhs(2, 0), true, from.rhs(1, 0), true, from.rhs(3, 0));
  CHECK(sum(dl) == std::array{1, 0});
  CHECK(sum(d) == std::array{1, 0});
  CHECK(sum(du) == std::array{1, 0});
  CHECK(sum(b) == std::array{3, 1});  // b's element becomes x's: 6 reads, one less than in print
}
