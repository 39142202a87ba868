// SPDX-License-Identifier: Apache-2.0
// See peer_links.h.
#include "cx7/fabric/peer_links.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kRetryPause{10};
constexpr milliseconds kIntroductionTimeout{1000};
constexpr int kMostWakeUpsAtOnce = 64;
constexpr std::size_t kFixed = 5;  // descriptors that are always polled

/// Takes wake-up bytes off a socket. Returns false when the peer has hung up.
bool drain(int socket) {
  std::array<char, 16> bytes;
  for (int i = 0; i < kMostWakeUpsAtOnce; ++i) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
  }
  return true;
}

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = static_cast<time_t>(seconds.count()), .tv_nsec = static_cast<long>((time - seconds).count())};
}

util::UniqueFd make_eventfd() {
  util::UniqueFd fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!fd) throw util::system_error("eventfd of the software NIC", errno);
  return fd;
}

}  // namespace

PeerLinks::PeerLinks(std::string domain)
    : rendezvous_(std::move(domain)), slot_(rendezvous_.claim(kSlots)), interrupt_(make_eventfd()), now_(util::now()) {}

PeerLinks::Opened PeerLinks::open(unsigned slot, OutgoingLink*& link) {
  link = outgoing_[slot].get();
  if (link != nullptr) return Opened::kYes;
  if (now_ < retry_at_[slot]) return Opened::kNobody;
  util::UniqueFd ring_fd;
  util::UniqueFd socket;
  auto memory = RingMemory::make_shared(ring_fd);
  const auto outcome = memory ? rendezvous_.connect(slot, ring_fd.get(), socket) : Rendezvous::Outcome::kNobody;
  if (outcome == Rendezvous::Outcome::kBusy) return Opened::kBusy;
  if (outcome == Rendezvous::Outcome::kNobody) {
    lose(slot);
    return Opened::kNobody;
  }
  const RingView view = memory->view();
  outgoing_[slot].reset(new OutgoingLink{std::move(*memory), RingProducer(view), std::move(socket)});
  open_slots_.push_back(slot);
  link = outgoing_[slot].get();
  return Opened::kYes;
}

void PeerLinks::lose(unsigned slot) {
  outgoing_[slot].reset();
  std::erase(open_slots_, slot);
  std::erase(unannounced_, slot);
  retry_at_[slot] = now_ + kRetryPause;
}

void PeerLinks::commit(unsigned slot) {
  if (!outgoing_[slot]) return;  // died since the reservation
  OutgoingLink& link = *outgoing_[slot];
  link.ring.commit();
  if (!std::exchange(link.unannounced, true)) unannounced_.push_back(slot);
}

void PeerLinks::wake_peers() {
  for (const unsigned slot : unannounced_) {
    OutgoingLink& link = *outgoing_[slot];
    link.unannounced = false;
    // A failure needs no care here: a full buffer holds wake-ups already, and a dead peer shows in attend().
    if (link.ring.must_wake()) (void)!::send(link.socket.get(), "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  unannounced_.clear();
}

void PeerLinks::interrupt() {
  const std::uint64_t one = 1;
  (void)!::write(interrupt_.get(), &one, sizeof one);
}

/// Order of polled_: the interrupt, the watched descriptors, the listener, newcomers, incoming, outgoing (as
/// open_slots_).
void PeerLinks::collect() {
  polled_.clear();
  polled_.push_back({.fd = interrupt_.get(), .events = POLLIN, .revents = 0});
  polled_.push_back({.fd = watched_, .events = POLLIN, .revents = 0});  // poll() passes over -1
  polled_.push_back({.fd = control_, .events = POLLIN, .revents = 0});
  polled_.push_back({.fd = network_, .events = POLLIN, .revents = 0});
  polled_.push_back({.fd = rendezvous_.listener(), .events = POLLIN, .revents = 0});
  for (const auto& newcomer : newcomers_) {
    polled_.push_back({.fd = newcomer.socket.get(), .events = POLLIN, .revents = 0});
  }
  for (const auto& link : incoming_) polled_.push_back({.fd = link->socket.get(), .events = POLLIN, .revents = 0});
  for (const unsigned slot : open_slots_) {
    polled_.push_back({.fd = outgoing_[slot]->socket.get(), .events = 0, .revents = 0});
  }
}

bool PeerLinks::attend(std::chrono::nanoseconds most) {
  collect();
  const timespec timeout = to_timespec(std::max(most, std::chrono::nanoseconds{0}));
  const int events = ::ppoll(polled_.data(), polled_.size(), &timeout, nullptr);
  now_ = util::now();
  bool changed = false;
  if (events > 0) {
    std::uint64_t ignored;
    if (polled_[0].revents != 0) (void)!::read(interrupt_.get(), &ignored, sizeof ignored);
    const pollfd* const incoming = polled_.data() + kFixed + newcomers_.size();
    look_after_incoming(incoming);
    look_after_outgoing(incoming + incoming_.size());
    changed = welcome();
  } else if (!newcomers_.empty()) {
    changed = welcome();
  }
  return sweep() || changed;
}

void PeerLinks::look_after_incoming(const pollfd* polled) {
  for (const auto& link : incoming_) {
    const pollfd& state = *polled++;
    if (state.revents != 0 && !drain(link->socket.get())) link->hung_up = true;
  }
}

void PeerLinks::look_after_outgoing(const pollfd* polled) {
  for (const unsigned slot : std::vector(open_slots_)) {  // a copy: lose() changes it
    const pollfd& state = *polled++;
    if (state.revents != 0) lose(slot);
  }
}

bool PeerLinks::welcome() {
  while (util::UniqueFd socket = rendezvous_.accept()) newcomers_.push_back({std::move(socket), now_});
  return std::erase_if(newcomers_, [this](Newcomer& newcomer) { return introduce(newcomer); }) != 0;
}

/// True when the newcomer is dealt with: it has become a link, or it was turned away.
bool PeerLinks::introduce(Newcomer& newcomer) {
  Introduction said = read_introduction(newcomer.socket.get());
  if (said.state == Introduction::State::kNotYet) return now_ - newcomer.since > kIntroductionTimeout;
  const bool sound = said.state == Introduction::State::kSound && said.slot < kSlots;
  auto memory = sound ? RingMemory::map_shared(said.ring_fd.get()) : std::nullopt;
  if (!memory) {
    util::log::once("fabric introduction", "refused a link: the process that asked speaks another version");
    return true;
  }
  const RingView view = memory->view();
  incoming_.emplace_back(
      new IncomingLink{said.slot, std::move(*memory), RingConsumer(view), std::move(newcomer.socket)});
  return true;
}

/// Drops links that are corrupt, and those of dead peers once everything that had arrived is delivered.
bool PeerLinks::sweep() {
  const auto finished = [](const std::unique_ptr<IncomingLink>& link) {
    const bool empty = link->ring.peek() == nullptr;
    if (link->ring.corrupt()) {
      util::log::once("fabric corrupt ring", "closed the link from slot {}: what it wrote is no packet", link->slot);
      return true;
    }
    return link->hung_up && empty;
  };
  return std::erase_if(incoming_, finished) != 0;
}

}  // namespace marrow::cx7
