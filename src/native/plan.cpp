// Netlist -> Program, level by level. Within a level gates are sorted by kind, so that one loop runs many of them, and
// by operand slot, so that one operand streams. Slots come from a last-in first-out list: a result lands in a line that
// was just read. Gates that only feed an output are computed in small batches and counted while still in cache.
#include <algorithm>
#include <bit>

#include "lower.hpp"
#include "program.hpp"

namespace gatewise {
namespace {

constexpr uint32_t kOutputBatch = 128;
constexpr uint32_t kZeroSlot = 0;

struct Sorted {
  std::vector<uint32_t> items, ptr;  // bucket k is items[ptr[k]:ptr[k + 1]]
};

// Stable counting sort of 0 .. keys.size() - 1 by key.
Sorted bucket_by(const std::vector<uint32_t>& keys, uint32_t n_buckets) {
  Sorted sorted{std::vector<uint32_t>(keys.size()), std::vector<uint32_t>(n_buckets + 1)};
  for (const uint32_t key : keys) ++sorted.ptr[key + 1];
  for (uint32_t k = 0; k < n_buckets; ++k) sorted.ptr[k + 1] += sorted.ptr[k];
  std::vector<uint32_t> next(sorted.ptr.begin(), sorted.ptr.end() - 1);
  for (uint32_t i = 0; i < keys.size(); ++i) sorted.items[next[keys[i]]++] = i;
  return sorted;
}

class Planner {
 public:
  Planner(const CircuitView& circuit, Outputs mode)
      : circuit_(circuit), keeps_(mode == Outputs::kKept), net_(lower(circuit)), waiting_(circuit.n_groups) {}

  Program run() {
    find_levels();
    find_outputs();
    place_inputs();
    for (uint32_t level = 0; level <= program_.n_levels; ++level) emit_level(level);
    for (uint32_t group = 0; group < circuit_.n_groups; ++group) emit_count(group, true);
    finish();
    return std::move(program_);
  }

 private:
  struct OutputRef {
    uint32_t node, group;
  };
  using Keyed = std::pair<uint64_t, uint32_t>;  // sort key, node

  void find_levels() {
    level_.assign(net_.n_nodes(), 0);
    for (uint32_t i = 0; i < net_.gates.size(); ++i) {
      const Netlist::Gate& gate = net_.gates[i];
      level_[net_.first_gate + i] = 1 + std::max(level_[gate.a], level_[gate.b]);
      program_.n_levels = std::max(program_.n_levels, level_[net_.first_gate + i]);
    }
    program_.n_gates = static_cast<uint32_t>(net_.gates.size());
    by_level_ = bucket_by(level_, program_.n_levels + 1);
  }

  // Outputs by the level of their node; constants become the group's bias.
  void find_outputs() {
    program_.bias.assign(circuit_.n_groups, 0);
    sink_group_.assign(net_.n_nodes(), kNoGroup);
    std::vector<OutputRef> refs;
    std::vector<uint32_t> levels;
    uint32_t largest = 0;
    for (uint32_t group = 0; group < circuit_.n_groups; ++group) {
      const int32_t begin = circuit_.group_ptr[group], end = circuit_.group_ptr[group + 1];
      largest = std::max(largest, static_cast<uint32_t>(end - begin));
      for (int32_t i = begin; i < end && !keeps_; ++i) {
        const uint32_t node = net_.outputs[i];
        if (node < 2) {
          program_.bias[group] += node;
        } else if (node >= net_.first_gate && net_.n_reads[node] == 1) {
          sink_group_[node] = group;
        } else {
          refs.push_back({node, group});
          levels.push_back(level_[node]);
        }
      }
    }
    const Sorted order = bucket_by(levels, program_.n_levels + 1);
    for (const uint32_t i : order.items) refs_.push_back(refs[i]);
    ref_ptr_ = order.ptr;
    program_.n_planes = std::max<uint32_t>(3, std::bit_width(largest));
  }

  void place_inputs() {
    slot_.resize(net_.n_nodes());
    for (uint32_t node = 0; node < net_.first_gate; ++node) slot_[node] = node;
    for (uint32_t node = net_.first_gate; node-- > 2;)
      if (net_.n_reads[node] == 0) free_.push_back(node);
    program_.n_slots = net_.first_gate;
  }

