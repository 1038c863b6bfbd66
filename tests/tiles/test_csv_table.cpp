#include "tests/support/test.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/csv_table.hpp>

#include <random>

using namespace tesela;
using Catch::Matchers::ContainsSubstring;

namespace {

Table read(const std::string& text, const std::vector<std::string>& wanted) {
  std::vector<ColumnRequest> columns;
  for (const std::string& name : wanted) columns.push_back({name});
  return read_csv(text, "data.csv", columns);
}

void refuses(const std::string& text, const std::vector<std::string>& wanted, const std::string& why) {
  CAPTURE(text);
  try {
    read(text, wanted);
    FAIL_CHECK("was read");
  } catch (const FileError& e) {
    CHECK_THAT(e.what(), ContainsSubstring("data.csv: ") && ContainsSubstring(why));
  }
}

}  // namespace

TEST_CASE("requested columns of a CSV are read in their order, and other columns may hold anything") {
  for (const std::string end : {"\n", "\r\n"})
    for (const char d : {',', ';', '\t'}) {
      CAPTURE(end, d);
      std::string text = "a,text,b c,d" + end + "1,x,2e-3,7" + end + end + "-4.5,\"y,\n z\",+.5,inf" + end + " 3 ,,0,";
      for (char& c : text) c = c == ',' ? d : c;
      for (const std::string& file : {text, text + end, "\xEF\xBB\xBF" + text}) {
        const Table t = read(file, {"b c", "a"});
        CHECK(t.rows == 3);
        CHECK(t.names == std::vector<std::string>{"b c", "a"});
        CHECK(t.columns == std::vector<std::vector<double>>{{0.002, 0.5, 0}, {1, -4.5, 3}});
        CHECK(t.lines == std::vector<index_t>{2, 4, 6});
        CHECK(read_csv_names(file, "data.csv") == std::vector<std::string>{"a", "text", "b c", "d"});
      }
    }
  CHECK(read("a,b\n", {"b"}).rows == 0);
  CHECK(read_csv_names(std::string_view("a,b\r1,2,3\n4,\"5"), "data.csv") == std::vector<std::string>{"a", "b"});
  CHECK(read("a,b\r1,2\r", {"b"}).columns[0] == std::vector<double>{2});
  CHECK(read("a\n5", {"a"}).columns[0] == std::vector<double>{5});
  CHECK(read("\"a \"\"b\"\"\",c\n1,2\n", {"a \"b\""}).columns[0] == std::vector<double>{1});
}

TEST_CASE("missing values are NaN") {
  const Table t = read("a,b\n,1\nNA,2\nNaN,3\n.,4\n\"\",5\n0e-400,6\n", {"a", "b"});
  for (std::size_t i = 0; i < 5; ++i) CHECK(std::isnan(t.columns[0][i]));
  CHECK(t.columns[0][5] == 0);
  CHECK(t.columns[1] == std::vector<double>{1, 2, 3, 4, 5, 6});
  for (const char* code : {"N/A", "#N/A", "null", "NULL", "n/a", "\"NA\"", "-", "nan", "<NA>"}) {
    CAPTURE(code);
    CHECK(std::isnan(read(std::string("a,b\n") + code + ",1\n", {"a"}).columns[0][0]));
  }
  const std::string own = "a,b\n-99,x\n1,none\n";
  CHECK(read(own, {"a"}).columns[0] == std::vector<double>{-99, 1});
  const Table named = read_csv(own, "data.csv", {{"a"}, {"b", ColumnKind::either}}, {"-99", "none"});
  CHECK(std::isnan(named.columns[0][0]));
  CHECK(named.columns[0][1] == 1);
  CHECK(std::isnan(named.columns[1][1]));
  CHECK(named.levels_of(1) == std::vector<std::string>{"x"});
  const auto missing = [](const std::string& file, const std::string& code) {
    const Table table = read_csv(file, "data.csv", {{"a", ColumnKind::either}}, {code});
    const std::vector<double>& a = table.columns[0];
    return std::count_if(a.begin(), a.end(), [](double x) { return std::isnan(x); });
  };
  const std::string nines = "a,b\n-999.0,1\n-999,2\n-9.99e2,3\n-9.99D+02,4\n-999.5,5\n999,6\n";
  CHECK(missing(nines, "-999") == 4);
  CHECK(missing(nines, "-999.00") == 4);
  CHECK(missing(nines, "999") == 1);
  CHECK(missing("a;b\n-999,0;1\n-999;2\n-999,5;3\n", "-999") == 2);
  CHECK(missing("a\nx\n7\n7.0\ny\n", "7") == 2);  // among text
}

