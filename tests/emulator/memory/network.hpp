// Messages between devices: puts that were issued and have not arrived yet, as NVSHMEM defines them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/memory/store_buffer.hpp"
#include "emulator/random.hpp"

namespace sptrsv::emulator {

/// A put to another device: its words arrive in any order, its signal after all of them.
struct put_message {
  int to_device = 0;
  std::uint64_t epoch = 0;  // number of fences of the thread before it
  version_writer from{};
  std::vector<pending_store> words;
  bool has_signal = false;
  pending_store signal{};

  [[nodiscard]] bool is_from(const version_writer& thread) const {
    return from.launch == thread.launch && from.block == thread.block && from.thread == thread.thread;
  }
};

/// The messages that have not arrived. Those of one thread to one device are ordered by the thread's fences;
/// no others are.
class network {
 public:
  [[nodiscard]] std::size_t size() const { return messages_.size(); }

  void send(put_message message) {
    if (!message.words.empty() || message.has_signal) {
      messages_.push_back(std::move(message));
    }
  }

  /// Lets one word or signal of a message arrive: of message `i` or of one that comes before it.
  template <class Commit>
  void deliver_one(std::size_t i, random_source& random, const Commit& commit) {
    for (std::size_t other = 0; other < messages_.size(); ++other) {
      if (messages_[other].is_from(messages_[i].from) &&
          messages_[other].to_device == messages_[i].to_device &&
          messages_[other].epoch < messages_[i].epoch) {
        i = other;
      }
    }
    put_message& message = messages_[i];
    if (!message.words.empty()) {
      std::swap(message.words[random.below(message.words.size())], message.words.back());
      const pending_store word = message.words.back();
      message.words.pop_back();
      commit(word);
    } else {
      message.has_signal = false;
      commit(message.signal);
    }
    if (message.words.empty() && !message.has_signal) {
      messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// Lets all messages of a thread arrive.
  template <class Commit>
  void deliver_all(const version_writer& from, random_source& random, const Commit& commit) {
    const auto next = [&] {
      return std::find_if(messages_.begin(), messages_.end(),
                          [&](const put_message& m) { return m.is_from(from); });
    };
    for (auto m = next(); m != messages_.end(); m = next()) {
      deliver_one(static_cast<std::size_t>(m - messages_.begin()), random, commit);
    }
  }

 private:
  std::vector<put_message> messages_;
};

}  // namespace sptrsv::emulator
