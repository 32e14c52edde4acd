// SPDX-License-Identifier: Apache-2.0
// Where a text comes from and where it goes: a stream or a file, plain or compressed with gzip.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sptrsv/error.hpp"

#ifdef SPTRSV_WITH_ZLIB
#include <zlib.h>
#endif

namespace sptrsv_common::detail {

/// Source of a text.
struct byte_source {
  /// Reads exactly `capacity` bytes, or fewer at the end of the input. Returns the number of bytes. Throws
  /// `error` with errc::io_error.
  std::function<std::size_t(char* to, std::size_t capacity)> read;
  /// Approximate size of the whole text in bytes, if it is known; used to reserve memory.
  std::optional<std::uint64_t> size{};
};

/// Returns a source that reads from a stream.
inline byte_source source_of(std::istream& stream) {
  SPTRSV_EXPECTS(stream.good() && stream.rdbuf() != nullptr, sptrsv::errc::io_error,
                 "the input stream is not readable");
  // Reads from the stream's buffer: the end of the input then throws no exception, whatever the exception
  // mask of the stream.
  return {[&stream](char* to, std::size_t capacity) {
    try {
      const std::streamsize count = stream.rdbuf()->sgetn(to, static_cast<std::streamsize>(capacity));
      return static_cast<std::size_t>(std::max<std::streamsize>(count, 0));
    } catch (const std::ios_base::failure& failure) {
      throw sptrsv::error(sptrsv::errc::io_error,
                          std::string("reading the input stream failed: ") + failure.what());
    }
  }};
}

/// Throws errc::io_error with the text of errno unless a call on a file has succeeded.
inline void check_file(bool succeeded, const char* doing, const std::string& path) {
  const int code = errno;
  SPTRSV_EXPECTS(succeeded, sptrsv::errc::io_error,
                 std::string(doing) + " '" + path + "' failed: " + std::generic_category().message(code));
}
/// Closes a file when it is destroyed.
using file_owner = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
/// Returns the owner of a file that is opened. Throws as check_file().
inline file_owner open_file(const std::string& path, const char* mode) {
  file_owner file(std::fopen(path.c_str(), mode), std::fclose);
  check_file(file != nullptr, "opening", path);
  return file;
}

/// Returns a source that reads from the file `path`.
inline byte_source source_of(const std::string& path) {
  const std::shared_ptr<std::FILE> file = open_file(path, "rb");
  byte_source made;
  std::setvbuf(file.get(), nullptr, _IONBF, 0);    // the reads are large blocks already
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {  // fails on a pipe, which has no size
    const long bytes = std::ftell(file.get());
    std::rewind(file.get());
    if (bytes >= 0) {
      made.size = static_cast<std::uint64_t>(bytes);
    }
  }
  made.read = [file, path](char* to, std::size_t capacity) {
    const std::size_t count = std::fread(to, 1, capacity, file.get());
    check_file(count == capacity || std::ferror(file.get()) == 0, "reading", path);
    return count;
  };
  return made;
}

#ifdef SPTRSV_WITH_ZLIB

/// Decompresses a gzip file of one or more members (RFC 1952). zlib checks lengths and checksums.
class gzip_stream {
 public:
  /// `name`: the input in messages.
  gzip_stream(byte_source compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(std::size_t{1} << 16) {
    constexpr int window_bits_gzip_only = 15 + 16;
    SPTRSV_EXPECTS(inflateInit2(&zlib_, window_bits_gzip_only) == Z_OK, sptrsv::errc::out_of_memory,
                   "zlib could not be initialised");
  }
  gzip_stream(const gzip_stream&) = delete;
  gzip_stream& operator=(const gzip_stream&) = delete;
  ~gzip_stream() { inflateEnd(&zlib_); }

  std::size_t read(char* to, std::size_t capacity) {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(capacity);
    while (zlib_.avail_out > 0 && (has_input() || !between_members_)) {
      SPTRSV_EXPECTS(zlib_.avail_in > 0, sptrsv::errc::io_error,
                     name_ + " is cut short: its gzip stream has no end");
      if (between_members_) {
        inflateReset(&zlib_);
      }
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      SPTRSV_EXPECTS(
          result == Z_OK || result == Z_STREAM_END, sptrsv::errc::io_error,
          name_ + " is a corrupt gzip stream: " + (zlib_.msg != nullptr ? zlib_.msg : zError(result)));
      between_members_ = result == Z_STREAM_END;
    }
    return capacity - zlib_.avail_out;
  }

 private:
  bool has_input() {
    if (zlib_.avail_in == 0) {
      zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
      zlib_.avail_in = static_cast<uInt>(compressed_.read(input_.data(), input_.size()));
    }
    return zlib_.avail_in > 0;
  }

  byte_source compressed_;
  std::string name_;
  std::vector<char> input_;
  z_stream zlib_{};
  bool between_members_ = false;  // the input may end only between members
};

#endif

/// Returns the source, or its decompressed text if it starts with the magic bytes of gzip. Throws `error`
/// with errc::unsupported for other archives. `name`: the input in messages.
inline byte_source unpacked(byte_source source, const std::string& name) {
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
  std::string front(5, '\0');
  front.resize(source.read(front.data(), front.size()));
  for (const archive& other : others) {
    SPTRSV_EXPECTS(front.substr(0, other.magic.size()) != other.magic, sptrsv::errc::unsupported,
                   name + " is compressed with " + other.format +
                       ", which is not supported: decompress it with '" + other.command + "' first");
  }
  const bool is_gzip = front.substr(0, 2) == "\x1F\x8B";
  const auto size = source.size;
  byte_source whole{[rest = std::move(source.read), front](char* to, std::size_t capacity) mutable {
                      const std::size_t taken = front.copy(to, capacity);
                      front.erase(0, taken);
                      return taken < capacity ? taken + rest(to + taken, capacity - taken) : taken;
                    },
                    size};
  if (!is_gzip) {
    return whole;
  }
#ifdef SPTRSV_WITH_ZLIB
  const auto stream = std::make_shared<gzip_stream>(std::move(whole), name);
  // Compression divides the size of matrix texts by 3 to 10. A larger factor costs a few reallocations.
  return {[stream](char* to, std::size_t capacity) { return stream->read(to, capacity); },
          size ? std::optional(*size * 10) : std::nullopt};
#else
  throw sptrsv::error(sptrsv::errc::unsupported,
                      name + " is compressed with gzip, which needs a build with zlib");
#endif
}

/// Destination of a text. Both functions throw `error` with errc::io_error.
struct byte_sink {
  std::function<void(std::string_view)> write;  ///< writes a part of the text
  std::function<void()> finish;  ///< writes what is still buffered; called once after the last write
};

/// Returns a sink that writes to a stream.
inline byte_sink sink_of(std::ostream& stream) {
  const auto check = [&stream] {
    SPTRSV_EXPECTS(stream.good(), sptrsv::errc::io_error, "writing to the output stream failed");
  };
  return {[&stream, check](std::string_view text) {
            stream.write(text.data(), static_cast<std::streamsize>(text.size()));
            check();
          },
          [&stream, check] {
            stream.flush();
            check();
          }};
}

#ifdef SPTRSV_WITH_ZLIB

/// Returns a sink that writes to a file and compresses it with gzip.
inline byte_sink gzip_sink(const std::string& path) {
  using gzip_owner = std::unique_ptr<gzFile_s, int (*)(gzFile)>;
  const auto check = [path](bool succeeded, const char* doing) {
    SPTRSV_EXPECTS(succeeded, sptrsv::errc::io_error, std::string(doing) + " '" + path + "' failed");
  };
  const auto file = std::make_shared<gzip_owner>(gzopen(path.c_str(), "wb"), gzclose);
  check(*file != nullptr, "opening");
  return {[file, check](std::string_view text) {
            const auto size = static_cast<unsigned>(text.size());
            check(size == 0 || gzwrite(file->get(), text.data(), size) == static_cast<int>(size), "writing");
          },
          [file, check] { check(gzclose(file->release()) == Z_OK, "closing"); }};
}

#endif

/// Returns a sink for a file, which is compressed if its name ends in .gz. Throws `error` with
/// errc::io_error, or with errc::unsupported if the file is to be compressed and the build has no zlib.
inline byte_sink sink_of(const std::string& path) {
  constexpr std::string_view suffix = ".gz";
  if (path.size() >= suffix.size() && path.substr(path.size() - suffix.size()) == suffix) {
#ifdef SPTRSV_WITH_ZLIB
    return gzip_sink(path);
#else
    throw sptrsv::error(sptrsv::errc::unsupported,
                        "writing '" + path + "' with gzip needs a build with zlib");
#endif
  }
  const auto file = std::make_shared<file_owner>(open_file(path, "wb"));
  return {[file, path](std::string_view text) {
            check_file(std::fwrite(text.data(), 1, text.size(), file->get()) == text.size(), "writing", path);
          },
          [file, path] { check_file(std::fclose(file->release()) == 0, "closing", path); }};
}

}  // namespace sptrsv_common::detail