TEST_CASE("numbers may have Fortran's exponents") {
  CHECK(read("a,b\n1.25D+02,-2.5d-01\n.5D1,3D-1\n1D2,4\n", {"a", "b"}).columns ==
        std::vector<std::vector<double>>{{125, 5, 100}, {-0.25, 0.3, 4}});
  CHECK(read("a;b\n1,5D+02;2\n", {"a"}).columns[0] == std::vector<double>{150});
  const auto either = [](const std::string& text) {
    return read_csv("a\n" + text, "data.csv", {{"a", ColumnKind::either}});
  };
  CHECK(either("1.5D+01\n2\n").columns[0] == std::vector<double>{15, 2});
  CHECK(either("3D\n2D5\nD+1\n").levels_of(0) == std::vector<std::string>{"3D", "2D5", "D+1"});
  refuses("a\n1.5D+\n", {"a"}, "'1.5D+' is not a finite number");
  refuses("a\n1.5D+400\n", {"a"}, "beyond double precision");
}

TEST_CASE("text becomes levels") {
  const std::string text = "a,b\nx,1\n\"y z\",2\nx,3\nNA,4\n7,5\n";
  const Table t = read_csv(text, "data.csv", {{"b"}, {"a", ColumnKind::level}, {"b", ColumnKind::level}});
  CHECK(t.columns[0] == std::vector<double>{1, 2, 3, 4, 5});
  CHECK(std::vector<double>(t.columns[1].begin(), t.columns[1].begin() + 3) == std::vector<double>{0, 1, 0});
  CHECK(std::isnan(t.columns[1][3]));
  CHECK(t.columns[1][4] == 2);
  CHECK(t.levels_of(1) == std::vector<std::string>{"x", "y z", "7"});
  CHECK(t.levels_of(0).empty());
  CHECK(t.levels_of(2).size() == 5);
  const auto either = [](const std::string& column) {
    return read_csv(std::string_view("a\n" + column), "data.csv", {{"a", ColumnKind::either}});
  };
  CHECK(either("NA\n2\n").columns[0][1] == 2);
  CHECK(either("NA\nb\n").levels_of(0) == std::vector<std::string>{"b"});
  CHECK_THROWS_WITH(either("1\nb\n"), ContainsSubstring("line 3, column a: 'b' is not a finite number; factor(a)"));
  CHECK_THROWS_WITH(either("b\n1\n"), ContainsSubstring("line 3, column a: '1' is among text such as 'b'"));
  CHECK_THROWS_WITH(either("\"1,5\"\n\"2,5\"\n"), ContainsSubstring("'1,5' is not a finite number"));
  CHECK_THROWS_WITH(either("inf\n"), ContainsSubstring("'inf' is not a finite number"));
}

TEST_CASE("numbers may have a decimal comma if no comma separates fields") {
  CHECK(read("a;b\n1,5;-2,25e3\n3;4\n", {"b", "a"}).columns == std::vector<std::vector<double>>{{-2250, 4}, {1.5, 3}});
  CHECK(read("a\tb\n1,5\t2\n", {"a"}).columns[0] == std::vector<double>{1.5});
  refuses("a;b\n1,5;2\n1.5;2\n", {"a"}, "line 3, column a: '1.5' has a decimal point, and line 2 a decimal comma");
  refuses("a;b\n1.5;2\n1;2,5\n", {"a", "b"}, "line 3, column b: '2,5' has a decimal comma, and line 2");
  refuses("a;b\n1.234,5;2\n", {"a"}, "'1.234,5' is not a finite number");
  refuses("a;b\n1,234,5;2\n", {"a"}, "'1,234,5' is not a finite number");
}

