// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/layergrid.h"

#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prosector {

namespace {

using namespace std::string_view_literals;
using RoleId = std::uint32_t;

// Held by one layer only in healthy checkpoints: T5's and Swin's shared position bias, RWKV's first
// norm and its value residual (which starts at the second layer), ModernBERT's first block, which has no
// norm before attention.
constexpr std::array oneLayerOnly{"relative_attention_bias"sv, "ln0"sv, "pre_ln"sv, "attn.v0"sv, "att.v0"sv, "att.v1"sv,
                                  "att.v2"sv, "v_lora"sv, "attn_norm.weight"sv, "attn_rel_b"sv, "time_mix_v"sv};

// A module with the first needs the second: the up and down halves of a feed-forward block.
struct Pair {
    std::string_view has, needs;
};
constexpr std::array pairs{Pair{"up_proj", "down_proj"}, Pair{"ffn_up", "ffn_down"}, Pair{"w3", "w2"}};

// The part of a layer a tensor belongs to: "self_attn", "mlp"; for GGUF's flat names what stands before
// the first underscore ("attn", "ffn", "ssm"). Norms stand for themselves.
std::string_view blockOf(std::string_view role)
{
    const auto first = role.substr(0, role.find('.'));
    if (first.find("norm") != std::string_view::npos || first.starts_with("ln"))
        return role;
    if (role.find('.') != role.rfind('.') || first.starts_with("self_") || first.starts_with("cross_"))
        return first;
    return first.substr(0, first.find('_'));
}

struct LayerRows {
    std::vector<RoleId> roles;                                    // sorted, unique
    std::vector<std::pair<RoleId, const WeightRow *>> rows;       // sorted by role
    std::map<RoleId, std::set<std::uint32_t>> experts;            // of roles with expert numbers
};

struct Signature {
    const std::vector<RoleId> *roles;
    std::vector<std::uint32_t> layers;
};

std::vector<RoleId> without(const std::vector<RoleId> &a, const std::vector<RoleId> &b)
{
    std::vector<RoleId> rest;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
    return rest;
}

class StackComparison {
public:
    explicit StackComparison(std::string stack) { m_grid.stack = std::move(stack); }

    void add(const TensorName &name, const WeightRow &row)
    {
        WeightRole role = roleOf(name.suffix);
        if (role.name.empty())
            return;
        const auto [it, isNew] = m_ids.emplace(std::move(role.name), static_cast<RoleId>(m_names.size()));
        if (isNew) {
            m_names.push_back(it->first);
            m_raw.push_back(name.suffix);
        }
        LayerRows &layer = m_layers[name.layer];
        layer.rows.emplace_back(it->second, &row);
        if (role.expert)
            layer.experts[it->second].insert(*role.expert);
    }

    LayerGrid finish(const std::vector<std::string> &kinds, std::uint64_t experts)
    {
        for (auto &[number, layer] : m_layers) {
            m_grid.layers.push_back(number);
            std::stable_sort(layer.rows.begin(), layer.rows.end(), [](auto &a, auto &b) { return a.first < b.first; });
            for (const auto &[role, row] : layer.rows) {
                if (layer.roles.empty() || layer.roles.back() != role)
                    layer.roles.push_back(role);
            }
        }
        m_kinds = &kinds;
        for (const auto &[number, layer] : m_layers) {
            if (number < kinds.size())
                m_members[kinds[number]].push_back(&layer);
        }
        compareSignatures();
        checkPairs();
        checkExperts(experts);
        std::stable_sort(m_grid.holes.begin(), m_grid.holes.end(),
                         [](auto &a, auto &b) { return std::tie(a.layer, a.tensor) < std::tie(b.layer, b.tensor); });
        draw();
        return std::move(m_grid);
    }

private:
    void compareSignatures()
    {
        std::map<std::vector<RoleId>, std::vector<std::uint32_t>> grouped;
        for (const auto &[number, layer] : m_layers)
            grouped[layer.roles].push_back(number);
        std::vector<Signature> signatures;
        for (auto &[roles, layers] : grouped)
            signatures.push_back({&roles, std::move(layers)});
        // The commonest first; a hostile file with thousands of kinds costs no more than sixty-four.
        std::stable_sort(signatures.begin(), signatures.end(), [](auto &a, auto &b) { return a.layers.size() > b.layers.size(); });
        const std::size_t references = std::min<std::size_t>(signatures.size(), 64);
        for (std::size_t i = 0; i < signatures.size(); ++i) {
            const Signature *nearest = nullptr;
            double best = -1;
            for (std::size_t j = 0; j < (signatures.size() > 64 ? 1 : references); ++j) {
                if (i == j)
                    continue;
                const double alike = similarity(*signatures[i].roles, *signatures[j].roles);
                if (alike > best) {
                    best = alike;
                    nearest = &signatures[j];
                }
            }
            if (nearest)
                compare(signatures[i], *nearest);
        }
    }

