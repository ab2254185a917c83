// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Shrink.h"

#include <algorithm>
#include <set>

namespace fuzz {
namespace {

/// All blocks of a program, outermost first.
std::vector<Block *> blocksOf(Block &block) {
  std::vector<Block *> all{&block};
  for (Step &step : block.steps)
    for (Block &inner : step.blocks) {
      std::vector<Block *> more = blocksOf(inner);
      all.insert(all.end(), more.begin(), more.end());
    }
  return all;
}

std::map<Id, int> countUses(const Program &program) {
  std::map<Id, int> uses;
  forEachUse(program.main, [&](Id id) { ++uses[id]; });
  return uses;
}

void rename(Block &block, const std::map<Id, Id> &names) {
  auto apply = [&](Id &id) {
    if (auto it = names.find(id); it != names.end())
      id = it->second;
  };
  for (Step &step : block.steps) {
    std::for_each(step.args.begin(), step.args.end(), apply);
    for (Entry &entry : step.index)
      apply(entry.id);
    for (Block &inner : step.blocks)
      rename(inner, names);
  }
  std::for_each(block.results.begin(), block.results.end(), apply);
}

class Shrinker {
public:
  Shrinker(Program program, const std::function<bool(const Program &)> &fails) : program(std::move(program)), fails(fails) {
    for (const auto &[id, type] : typesOf(this->program))
      nextId = std::max(nextId, id + 1);
  }

  Program run() {
    bool isSmaller = true;
    while (isSmaller) {
      isSmaller = dropResults();
      isSmaller |= removeSteps();
      isSmaller |= dropCollected();
      isSmaller |= inlineCalls();
      isSmaller |= dropParams();
    }
    return program;
  }

private:
  bool accept(Program candidate) {
    if (!findBrokenName(candidate).empty() || !fails(candidate))
      return false;
    program = std::move(candidate);
    return true;
  }

  /// `f(candidate, block)` changes a copy at the block with that number; false if it cannot.
  template <typename F>
  bool tryAt(size_t number, const F &f) {
    Program candidate = program;
    std::vector<Block *> blocks = blocksOf(candidate.main);
    return number < blocks.size() && f(candidate, *blocks[number]) && accept(std::move(candidate));
  }

  /// Constants in place of what steps define; steps that nobody uses go, in halves, quarters, ...
  bool removeSteps() {
    bool any = false;
    for (size_t number = 0; number < blocksOf(program.main).size(); ++number)
      for (size_t chunk = std::max<size_t>(blocksOf(program.main)[number]->steps.size() / 2, 1); chunk > 0; chunk /= 2)
        for (size_t first = 0; number < blocksOf(program.main).size() && first < blocksOf(program.main)[number]->steps.size();) {
          bool isDone = tryAt(number, [&](Program &candidate, Block &block) { return replaceSteps(candidate, block, first, chunk); });
          any |= isDone;
          first += isDone ? 0 : chunk;
        }
    return any;
  }

  bool replaceSteps(Program &candidate, Block &block, size_t first, size_t count) {
    count = std::min(count, block.steps.size() - first);
    std::vector<Step> removed(block.steps.begin() + first, block.steps.begin() + first + count), added;
    block.steps.erase(block.steps.begin() + first, block.steps.begin() + first + count);
    std::map<Id, int> uses = countUses(candidate);
    bool isSmaller = false;
    for (const Step &step : removed) {
      const bool isMade = step.op == "constant" || (step.defs.size() == 1 && step.defs[0].type.kind != Type::Array && step.op == recipeOf(step.defs[0].type).op);
      isSmaller |= !isMade;
      for (const Def &def : step.defs) {
        if (!uses[def.id]) {
          isSmaller |= step.defs.size() == 1;
          continue;
        }
        if (def.type.isRef)
          return false;
        addConstant(added, def);
      }
      isSmaller |= step.defs.empty();
    }
    if (!isSmaller)
      return false;
    block.steps.insert(block.steps.begin() + first, added.begin(), added.end());
    return true;
  }

