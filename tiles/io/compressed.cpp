#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/compressed.hpp>

#include <algorithm>
#include <limits>
#include <string_view>
#include <zlib.h>

namespace tesela {
namespace {

bool starts_with(std::span<const char> bytes, std::string_view start) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(start);
}

/// zlib's decompression of one stream.
class Inflater {
 public:
  enum Format : int { zip = -MAX_WBITS, gzip = MAX_WBITS + 16 };

  Inflater(std::span<const char> bytes, const std::string& name, Format format) : bytes_(bytes), name_(name) {
    if (inflateInit2(&stream_, format) != Z_OK) throw EnvironmentError(name + ": cannot read: zlib does not start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Decompresses to the end of the stream.
  void run(const Inflated& sink) {
    for (int status = Z_OK; status != Z_STREAM_END;) {
      refill();
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END)
        throw FileError(name_, "cannot read: the compressed data are damaged or end early");
      sink(out_.data(), out_.size() - stream_.avail_out);
    }
  }

  /// Prepares for another stream behind this one. Returns false if no byte follows.
  bool next() {
    refill();
    return stream_.avail_in > 0 && inflateReset(&stream_) == Z_OK;
  }

 private:
  void refill() {
    if (stream_.avail_in > 0) return;
    const std::size_t size = std::min<std::size_t>(bytes_.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const char> bytes_;
  const std::string& name_;
  z_stream stream_{};
  std::vector<char> out_ = std::vector<char>(std::size_t{1} << 18);
};

/// Little-endian numbers of a zip archive.
class Records {
 public:
  Records(std::span<const char> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void fail() const { throw FileError(name_, "cannot read: the archive is damaged or ends early"); }

  std::span<const char> part(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) fail();
    return bytes_.subspan(at, size);
  }
  std::uint64_t number(std::uint64_t at, std::size_t size) const {
    std::uint64_t value = 0;
    const auto digits = part(at, size);
    for (std::size_t k = 0; k < size; ++k) value |= std::uint64_t{static_cast<unsigned char>(digits[k])} << (8 * k);
    return value;
  }
  bool has(std::uint64_t at, std::string_view magic) const { return starts_with(part(at, magic.size()), magic); }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  std::span<const char> bytes_;
  const std::string& name_;
};

using namespace std::string_view_literals;
constexpr auto local_magic = "PK\3\4"sv, entry_magic = "PK\1\2"sv, end_magic = "PK\5\6"sv, end64_magic = "PK\6\6"sv,
               locator_magic = "PK\6\7"sv;
constexpr std::uint64_t beyond32 = 0xffffffff;  // the number is in the extra field

/// The list of an archive's members.
struct Directory {
  std::uint64_t entries, at;
};

Directory find_directory(const Records& records) {
  constexpr std::uint64_t end_size = 22, longest_comment = 65535, locator_size = 20;
  if (records.size() < end_size) records.fail();
  for (std::uint64_t back = end_size; back <= std::min(records.size(), end_size + longest_comment); ++back) {
    const std::uint64_t end = records.size() - back;
    if (!records.has(end, end_magic)) continue;
    if (end >= locator_size && records.has(end - locator_size, locator_magic)) {
      const std::uint64_t end64 = records.number(end - locator_size + 8, 8);
      if (!records.has(end64, end64_magic)) records.fail();
      return {records.number(end64 + 32, 8), records.number(end64 + 48, 8)};
    }
    return {records.number(end + 10, 2), records.number(end + 16, 4)};
  }
  records.fail();
}

/// Replaces sizes and offsets beyond 32 bits by the numbers of the extra field.
void widen(const Records& records, std::uint64_t at, std::uint64_t length, std::initializer_list<std::uint64_t*> all) {
  for (const std::uint64_t end = at + length; at + 4 <= end;) {
    const std::uint64_t kind = records.number(at, 2), size = records.number(at + 2, 2);
    at += 4;
    if (kind == 1) {
      for (std::uint64_t* const number : all)
        if (*number == beyond32) *number = records.number(at, 8), at += 8;
      return;
    }
    at += size;
  }
}

}  // namespace

bool is_gzip(std::span<const char> bytes) { return starts_with(bytes, "\x1f\x8b"); }
bool is_zip(std::span<const char> bytes) { return starts_with(bytes, local_magic); }

void gunzip(std::span<const char> bytes, const std::string& name, const Inflated& sink) {
  Inflater inflater(bytes, name, Inflater::gzip);
  do inflater.run(sink);
  while (inflater.next());
}

std::vector<ZipMember> zip_members(std::span<const char> bytes, const std::string& name) {
  const Records records(bytes, name);
  const auto [entries, first] = find_directory(records);
  std::vector<ZipMember> members;
  for (std::uint64_t k = 0, at = first; k < entries; ++k) {
    if (!records.has(at, entry_magic)) records.fail();
    const std::uint64_t flags = records.number(at + 8, 2), method = records.number(at + 10, 2);
    std::uint64_t packed = records.number(at + 20, 4), size = records.number(at + 24, 4),
                  local = records.number(at + 42, 4);
    const std::uint64_t name_size = records.number(at + 28, 2), extra = records.number(at + 30, 2);
    widen(records, at + 46 + name_size, extra, {&size, &packed, &local});
    const auto called = records.part(at + 46, name_size);
    ZipMember member{{called.data(), called.size()}, method == 8, {}, size, 0};
    member.checksum = static_cast<std::uint32_t>(records.number(at + 16, 4));
    if ((flags & 1) != 0 || (method != 0 && method != 8))
      throw FileError(name, "cannot read: its member " + member.name + " is encrypted or not compressed by deflate");
    if (!records.has(local, local_magic)) records.fail();
    member.bytes = records.part(local + 30 + records.number(local + 26, 2) + records.number(local + 28, 2), packed);
    if (!member.deflated && packed != size) records.fail();
    members.push_back(std::move(member));
    at += 46 + name_size + extra + records.number(at + 32, 2);
  }
  return members;
}

namespace {

std::uint32_t checksum_of(std::uint32_t so_far, const char* data, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(so_far, reinterpret_cast<const Bytef*>(data), size));
}

void require_same(std::uint32_t checksum, const ZipMember& member, const std::string& name) {
  if (checksum != member.checksum) throw FileError(name, "cannot read: the checksum of the member is wrong");
}

}  // namespace

void unzip(const ZipMember& member, const std::string& name, const Inflated& sink) {
  std::uint32_t checksum = 0;
  std::uint64_t size = 0;
  Inflater(member.bytes, name, Inflater::zip).run([&](const char* data, std::size_t count) {
    checksum = checksum_of(checksum, data, count);
    size += count;
    if (size <= member.size) sink(data, count);
  });
  if (size != member.size) Records(member.bytes, name).fail();
  require_same(checksum, member, name);
}

void require_checksum(const ZipMember& member, const std::string& name) {
  require_same(checksum_of(0, member.bytes.data(), member.bytes.size()), member, name);
}

}  // namespace tesela
