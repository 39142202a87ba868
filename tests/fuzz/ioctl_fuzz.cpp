// SPDX-License-Identifier: Apache-2.0
// The kernel's side of uverbs as an application that means no good sees it: any method with any attributes, the older
// write commands, pointers that lead nowhere, objects in any order, doorbell pages at any offset, and whatever bytes
// stand in the queues. No input may crash, hang, touch other memory than the application's, or leave anything behind.
#include "fuzz/caller.h"

namespace marrow::cx7 {
namespace {

class World : public Caller {
 public:
  using Caller::Caller;

  void step(Input& input) {
    input_ = &input;
    switch (input.word<std::uint8_t>() % 20) {
      case 0:
        return static_cast<void>(alloc_pd());
      case 1:
        return static_cast<void>(alloc_uar());
      case 2:
        return static_cast<void>(create_cq());
      case 3:
        return static_cast<void>(create_qp(input.word<std::uint8_t>()));
      case 4:
        return static_cast<void>(modify_qp(1 + input.word<std::uint8_t>() % 6));
      case 5:
        return static_cast<void>(reg_mr());
      case 6:
        return static_cast<void>(create_srq());
      case 7:
        return static_cast<void>(reg_umem());
      case 8:
        return create_devx();
      case 9:
        return through_devx();
      case 10:
        return destroy();
      case 11:
      case 12:
        return any_method();
      case 13:
      case 14:
        return any_write();
      case 15:
        return any_bytes();
      case 16:
        return bring_up();
      case 17:
        return change_memory();
      case 18:
        return map_page();
      default:
        return ring();
    }
  }

 private:
  void destroy() {
    struct Way {
      unsigned object, method, handle, reply;
      std::uint32_t World::*made;
    };
    static constexpr std::array<Way, 8> kWays{{
        {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, 0, &World::pd_},
        {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, &World::mr_},
        {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_ATTR_DESTROY_CQ_RESP,
         &World::cq_},
        {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_ATTR_DESTROY_QP_RESP,
         &World::qp_},
        {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, UVERBS_ATTR_DESTROY_SRQ_HANDLE, UVERBS_ATTR_DESTROY_SRQ_RESP,
         &World::srq_},
        {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 0, &World::uar_},
        {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, 0,
         &World::umem_},
        {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 0,
         &World::devx_},
    }};
    const Way& way = kWays[input_->word<std::uint8_t>() % kWays.size()];
    Call call(way.object, way.method);
    call.word(way.handle, this->*way.made);
    if (way.reply != 0) call.out(way.reply, 8);
    static_cast<void>(ask(call));
  }

  void add_attribute(Call& call, const abi::AttrSpec& spec) {
    const unsigned more = input_->word<std::uint8_t>();
    if (spec.need == abi::Need::kOptional && (more & 1) != 0) return;
    const auto bytes = static_cast<std::size_t>(spec.min_bytes) + (more >> 6) * 4u;
    std::array<std::byte, 1024> content{};
    switch (spec.type) {
      case abi::AttrType::kIn:
        input_->fill(std::span(content).first(std::min(bytes, content.size())));
        call.in_bytes(spec.id, std::span(content).first(std::min(bytes, content.size())));
        return;
      case abi::AttrType::kOut:
        call.out(spec.id, bytes);
        return;
      default:
        call.word(spec.id, input_->word<std::uint8_t>() % 32);
    }
  }
  void any_method() {
    const auto& method = abi::table::kMethods[input_->word<std::uint8_t>() % std::size(abi::table::kMethods)];
    Call call(method.object, method.method);
    for (const auto& spec : method.attrs) add_attribute(call, spec);
    static_cast<void>(ask(call));
  }

  void any_write() {
    const auto& row = abi::table::kWrites[input_->word<std::uint8_t>() % std::size(abi::table::kWrites)];
    std::array<std::byte, 256> core{};
    const auto shape = input_->word<std::uint8_t>();
    const auto core_bytes = std::min<std::size_t>(row.in_bytes + (shape & 3) * 4u, core.size());
    input_->fill(std::span(core).first(core_bytes));
    Call call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
    call.in(UVERBS_ATTR_WRITE_CMD, std::uint64_t{row.command});
    call.in_bytes(UVERBS_ATTR_CORE_IN, std::span(core).first(core_bytes));
    const auto* const answer = call.out(UVERBS_ATTR_CORE_OUT, row.out_bytes + (shape >> 6) * 4u);
    if ((shape & 0x10) != 0) {
      std::array<std::byte, 64> own{};
      input_->fill(own);
      call.in_bytes(UVERBS_ATTR_UHW_IN, std::span(own).first((shape >> 2 & 3) * 16 + 16));
    }
    if ((shape & 0x20) != 0) call.out(UVERBS_ATTR_UHW_OUT, 64);
    if (ask(call) == 0 && row.run == abi::open_xrcd) xrcd_ = read_back<std::uint32_t>(answer);
  }

  /// Header and attributes as they come.
  void any_bytes() {
    const std::size_t bytes = sizeof(ib_uverbs_ioctl_hdr) + (input_->word<std::uint8_t>() % 8) * sizeof(ib_uverbs_attr);
    input_->fill({reinterpret_cast<std::byte*>(&Call::header()), bytes});
    if ((input_->word<std::uint8_t>() & 1) != 0) Call::header().length = static_cast<std::uint16_t>(bytes);
    static_cast<void>(ask());
  }