    static double similarity(const std::vector<RoleId> &a, const std::vector<RoleId> &b)
    {
        const auto onlyA = without(a, b).size();
        const auto common = a.size() - onlyA;
        return static_cast<double>(common) / static_cast<double>(b.size() + onlyA);
    }

    void compare(const Signature &layer, const Signature &reference)
    {
        const auto absent = without(*reference.roles, *layer.roles);
        const auto own = without(*layer.roles, *reference.roles);
        std::set<std::string_view> ownBlocks, allBlocks;
        for (const RoleId role : own)
            ownBlocks.insert(blockOf(m_names[role]));
        for (const RoleId role : *layer.roles)
            allBlocks.insert(blockOf(m_names[role]));
        for (const RoleId role : absent) {
            const auto block = blockOf(m_names[role]);
            const bool replaced = ownBlocks.contains(block) || (!own.empty() && !allBlocks.contains(block));
            if (replaced || byName(role) || byKind(role, layer) || regular(layer))
                continue;
            for (const std::uint32_t number : layer.layers)
                addHole(number, role, reference.layers.front());
        }
    }

    bool byName(RoleId role) const
    {
        return std::any_of(oneLayerOnly.begin(), oneLayerOnly.end(),
                           [&](auto name) { return m_names[role].find(name) != std::string_view::npos; });
    }

    // All layers of the same declared kind lack it, and there are at least two of them.
    bool byKind(RoleId role, const Signature &layer) const
    {
        std::set<std::string_view> asked;
        for (const std::uint32_t number : layer.layers) {
            if (number >= m_kinds->size() || (*m_kinds)[number].empty())
                return false;
            const std::string_view kind = (*m_kinds)[number];
            if (asked.insert(kind).second && !kindLacks(kind, role))
                return false;
        }
        return true;
    }

    bool kindLacks(std::string_view kind, RoleId role) const
    {
        const auto members = m_members.find(kind);
        if (members == m_members.end())
            return false;
        // One layer proves no habit, but an object (block_configs) describes this very layer.
        if (members->second.size() < 2 && kind.find('{') == std::string_view::npos)
            return false;
        return std::none_of(members->second.begin(), members->second.end(), [&](const LayerRows *rows) {
            return std::binary_search(rows->roles.begin(), rows->roles.end(), role);
        });
    }

    // Every k-th layer, k of 2 or more, three times at least: nobody loses tensors so evenly.
    static bool regular(const Signature &layer)
    {
        const auto &numbers = layer.layers;
        if (numbers.size() < 3 || numbers[1] - numbers[0] < 2)
            return false;
        for (std::size_t i = 2; i < numbers.size(); ++i) {
            if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0])
                return false;
        }
        return true;
    }

    const WeightRow *rowOf(std::uint32_t layer, RoleId role) const
    {
        const auto &rows = m_layers.at(layer).rows;
        const auto it = std::lower_bound(rows.begin(), rows.end(), role, [](auto &row, RoleId r) { return row.first < r; });
        return it != rows.end() && it->first == role ? it->second : nullptr;
    }

    // A tensor of that layer with the longest common beginning, so that one sees the gap beside it.
    const WeightRow *neighbourOf(std::uint32_t layer, std::string_view name) const
    {
        const WeightRow *best = nullptr;
        std::size_t longest = 0;
        for (const auto &[role, row] : m_layers.at(layer).rows) {
            const auto common = static_cast<std::size_t>(
                std::mismatch(name.begin(), name.end(), row->name.begin(), row->name.end()).first - name.begin());
            if (!best || common > longest) {
                best = row;
                longest = common;
            }
        }
        return best;
    }

    std::string tensorName(std::uint32_t layer, std::string_view suffix) const
    {
        return m_grid.stack + "." + std::to_string(layer) + "." + std::string(suffix);
    }

    void addHole(std::uint32_t layer, RoleId role, std::uint32_t pattern)
    {
        if (++m_grid.holeCount > LayerGrid::holeLimit)
            return;
        LayerHole hole{tensorName(layer, m_raw[role]), layer, nullptr, rowOf(pattern, role), pattern};
        hole.neighbour = neighbourOf(layer, hole.tensor);
        m_holes.emplace(layer, role);
        m_grid.holes.push_back(std::move(hole));
    }

    void checkPairs()
    {
        for (const auto &[number, layer] : m_layers) {
            for (const RoleId role : layer.roles) {
                const std::string_view name = m_names[role];
                const auto module = moduleOf(name);
                for (const Pair &pair : pairs) {
                    if (leafOf(name) != "weight" || leafOf(module) != pair.has)
                        continue;
                    std::string wanted(moduleOf(module));
                    wanted += (wanted.empty() ? "" : ".") + std::string(pair.needs) + ".weight";
                    const auto known = m_ids.find(wanted);
                    if (known != m_ids.end() && !std::binary_search(layer.roles.begin(), layer.roles.end(), known->second)
                        && !m_holes.contains({number, known->second})) {
                        if (++m_grid.holeCount > LayerGrid::holeLimit)
                            return;
                        LayerHole hole{tensorName(number, m_raw[known->second]), number, rowOf(number, role), nullptr, 0};
                        m_grid.holes.push_back(std::move(hole));
                        m_holes.emplace(number, known->second);
                    }
                }
            }
        }
    }

    void checkExperts(std::uint64_t declared)
    {
        std::map<RoleId, std::uint64_t> most;
        for (const auto &[number, layer] : m_layers) {
            for (const auto &[role, numbers] : layer.experts)
                most[role] = std::max<std::uint64_t>(most[role], *numbers.rbegin() + 1ULL);
        }
        for (const auto &[number, layer] : m_layers) {
            for (const auto &[role, numbers] : layer.experts) {
                // Shared experts are few and numbered by themselves.
                const bool routed = m_names[role].find("shared") == std::string_view::npos;
                const std::uint64_t expected = routed && declared ? declared : most[role];
                if (numbers.size() >= expected)
                    continue;
                std::uint32_t first = 0;
                for (const std::uint32_t present : numbers) {
                    if (present != first)
                        break;
                    ++first;
                }
                std::string suffix(m_names[role]);
                suffix.replace(suffix.find('*'), 1, std::to_string(first));
                m_grid.expertHoles.push_back({tensorName(number, suffix), number, expected - numbers.size(), expected,
                                              rowOf(number, role)});
            }
        }
    }

    void draw()
    {
        if (m_layers.size() * m_names.size() > LayerGrid::pictureLimit)
            return;
        m_grid.picture.title = "Layers of " + m_grid.stack;
        for (const auto name : m_names)
            m_grid.picture.columnLabels.emplace_back(name);
        for (const auto &[number, layer] : m_layers) {
            m_grid.picture.rowLabels.push_back(std::to_string(number));
            for (RoleId role = 0; role < m_names.size(); ++role) {
                Cell cell;
                if (const WeightRow *const row = rowOf(number, role)) {
                    cell.text = row->info ? row->info->shapeText() : "claimed";
                    if (row->file)
                        cell.source = Evidence{row->file->id, TensorBlock{std::string(row->name)}, std::string(row->name)};
                } else if (m_holes.contains({number, role})) {
                    cell = {"absent", std::nullopt, Severity::Error};
                }
                m_grid.picture.cells.push_back(std::move(cell));
            }
        }
    }

    LayerGrid m_grid;
    std::map<std::string, RoleId, std::less<>> m_ids;
    std::vector<std::string_view> m_names; // keys of m_ids
    std::vector<std::string_view> m_raw;   // one raw suffix per role
    std::map<std::uint32_t, LayerRows> m_layers;
    std::set<std::pair<std::uint32_t, RoleId>> m_holes;
    const std::vector<std::string> *m_kinds = nullptr;
    std::map<std::string_view, std::vector<const LayerRows *>> m_members; // of each declared kind
};

