#include "tests/support/files.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/errors.hpp>

#include <bit>
#include <cstring>
#include <utility>

using namespace tesela::test;
using namespace std::string_literals;

namespace {

const double nan_value = std::numeric_limits<double>::quiet_NaN();
const double inf_value = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("Matrix Market text in common variants is read", "[files]") {
  struct Case {
    std::string text;
    Shape shape;
    std::vector<double> values;  // by columns
  };
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<Case> cases = {
      {"%%matrixmarket MATRIX Array REAL General\n2 1\n1\n2\n", {2, 1}, {1, 2}},
      {"%%MatrixMarket  matrix\tarray double general  \r\n%c\r\n\r\n2 1\r\n1\r\n2\r\n", {2, 1}, {1, 2}},
      {array + "%\n% comment 1 2 3\n\n  %indented\n 2\t2 \n\n1 \n  2\n% in between\n3\t\n\n4\n\n% after\n\n",
       {2, 2},
       {1, 2, 3, 4}},
      {array + "2 1\n1\n2", {2, 1}, {1, 2}},
      {array + "+2 +1\n+1.5e+1\n-.5\n", {2, 1}, {15, -0.5}},
      {array + "4 1\n0e-400\n-0.0000000000e400\n4.9e-324\n-1e-310\n", {4, 1}, {0, -0.0, 4.9e-324, -1e-310}},
      {array + "2 1\n0.1000000000000000055511151231257827021181583404541015625\n1.7976931348623157e308\n",
       {2, 1},
       {0.1, std::numeric_limits<double>::max()}},
      {array + "1 1\n0." + std::string(400, '0') + "25e401\n", {1, 1}, {2.5}},
      {array + "1 1\n9007199254740993\n", {1, 1}, {9007199254740992}},  // a real number is rounded
      {array + "0 0\n", {0, 0}, {}},
      {array + "0 3", {0, 3}, {}},
      {array + "1000000000000000000 0\n", {1'000'000'000'000'000'000, 0}, {}},
      {array + "0 1000000000000000000\n", {0, 1'000'000'000'000'000'000}, {}},
      {"%%MatrixMarket matrix array integer general\n5 1\n-7\n+9007199254740992\n-00000000000000000001\n"
       "1267650600228229401496703205376\n-18446744073709551616\n",
       {5, 1},
       {-7, 0x1p53, -1, 0x1p100, -0x1p64}},
      {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", {2, 2}, {1, 2, 2, 3}},
      {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", {3, 3}, {0, 1, 2, -1, 0, 3, -2, -3, 0}},
      {"%%MatrixMarket matrix array real skew-symmetric\n1 1\n", {1, 1}, {0}},
      {"%%MatrixMarket matrix array real skew-symmetric\n0 0\n", {0, 0}, {}},
      {coordinate + "2 2 0\n", {2, 2}, {0, 0, 0, 0}},
      {coordinate + "2 2 2\n2 1 5\n1 2 6", {2, 2}, {0, 5, 6, 0}},
      // Repeated entries are added, like in scipy.io.mmread.
      {coordinate + "2 1 3\n2 1 5\n1 1 1\n2 1 0.5\n", {2, 1}, {1, 5.5}},
      {coordinate + "1 1 2\n1 1 5\n1 1 -5\n", {1, 1}, {0}},
      {"%%MatrixMarket matrix coordinate pattern general\n2 1 3\n1 1\n2 1\n1 1\n", {2, 1}, {2, 1}},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 5\n2 1 1\n", {2, 2}, {0, 6, -6, 0}},
      {"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2", {2, 2}, {1, 0, 0, 1}},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", {2, 2}, {0, 1, 1, 0}},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 5\n2 2 1\n2 1 1\n", {2, 2}, {0, 6, 6, 1}},
      {"%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n2 1 5\n1 1 0\n", {2, 2}, {0, 5, -5, 0}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const auto matrix = parse(c.text);
    REQUIRE(matrix.shape() == c.shape);
    CHECK(probe_matrix_bytes(c.text, "name").shape == c.shape);
    for (std::size_t k = 0; k < c.values.size(); ++k) {
      CAPTURE(k);
      CHECK(std::bit_cast<std::uint64_t>(matrix.data()[k]) == std::bit_cast<std::uint64_t>(c.values[k]));
    }
  }
}

TEST_CASE("malformed Matrix Market text is refused with its line", "[files]") {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "name: is neither a Matrix Market"},
      {"%%MatrixMarke", "name: is neither a Matrix Market"},
      {"a b\n3 4\n", "name: is neither a Matrix Market"},
      {"%%MatrixMarket", "name: line 1: expected 'matrix' after %%MatrixMarket, found ''"},
      {"%%MatrixMarkets matrix array real general\n0 0\n", "line 1: expected %%MatrixMarket, found '%%MatrixMarkets'"},
      {"%%MatrixMarket vector array real general\n", "line 1: expected 'matrix' after %%MatrixMarket, found 'vector'"},
      {"%%MatrixMarket matrix dense real general\n",
       "line 1: expected the format 'array' or 'coordinate', found 'dense'"},
      {"%%MatrixMarket matrix array float general\n",
       "line 1: expected the field 'real', 'integer', 'complex' or 'pattern', found 'float'"},
      {"%%MatrixMarket matrix array complex general\n1 1\n1 0\n", "line 1: complex matrices are not supported"},
      {"%%MatrixMarket matrix array real hermitian\n1 1\n1\n", "line 1: hermitian matrices are not supported"},
      {"%%MatrixMarket matrix array real diagonal\n", "found 'diagonal'"},
      {"%%MatrixMarket matrix array real " + std::string(100, 'x') + "\n", "found '" + std::string(32, 'x') + "'"},
      {"%%MatrixMarket matrix array real\n1 1\n1\n", "line 1: expected the symmetry"},
      {"%%MatrixMarket matrix array real general extra\n1 1\n1\n", "line 1: unexpected 'extra' after the symmetry"},
      {"%%MatrixMarket matrix array pattern general\n1 1\n", "line 1: an array cannot be a pattern"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
       "line 1: a pattern cannot be skew-symmetric"},
      {"%%MatrixMarket matrix array real general\r1 1\r1\r", "line 1: unexpected '1' after the symmetry"},
      {array, "line 2: the file ends before the line with the sizes"},
      {array + "% comment\n\n", "line 4: the file ends before the line with the sizes"},
      {array + "3\n", "line 2: the number of columns is missing"},
      {array + "3 x\n", "line 2: the number of columns is not a whole number: 'x'"},
      {array + "3.0 1\n", "line 2: the number of rows is not a whole number: '3.0'"},
      {array + "1 1 1\n1\n", "line 2: unexpected '1' after the sizes"},
      {array + "-1 2\n", "line 2: a size is negative"},
      {array + "2 -2\n", "line 2: a size is negative"},
      {array + "99999999999999999999 1\n", "line 2: the number of rows is too large: '99999999999999999999'"},
      {array + "1000000000000000000 1000000000000000000\n1\n",
       "line 2: the sizes ask for 18446744073709551615 entries, but only 3 bytes follow"},
      {array + "1000000 1000000\n1\n2\n", "line 2: the sizes ask for 1000000000000 entries, but only 5 bytes follow"},
      {array + "2 2\n1\n2\n3\n", "line 2: the sizes ask for 4 entries, but only 7 bytes follow"},
      {array + "2 2\n10\n20\n30\n", "line 6: the file ends after 3 of 4 entries"},
      {array + "2 1\n1\n2\n3\n", "line 5: the file goes on after all 2 entries"},
      {array + "0 5\n\n7\n", "line 4: the file goes on after all 0 entries"},
      {array + "2 1\n1 2\n3\n", "line 3: unexpected '2' after the entry"},
      {array + "2 1\n1\n2.5abc\n", "line 4: the value is not a number: '2.5abc'"},
      {array + "2 1\n1\n1,5\n", "line 4: the value is not a number: '1,5'"},
      {array + "2 1\n1\n0x1p3\n", "line 4: the value is not a number: '0x1p3'"},
      {array + "2 1\n1\n1.0F+00\n", "line 4: the value is not a number: '1.0F+00'"},
      {array + "2 1\n1\n+-1\n", "line 4: the value is not a number: '+-1'"},
      {array + "2 1\n1\nq\x01\xff\n", "line 4: the value is not a number: 'q\?\?'"},
      {array + "2 1\n1\n" + std::string(99, 'z') + "\n", "not a number: '" + std::string(40, 'z') + "...'"},
      {array + "% one\n\n2 1\nnan\n2\n", "line 5: the value is not finite: 'nan'"},
      {array + "2 1\n1\n-Infinity\n", "line 4: the value is not finite: '-Infinity'"},
      {array + "2 1\n1\n1e309\n", "line 4: the value does not fit double precision: '1e309'"},
      {array + "2 1\n1\n-1e99999999999999999999\n", "line 4: the value does not fit double precision"},
      {array + "1 1\n1" + std::string(400, '0') + "e-50\n", "line 3: the value does not fit double precision"},
      {array + "2 1\n1\n1e-400\n", "line 4: the value does not fit double precision: '1e-400'"},
      {array + "1 1\n-0." + std::string(400, '0') + "1e50\n", "line 3: the value does not fit double precision"},
      {array + "1 1\n1e-99999999999999999999\n", "line 3: the value does not fit double precision"},
      {array + "1 1\n2.4e-324\n", "line 3: the value does not fit double precision"},
      {"%%MatrixMarket matrix array integer general\n1 1\n9007199254740993\n",
       "line 3: double precision does not hold the integer '9007199254740993'"},
      {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -123456789012345678901234567890\n",
       "line 3: double precision does not hold the integer"},
      {array + "2 1\r\n1\r\nnan\r\n", "line 4: the value is not finite: 'nan'"},
      {"%%MatrixMarket matrix array integer general\n1 1\n1.0\n", "line 3: the value is not an integer: '1.0'"},
      {"%%MatrixMarket matrix array integer general\n1 1\n1e3\n", "line 3: the value is not an integer: '1e3'"},
      {"%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n",
       "line 2: a symmetric matrix must be square, not 2 x 3"},
      {"%%MatrixMarket matrix array real skew-symmetric\n2 3\n1\n2\n3\n", "must be square, not 2 x 3"},
      {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n", "line 6: the file goes on after all 3 entries"},
      {"%%MatrixMarket matrix array real symmetric\n4000000000 4000000000\n1\n",
       "line 2: the sizes ask for 8000000002000000000 entries"},
      {"%%MatrixMarket matrix array real symmetric\n9223372036854775807 9223372036854775807\n1\n",
       "line 2: the sizes ask for"},
      {"%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n1\n0\n",
       "line 4: the file goes on after all 1 entries"},
      {coordinate + "2 2\n", "line 2: the number of entries is missing"},
      {coordinate + "2 2 -1\n", "line 2: a size is negative"},
      {coordinate + "2 2 1000000000000\n1 1 1\n",
       "line 2: the sizes ask for 1000000000000 entries, but only 7 bytes follow"},
      {coordinate + "2 2 9223372036854775807\n1 1 1\n", "line 2: the sizes ask for 9223372036854775807 entries"},
      {coordinate + "2 2 1\n3 1 5\n", "line 3: the row is 3, outside 1 to 2"},
      {coordinate + "2 2 1\n0 1 5\n", "line 3: the row is 0, outside 1 to 2"},
      {coordinate + "2 2 1\n1 -1 5\n", "line 3: the column is -1, outside 1 to 2"},
      {coordinate + "2 2 1\n1 3 5\n", "line 3: the column is 3, outside 1 to 2"},
      {coordinate + "2 2 1\n99999999999999999999 1 5\n", "line 3: the row is too large"},
      {coordinate + "0 0 1\n1 1 1\n", "line 3: the row is 1, outside 1 to 0"},
      {coordinate + "2 2 1\n1 1     \n", "line 3: the value is missing"},
      {coordinate + "2 2 1\n1       \n", "line 3: the column is missing"},
      {coordinate + "2 2 1\n1 1 1 7\n", "line 3: unexpected '7' after the entry"},
      {coordinate + "2 2 1\n1.0 1 1\n", "line 3: the row is not a whole number: '1.0'"},
      {coordinate + "2 2 2\n1 1 1000000\n", "line 4: the file ends after 1 of 2 entries"},
      {coordinate + "2 2 1\n1 1 1\n1 2 1\n", "line 4: the file goes on after all 1 entries"},
      {coordinate + "2 2 2\n1 1 1e308\n1 1 1e308\n",
       "line 4: the sum of the values given for this place is not finite"},
      {coordinate + "2 2 1\n1 1 inf\n", "line 3: the value is not finite: 'inf'"},
      {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "line 3: unexpected '1' after the entry"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "line 3: an entry above the diagonal"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n",
       "line 3: a skew-symmetric matrix has a zero diagonal"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
       "line 2: a symmetric matrix must be square, not 2 x 3"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    check_throws<FileError>(message, [&text = text] { parse(text); });
  }
  check_throws<FileError>("name: line 4: the value does not fit single precision: '1e39'",
                          [&] { parse<float>(array + "2 1\n1e-30\n1e39\n"); });
  check_throws<FileError>("name: line 3: the value does not fit single precision: '-1e-50'",
                          [&] { parse<float>(array + "2 1\n-1e-50\n1\n"); });
  // The nearest number is 2.9987e-42.
  check_throws<FileError>("line 3: the value does not fit single precision: '3e-42'",
                          [&] { parse<float>(array + "1 1\n3e-42\n"); });
  check_throws<FileError>("line 5: the sum", [&] { parse<float>(coordinate + "1 1 3\n1 1 3e38\n1 1 1\n1 1 3e38\n"); });
}

TEST_CASE("valid variants of .npy headers are read", "[files]") {
  const auto values = bytes_of<double>({1, 2, 3, 4, 5, 6});
  for (const std::string header : {"{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
                                   "{'shape':(2,3),'fortran_order':True,'descr':'<f8'}",
                                   " { \"fortran_order\" : True ,\n\"descr\" :\"<f8\" , \"shape\" : ( 2 , 3 , ) , } \n",
                                   "{'descr': '<f8', 'fortran_order': True, 'shape': (2L, 3L)}   \n"}) {
    CAPTURE(header);
    for (const char version : {'\1', '\2', '\3'}) {
      const auto matrix = parse(npy(header, values, version));
      check_values(matrix, {2, 3}, [](index_t i, index_t j) { return static_cast<double>(1 + i + 2 * j); });
    }
  }
  check_values(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", values)), {2, 3},
               [](index_t i, index_t j) { return static_cast<double>(1 + 3 * i + j); });
  CHECK(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", values)).shape() == Shape{6, 1});
  CHECK(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", values.substr(0, 8)))(0, 0) == 1);
  for (const std::string order : {"True", "False"}) {
    const auto head = "{'descr': '<f4', 'fortran_order': " + order + ", 'shape': (";
    CHECK(parse(npy(head + "0, 1000000000000000000)}")).cols() == 1'000'000'000'000'000'000);
    CHECK(parse(npy(head + "1000000000000000000, 0)}")).rows() == 1'000'000'000'000'000'000);
  }
}

TEST_CASE("malformed .npy files are refused", "[files]") {
  const auto header_of = [](const std::string& shape) {
    return "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const auto good = npy(header_of("(2, 1)"), bytes_of<double>({1, 2}));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {good.substr(0, 5), "name: is neither a Matrix Market"},
      {good.substr(0, 6), "name: the file ends inside the .npy header"},
      {good.substr(0, 7), "the file ends inside the .npy header"},
      {good.substr(0, 9), "the file ends inside the .npy header"},
      {good.substr(0, 10), "the file ends inside the .npy header"},
      {good.substr(0, 30), "the file ends inside the .npy header"},
      {"\x93NUMPY\x02\0\xff\xff\xff\xff"s, "the file ends inside the .npy header"},
      {npy(header_of("()"), "", 4), "version 4.0 of the .npy format is not known"},
      {npy(header_of("()"), "", 0), "version 0.0 of the .npy format is not known"},
      {"\x93NUMPY\x01\x01\0\0"s, "version 1.1 of the .npy format is not known"},
      {good.substr(0, good.size() - 1), "name: the header promises 2 x 1 values of 8 bytes, but 15 bytes follow it"},
      {good + "x", "the header promises 2 x 1 values of 8 bytes, but 17 bytes follow it"},
      {npy(header_of("(1000000000000000000, 1000000000000000000)"), "12345678"),
       "promises 1000000000000000000 x 1000000000000000000"},
      {npy(header_of("(4294967296, 4294967296)")), "but 0 bytes follow it"},  // 2^64 values overflow to 0
      {npy(header_of("(2305843009213693952,)")), "but 0 bytes follow it"},    // 2^61 values of 2^3 bytes, too
      {npy(header_of("(99999999999999999999,)")), "a size is too large"},
      {npy(header_of("(-1, 2)")), "in the .npy header: a size is negative"},
      {npy(header_of("(2, x)")), "expected a size at 'x)"},
      {npy(header_of("(2 2)")), "expected ',' at '2)"},
      {npy(header_of("(,)")), "expected a size at ',)"},
      {npy(header_of("2")), "expected '(' at '2"},
      {npy(header_of("(1, 2, 3)")), "the array has 3 dimensions"},
      {npy(header_of("(1, 2")), "expected a size at '}'"},
      {npy(""), "expected '{' at its end"},
      {npy("{"), "expected a quoted string at its end"},
      {npy("{}"), "needs the keys 'descr', 'fortran_order' and 'shape'"},
      {npy("{'descr': '<f8', 'shape': ()}"), "needs the keys"},
      {npy("{'descr': '<f8', 'descr': '<f8'}"), "'descr' occurs twice"},
      {npy("{'descr': '<f8', 'order': 1}"), "unknown key 'order'"},
      {npy("{'descr': '<f8'"), "expected ',' at its end"},
      {npy("{'descr: <f8"), "a string has no end"},
      {npy("{'descr' '<f8'}"), "expected ':' at"},
      {npy("{'descr': <f8}"), "expected a quoted string at '<f8}'"},
      {npy("{'fortran_order': false}"), "expected True or False at 'false}'"},
      {npy("{'descr': '=f8'}"), "type '=f8' is not supported"},
      {npy("{'descr': '|O'}"), "type '|O' is not supported"},
      {npy("{'descr': '<f16'}"), "type '<f16' is not supported"},
      {npy("{'descr': ''}"), "type '' is not supported"},
      {npy(header_of("()") + " x", "12345678"), "unexpected 'x'"},
      {npy(header_of("(3,)"), bytes_of<double>({1, 2, inf_value})),
       "name: the value at [2, 0] (from zero) is infinite"},
      {npy(header_of("(2, 2)"), bytes_of<double>({1, nan_value, 3, 4})), "the value at [0, 1] (from zero) is NaN"},
  };
  for (const auto& [bytes, message] : cases) {
    CAPTURE(bytes);
    check_throws<FileError>(message, [&bytes = bytes] { parse(bytes); });
  }
  check_throws<FileError>("the value at [1, 0] (from zero) does not fit single precision", [&] {
    parse<float>(npy(header_of("(2,)"), bytes_of<double>({1e-30, 1e39})));
  });
  for (const double small : {1e-50, -1e-50, 3e-42, 0x1p-150, std::numeric_limits<double>::denorm_min()})
    check_throws<FileError>("the value at [1, 0] (from zero) does not fit single precision", [&] {
      parse<float>(npy(header_of("(2,)"), bytes_of<double>({1, small})));
    });
  const auto exact = parse<float>(npy(header_of("(3,)"), bytes_of<double>({0x1p-149, -0x3p-140, -0.0})));
  CHECK((exact(0, 0) == 0x1p-149F && exact(1, 0) == -0x3p-140F && exact(2, 0) == 0));
}

TEST_CASE("elements that do not count may hold any numbers", "[files]") {
  const auto lower = [](index_t i, index_t j) { return i >= j; };
  const auto read = [&]<class T>(T, const std::string& bytes) {
    return read_matrix_bytes<T>(bytes, "name", physical_memory(), lower);
  };
  const std::string array = "%%MatrixMarket matrix array real general\n2 2\n";
  for (const char* const any : {"nan", "-inf", "1e999", "1e-999", "7", "2.5"}) {
    CAPTURE(any);
    const auto a = read(0.0, array + "1\n2\n" + any + "\n4\n");
    CHECK((a(0, 0) == 1 && a(1, 0) == 2 && a(1, 1) == 4));
    CHECK(std::isfinite(a(0, 1)));
    CHECK(read(0.0, "%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 5\n1 2 " + std::string(any) + "\n")(
              1, 0) == 5);
    check_throws<FileError>("line 4: the value", [&] { read(0.0F, array + "1\n1e-60\n" + any + "\n4\n"); });
    check_throws<FileError>("line 5: the value is not a number", [&] { read(0.0, array + "1\n2\n" + any + "x\n4\n"); });
  }
  // The lower triangle defines the upper one.
  check_throws<FileError>("line 4: the value is not finite",
                          [&] { read(0.0, "%%MatrixMarket matrix array real symmetric\n2 2\n1\nnan\n3\n"); });
  for (const std::string order : {"True", "False"}) {
    const auto file = [&](double upper, double under) {
      const std::vector<double> values =
          order == "True" ? std::vector{1.0, under, upper, 4.0} : std::vector{1.0, upper, under, 4.0};
      return npy("{'descr': '<f8', 'fortran_order': " + order + ", 'shape': (2, 2)}", bytes_of<double>(values));
    };
    for (const double any : {nan_value, inf_value, 1e300, 1e-300}) {
      const auto a = read(0.0F, file(any, 2));
      CHECK((a(0, 0) == 1 && a(1, 0) == 2 && a(0, 1) == 0 && a(1, 1) == 4));
      check_throws<FileError>("the value at [1, 0] (from zero)", [&] { read(0.0F, file(any, any)); });
    }
  }
}

TEST_CASE("a dense result larger than the limit is refused before it is allocated", "[files]") {
  const auto text = [](const std::string& sizes) {
    return "%%MatrixMarket matrix coordinate real general\n" + sizes + " 1\n1 1 1\n";
  };
  check_throws<FileError>("name: a dense 1000000000 x 1000000000 matrix of 8-byte values is more than the ",
                          [&] { parse(text("1000000000 1000000000")); });
  check_throws<FileError>("MiB of memory", [&] { parse(text("9223372036854775807 9223372036854775807")); });
  CHECK(parse(text("1024 128"), 1 << 20)(0, 0) == 1);
  check_throws<FileError>("is more than the 1 MiB", [&] { parse(text("1024 129"), 1 << 20); });
  CHECK(parse<float>(text("1024 129"), 1 << 20)(0, 0) == 1);
  const auto ones = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", bytes_of<float>({1, 1, 1, 1}));
  CHECK(parse<float>(ones, 16).size() == 4);
  check_throws<FileError>("is more than the 0 MiB", [&] { parse<double>(ones, 16); });
  CHECK(physical_memory() > (std::uint64_t{1} << 26));
}