  /// After whatever came before, an application that asks soundly gets what it asks for.
  void bring_up() {
    well_meant_ = true;
    const bool fresh = alloc_pd() == 0 && alloc_uar() == 0;
    if (fresh && !protected_) {
      require(create_cq() == 0 && create_qp(0) == 0 && reg_mr() == 0);
      require(modify_qp(1) == 0 && modify_qp(2) == 0 && modify_qp(3) == 0);
    }
    well_meant_ = false;
  }

  void change_memory() {
    const auto what = input_->word<std::uint8_t>();
    if ((what & 1) != 0) {
      other_.swap(file_);
      if (!file_) {
        file_ = open(*input_);
        get_context();
      }
      return;
    }
    protected_ = true;
    Application::protect(input_->word<std::uint8_t>() % (Application::kBytes / Application::kPage),
                         (what & 2) != 0 ? PROT_NONE : PROT_READ);
  }

  /// A doorbell page by any offset: the application's own, a page that nobody has, or nonsense.
  void map_page() {
    const auto how = input_->word<std::uint8_t>();
    const std::uint64_t offset = (how & 1) != 0   ? std::uint64_t{uar_page_} * wire::kUarBytes
                                 : (how & 2) != 0 ? std::uint64_t{input_->word<std::uint8_t>()} * wire::kUarBytes
                                                  : input_->word<std::uint64_t>();
    const std::size_t bytes = (how & 4) != 0 ? input_->word<std::uint16_t>() : wire::kUarBytes;
    void* const at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, nic().memfd, static_cast<off_t>(offset));
    if (at == MAP_FAILED) return;
    if (offset < kDeviceBytes) {
      const auto word = (how & 8) != 0 ? input_->word<std::uint64_t>() : wire::doorbell_word(qpn_, posted_);
      const auto where = wire::kUarBlueFlame + (how >> 4) % wire::kUarDoorbells * wire::kUarDoorbellStride;
      std::memcpy(static_cast<std::byte*>(at) + where, &word, sizeof word);
    }
    ::munmap(at, bytes);
    work();
  }

  void put(const Qp& qp, std::uint32_t index) {
    std::array<std::byte, wire::kWqebbBytes> wqe{};
    input_->fill(wqe);
    const unsigned how = input_->word<std::uint8_t>();
    const auto opcode = static_cast<wire::Opcode>(how & 0x1f);
    const auto place = [this] { return address(Application::kPayload) + input_->word<std::uint16_t>() % 0x3100; };
    if ((how & 0x20) == 0) {
      const auto ctrl = wire::ctrl_segment({qpn_, index, wire::Completion::kAlways}, opcode, 2 + (how >> 6));
      const auto remote = wire::remote_segment({place(), key_});
      const auto data = wire::data_segment({place(), key_}, input_->word<std::uint16_t>());
      std::memcpy(wqe.data(), &ctrl, sizeof ctrl);
      std::memcpy(wqe.data() + wire::kDsBytes, &remote, sizeof remote);
      std::memcpy(wqe.data() + 2 * wire::kDsBytes, &data, sizeof data);
    }
    static_cast<void>(dma::copy(qp.config.sq.at(index), wqe.data(), wqe.size()));
    if (qp.config.rq.entries == 0) return;
    const auto receive = wire::data_segment({place(), key_}, input_->word<std::uint16_t>());
    static_cast<void>(dma::copy(qp.config.rq.at(index), &receive, sizeof receive));
    static_cast<void>(dma::store32(&qp.config.dbrec->receive, wire::dbrec_value(index + 1).raw));
  }

  /// Some WQEs, a record, a doorbell, and the engine's time to work on them.
  void ring() {
    const Qp* const qp = device().qps.find(qpn_);
    if (qp == nullptr || qp->config.sq.wqebbs == 0) return;
    const auto more = input_->word<std::uint8_t>() % 8u;
    for (std::uint32_t k = 0; k < more; ++k) put(*qp, posted_ + k);
    posted_ += input_->word<std::uint8_t>() % 16 == 0 ? input_->word<std::uint8_t>() : more;
    static_cast<void>(dma::store32(&qp->config.dbrec->send, wire::dbrec_value(posted_).raw));
    const Uar* const uar = engine().find_uar(device(), qp->config.uar_page);
    if (uar == nullptr) return;
    const std::uint64_t word = wire::doorbell_word(qpn_, posted_);
    std::memcpy(uar->registers + wire::kUarBlueFlame, &word, sizeof word);
    work();
  }
  static void work() {
    for (int k = 0; k < kStepsOfARing; ++k) engine().step(nic().now += std::chrono::milliseconds(1));
  }
};

}  // namespace

/// Of the hooks, which are not here: open_device.cpp alone is linked.
void die_without_next(const char*) {
  std::abort();
}

}  // namespace marrow::cx7

/// Memory that is not the application's counts as not mapped: is_mapped() of the device asks here.
extern "C" int mincore(void* from, std::size_t bytes, unsigned char*) noexcept {
  if (marrow::fuzz::Application::has(reinterpret_cast<std::uintptr_t>(from), bytes)) return 0;
  errno = ENOMEM;
  return -1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(marrow::cx7::nic());
  marrow::fuzz::Input input(data, size);
  marrow::cx7::World world(input);
  for (int k = 0; k < marrow::cx7::kMostSteps && !input.empty(); ++k) world.step(input);
  return 0;
}
