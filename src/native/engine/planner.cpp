// Netlist -> Program, stage by stage. Within a stage gates are sorted by kind, so that one loop runs many of them, and
// by operand slot, so that one operand streams. Three things keep wires out of memory: a gate that is read once is
// computed inside its reader (a pair), a gate that only feeds an output goes straight into the counting adders, and
// slots come from a last-in first-out list, so that a result lands in a line that was just read. An output that a group
// has m times is counted once for each digit of m.
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "engine/netlist.hpp"
#include "engine/pairs.hpp"
#include "engine/program.hpp"
#include "engine/schedule.hpp"

namespace gatewise {
namespace {

constexpr uint32_t kZeroSlot = 0;
// Outputs of one tally that may wait in slots until they are counted together; whole chunks.
constexpr size_t kMostWaiting = 8 * kCountChunk;

struct Sorted {
  std::vector<uint32_t> items, ptr;  // bucket k is items[ptr[k]:ptr[k + 1]]
};

// Stable counting sort of 0 .. keys.size() - 1 by key; kNone is left out.
Sorted bucket_by(const std::vector<uint32_t>& keys, uint32_t n_buckets) {
  Sorted sorted{{}, std::vector<uint32_t>(n_buckets + 1)};
  for (const uint32_t key : keys)
    if (key != kNone) ++sorted.ptr[key + 1];
  for (uint32_t k = 0; k < n_buckets; ++k) sorted.ptr[k + 1] += sorted.ptr[k];
  sorted.items.resize(sorted.ptr.back());
  std::vector<uint32_t> next(sorted.ptr.begin(), sorted.ptr.end() - 1);
  for (uint32_t i = 0; i < keys.size(); ++i)
    if (keys[i] != kNone) sorted.items[next[keys[i]]++] = i;
  return sorted;
}

class Planner {
 public:
  Planner(const CircuitView& circuit, Outputs mode, uint32_t band)
      : circuit_(circuit),
        keeps_(mode == Outputs::kKept),
        net_(lower(circuit)),
        operations_(net_),
        schedule_(make_schedule(net_, operations_, band)) {}

  Program run() {
    find_outputs();
    sort_by_stage();
    place_inputs();
    for (uint32_t stage = 0; stage < schedule_.n_stages; ++stage) plan_stage(stage);
    for (uint32_t tally = 0; tally < tallies_.size(); ++tally) plan_count(tally);
    finish();
    return std::move(program_);
  }

 private:
  struct Tally {  // what is counted together: outputs of a group, times 2^digit
    uint32_t group, digit;
  };
  struct OutputRef {
    uint32_t node, tally;
  };
  using Keyed = std::pair<uint64_t, uint32_t>;  // sort key, node

  const Netlist::Gate& gate_at(uint32_t node) const { return net_.gates[node - net_.first_gate]; }

  // Constant outputs become the group's bias; gates that are only counted, once, are sinks; the rest are references.
  void find_outputs() {
    program_.bias.assign(circuit_.n_groups, 0);
    sink_tally_.assign(net_.n_nodes(), kNone);
    program_.n_planes = kChunkDigits;
    std::vector<uint32_t> multiplicity(net_.n_nodes());
    for (uint32_t group = 0; group < circuit_.n_groups; ++group) {
      const uint32_t size = static_cast<uint32_t>(circuit_.group_ptr[group + 1] - circuit_.group_ptr[group]);
      program_.n_planes = std::max<uint32_t>(program_.n_planes, std::bit_width(size));
      if (!keeps_) find_tallies(group, {net_.outputs.data() + circuit_.group_ptr[group], size}, multiplicity);
    }
    waiting_.resize(tallies_.size());
    std::erase_if(refs_, [&](const OutputRef& ref) {
      const bool is_sink = ref.node >= net_.first_gate && net_.n_reads[ref.node] == 1;
      if (is_sink) sink_tally_[ref.node] = ref.tally;
      return is_sink;
    });
  }

