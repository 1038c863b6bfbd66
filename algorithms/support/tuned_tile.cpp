#include <tesela/algorithms/support/tuned_tile.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tesela {
namespace {

constexpr const char* heading = "algorithm,cores,gpus,m,n,mb,nb";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string tuned_tiles_path() {
  if (const std::string path = variable("TESELA_TUNED"); !path.empty()) return path;
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty()) return folder + "/tesela/tuned.csv";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/tesela/tuned.csv";
}

std::vector<TunedTile> read_tuned_tiles(const std::string& path) {
  std::vector<TunedTile> tiles;
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw FileError(path, "is not a regular file");
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return tiles;
  if (line != heading) throw FileError(path, std::string("line 1 is not ") + heading);
  for (int number = 2; std::getline(file, line); ++number) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    TunedTile t{};
    std::string rest;
    if (!(fields >> t.algorithm >> t.cores >> t.gpus >> t.shape.rows >> t.shape.cols >> t.tile.mb >> t.tile.nb) ||
        fields >> rest || t.tile.mb < 1 || t.tile.nb < 1)
      throw FileError(path, "line " + std::to_string(number) + " is not an algorithm and six numbers");
    tiles.push_back(std::move(t));
  }
  return tiles;
}

std::string to_csv(const std::vector<TunedTile>& tiles) {
  std::ostringstream text;
  text << heading << '\n';
  for (const TunedTile& t : tiles)
    text << t.algorithm << ',' << t.cores << ',' << t.gpus << ',' << t.shape.rows << ',' << t.shape.cols << ','
         << t.tile.mb << ',' << t.tile.nb << '\n';
  return text.str();
}

std::optional<TileShape> tuned_tile(const char* algorithm, const WorkerCounts& workers, Shape shape) {
  static const std::vector<TunedTile> tiles = read_tuned_tiles(tuned_tiles_path());
  for (const TunedTile& t : tiles)
    if (t.algorithm == algorithm && t.cores == workers.cpus && t.gpus == workers.gpus && t.shape == shape)
      return t.tile;
  return std::nullopt;
}

}  // namespace tesela