TEST_CASE("a first line may name the delimiter") {
  for (const char* end : {"\n", "\r\n"}) {
    const Table t = read(std::string("sep=|") + end + "a|b,c" + end + "1|2,5" + end, {"b,c"});
    CHECK(t.columns[0] == std::vector<double>{2.5});
    CHECK(t.lines == std::vector<index_t>{3});
  }
  CHECK(read("\xEF\xBB\xBFsep=;\na;b\n1;2\n", {"b"}).columns[0] == std::vector<double>{2});
  CHECK(read("sep=\n5\n", {"sep="}).columns[0] == std::vector<double>{5});
}

TEST_CASE("rows of R's write.table begin with a name") {
  const Table t = read("a,b\n\"r 1\",1,2\nr2,3,\n", {"a", "b"});
  CHECK(t.columns[0] == std::vector<double>{1, 3});
  CHECK(t.columns[1][0] == 2);
  CHECK(std::isnan(t.columns[1][1]));
  CHECK(t.rows == 2);
  refuses("a,b\n1,1,2\n1,3,4\n", {"a"}, "line 3: 3 fields; the header has 2, and the first field, '1', is no name");
  refuses("a,b\n1,1,2\n3,4\n", {"a"}, "line 3: 2 fields");
  refuses("a,b\n1,2,\n3,4,\n", {"a"}, "line 2: 3 fields; the header has 2");
  refuses("a,b\n1,2,3,4\n", {"a"}, "line 2: 4 fields");
}

TEST_CASE("an invalid number in a requested column is refused with its place") {
  const std::string text = "a,b\n1,2\n3,four\ninf,5\n1e999,6\n0x1,7\n1.2.3,8\n-,9\nnan,1\n1 2,1\n";
  refuses(text, {"b"}, "line 3, column b: 'four'");
  refuses(text, {"a"}, "line 4, column a: 'inf'");
  refuses("a\n1e999\n", {"a"}, "line 2, column a: 1e999 is beyond");
  refuses("a\n-1e-400\n", {"a"}, "line 2, column a: -1e-400 is below");
  refuses("a\n9007199254740993\n", {"a"}, "line 2, column a: 9007199254740993 is an integer");
  CHECK(read("a\n-9007199254740992\n4.9e-324\n9007199254740993.\n36028797018963968\n", {"a"}).columns[0] ==
        std::vector<double>{-0x1p53, 4.9e-324, 0x1p53, 0x1p55});
  for (const char* word : {"0x1", "1.2.3", "--", "NAN", "1 2", "1e", "e", "infinity", "1,5,6"})
    refuses(std::string("a;b\n") + word + ";1\n", {"a"}, std::string("line 2, column a: '") + word);
}

TEST_CASE("malformed CSV files are refused") {
  refuses("", {}, "no header");
  refuses("\n\n", {}, "no header");
  refuses("a,b\n1,2\n1\n", {"a"}, "line 3: 1 fields; the header has 2");
  refuses("a,b\n1,2,\n", {"a"}, "line 2: 3 fields");
  refuses("a,b\n1,\"2\n", {"a"}, "line");
  refuses("a,b\n1,2\"3\n", {"a"}, "line 2: a quote is not allowed");
  refuses("a,b\n1,2\n", {"c"}, "no column is called c");
  refuses("a,b,a\n1,2,3\n", {"a"}, "two columns are called a");
  refuses(std::string("a\n1\0002\n", 6), {"a"}, "byte of value 0");
  CHECK(read("a,b,a\n1,2,3\n", {"b"}).columns[0] == std::vector<double>{2});
}

TEST_CASE("arbitrary bytes are read or refused") {
  std::mt19937 random(3);
  const std::string alphabet = "a,b;\t\"\r\n1.-eN \xEF\xBB\xBF";
  int good = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string text = k % 2 == 0 ? "a,b\n" : "";
    for (std::size_t n = random() % 20; n > 0; --n) text += alphabet[random() % alphabet.size()];
    try {
      const Table t = read(text, {"a", "b"});
      ++good;
      for (const auto& column : t.columns) REQUIRE(static_cast<index_t>(column.size()) == t.rows);
      REQUIRE(static_cast<index_t>(t.lines.size()) == t.rows);
    } catch (const FileError&) {
    }
  }
  CHECK(good > 100);
}