  // `multiplicity` is 0 for all nodes, before and after.
  void find_tallies(uint32_t group, std::span<const uint32_t> outputs, std::vector<uint32_t>& multiplicity) {
    for (const uint32_t node : outputs) ++multiplicity[node];
    program_.bias[group] = multiplicity[1];
    multiplicity[0] = multiplicity[1] = 0;
    std::vector<uint32_t> tally_of(32, kNone);  // by digit
    for (const uint32_t node : outputs) {
      const uint32_t m = std::exchange(multiplicity[node], 0);
      if (m > 0) net_.n_reads[node] -= m - static_cast<uint32_t>(std::popcount(m));
      for (uint32_t digit = 0; m >> digit > 0; ++digit) {
        if (!(m >> digit & 1)) continue;
        if (tally_of[digit] == kNone) {
          tally_of[digit] = static_cast<uint32_t>(tallies_.size());
          tallies_.push_back({group, digit});
          program_.n_planes = std::max(program_.n_planes, digit + kChunkDigits);
        }
        refs_.push_back({node, tally_of[digit]});
      }
    }
  }

  void sort_by_stage() {
    by_stage_ = bucket_by(schedule_.stage, schedule_.n_stages);
    std::vector<uint32_t> ref_stage;
    for (const OutputRef& ref : refs_) ref_stage.push_back(schedule_.stage[ref.node]);
    refs_by_stage_ = bucket_by(ref_stage, schedule_.n_stages);
  }

  // Inputs are there from the start, or come when their band does.
  void place_inputs() {
    slot_.resize(net_.n_nodes());
    program_.loads_inputs = schedule_.is_banded;
    program_.n_slots = schedule_.is_banded ? kConstantWires : net_.first_gate;
    for (uint32_t node = 0; node < program_.n_slots; ++node) slot_[node] = node;
    for (uint32_t node = program_.n_slots; node-- > kConstantWires;)
      if (net_.n_reads[node] == 0) free_.push_back(node);
  }

  void plan_stage(uint32_t stage) {
    std::vector<Keyed> stored, sinks;
    std::vector<uint32_t> inputs;
    for (uint32_t i = by_stage_.ptr[stage]; i < by_stage_.ptr[stage + 1]; ++i) {
      const uint32_t node = by_stage_.items[i];
      if (node < net_.first_gate) {
        inputs.push_back(node);
        continue;
      }
      const uint64_t tally = sink_tally_[node];
      const uint64_t kind = operations_.at(node).kind;
      if (tally == kNone) {
        stored.push_back({kind << 32 | first_slot(node), node});
      } else {
        sinks.push_back({tally << 36 | kind << 32 | first_slot(node), node});
      }
    }
    if (program_.loads_inputs) plan_loads(inputs);
    plan_sinks(sinks, stored);
    plan_gates(stored);
    for (uint32_t i = refs_by_stage_.ptr[stage]; i < refs_by_stage_.ptr[stage + 1]; ++i) {
      const OutputRef& ref = refs_[refs_by_stage_.items[i]];
      wait(ref.node, ref.tally);
    }
    for (const auto& [_, node] : stored)
      if (sink_tally_[node] != kNone) wait(node, sink_tally_[node]);
  }

  void plan_loads(const std::vector<uint32_t>& nodes) {
    if (!nodes.empty()) program_.steps.push_back({kLoad, static_cast<uint32_t>(nodes.size()), 0, 0});
    for (const uint32_t node : nodes) {
      program_.code32.push_back(slot_[node] = take_slot());
      program_.inputs.push_back(node - kConstantWires);
    }
  }

  uint32_t first_slot(uint32_t node) const {
    uint32_t slot = kNone;
    for (const uint32_t operand : operations_.at(node)) slot = std::min(slot, slot_[operand]);
    return slot;
  }