  void addConstant(std::vector<Step> &steps, const Def &def) {
    Step step{"constant", {}, {def}, {7}, {}, {}};
    if (def.type.kind != Type::Array) {
      Recipe recipe = recipeOf(def.type);
      step = {recipe.op, {}, {def}, {0}, {}, {}};
      for (const Type &type : recipe.parts) {
        Def part{nextId++, type};
        addConstant(steps, part);
        step.args.push_back(part.id);
      }
    }
    steps.push_back(std::move(step));
  }

  /// Of main, and of the steps whose results are free: the last ones of calls, loops and maps.
  bool dropResults() {
    bool any = false;
    for (size_t i = program.main.results.size(); i-- > 0 && program.main.results.size() > 1;) {
      Program candidate = program;
      candidate.main.results.erase(candidate.main.results.begin() + i);
      any |= accept(std::move(candidate));
    }
    for (size_t number = 0; number < blocksOf(program.main).size(); ++number)
      for (size_t s = 0; number < blocksOf(program.main).size() && s < blocksOf(program.main)[number]->steps.size(); ++s)
        for (size_t i = blocksOf(program.main)[number]->steps[s].defs.size(); i-- > 0;)
          any |= tryAt(number, [&](Program &candidate, Block &block) {
            Step &step = block.steps[s];
            static const std::set<std::string> free{"jit", "checkpoint", "cond", "switch", "scan", "foreach"};
            bool isY = (step.op == "scan" || step.op == "foreach") && i < static_cast<size_t>(step.attrs[2]);
            if (!free.count(step.op) || isY || i >= step.defs.size() || countUses(candidate)[step.defs[i].id])
              return false;
            step.defs.erase(step.defs.begin() + i);
            for (Block &inner : step.blocks)
              inner.results.erase(inner.results.begin() + i);
            return true;
          });
    return any;
  }

  bool dropCollected() {
    bool any = false;
    for (size_t number = 0; number < blocksOf(program.main).size(); ++number)
      for (size_t s = 0; s < blocksOf(program.main)[number]->steps.size(); ++s)
        if (blocksOf(program.main)[number]->steps[s].op == "collect")
          for (size_t i = blocksOf(program.main)[number]->steps[s].args.size(); i-- > 0;)
            any |= tryAt(number, [&](Program &, Block &block) {
              std::vector<Id> &args = block.steps[s].args;
              if (args.size() < 2)
                return false;
              args.erase(args.begin() + i);
              return true;
            });
    return any;
  }

  bool inlineCalls() {
    bool any = false;
    for (size_t number = 0; number < blocksOf(program.main).size(); ++number)
      for (size_t s = 0; number < blocksOf(program.main).size() && s < blocksOf(program.main)[number]->steps.size(); ++s)
        any |= tryAt(number, [&](Program &candidate, Block &block) {
          Step step = block.steps[s];
          if (step.op != "jit" && step.op != "checkpoint")
            return false;
          std::map<Id, Id> names;
          Block inner = step.blocks[0];
          for (size_t i = 0; i < step.args.size(); ++i)
            names[inner.params[i].id] = step.args[i];
          rename(inner, names);
          block.steps.erase(block.steps.begin() + s);
          block.steps.insert(block.steps.begin() + s, inner.steps.begin(), inner.steps.end());
          names.clear();
          for (size_t i = 0; i < step.defs.size(); ++i)
            names[step.defs[i].id] = inner.results[i];
          rename(candidate.main, names);
          return true;
        });
    return any;
  }

  bool dropParams() {
    bool any = false;
    for (size_t i = program.main.params.size(); i-- > 0 && program.main.params.size() > 1;) {
      Program candidate = program;
      Id id = candidate.main.params[i].id;
      if (countUses(candidate)[id])
        continue;
      candidate.main.params.erase(candidate.main.params.begin() + i);
      any |= accept(std::move(candidate));
    }
    return any;
  }

  Program program;
  const std::function<bool(const Program &)> &fails;
  Id nextId = 0;
};

} // namespace

Program shrink(Program program, const std::function<bool(const Program &)> &fails) { return Shrinker(std::move(program), fails).run(); }

} // namespace fuzz
