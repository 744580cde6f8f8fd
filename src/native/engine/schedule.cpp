#include "engine/schedule.hpp"

#include <algorithm>

namespace gatewise {
namespace {

// Wires that the second-level cache holds, at one or two lines per wire.
constexpr uint32_t kCachedWires = 8192;
// Long bands make long runs of one kind of gate, short ones need fewer wires.
constexpr uint32_t kLongestBand = 2048, kShortestBand = 512;

class Scheduler {
 public:
  Scheduler(const Netlist& net, const Operations& operations)
      : net_(net), operations_(operations), level_(net.n_nodes(), 0) {
    for_each_gate([&](uint32_t node, const Operation& operation) {
      for (const uint32_t operand : operation) level_[node] = std::max(level_[node], 1 + level_[operand]);
    });
  }

  Schedule schedule(uint32_t band) const {
    Schedule result{std::vector<uint32_t>(net_.n_nodes(), kNone), 0, band < net_.outputs.size()};
    std::vector<uint32_t>& stage = result.stage;
    for (uint32_t i = 0; i < net_.outputs.size(); ++i) {
      uint32_t& first = stage[net_.outputs[i]];
      first = std::min(first, i / band);
    }
    for (uint32_t node = net_.n_nodes(); node-- > net_.first_gate;) {
      if (operations_.is_inside(node)) continue;
      for (const uint32_t operand : operations_.at(node)) stage[operand] = std::min(stage[operand], stage[node]);
    }
    for (uint32_t node = 0; node < net_.n_nodes(); ++node) {
      if (node < kConstantWires) stage[node] = kNone;
      if (stage[node] == kNone) continue;
      stage[node] += level_[node];
      result.n_stages = std::max(result.n_stages, stage[node] + 1);
    }
    return result;
  }

  // The most gates whose results are alive between two stages. Outputs are consumed at once. Inputs do not count: each
  // is read in few stages, and can leave the cache between them.
  uint32_t n_alive(const Schedule& schedule) const {
    std::vector<uint32_t> last = schedule.stage;
    for_each_gate([&](uint32_t node, const Operation& operation) {
      for (const uint32_t operand : operation) last[operand] = std::max(last[operand], schedule.stage[node]);
    });
    std::vector<int32_t> change(schedule.n_stages + 1);
    for (uint32_t node = net_.first_gate; node < net_.n_nodes(); ++node) {
      if (schedule.stage[node] == kNone) continue;
      ++change[schedule.stage[node]];
      --change[last[node]];
    }
    int32_t alive = 0, most = 0;
    for (const int32_t by : change) most = std::max(most, alive += by);
    return static_cast<uint32_t>(most);
  }

 private:
  template <typename Visit>
  void for_each_gate(Visit visit) const {
    for (uint32_t node = net_.first_gate; node < net_.n_nodes(); ++node)
      if (!operations_.is_inside(node)) visit(node, operations_.at(node));
  }

  const Netlist& net_;
  const Operations& operations_;
  std::vector<uint32_t> level_;
};

}  // namespace

Schedule make_schedule(const Netlist& net, const Operations& operations, uint32_t band) {
  const Scheduler scheduler(net, operations);
  if (band > 0) return scheduler.schedule(band);
  Schedule levels = scheduler.schedule(std::max<uint32_t>(1, static_cast<uint32_t>(net.outputs.size())));
  const uint32_t n_alive = scheduler.n_alive(levels);
  if (n_alive <= kCachedWires) return levels;
  Schedule banded;
  for (band = kLongestBand; band >= kShortestBand; band /= 2) {
    banded = scheduler.schedule(band);
    const uint32_t n_alive_banded = scheduler.n_alive(banded);
    if (n_alive_banded > n_alive / 2) return levels;
    if (n_alive_banded <= kCachedWires) break;
  }
  return banded;
}

}  // namespace gatewise
