// SPDX-License-Identifier: Apache-2.0
// Event channels: what the application reads, and what destroying a CQ tells it to wait for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "cx7/abi/channel.h"
#include "cx7/abi/nic.h"
#include "util/fd.h"

namespace marrow::cx7 {
namespace {

bool is_readable(int fd) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, 0) == 1;
}

std::uint64_t read_event(int fd) {
  ib_uverbs_comp_event_desc event{};
  EXPECT_EQ(::read(fd, &event, sizeof event), static_cast<ssize_t>(sizeof event));
  return event.cq_handle;
}

class Events : public testing::Test {
 protected:
  void SetUp() override {
    channel_.reset(nic_.comp_channel());
    ASSERT_TRUE(channel_);
    request_ = nic_.good_cq();
    request_.channel = channel_.get();
  }
  [[nodiscard]] Cq& device_cq(const Made& made) { return *nic_.engine->device(0).cqs.find(made.number); }
  void fire(const Made& made) { device_cq(made).events->completion_event(device_cq(made)); }

  Nic nic_;
  util::UniqueFd channel_;
  CqRequest request_;
};

TEST_F(Events, ACompletionEventNamesItsCq) {
  const auto cq = nic_.create_cq(request_);
  ASSERT_EQ(cq.result, 0);
  EXPECT_TRUE(device_cq(cq).has_channel);
  EXPECT_FALSE(is_readable(channel_.get()));
  fire(cq);
  EXPECT_EQ(read_event(channel_.get()), 0xc0c0u);
  EXPECT_FALSE(is_readable(channel_.get()));
}

// ibv_destroy_cq waits until the application has acknowledged what it has read, and only that.
TEST_F(Events, DestroyReportsWhatWasReadAndRemovesTheRest) {
  const auto first = nic_.create_cq(request_);
  const auto second = nic_.create_cq(request_);
  device_cq(second).user_handle = 0x5ec0;
  fire(first);
  fire(second);
  fire(first);
  EXPECT_EQ(read_event(channel_.get()), 0xc0c0u);
  ib_uverbs_destroy_cq_resp reported{};
  ASSERT_EQ(nic_.destroy_cq(first.handle, &reported), 0);
  EXPECT_EQ(reported.comp_events_reported, 1u);
  EXPECT_EQ(reported.async_events_reported, 0u);
  EXPECT_EQ(read_event(channel_.get()), 0x5ec0u) << "the other CQ's event must survive";
  EXPECT_FALSE(is_readable(channel_.get()));
}

// The reader's end is an ordinary blocking descriptor that does not leak into children.
TEST_F(Events, TheDescriptorBlocksAndClosesOnExec) {
  EXPECT_EQ(::fcntl(channel_.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(channel_.get(), F_GETFD) & FD_CLOEXEC, 0);
}

// The application may close the channel before the CQ: no SIGPIPE, no block.
TEST_F(Events, AClosedChannelSwallowsEvents) {
  const auto cq = nic_.create_cq(request_);
  channel_.reset();
  fire(cq);
  ib_uverbs_destroy_cq_resp reported{};
  ASSERT_EQ(nic_.destroy_cq(cq.handle, &reported), 0);
  EXPECT_EQ(reported.comp_events_reported, 0u);
}

TEST_F(Events, AFullChannelLosesEventsInsteadOfBlocking) {
  const auto cq = nic_.create_cq(request_);
  for (int i = 0; i < 100000; ++i) fire(cq);
  ib_uverbs_destroy_cq_resp reported{};
  ASSERT_EQ(nic_.destroy_cq(cq.handle, &reported), 0);
  EXPECT_EQ(reported.comp_events_reported, 0u);
}

TEST_F(Events, ADuplicatedDescriptorIsTheSameChannel) {
  const util::UniqueFd copy(::dup(channel_.get()));
  request_.channel = copy.get();
  const auto cq = nic_.create_cq(request_);
  ASSERT_EQ(cq.result, 0);
  fire(cq);
  EXPECT_EQ(read_event(channel_.get()), 0xc0c0u);
}

TEST_F(Events, AnotherFilesChannelIsRefused) {
  auto first = std::make_unique<File>(*nic_.engine, 0, nic_.pages);
  first.swap(nic_.file);
  ASSERT_EQ(nic_.get_context(), 0);
  const auto uar = nic_.alloc_uar();
  request_.own.uar_page_index = static_cast<std::uint16_t>(uar.number);
  EXPECT_EQ(nic_.create_cq(request_).result, -EBADF);
}

TEST_F(Events, AsynchronousEventsNameTheirObject) {
  const util::UniqueFd async(nic_.async_events());
  ASSERT_TRUE(async);
  const auto made = nic_.create_qp(nic_.good_qp());
  Qp* const qp = nic_.engine->device(0).qps.find(made.number);
  qp->config.events->async_event(AsyncEvent::kQpFatal);
  ib_uverbs_async_event_desc event{};
  ASSERT_EQ(::read(async.get(), &event, sizeof event), static_cast<ssize_t>(sizeof event));
  EXPECT_EQ(event.element, 0x4040u);
  EXPECT_EQ(event.event_type, 1u);  // IBV_EVENT_QP_FATAL

  const auto cq = nic_.create_cq(nic_.good_cq());
  device_cq(cq).events->async_event(AsyncEvent::kCqError);
  ASSERT_EQ(::read(async.get(), &event, sizeof event), static_cast<ssize_t>(sizeof event));
  EXPECT_EQ(event.element, 0xc0c0u);
  EXPECT_EQ(event.event_type, 0u);  // IBV_EVENT_CQ_ERR
  ib_uverbs_destroy_cq_resp reported{};
  ASSERT_EQ(nic_.destroy_cq(cq.handle, &reported), 0);
  EXPECT_EQ(reported.async_events_reported, 1u);
}

// Channels that were closed do not pile up.
TEST_F(Events, ClosedChannelsAreForgotten) {
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 500; ++i) {
    const util::UniqueFd channel(nic_.comp_channel());
    ASSERT_TRUE(channel);
  }
  const int after = ::dup(0);
  ::close(after);
  EXPECT_LE(after, before + 4);
}

}  // namespace
}  // namespace marrow::cx7