bool isSideStack(std::string_view stack)
{
    constexpr std::array side{"vision"sv, "visual"sv, "audio"sv, "image"sv, "mtp"sv, "nextn"sv, "speech"sv, "talker"sv,
                              "code2wav"sv, "projector"sv};
    return std::any_of(side.begin(), side.end(), [&](auto word) { return stack.find(word) != std::string_view::npos; });
}

} // namespace

std::vector<std::uint32_t> LayerGrid::absentBelow(std::uint32_t count, std::size_t limit, std::uint64_t &total) const
{
    std::vector<std::uint32_t> absent;
    total = 0;
    std::uint32_t next = 0;
    const auto skip = [&](std::uint32_t until) {
        if (until > next)
            total += until - next;
        for (; next < until && absent.size() < limit; ++next)
            absent.push_back(next);
        next = std::max(next, until);
    };
    for (const std::uint32_t layer : layers) {
        if (layer >= count)
            break;
        skip(layer);
        next = layer + 1;
    }
    skip(count);
    return absent;
}

std::vector<LayerGrid> layerGridsOf(const WeightSet &set, const std::vector<std::string> &kinds,
                                    std::string_view mainStack, std::uint64_t experts)
{
    std::map<std::string_view, StackComparison> stacks;
    for (const WeightRow &row : set.rows) {
        if (const TensorName name = takeApart(row.name); name.inLayer())
            stacks.try_emplace(name.stack, std::string(name.stack)).first->second.add(name, row);
    }
    const std::vector<std::string> none;
    std::vector<LayerGrid> grids;
    for (auto &[stack, comparison] : stacks) {
        const bool isMain = stack == mainStack;
        grids.push_back(comparison.finish(isMain ? kinds : none, isMain ? experts : 0));
    }
    return grids;
}

std::string mainStackOf(const WeightSet &set)
{
    std::map<std::string_view, std::size_t> sizes;
    for (const WeightRow &row : set.rows) {
        if (const TensorName name = takeApart(row.name); name.inLayer() && !isSideStack(name.stack))
            ++sizes[name.stack];
    }
    const auto best = std::max_element(sizes.begin(), sizes.end(), [](auto &a, auto &b) { return a.second < b.second; });
    return best == sizes.end() ? std::string() : std::string(best->first);
}

} // namespace prosector
