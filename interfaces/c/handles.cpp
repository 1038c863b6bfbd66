#include "interfaces/c/handles.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace tesela::c {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::uintptr_t last = 0x7e5e1a00;  // far from small integers, which are probably mistakes
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects;
};

/// Never destroyed, like Process.
Table& table() {
  static Table* const one = new Table;
  return *one;
}

std::uintptr_t number(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace

void* enlist(std::shared_ptr<Object> object) {
  const std::unique_lock lock(table().mutex);
  table().objects.emplace(table().last += 16, std::move(object));
  return reinterpret_cast<void*>(table().last);  // never dereferenced
}

std::shared_ptr<Object> find_object(const void* handle) {
  const std::shared_lock lock(table().mutex);
  const auto found = table().objects.find(number(handle));
  return found == table().objects.end() ? nullptr : found->second;
}

bool forget(const void* handle) {
  std::shared_ptr<Object> last;  // destroyed without the lock, since it may wait for tasks
  const std::unique_lock lock(table().mutex);
  const auto found = table().objects.find(number(handle));
  if (found == table().objects.end()) return false;
  last = std::move(found->second);
  table().objects.erase(found);
  return true;
}

void free_all_handles() {
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> all;
  const std::unique_lock lock(table().mutex);
  all.swap(table().objects);
}

}  // namespace tesela::c
