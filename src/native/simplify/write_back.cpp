// Signs cost nothing between gates, because all 16 gates exist: a consumer absorbs the sign of what it reads, and a
// node that outputs want inverted is written inverted. Only a node that outputs want in both signs, or an inverted
// input, takes an inverter.
#include "simplify/write_back.hpp"

#include <algorithm>
#include <utility>

namespace gatewise {

namespace {

constexpr uint8_t kWantedPositive = 1, kWantedInverted = 2;

struct Row {
  uint64_t operands;  // a << 32 | b, the sort key
  uint32_t node;
  uint8_t gate;

  bool operator<(const Row& other) const {
    return operands != other.operands ? operands < other.operands : gate < other.gate;
  }
};

// The referenced gates of a graph, bucketed by level: bucket l is nodes[ptr[l]..ptr[l + 1]).
struct Levels {
  std::vector<uint32_t> ptr, nodes;
};

Levels bucket_by_level(const Graph& graph) {
  std::vector<uint32_t> level(graph.n_nodes(), 0);
  Levels levels{{0, 0}, {}};
  for (uint32_t node = graph.n_inputs() + 1; node < graph.n_nodes(); ++node) {
    if (graph.references(node) == 0) continue;
    level[node] = 1 + std::max(level[node_of(graph[node].a)], level[node_of(graph[node].b)]);
    if (level[node] + 1 >= levels.ptr.size()) levels.ptr.resize(level[node] + 2, 0);
    ++levels.ptr[level[node] + 1];
  }
  for (size_t l = 1; l < levels.ptr.size(); ++l) levels.ptr[l] += levels.ptr[l - 1];
  levels.nodes.resize(levels.ptr.back());
  std::vector<uint32_t> next(levels.ptr);
  for (uint32_t node = graph.n_inputs() + 1; node < graph.n_nodes(); ++node)
    if (graph.references(node) > 0) levels.nodes[next[level[node]]++] = node;
  return levels;
}

class Writer {
 public:
  Writer(const Graph& graph, const std::vector<Literal>& outputs)
      : graph_(graph), outputs_(outputs), wanted_(graph.n_nodes(), 0), wire_(graph.n_nodes(), 0) {
    for (const Literal output : outputs)
      wanted_[node_of(output)] |= is_inverted(output) ? kWantedInverted : kWantedPositive;
    for (uint32_t node = 1; node <= graph.n_inputs(); ++node) wire_[node] = node + 1;
    circuit_.n_inputs = graph.n_inputs();
    circuit_.gate.reserve(graph.n_used());
    circuit_.a.reserve(graph.n_used());
    circuit_.b.reserve(graph.n_used());
  }

  void write_gates() {
    const Levels levels = bucket_by_level(graph_);
    std::vector<Row> rows;
    for (size_t l = 1; l + 1 < levels.ptr.size(); ++l) {
      rows.clear();
      for (uint32_t i = levels.ptr[l]; i < levels.ptr[l + 1]; ++i) rows.push_back(row_of(levels.nodes[i]));
      std::sort(rows.begin(), rows.end());
      for (const Row& row : rows)
        wire_[row.node] =
            append(row.gate, static_cast<uint32_t>(row.operands >> 32), static_cast<uint32_t>(row.operands));
    }
  }

  WrittenBack write_outputs() {
    std::vector<uint32_t> sources;  // wires to invert
    for (const Literal output : outputs_)
      if (needs_inverter(output)) sources.push_back(wire_[node_of(output)]);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    const auto first = n_wires();
    for (const uint32_t wire : sources) append(gates::kNotA, wire, wire);
    for (const Literal output : outputs_) {
      uint32_t wire = node_of(output) == 0 ? output : wire_[node_of(output)];
      if (needs_inverter(output))
        wire = first + static_cast<uint32_t>(std::lower_bound(sources.begin(), sources.end(), wire) - sources.begin());
      circuit_.outputs.push_back(static_cast<int32_t>(wire));
    }
    return {std::move(circuit_), static_cast<uint32_t>(sources.size())};
  }

 private:
  uint32_t n_wires() const { return static_cast<uint32_t>(kConstantWires + graph_.n_inputs() + circuit_.gate.size()); }

  bool is_written_inverted(uint32_t node) const { return graph_.is_gate(node) && wanted_[node] == kWantedInverted; }

  bool needs_inverter(Literal output) const {
    return node_of(output) != 0 && is_inverted(output) != is_written_inverted(node_of(output));
  }

  Row row_of(uint32_t node) const {
    const auto wire_literal = [this](Literal x) {
      return literal(wire_[node_of(x)], is_inverted(x) != is_written_inverted(node_of(x)));
    };
    const Literal x = wire_literal(graph_[node].a), y = wire_literal(graph_[node].b);
    const Literal a = std::min(x, y), b = std::max(x, y);
    const Kind kind = graph_[node].is_xor() ? Kind::kXor : Kind::kAnd;
    const auto gate = static_cast<uint8_t>(gate_of({kind, is_written_inverted(node), a, b}));
    return {static_cast<uint64_t>(node_of(a)) << 32 | node_of(b), node, gate};
  }

  uint32_t append(uint8_t gate, uint32_t a, uint32_t b) {
    const uint32_t wire = n_wires();
    circuit_.gate.push_back(gate);
    circuit_.a.push_back(static_cast<int32_t>(a));
    circuit_.b.push_back(static_cast<int32_t>(b));
    return wire;
  }

  const Graph& graph_;
  const std::vector<Literal>& outputs_;
  std::vector<uint8_t> wanted_;  // by node: the signs that outputs want
  std::vector<uint32_t> wire_;   // by node
  Circuit circuit_;
};

}  // namespace

WrittenBack write_back(const Graph& graph, const std::vector<Literal>& outputs) {
  Writer writer(graph, outputs);
  writer.write_gates();
  return writer.write_outputs();
}

}  // namespace gatewise