  void emit_level(uint32_t level) {
    std::vector<uint32_t> inner;
    std::vector<Keyed> sinks;
    for (uint32_t i = by_level_.ptr[level]; i < by_level_.ptr[level + 1]; ++i) {
      const uint32_t node = by_level_.items[i];
      if (node < net_.first_gate) continue;
      const uint32_t group = sink_group_[node];
      if (group == kNoGroup) {
        inner.push_back(node);
      } else {
        sinks.push_back({uint64_t{group} << 32 | first_slot(node), node});
      }
    }
    emit_gates(inner.data(), inner.size());
    for (uint32_t i = ref_ptr_[level]; i < ref_ptr_[level + 1]; ++i) {
      waiting_[refs_[i].group].push_back(refs_[i].node);
      emit_count(refs_[i].group, false);
    }
    emit_sinks(sinks);
  }

  void emit_sinks(std::vector<Keyed>& sinks) {
    std::sort(sinks.begin(), sinks.end());
    std::vector<uint32_t> batch;
    for (size_t i = 0; i < sinks.size(); ++i) {
      const uint32_t group = static_cast<uint32_t>(sinks[i].first >> 32);
      batch.push_back(sinks[i].second);
      const bool ends = i + 1 == sinks.size() || sinks[i + 1].first >> 32 != group;
      if (!ends && batch.size() < kOutputBatch) continue;
      emit_gates(batch.data(), batch.size());
      waiting_[group].insert(waiting_[group].end(), batch.begin(), batch.end());
      emit_count(group, false);
      batch.clear();
    }
  }

  const Netlist::Gate& gate_at(uint32_t node) const { return net_.gates[node - net_.first_gate]; }
  uint32_t first_slot(uint32_t node) const { return std::min(slot_[gate_at(node).a], slot_[gate_at(node).b]); }

  void emit_gates(const uint32_t* nodes, size_t count) {
    std::vector<Keyed> order(count);
    for (size_t i = 0; i < count; ++i)
      order[i] = {uint64_t{gate_at(nodes[i]).kind} << 32 | first_slot(nodes[i]), nodes[i]};
    std::sort(order.begin(), order.end());
    uint32_t kind = 0;
    for (const auto& [_, node] : order) {
      const Netlist::Gate& gate = gate_at(node);
      if (gate.kind != kind) program_.steps.push_back({kind = gate.kind, 0, 0});
      ++program_.steps.back().count;
      const uint32_t a = slot_[gate.a], b = slot_[gate.b];
      release(gate.a);
      release(gate.b);
      slot_[node] = take_slot();
      program_.code32.insert(program_.code32.end(), {slot_[node], a, b});
    }
  }

  // Add what waits for `group` to its planes: whole chunks only, unless this is the last call.
  void emit_count(uint32_t group, bool last) {
    std::vector<uint32_t>& nodes = waiting_[group];
    const size_t count = last ? nodes.size() : nodes.size() / kCountChunk * kCountChunk;
    if (count == 0) return;
    const size_t padded = (count + kCountChunk - 1) / kCountChunk * kCountChunk;
    program_.steps.push_back({kCount, static_cast<uint32_t>(padded), group});
    for (size_t i = 0; i < count; ++i) program_.code32.push_back(slot_[nodes[i]]);
    program_.code32.insert(program_.code32.end(), padded - count, kZeroSlot);
    for (size_t i = 0; i < count; ++i) release(nodes[i]);
    nodes.erase(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(count));
  }

  void release(uint32_t node) {
    if (--net_.n_reads[node] == 0 && node >= 2) free_.push_back(slot_[node]);
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

  static constexpr uint32_t kNoGroup = ~0u;

  const CircuitView& circuit_;
  const bool keeps_;
  Netlist net_;
  Program program_;
  std::vector<uint32_t> level_, slot_, free_;
  Sorted by_level_;
  std::vector<uint32_t> sink_group_;  // of a gate that only feeds one output
  std::vector<OutputRef> refs_;       // all other outputs, by level
  std::vector<uint32_t> ref_ptr_;
  std::vector<std::vector<uint32_t>> waiting_;  // per group: nodes computed, not yet counted
};

}  // namespace

Program plan(const CircuitView& circuit, Outputs outputs) { return Planner(circuit, outputs).run(); }

}  // namespace gatewise
