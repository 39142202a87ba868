// SPDX-License-Identifier: Apache-2.0
// What every command has in common: lengths, reserved bits, fields that are not modelled.
#include <gtest/gtest.h>

#include "cx7/fw/command_table.h"
#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

class Commands : public Firmware {};

TEST_F(Commands, UnknownOnesAreBadOpcode) {
  for (const std::uint32_t opcode : {0x000u, 0x204u, 0x714u, 0x905u, 0xffffu}) {
    EXPECT_EQ(run(box(static_cast<Command>(opcode), 0x10)), CommandStatus::kBadOpcode) << std::hex << opcode;
  }
  EXPECT_EQ(run(Mailbox(4)), CommandStatus::kBadOpcode) << "too short to hold an opcode";
}

TEST_F(Commands, LengthsAreChecked) {
  for (const auto& command : kCommands) {
    EXPECT_EQ(run(box(command.opcode, command.in_bytes - 4), command.out_bytes), CommandStatus::kBadInputLength)
        << command.name;
    EXPECT_EQ(run(box(command.opcode, command.in_bytes), 0xc), CommandStatus::kBadOutputLength) << command.name;
    auto longer = box(command.opcode, command.in_bytes + 8);
    longer.back() = std::byte{1};
    EXPECT_EQ(run(longer, command.out_bytes), CommandStatus::kBadInputLength) << command.name << ", text behind it";
  }
  EXPECT_EQ(run(box(Command::kQueryHcaCap, 0x10), 4), CommandStatus::kBadOutputLength) << "no room even for the status";
}

// Each bit of each mailbox, one at a time: what no row of the table names must be refused.
TEST_F(Commands, EveryReservedBitIsRefused) {
  for (const auto& command : kCommands) {
    std::vector<std::uint32_t> known(command.in_bytes / 4);
    for (const auto& section : command.sections) {
      for (const auto& rule : section.fields) {
        known[(section.offset + rule.field.dword) / 4] |= rule.field.mask() << rule.field.low;
      }
    }
    for (std::size_t word = 0; word < known.size(); ++word) {
      for (std::uint8_t bit = 0; bit < 32; ++bit) {
        if (known[word] >> bit & 1) continue;
        auto in = box(command.opcode, command.in_bytes);
        prm::set(in.data(), prm::Field{static_cast<std::uint16_t>(word * 4), bit, bit}, 1);
        ASSERT_EQ(run(in, command.out_bytes), CommandStatus::kBadParameter)
            << command.name << " word " << word << " bit " << int{bit};
        ASSERT_EQ(prm::get(out_.data(), prm::out::syndrome), syndrome_of("reserved bits set"));
      }
    }
  }
}

// Fields of real firmware that this one does not model: refused by name, not ignored.
TEST_F(Commands, EveryUnmodelledFieldIsRefused) {
  for (const auto& command : kCommands) {
    for (const auto& section : command.sections) {
      for (const auto& rule : section.fields) {
        if (rule.rule != Rule::kMustBeZero) continue;
        auto in = box(command.opcode, command.in_bytes);
        prm::set(in.data() + section.offset, rule.field, 1);
        EXPECT_EQ(run(in, command.out_bytes), CommandStatus::kBadParameter) << command.name << " " << rule.name;
        EXPECT_EQ(prm::get(out_.data(), prm::out::syndrome), syndrome_of("field not modelled"))
            << command.name << " " << rule.name;
      }
    }
  }
}

// No two rows of a mailbox claim the same bit: a typing error in the table shows here.
TEST_F(Commands, TheTableClaimsEachBitOnce) {
  for (const auto& command : kCommands) {
    std::vector<std::uint32_t> known(command.in_bytes / 4);
    for (const auto& section : command.sections) {
      for (const auto& rule : section.fields) {
        ASSERT_LT(section.offset + rule.field.dword, command.in_bytes) << command.name << " " << rule.name;
        auto& word = known[(section.offset + rule.field.dword) / 4];
        EXPECT_EQ(word & rule.field.mask() << rule.field.low, 0u) << command.name << " " << rule.name;
        word |= rule.field.mask() << rule.field.low;
      }
    }
  }
}

TEST_F(Commands, ARefusalLeavesNothingElseInTheReply) {
  ASSERT_EQ(run(about(Command::kQueryQp, 0x999)), CommandStatus::kBadResource);
  EXPECT_THAT(std::span(out_).subspan(8), testing::Each(std::byte{0}));
}

}  // namespace
}  // namespace marrow::cx7::fw
