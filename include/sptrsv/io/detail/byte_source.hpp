// Sources of a text: a stream or a file, plain or compressed with gzip.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sptrsv/error.hpp"

#ifdef SPTRSV_WITH_ZLIB
#include <zlib.h>
#endif

namespace sptrsv::detail {

/// Source of a text.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;

  /// Reads exactly `capacity` bytes, or fewer at the end of the input. Returns the number of bytes. Throws
  /// `error` with errc::io_error.
  virtual std::size_t read(char* to, std::size_t capacity) = 0;

  /// Returns the approximate size of the whole text in bytes, if it is known; used to reserve memory.
  [[nodiscard]] virtual std::optional<std::uint64_t> size_hint() const { return std::nullopt; }
};

/// Reads from a stream.
class stream_source final : public byte_source {
 public:
  explicit stream_source(std::istream& stream) : stream_(stream) {
    SPTRSV_EXPECTS(stream.good() && stream.rdbuf() != nullptr, errc::io_error,
                   "the input stream is not readable");
  }

  // Reads from the stream's buffer: the end of the input then throws no exception, whatever the exception
  // mask of the stream.
  std::size_t read(char* to, std::size_t capacity) override {
    try {
      const std::streamsize count = stream_.rdbuf()->sgetn(to, static_cast<std::streamsize>(capacity));
      return static_cast<std::size_t>(std::max<std::streamsize>(count, 0));
    } catch (const std::ios_base::failure& failure) {
      throw error(errc::io_error, std::string("reading the input stream failed: ") + failure.what());
    }
  }

 private:
  std::istream& stream_;
};

/// Reads from a file.
class file_source final : public byte_source {
 public:
  explicit file_source(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) {
      fail("opening", errno);
    }
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);    // the reads are large blocks already
    if (std::fseek(file_.get(), 0, SEEK_END) == 0) {  // fails on a pipe, which has no size
      const long bytes = std::ftell(file_.get());
      std::rewind(file_.get());
      if (bytes >= 0) {
        bytes_ = static_cast<std::uint64_t>(bytes);
      }
    }
  }

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t count = std::fread(to, 1, capacity, file_.get());
    if (count < capacity && std::ferror(file_.get()) != 0) {
      fail("reading", errno);
    }
    return count;
  }

  [[nodiscard]] std::optional<std::uint64_t> size_hint() const override { return bytes_; }

 private:
  [[noreturn]] void fail(const char* doing, int code) const {
    throw error(errc::io_error,
                std::string(doing) + " '" + path_ + "' failed: " + std::generic_category().message(code));
  }

  struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
  std::optional<std::uint64_t> bytes_;
};

/// Another source, and before it the bytes that were already read from it.
class unread_source final : public byte_source {
 public:
  unread_source(std::unique_ptr<byte_source> rest, std::string front)
      : rest_(std::move(rest)), front_(std::move(front)) {}

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t taken = std::min(capacity, front_.size());
    std::memcpy(to, front_.data(), taken);
    front_.erase(0, taken);
    return taken < capacity ? taken + rest_->read(to + taken, capacity - taken) : taken;
  }

  [[nodiscard]] std::optional<std::uint64_t> size_hint() const override { return rest_->size_hint(); }

 private:
  std::unique_ptr<byte_source> rest_;
  std::string front_;
};

#ifdef SPTRSV_WITH_ZLIB

/// Decompresses a gzip file of one or more members (RFC 1952). zlib checks lengths and checksums.
class gzip_source final : public byte_source {
 public:
  /// `name`: the input in messages.
  gzip_source(std::unique_ptr<byte_source> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(std::size_t{1} << 16) {
    constexpr int window_bits_gzip_only = 15 + 16;
    SPTRSV_EXPECTS(inflateInit2(&zlib_, window_bits_gzip_only) == Z_OK, errc::out_of_memory,
                   "zlib could not be initialised");
  }
  ~gzip_source() override { inflateEnd(&zlib_); }

  std::size_t read(char* to, std::size_t capacity) override {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(capacity);
    while (zlib_.avail_out > 0 && (has_input() || !between_members_)) {
      SPTRSV_EXPECTS(zlib_.avail_in > 0, errc::io_error, name_ + " is cut short: its gzip stream has no end");
      if (between_members_) {
        inflateReset(&zlib_);
      }
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      SPTRSV_EXPECTS(
          result == Z_OK || result == Z_STREAM_END, errc::io_error,
          name_ + " is a corrupt gzip stream: " + (zlib_.msg != nullptr ? zlib_.msg : zError(result)));
      between_members_ = result == Z_STREAM_END;
    }
    return capacity - zlib_.avail_out;
  }

  [[nodiscard]] std::optional<std::uint64_t> size_hint() const override {
    // Compression divides the size of matrix texts by 3 to 10. A larger factor costs a few reallocations.
    const auto bytes = compressed_->size_hint();
    return bytes ? std::optional(*bytes * 10) : std::nullopt;
  }

 private:
  bool has_input() {
    if (zlib_.avail_in == 0) {
      zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
      zlib_.avail_in = static_cast<uInt>(compressed_->read(input_.data(), input_.size()));
    }
    return zlib_.avail_in > 0;
  }

  std::unique_ptr<byte_source> compressed_;
  std::string name_;
  std::vector<char> input_;
  z_stream zlib_{};
  bool between_members_ = false;  // the input may end only between members
};

#endif

/// Returns the source, or its decompressed text if it starts with the magic bytes of gzip. Throws `error`
/// with errc::unsupported for other archives. `name`: the input in messages.
inline std::unique_ptr<byte_source> unpacked(std::unique_ptr<byte_source> source, const std::string& name) {
  struct archive {
    std::string_view magic;
    const char* format;
    const char* command;
  };
  constexpr archive others[] = {{"\xFD"
                                 "7zXZ",
                                 "xz", "xz -d"},
                                {"BZh", "bzip2", "bzip2 -d"},
                                {"\x28\xB5\x2F\xFD", "zstd", "zstd -d"},
                                {"PK\x03\x04", "zip", "unzip"}};
  char bytes[5] = {};
  const std::string_view front(bytes, source->read(bytes, sizeof bytes));
  for (const archive& other : others) {
    SPTRSV_EXPECTS(front.substr(0, other.magic.size()) != other.magic, errc::unsupported,
                   name + " is compressed with " + other.format +
                       ", which is not supported: decompress it with '" + other.command + "' first");
  }
  source = std::make_unique<unread_source>(std::move(source), std::string(front));
  if (front.substr(0, 2) != "\x1F\x8B") {
    return source;
  }
#ifdef SPTRSV_WITH_ZLIB
  return std::make_unique<gzip_source>(std::move(source), name);
#else
  throw error(errc::unsupported, name + " is compressed with gzip, which needs a build with zlib");
#endif
}

}  // namespace sptrsv::detail
