// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Operations.h"

#include <hjx/hjx.h>

#include <functional>
#include <map>
#include <random>

using namespace hjx;

namespace fuzz {
namespace {

/// The elements of any array, in order and again, as an array of another type.
Array fit(const Array &x, const Type &type) {
  Array flat = reshape(x, {x.size()});
  int64_t count = type.shape.size();
  if (flat.size() == 0 || count == 0)
    return zeros(type.shape, type.dtype);
  if (flat.size() != count)
    flat = take(flat, arange(count) % static_cast<int>(x.size()));
  if (type.isFloat() && x.dtype() == int32)
    flat = flat.astype(type.dtype) / 4;
  return reshape(flat.dtype() == type.dtype ? flat : flat.astype(type.dtype), type.shape);
}

/// A scalar to which every element of every operand contributes.
Array collect(const Operands &x) {
  Array total = full({}, 0.0, x.type().dtype);
  for (size_t i = 0; i < x.args.size(); ++i)
    total = total + meanOf(sin(x[i].astype(x.type().dtype) * (0.4 + 0.3 * static_cast<double>(i))));
  return total / std::max<size_t>(x.args.size(), 1);
}

std::vector<int64_t> every3(const Operands &x, size_t first) {
  std::vector<int64_t> list;
  for (size_t i = first; i < x.step.attrs.size(); i += 3)
    list.push_back(x.step.attrs[i]);
  return list;
}

} // namespace

std::vector<Index> Operands::index() const { return indexOf(step.index, indices); }

std::map<std::string, std::function<Array(const Operands &)>> &operations() {
  using X = const Operands &;
  static std::map<std::string, std::function<Array(const Operands &)>> functions{
      // Of one array.
      {"sin", [](X x) { return sin(x[0]); }},
      {"cos", [](X x) { return cos(x[0]); }},
      {"tanh", [](X x) { return tanh(x[0]); }},
      {"gauss", [](X x) { return exp(-x[0] * x[0]); }},
      {"logistic", [](X x) { return sigmoid(x[0]); }},
      {"root", [](X x) { return sqrt(1 + x[0] * x[0]) / 2; }},
      {"negate", [](X x) { return -x[0]; }},
      {"stop", [](X x) { return stop_gradient(x[0]); }},
      {"softmax", [](X x) { return softmax(x[0], x.attr(0)); }},
      {"mean", [](X x) { return x.attr(0) < 0 ? meanOf(x[0]) : perTerm(sum(x[0], x.attr(0)), x[0].shape(x.attr(0))); }},
      {"cumsum", [](X x) { return perTerm(cumsum(x[0], x.attr(0), x.attr(1)), x[0].shape(x.attr(0))); }},
      // Of two.
      {"average", [](X x) { return (x[0] + x[1]) / 2; }},
      {"difference", [](X x) { return (x[0] - x[1]) / 2; }},
      {"times", [](X x) { return x[0] * x[1]; }}, // Of one shape, or with a scalar or a row.
      {"ratio", [](X x) { return x[0] / (1 + x[1] * x[1]); }},
      {"matmul", [](X x) { return perTerm(matmul(x[0], x[1]), x[1].shape(0)); }},
      {"outer", [](X x) { return outer(x[0], x[1]); }},
      {"collect", collect},
      // Movement.
      {"transpose", [](X x) { return x[0].T(); }},
      {"flip", [](X x) { return flip(x[0], x.attr(0)); }},
      {"roll", [](X x) { return roll(x[0], x.attr(1), x.attr(0)); }},
      {"slice", [](X x) { return slice(x[0], every3(x, 0), every3(x, 1), every3(x, 2)); }},
      {"shift", [](X x) {
         std::vector<std::pair<int64_t, int64_t>> widths(x[0].ndim());
         widths[0] = {1, 0};
         return pad(x[0], widths)[Slice(0, x[0].shape(0))];
       }},
      {"join", [](X x) { return concatenate({x[0], x[1]})[Slice(x.attr(0), x.attr(0) + x[0].shape(0))]; }},
      {"fit", [](X x) { return fit(x[0], x.type()); }},
      {"constant", [](X x) { return sampleOf(x.type(), x.attr(0)); }},
      // Indices.
      {"pick", [](X x) { return getPart(x[0], x.index()); }},
      {"put", [](X x) { return setPart(x[0], x.index(), x[1]); }},
      {"accumulate", [](X x) { return addToPart(x[0], x.index(), x[1]) / 2; }},
      {"take", [](X x) { return take(x[0], x[1], x.attr(0)); }},
      {"window", [](X x) {
         std::vector<Array> start(x[0].ndim(), array(0));
         std::vector<int64_t> sizes = x[0].shape().vec();
         start[0] = x[1];
         sizes[0] = x.attr(0);
         return dynamic_slice(x[0], start, sizes);
       }},
      // Integers and bools.
      {"iadd", [](X x) { return (x[0] + x[1]) % 4; }},
      {"imul", [](X x) { return (x[0] * x[1] + 1) % 4; }},
      {"imax", [](X x) { return maximum(x[0], 3 - x[1]); }},
      {"isum", [](X x) { return sum(x[0]) % 4; }},
      {"argmax", [](X x) { return argmax(x[0]) % 4; }},
      {"modulo", [](X x) { return x[0] % x.attr(0); }},
      {"two_places", [](X x) { return (x[0] + arange(2)) % x.attr(0); }},
      {"less", [](X x) { return x[0] < x[1]; }},
      {"even", [](X x) { return x[0] % 2 == 0; }},
      {"both", [](X x) { return x[0] & ~x[1]; }},
      {"above", [](X x) { return x[0] > 0.31371; }}, // f64 only: nothing is that close.
      {"select", [](X x) { return where(x[0], x[1], x[2]); }},
  };
  return functions;
}

Array meanOf(const Array &x) { return x.size() ? mean(x) : zeros({}, x.dtype()); }

bool isOperation(const std::string &op) { return operations().count(op); }

Array compute(const Step &step, const std::vector<Array> &args, const std::vector<Array> &indices) {
  return operations().at(step.op)({step, args, indices});
}

std::vector<Index> indexOf(const std::vector<Entry> &entries, const std::vector<Array> &indices) {
  std::vector<Index> list;
  size_t next = 0;
  for (const Entry &entry : entries)
    switch (entry.kind) {
    case Entry::Every:
      list.push_back(every);
      break;
    case Entry::Number:
      list.push_back(entry.start);
      break;
    case Entry::Slice:
      list.push_back(Slice(entry.start, entry.stop, entry.step));
      break;
    case Entry::At:
      list.push_back(indices[next++]);
      break;
    }
  return list;
}

// The public functions take braces; with their list of entries the library is called directly.
Array getPart(const Array &x, const std::vector<Index> &index) { return Indexed(x, index).get(); }
Array setPart(const Array &x, const std::vector<Index> &index, const Array &value) { return Indexed(x, index).set(value); }
Array addToPart(const Array &x, const std::vector<Index> &index, const Array &value) { return Indexed(x, index).add(value); }

Array sampleOf(const Type &type, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> numbers(type.shape.size());
  for (double &number : numbers)
    number = type.isFloat() ? random() / 4294967296.0 * 2 - 1 : type.isInt() ? random() % 4 : random() % 2;
  if (type.isBool())
    return array(std::vector<bool>(numbers.begin(), numbers.end()), type.shape);
  if (type.isInt())
    return array(std::vector<int32_t>(numbers.begin(), numbers.end()), type.shape);
  if (type.dtype == float32)
    return array(std::vector<float>(numbers.begin(), numbers.end()), type.shape);
  return array(numbers, type.shape);
}

} // namespace fuzz
