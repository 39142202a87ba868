// SPDX-License-Identifier: Apache-2.0
// One question to the control planes of all processes of a domain, from one that need not have an engine: `cat` of a
// counter. See control_links.h.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "cx7/fabric/control_links.h"
#include "cx7/fabric/peer_links.h"
#include "util/clock.h"

namespace marrow::cx7 {
namespace {

std::vector<util::UniqueFd> ask(const std::string& domain, unsigned own, std::span<const std::byte> question) {
  const Rendezvous rendezvous(domain, kControlPurpose);
  std::vector<util::UniqueFd> asked;
  for (unsigned slot = 0; slot < PeerLinks::kSlots; ++slot) {
    util::UniqueFd socket;
    if (slot == own || rendezvous.connect(slot, socket) != Rendezvous::Outcome::kDone) continue;
    const ssize_t sent = ::send(socket.get(), question.data(), question.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(question.size())) asked.push_back(std::move(socket));
  }
  return asked;
}

}  // namespace

void ask_everybody(const std::string& domain, unsigned own, std::span<const std::byte> question,
                   std::chrono::nanoseconds patience, const std::function<void(std::span<const std::byte>)>& hear) {
  auto asked = ask(domain, own, question);
  std::array<std::byte, ControlLinks::kMostBytes> answer;
  for (const auto end = util::now() + patience; !asked.empty();) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - util::now()).count();
    std::vector<pollfd> polled;
    for (const auto& socket : asked) polled.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
    if (left <= 0 || ::poll(polled.data(), polled.size(), static_cast<int>(left)) <= 0) return;
    for (std::size_t k = polled.size(); k-- > 0;) {
      if (polled[k].revents == 0) continue;
      const ssize_t got = ::recv(asked[k].get(), answer.data(), answer.size(), MSG_DONTWAIT);
      if (got > 0) hear({answer.data(), static_cast<std::size_t>(got)});
      asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

}  // namespace marrow::cx7