  // Count whole chunks of sinks of one tally and kind; what is left over is stored like any gate.
  void plan_sinks(std::vector<Keyed>& sinks, std::vector<Keyed>& stored) {
    std::sort(sinks.begin(), sinks.end());
    for (size_t begin = 0, end = 0; begin < sinks.size(); begin = end) {
      const uint64_t run = sinks[begin].first >> 32;
      while (end < sinks.size() && sinks[end].first >> 32 == run) ++end;
      const size_t chunks_end = end - (end - begin) % kCountChunk;
      const uint32_t kind = run & (kNumGates - 1), count = static_cast<uint32_t>(chunks_end - begin);
      const Tally tally = tallies_[run >> 4];
      if (count > 0) program_.steps.push_back({kCount + kind, count, tally.group, tally.digit});
      for (size_t i = begin; i < chunks_end; ++i) {
        const Netlist::Gate& gate = gate_at(sinks[i].second);
        program_.code32.insert(program_.code32.end(), {slot_[gate.a], slot_[gate.b]});
        release(gate.a);
        release(gate.b);
      }
      for (size_t i = chunks_end; i < end; ++i)
        stored.push_back({sinks[i].first & ((1ull << 36) - 1), sinks[i].second});
    }
  }

  void plan_gates(std::vector<Keyed>& nodes) {
    std::sort(nodes.begin(), nodes.end());
    uint32_t kind = kNone;
    for (const auto& [_, node] : nodes) {
      const Operation operation = operations_.at(node);
      if (operation.kind != kind) program_.steps.push_back({kind = operation.kind, 0, 0, 0});
      ++program_.steps.back().count;
      const size_t at = program_.code32.size();
      program_.code32.push_back(0);
      for (const uint32_t operand : operation) program_.code32.push_back(slot_[operand]);
      for (const uint32_t operand : operation) release(operand);
      program_.code32[at] = slot_[node] = take_slot();
    }
  }

  void wait(uint32_t node, uint32_t tally) {
    waiting_[tally].push_back(node);
    if (waiting_[tally].size() == kMostWaiting) plan_count(tally);
  }

  // Add what waits for `tally` to the planes of its group.
  void plan_count(uint32_t tally) {
    std::vector<uint32_t>& nodes = waiting_[tally];
    const size_t padded = (nodes.size() + kCountChunk - 1) / kCountChunk * kCountChunk;
    const auto [group, digit] = tallies_[tally];
    if (padded > 0) program_.steps.push_back({kCount, static_cast<uint32_t>(padded), group, digit});
    for (const uint32_t node : nodes) program_.code32.push_back(slot_[node]);
    program_.code32.insert(program_.code32.end(), padded - nodes.size(), kZeroSlot);
    for (const uint32_t node : nodes) release(node);
    nodes.clear();
  }

  void release(uint32_t node) {
    if (--net_.n_reads[node] == 0 && node >= kConstantWires) free_.push_back(slot_[node]);
  }

  uint32_t take_slot() {
    if (free_.empty()) return program_.n_slots++;
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void finish() {
    if (keeps_)
      for (const uint32_t node : net_.outputs) program_.output_slots.push_back(slot_[node]);
    if (program_.n_slots > 65536) return;
    program_.code16.assign(program_.code32.begin(), program_.code32.end());
    program_.code32 = {};
  }

  const CircuitView& circuit_;
  const bool keeps_;
  Netlist net_;
  const Operations operations_;
  const Schedule schedule_;
  Program program_;
  std::vector<Tally> tallies_;
  std::vector<uint32_t> sink_tally_;  // of a gate that is only counted, once
  std::vector<OutputRef> refs_;       // all other outputs, once per digit of how often their group has them
  Sorted by_stage_, refs_by_stage_;
  std::vector<uint32_t> slot_, free_;
  std::vector<std::vector<uint32_t>> waiting_;  // per tally: nodes computed, not yet counted
};

}  // namespace

Program plan(const CircuitView& circuit, Outputs outputs, uint32_t band) {
  return Planner(circuit, outputs, band).run();
}

}  // namespace gatewise
