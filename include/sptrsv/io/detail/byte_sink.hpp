// SPDX-License-Identifier: Apache-2.0
// Destinations of a text: a stream, a file, or a file that is compressed with gzip.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "sptrsv/error.hpp"
#include "sptrsv/io/detail/byte_source.hpp"

namespace sptrsv::detail {

/// Destination of a text. Both functions throw `error` with errc::io_error.
struct byte_sink {
  std::function<void(std::string_view)> write;  ///< writes a part of the text
  std::function<void()> finish;  ///< writes what is still buffered; called once after the last write
};

/// Returns a sink that writes to a stream.
inline byte_sink sink_of(std::ostream& stream) {
  const auto check = [&stream] {
    SPTRSV_EXPECTS(stream.good(), errc::io_error, "writing to the output stream failed");
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
  struct closer {
    void operator()(gzFile file) const noexcept { gzclose(file); }
  };
  using unique_gzip = std::unique_ptr<gzFile_s, closer>;
  const auto check = [path](bool succeeded, const char* doing) {
    SPTRSV_EXPECTS(succeeded, errc::io_error, std::string(doing) + " '" + path + "' failed");
  };
  const auto file = std::make_shared<unique_gzip>(gzopen(path.c_str(), "wb"));
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
    throw error(errc::unsupported, "writing '" + path + "' with gzip needs a build with zlib");
#endif
  }
  const auto file = std::make_shared<unique_file>(open_file(path, "wb"));
  const auto check = [path](bool succeeded, const char* doing) {
    if (!succeeded) {
      fail_on_file(doing, path);
    }
  };
  return {[file, check](std::string_view text) {
            check(std::fwrite(text.data(), 1, text.size(), file->get()) == text.size(), "writing");
          },
          [file, check] { check(std::fclose(file->release()) == 0, "closing"); }};
}

}  // namespace sptrsv::detail
