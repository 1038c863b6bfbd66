#include <tesela/algorithms/mimo/constellation.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <sstream>

namespace tesela {
namespace {

constexpr Named<ConstellationKind> kinds[] = {
    {ConstellationKind::bpsk, "bpsk", "two points on the diagonal"},
    {ConstellationKind::pi2_bpsk, "pi/2-bpsk", "bpsk, times i for signals 1, 3, 5, …"},
    {ConstellationKind::qpsk, "qpsk", "four, one in each quadrant"},
    {ConstellationKind::psk8, "8psk", "eight on the circle, from angle 0"},
    {ConstellationKind::qam16, "16qam", "a square of 4 x 4"},
    {ConstellationKind::qam64, "64qam", "8 x 8"},
    {ConstellationKind::qam256, "256qam", "16 x 16"},
    {ConstellationKind::qam1024, "1024qam", "32 x 32"},
};

constexpr index_t most_points = 1024;

/// Returns (1 - 2 b0) (4 - (1 - 2 b2) (2 - (1 - 2 b4))) and similar sums of every second bit of a label, from `first`
/// on.
double amplitude(int label, int bits, int first) {
  double value = 0, power = 1;
  for (int bit = bits - 2 + first; bit >= 0; bit -= 2, power *= 2) {
    const int sign = 1 - 2 * ((label >> (bits - 1 - bit)) & 1);
    value = sign * (power - value);
  }
  return value;
}

Constellation square(const char* name, int bits) {
  Constellation made{name, {}};
  const int levels = 1 << (bits / 2);
  const double scale = 1 / std::sqrt(2.0 * (levels * levels - 1) / 3);  // 2, 10, 42, 170, 682
  for (int label = 0; label < 1 << bits; ++label)
    made.points.emplace_back(scale * amplitude(label, bits, 0), scale * amplitude(label, bits, 1));
  return made;
}

Constellation octagon() {
  Constellation made{"8psk", std::vector<std::complex<double>>(8)};
  const double half = std::numbers::sqrt2 / 2;
  const std::complex<double> around[] = {{1, 0},  {half, half},   {0, 1},  {-half, half},
                                         {-1, 0}, {-half, -half}, {0, -1}, {half, -half}};
  for (std::size_t place = 0; place < 8; ++place) made.points[place ^ (place >> 1)] = around[place];
  return made;
}

/// Finds the part of a label on one axis, and the index of the amplitude.
bool take_axis(const std::vector<double>& amplitudes, int mask, Constellation::Axis& axis) {
  const auto levels = static_cast<std::size_t>(std::popcount(static_cast<unsigned>(mask)));
  const std::size_t count = std::size_t{1} << levels;
  axis.labels.assign(count, -1);
  double low = amplitudes[0], high = amplitudes[0];
  for (const double a : amplitudes) low = std::fmin(low, a), high = std::fmax(high, a);
  if (!(high > low)) return false;
  axis.low = low;
  axis.step = (high - low) / static_cast<double>(count - 1);
  for (std::size_t label = 0; label < amplitudes.size(); ++label) {
    const double place = (amplitudes[label] - low) / axis.step, whole = std::round(place);
    if (std::abs(place - whole) > 1e-12 * static_cast<double>(count)) return false;
    int& known = axis.labels[static_cast<std::size_t>(whole)];
    const int part = static_cast<int>(label) & mask;
    if (known >= 0 && known != part) return false;
    known = part;
  }
  for (const int known : axis.labels)
    if (known < 0) return false;
  return true;
}

}  // namespace

int Constellation::bits() const { return std::countr_zero(points.size()); }

double Constellation::energy() const {
  double sum = 0;
  for (const auto& p : points) sum += std::norm(p);
  return sum / static_cast<double>(points.size());
}

std::vector<Constellation::Product> Constellation::product() const {
  const int width = bits();
  if (width < 2 || width % 2 != 0) return {};
  int odd = 0;
  for (int bit = width - 1; bit >= 0; bit -= 2) odd |= 1 << bit;  // the first bit and every second one
  std::vector<double> re, im;
  for (const auto& p : points) re.push_back(p.real()), im.push_back(p.imag());
  Product found;
  if (!take_axis(re, odd, found.re) || !take_axis(im, (1 << width) - 1 - odd, found.im)) return {};
  return {found};
}

std::span<const Named<ConstellationKind>> constellation_kinds() { return kinds; }

Constellation constellation(ConstellationKind kind) {
  const char* const name = name_of(constellation_kinds(), kind);
  switch (kind) {
    case ConstellationKind::bpsk:
    case ConstellationKind::pi2_bpsk: {
      const double half = std::numbers::sqrt2 / 2;
      return {name, {{half, half}, {-half, -half}}, kind == ConstellationKind::pi2_bpsk};
    }
    case ConstellationKind::psk8: return octagon();
    case ConstellationKind::qpsk: return square(name, 2);
    case ConstellationKind::qam16: return square(name, 4);
    case ConstellationKind::qam64: return square(name, 6);
    case ConstellationKind::qam256: return square(name, 8);
    case ConstellationKind::qam1024: return square(name, 10);
  }
  return {};
}

Constellation read_constellation(const std::string& path) {
  if (std::error_code none; std::filesystem::is_directory(path, none)) throw FileError(path, "Is a directory");
  const MappedFile mapped(path);
  std::istringstream file(std::string(mapped.bytes().data(), mapped.bytes().size()));
  Constellation made{path, {}};
  std::vector<std::pair<index_t, std::complex<double>>> given;
  std::string line;
  const auto fail = [&](index_t number, const std::string& why) {
    throw FileError(path, "line " + std::to_string(number) + ": " + why);
  };
  for (index_t number = 1; std::getline(file, line); ++number) {
    line.erase(std::min(line.find_first_of("#%"), line.size()));
    std::istringstream words(line);
    std::string re, im, label, more;
    if (!(words >> re)) continue;
    if (!(words >> im >> label) || words >> more) fail(number, "expected 're im label'");
    const auto read = [&](const std::string& word) {
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      if (end != word.c_str() + word.size() || !std::isfinite(value))
        fail(number, "'" + word + "' is not a finite number");
      return value;
    };
    const double which = read(label);
    if (which != std::floor(which) || which < 0 || which >= static_cast<double>(most_points))
      fail(number, "label '" + label + "' is out of range: 0 to one less than the number of points, at most 1023");
    for (const auto& [other, point] : given)
      if (other == static_cast<index_t>(which)) fail(number, "label " + label + " is repeated");
    given.emplace_back(static_cast<index_t>(which), std::complex<double>{read(re), read(im)});
  }
  const std::string count = std::to_string(given.size()) + (given.size() == 1 ? " point" : " points");
  if (given.size() < 2) throw FileError(path, count + "; a constellation needs at least 2");
  if (!std::has_single_bit(given.size())) throw FileError(path, count + " are not a power of two, 2 to 1024");
  made.points.resize(given.size());
  for (const auto& [label, point] : given) {
    if (label >= static_cast<index_t>(given.size()))
      throw FileError(path, "label " + std::to_string(label) + " is out of range: there are " +
                                std::to_string(given.size()) + " points");
    made.points[static_cast<std::size_t>(label)] = point;
  }
  if (std::ranges::count(made.points, made.points.front()) == std::ssize(made.points))
    throw FileError(path, "all " + count + " are equal; points must differ");
  return made;
}

std::optional<ConstellationKind> find_constellation(std::string_view name) {
  const auto plain = [](std::string_view text) {
    std::string letters, digits;  // digits first
    for (const char c : text)
      if (std::isdigit(static_cast<unsigned char>(c)) != 0 && text.find('/') == std::string_view::npos)
        digits += c;
      else if (c != '-' && c != '_' && c != ' ')
        letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return digits + letters;
  };
  for (const auto& kind : constellation_kinds())
    if (plain(kind.name) == plain(name)) return kind.value;
  return std::nullopt;
}

std::vector<Constellation> parse_constellations(const std::string& routine, const std::string& text, index_t streams) {
  std::vector<Constellation> list;
  std::istringstream names(text.empty() ? text : text + ',');  // so that a trailing comma adds an empty name
  for (std::string name; std::getline(names, name, ',');) {
    const auto kind = find_constellation(name);
    if (std::error_code none; !kind && !std::filesystem::exists(name, none)) {
      std::string why = "'" + name + "' is none of ";
      for (const auto& each : constellation_kinds()) why.append(each.name).append(", ");
      throw ArgumentError(routine, "--constellation", why.append("nor a file"));
    }
    list.push_back(kind ? constellation(*kind) : read_constellation(name));
  }
  if (list.size() == 1) list.resize(static_cast<std::size_t>(std::max<index_t>(streams, 1)), list.front());
  require(!list.empty() && (streams <= 0 || static_cast<index_t>(list.size()) == streams), routine, "--constellation",
          "'", text, "' names ", list.size(), ", there are ", streams, " streams (one for all, or one for each)");
  return list;
}

}  // namespace tesela
