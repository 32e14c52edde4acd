// Destinations of a text: a stream, a file, or a file that is compressed with gzip.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>

#include "sptrsv/error.hpp"

#ifdef SPTRSV_WITH_ZLIB
#include <zlib.h>
#endif

namespace sptrsv::detail {

/// Destination of a text.
class byte_sink {
 public:
  byte_sink() = default;
  byte_sink(const byte_sink&) = delete;
  byte_sink& operator=(const byte_sink&) = delete;
  virtual ~byte_sink() = default;

  /// Writes a part of the text. Throws `error` with errc::io_error.
  virtual void write(std::string_view text) = 0;

  /// Writes what is still buffered; called once after the last write. Throws as `write`.
  virtual void finish() = 0;
};

/// Writes to a stream.
class stream_sink final : public byte_sink {
 public:
  explicit stream_sink(std::ostream& stream) : stream_(stream) {}

  void write(std::string_view text) override {
    stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
    check();
  }
  void finish() override {
    stream_.flush();
    check();
  }

 private:
  void check() const {
    SPTRSV_EXPECTS(stream_.good(), errc::io_error, "writing to the output stream failed");
  }

  std::ostream& stream_;
};

/// Writes to a file.
class file_sink final : public byte_sink {
 public:
  explicit file_sink(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    check(file_ != nullptr, "opening");
  }

  void write(std::string_view text) override {
    check(std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size(), "writing");
  }
  void finish() override { check(std::fclose(file_.release()) == 0, "closing"); }

 private:
  void check(bool succeeded, const char* doing) const {
    if (!succeeded) {
      throw error(errc::io_error,
                  std::string(doing) + " '" + path_ + "' failed: " + std::generic_category().message(errno));
    }
  }

  struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
};

#ifdef SPTRSV_WITH_ZLIB

/// Writes to a file that is compressed with gzip.
class gzip_sink final : public byte_sink {
 public:
  explicit gzip_sink(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "wb")) {
    check(file_ != nullptr, "opening");
  }

  void write(std::string_view text) override {
    const auto size = static_cast<unsigned>(text.size());
    check(size == 0 || gzwrite(file_.get(), text.data(), size) == static_cast<int>(size), "writing");
  }
  void finish() override { check(gzclose(file_.release()) == Z_OK, "closing"); }

 private:
  void check(bool succeeded, const char* doing) const {
    SPTRSV_EXPECTS(succeeded, errc::io_error, std::string(doing) + " '" + path_ + "' failed");
  }

  struct closer {
    void operator()(gzFile file) const noexcept { gzclose(file); }
  };

  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
};

#endif

/// Returns a sink for a file, which is compressed if its name ends in .gz. Throws `error` with
/// errc::io_error, or with errc::unsupported if the file is to be compressed and the build has no zlib.
inline std::unique_ptr<byte_sink> open_sink(const std::string& path) {
  constexpr std::string_view suffix = ".gz";
  const bool compress =
      path.size() >= suffix.size() && path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
  if (!compress) {
    return std::make_unique<file_sink>(path);
  }
#ifdef SPTRSV_WITH_ZLIB
  return std::make_unique<gzip_sink>(path);
#else
  throw error(errc::unsupported, "writing '" + path + "' with gzip needs a build with zlib");
#endif
}

}  // namespace sptrsv::detail
