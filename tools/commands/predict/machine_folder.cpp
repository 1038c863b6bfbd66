#include "tools/commands/predict/machine_folder.hpp"

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace tesela::cli {
namespace {

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string in_folder(const std::string& folder, const char* name) { return std::filesystem::path(folder) / name; }

}  // namespace

std::string MachineFolder::times_path() const { return std::filesystem::absolute(in_folder(path, "kernels.csv")); }

bool is_machine(const std::string& path) {
  std::error_code unreadable;
  return std::filesystem::exists(in_folder(path, "machine.json"), unreadable);
}

MachineFolder read_machine(const std::string& path) {
  MachineFolder machine{.path = path};
  const std::string description = in_folder(path, "machine.json");
  std::ifstream file(description);
  if (!file)
    throw FileError(path, "is no folder of a machine: record one there with `tesela predict record --out " + path +
                              " -- COMMAND`, such as `qr --n 4096`");
  try {
    machine.about = nlohmann::json::parse(file);
    static_cast<void>(machine.about.at("name").get<std::string>());
    static_cast<void>(machine.about.at("gpu_bytes").get<double>());
    if (machine.cores() < 1 || machine.gpus() < 0) throw FileError(description, "has no cores, or fewer than 0 GPUs");
  } catch (const nlohmann::json::parse_error& error) {
    throw FileError(description, fmt::format("is not complete JSON: error at byte {}", error.byte));
  } catch (const nlohmann::json::exception&) {
    throw FileError(description, "has no name, gpu_bytes, cores and gpus: a text and three numbers");
  }
  machine.times = read_kernel_times(in_folder(path, "kernels.csv"));
  machine.links = read_links(in_folder(path, "links.csv"));
  return machine;
}

void require_machine_place(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unreadable;
  if (fs::exists(fs::symlink_status(path, unreadable))) {
    if (!fs::is_directory(path, unreadable)) throw FileError(path, "is no folder: choose another --out");
    for (const char* const name : {"machine.json", "kernels.csv", "links.csv"})
      require_creatable(in_folder(path, name));
    return;
  }
  fs::path first = path;  // the first folder that write_machine makes
  while (first.has_parent_path() && !fs::exists(first.parent_path(), unreadable)) first = first.parent_path();
  require_creatable(first);
}

void write_machine(const MachineFolder& machine) {
  std::error_code error;
  std::filesystem::create_directories(machine.path, error);
  if (error) throw FileError(machine.path, error.message());
  std::string links = std::string(heading_of_links) + '\n';
  for (const LinkSpeed& link : machine.links)
    links += fmt::format("{},{},{:.6g},{:.6g},{:.6g}\n", link.from, link.to, link.bytes_per_second, link.seconds,
                         link.column_seconds);
  write_text(in_folder(machine.path, "machine.json"), machine.about.dump(2) + '\n');
  write_text(in_folder(machine.path, "kernels.csv"), to_csv(machine.times));
  write_text(in_folder(machine.path, "links.csv"), links);
}

}  // namespace tesela::cli
