// SPDX-License-Identifier: Apache-2.0
//
// The Threefry hash of one pair of words (Salmon et al. 2011): five groups of four
// rounds, a key injection after each. One body of about a hundred integer ops, so
// that keys, counters and what is made of the bits fuse into one nest.
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

using namespace mlir;
using namespace hjx;

static SmallVector<Value> emitThreefry(Operation *, LocBuilder &b, ValueRange args) {
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, x, y); };
  auto exclusiveOr = [&](Value x, Value y) -> Value { return arith::XOrIOp::create(b, x, y); };
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  auto rotateLeft = [&](Value x, int64_t count) -> Value {
    Value high = arith::ShLIOp::create(b, x, word(count)),
          low = arith::ShRUIOp::create(b, x, word(32 - count));
    return arith::OrIOp::create(b, high, low);
  };
  constexpr int64_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = exclusiveOr(exclusiveOr(args[0], args[1]), word(0x1BD11BDA));
  Value key[3] = {args[0], args[1], parity};
  Value x0 = add(args[2], key[0]), x1 = add(args[3], key[1]);
  for (int64_t group = 0; group < 5; ++group) {
    for (int64_t rotation : rotations[group % 2]) {
      x0 = add(x0, x1);
      x1 = exclusiveOr(rotateLeft(x1, rotation), x0);
    }
    x0 = add(x0, key[(group + 1) % 3]);
    x1 = add(x1, add(key[(group + 2) % 3], word(group + 1)));
  }
  return {x0, x1};
}

void hjx::registerRandomLowering(LoweringRules &rules) {
  rules.addScalar(ir::Threefry2x32Op::getOperationName(), emitThreefry);
}
