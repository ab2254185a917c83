// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Mutate.h"

#include <optional>
#include <random>

namespace fuzz {
namespace {

/// Of a size that no program has.
const Type strange = arrayType(hjx::float64, {5});

/// A step with the block around it.
struct Place {
  Block *block;
  size_t number;
  Step &step() const { return block->steps[number]; }
};

void collectPlaces(Block &block, std::vector<Place> &places) {
  for (size_t i = 0; i < block.steps.size(); ++i) {
    places.push_back({&block, i});
    for (Block &inner : block.steps[i].blocks)
      collectPlaces(inner, places);
  }
}

class Mutator {
public:
  explicit Mutator(Program &program) : main(program.main), types(typesOf(program)) {
    for (const auto &[id, type] : types)
      nextId = std::max(nextId, id + 1);
  }

  /// The mistake made at the place, or nothing; steps may be added before it.
  std::string apply(Place place, unsigned which) {
    Step &step = place.step();
    const std::string &op = step.op;
    const bool hasBlock = !step.blocks.empty();
    switch (which) {
    case 0:
      if ((op != "average" && op != "difference" && op != "ratio") || types.at(step.args[0]).shape.ndim() == 0 ||
          types.at(step.args[0]).shape[-1] == 1)
        return "";
      return replaceArg(place, 1), "an operand of another shape";
    case 1:
      for (Entry &entry : step.index)
        if (entry.kind == Entry::Number) {
          entry.start = 9;
          return "an index out of range";
        }
      return "";
    case 2: {
      if (op != "freeze")
        return "";
      Step again{"get", step.args, {{nextId++, step.defs[0].type}}, {}, {}, {}};
      place.block->steps.insert(place.block->steps.begin() + place.number + 1, again);
      return "a read of a frozen ref";
    }
    case 3:
      if (op != "jit" && op != "checkpoint" && op != "vmap")
        return "";
      for (size_t i = 0; i < step.blocks[0].params.size(); ++i)
        if (step.blocks[0].params[i].type.isRef) {
          if (op == "vmap")
            step.attrs.insert(step.attrs.begin() + 1 + step.args.size(), step.attrs[1 + i]);
          step.args.push_back(step.args[i]);
          step.blocks[0].params.push_back({nextId++, step.blocks[0].params[i].type});
          return "a ref that is passed twice";
        }
      return "";
    case 4:
      if (op != "jit" && op != "checkpoint")
        return "";
      for (const Def &param : step.blocks[0].params)
        if (param.type.isRef) {
          step.blocks[0].results.push_back(param.id);
          step.defs.push_back({nextId++, param.type});
          return "a ref that is returned";
        }
      return "";
    case 5: {
      bool isScan = op == "scan" && step.attrs[2] > 0, isLoop = (op == "fori" || op == "while" || op == "fori_dynamic") && !step.defs.empty();
      if (!isScan && !isLoop)
        return "";
      return replaceResult(step.blocks[0]), "a carry that changes its type";
    }
    case 6:
      if (op != "cond" && op != "switch")
        return "";
      return replaceResult(step.blocks[1]), "branches with results of different types";
    case 7: {
      bool isDerivative = op == "grad" || op == "jvp" || op == "linearize" || (op == "vjp" && step.attrs[1] != 2);
      if (!isDerivative || types.at(step.args[0]).kind != Type::Array || place.block != &main)
        return "";
      const Def param = step.blocks[0].params[0];
      Id ref = makeRef(place, param.type);
      Block &inner = place.block->steps[place.number + 2].blocks[0];
      inner.steps.insert(inner.steps.begin(), Step{"set", {ref, param.id}, {}});
      return "a write of a value with a tangent to a ref from outside";
    }
    case 8: {
      if (op != "vmap" || place.block != &main)
        return "";
      Id ref = makeRef(place, arrayType(hjx::float64));
      Block &inner = place.block->steps[place.number + 2].blocks[0];
      Id value = nextId++;
      inner.steps.insert(inner.steps.begin(), {Step{"constant", {}, {{value, arrayType(hjx::float64)}}, {1}}, Step{"add", {ref, value}, {}}});
      return "a write to a ref that all elements of a map share";
    }
    case 9:
      if (op != "grad")
        return "";
      return replaceResult(step.blocks[0]), "a gradient of what is no scalar";
    case 10:
      if (op != "jvp" && op != "linearize")
        return "";
      return replaceArg(place, step.blocks[0].params.size()), "a tangent of another type";
    case 11:
      if (op != "vjp")
        return "";
      return replaceArg(place, step.blocks[0].params.size()), "a cotangent of another type";
    case 12:
      if (op != "cond" && op != "switch")
        return "";
      return replaceArg(place, 0), "a predicate that is no scalar";
    case 13:
      if (op != "set" && op != "swap" && op != "add")
        return "";
      return replaceArg(place, 1), "a value of another type for a ref";
    case 14:
      if (op != "vmap")
        return "";
      step.attrs[0] = 7;
      return "a map of another size";
    case 15:
      if (op != "matmul" && op != "matmul_packed")
        return "";
      return replaceArg(place, 0), "a product of matrices that do not fit";
    case 16:
      if (op != "get_element")
        return "";
      step.attrs[0] = 9;
      return "an element that the tuple does not have";
    case 17:
      if (op != "custom_jvp" && op != "custom_vjp")
        return "";
      return replaceResult(step.blocks[hasBlock]), "a rule whose derivative has another type";
    default:
      return "";
    }
  }
  static constexpr unsigned kNumMistakes = 18;

private:
  Step constant(Id id, const Type &type) { return {"constant", {}, {{id, type}}, {1}, {}, {}}; }
  void replaceArg(Place place, size_t i) {
    Id id = nextId++;
    place.step().args[i] = id;
    place.block->steps.insert(place.block->steps.begin() + place.number, constant(id, strange));
  }
  void replaceResult(Block &block) {
    Id id = nextId++;
    block.steps.push_back(constant(id, strange));
    block.results[0] = id;
  }
  /// Two steps before the place, in main; what the ref holds in the end counts for the last result, because
  /// nobody would miss a ref that is not read.
  Id makeRef(Place place, const Type &held) {
    Id value = nextId++, ref = nextId++, last = nextId++;
    std::vector<Step> steps{constant(value, held), {"new_ref", {value}, {{ref, refOf(held)}}, {}, {}, {}}};
    main.steps.back().args.push_back(last);
    main.steps.insert(main.steps.end() - 1, Step{"get", {ref}, {{last, held}}});
    main.steps.insert(main.steps.begin() + place.number, steps.begin(), steps.end());
    return ref;
  }

  Block &main;
  std::map<Id, Type> types;
  Id nextId = 0;
};

} // namespace

std::string mutate(Program &program, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Place> places;
  collectPlaces(program.main, places);
  Mutator mutator(program);
  for (int tries = 0; tries < 1000; ++tries)
    if (std::string text = mutator.apply(places[random() % places.size()], random() % Mutator::kNumMistakes); !text.empty())
      return text;
  return "";
}

} // namespace fuzz
