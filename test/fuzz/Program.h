// SPDX-License-Identifier: Apache-2.0
//
// Programs as data: what the generator draws, the evaluator runs in several ways and
// the shrinker takes apart. A program is a block of typed steps in single-assignment
// form; steps such as `scan` and `grad` hold blocks, which may use (capture) every
// name that is visible around them.
#pragma once

#include <hjx/array.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fuzz {

using Id = int;

/// A type of values, or of refs that hold one.
struct Type {
  enum Kind {
    Array,
    Packed,    ///< HiTypes.h: numbers as integers and a scale for each row, with dense float tangents
    Tuple,     ///< hjx/types/tuple.h
    Rank1,     ///< examples/hi_types/rank1.h
    Quantized, ///< hjx/types/quantized.h
    LowRank,   ///< hjx/types/low_rank.h
    Optional,  ///< hjx/types/optional.h; the shape is that of the flag
  } kind = Array;
  hjx::DType dtype = hjx::float64;
  hjx::Shape shape;
  std::vector<Type> elements; // Of a tuple, an optional.
  bool isRef = false;
  bool isInt4 = false; // Of a quantized array, as the next.
  hjx::Shape scales;
  int64_t rank = 0; // Of a matrix of low rank.

  bool operator==(const Type &) const = default;
  bool isFloat() const { return kind == Array && (dtype == hjx::float64 || dtype == hjx::float32); }
  bool isInt() const { return kind == Array && dtype == hjx::int32; }
  bool isBool() const { return kind == Array && dtype == hjx::bool_; }
};
std::string str(const Type &type);

Type arrayType(hjx::DType dtype, hjx::Shape shape = {});
Type packedType(hjx::DType dtype, hjx::Shape shape);
Type quantizedType(bool isInt4, hjx::Shape shape, hjx::Shape scales);
Type lowRankType(hjx::Shape shape, int64_t rank);
Type optionalType(Type value);
Type refOf(Type type);
Type heldBy(Type ref);
/// False if a part has no derivative.
bool hasTangent(const Type &type);
Type tangentOf(const Type &type);
/// With one more, or without the, leading axis in all parts.
bool canLead(const Type &type);
Type withLeading(const Type &type, int64_t size);
/// -1 if the parts have no common leading size.
int64_t leadingSize(const Type &type);
Type withoutLeading(const Type &type);

/// One axis of an index.
struct Entry {
  enum Kind { Every, Number, Slice, At } kind = Every;
  int64_t start = 0, stop = 0, step = 1;
  Id id = -1; // At: a scalar or a vector of integers.
};

/// The operation that makes a value of a hi-type, and what it makes it of.
struct Recipe {
  std::string op;
  std::vector<Type> parts;
};
Recipe recipeOf(const Type &type);

struct Def {
  Id id;
  Type type;
};

struct Block;
struct Step {
  std::string op;
  std::vector<Id> args;
  std::vector<Def> defs;
  std::vector<int64_t> attrs = {};
  std::vector<Entry> index = {};
  std::vector<Block> blocks;
};
struct Block {
  std::vector<Def> params;
  std::vector<Step> steps;
  std::vector<Id> results;
};
struct Program {
  unsigned seed = 0;
  Block main;
};

/// Readable text, one step a line.
std::string str(const Program &program);
size_t numSteps(const Block &block);

/// Calls visit for each use of a name: operands, index entries and results, those of nested blocks too.
void forEachUse(const Block &block, const std::function<void(Id)> &visit);
void forEachUse(const Step &step, const std::function<void(Id)> &visit);
/// The refs that a block uses although others made them, in order of their names.
std::vector<Id> externalRefs(const Block &block, const std::map<Id, Type> &types);
/// The type of every name.
std::map<Id, Type> typesOf(const Program &program);
/// What is wrong with the names of a program: uses before definitions, or twice the same name.
std::string findBrokenName(const Program &program);

} // namespace fuzz
