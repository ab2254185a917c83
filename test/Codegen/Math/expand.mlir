// RUN: hjx-opt %s --hjx-expand-math | FileCheck %s --implicit-check-not="{{math\.(acos|asin|atan|cbrt|cosh?|erf|exp|fpowi|log|pow|rsqrt|sin|tan|clampf)}} "
// Every function becomes arithmetic on its own shape; only what LLVM selects is left.

// CHECK-LABEL: @unary_f32(
// CHECK: return
func.func @unary_f32(%x: f32) -> f32 {
  %0 = math.acos %x : f32
  %1 = math.acosh %0 : f32
  %2 = math.asin %1 : f32
  %3 = math.asinh %2 : f32
  %4 = math.atan %3 : f32
  %5 = math.atanh %4 : f32
  %6 = math.cbrt %5 : f32
  %7 = math.cos %6 : f32
  %8 = math.cosh %7 : f32
  %9 = math.erf %8 : f32
  %10 = math.erfc %9 : f32
  %11 = math.exp %10 : f32
  %12 = math.exp2 %11 : f32
  %13 = math.expm1 %12 : f32
  %14 = math.log %13 : f32
  %15 = math.log10 %14 : f32
  %16 = math.log1p %15 : f32
  %17 = math.log2 %16 : f32
  %18 = math.rsqrt %17 : f32
  %19 = math.sin %18 : f32
  %20 = math.sinh %19 : f32
  %21 = math.tan %20 : f32
  %22 = math.tanh %21 : f32
  return %22 : f32
}

// CHECK-LABEL: @unary_vector_f64(
// CHECK: return
func.func @unary_vector_f64(%x: vector<2x3xf64>) -> vector<2x3xf64> {
  %0 = math.acos %x : vector<2x3xf64>
  %1 = math.acosh %0 : vector<2x3xf64>
  %2 = math.asin %1 : vector<2x3xf64>
  %3 = math.asinh %2 : vector<2x3xf64>
  %4 = math.atan %3 : vector<2x3xf64>
  %5 = math.atanh %4 : vector<2x3xf64>
  %6 = math.cbrt %5 : vector<2x3xf64>
  %7 = math.cos %6 : vector<2x3xf64>
  %8 = math.cosh %7 : vector<2x3xf64>
  %9 = math.erf %8 : vector<2x3xf64>
  %10 = math.erfc %9 : vector<2x3xf64>
  %11 = math.exp %10 : vector<2x3xf64>
  %12 = math.exp2 %11 : vector<2x3xf64>
  %13 = math.expm1 %12 : vector<2x3xf64>
  %14 = math.log %13 : vector<2x3xf64>
  %15 = math.log10 %14 : vector<2x3xf64>
  %16 = math.log1p %15 : vector<2x3xf64>
  %17 = math.log2 %16 : vector<2x3xf64>
  %18 = math.rsqrt %17 : vector<2x3xf64>
  %19 = math.sin %18 : vector<2x3xf64>
  %20 = math.sinh %19 : vector<2x3xf64>
  %21 = math.tan %20 : vector<2x3xf64>
  %22 = math.tanh %21 : vector<2x3xf64>
  return %22 : vector<2x3xf64>
}

// CHECK-LABEL: @binary(
// CHECK: return
func.func @binary(%x: vector<3xf32>, %y: vector<3xf32>, %n: vector<3xi32>) -> (vector<3xf32>, vector<3xf32>) {
  %0 = math.atan2 %x, %y : vector<3xf32>
  %1 = math.powf %0, %y : vector<3xf32>
  %2 = math.fpowi %1, %n : vector<3xf32>, vector<3xi32>
  %3 = math.clampf %2 to [%x, %y] : vector<3xf32>
  %4, %5 = math.sincos %3 : vector<3xf32>
  return %4, %5 : vector<3xf32>, vector<3xf32>
}

// Vectors of every rank keep their shape: no reshape, no loop, no extraction of lanes.
// CHECK-LABEL: @rank_three(
// CHECK-NOT: vector.
// CHECK: math.fma {{.*}} : vector<2x1x3xf32>
// CHECK-NOT: vector.
// CHECK: return
func.func @rank_three(%x: vector<2x1x3xf32>) -> vector<2x1x3xf32> {
  %0 = math.exp %x : vector<2x1x3xf32>
  return %0 : vector<2x1x3xf32>
}

// Half precision is computed in f32 and rounded once; bf16 by integer arithmetic, since
// x86 would call a library for the conversion.
// CHECK-LABEL: @half(
// CHECK: arith.extf %{{.*}} : vector<3xf16> to vector<3xf32>
// CHECK: arith.truncf %{{.*}} : vector<3xf32> to vector<3xf16>
// CHECK: arith.extf %{{.*}} : vector<3xbf16> to vector<3xf32>
// CHECK-NOT: arith.truncf
// CHECK: arith.trunci %{{.*}} : vector<3xi32> to vector<3xi16>
// CHECK: arith.bitcast %{{.*}} : vector<3xi16> to vector<3xbf16>
func.func @half(%x: vector<3xf16>, %y: vector<3xbf16>) -> (vector<3xf16>, vector<3xbf16>) {
  %0 = math.tanh %x : vector<3xf16>
  %1 = math.tanh %y : vector<3xbf16>
  return %0, %1 : vector<3xf16>, vector<3xbf16>
}

// No branch, but for huge angles: one test of the lanes of a row, then lane by lane.
// CHECK-LABEL: @power(
// CHECK-NOT: scf.
// CHECK: return
func.func @power(%x: vector<2x3xf64>) -> vector<2x3xf64> {
  %0 = math.powf %x, %x : vector<2x3xf64>
  return %0 : vector<2x3xf64>
}

// CHECK-LABEL: @angle(
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<3xi1> into i1
// CHECK: scf.if %[[ANY]]
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @angle(%x: vector<2x3xf64>) -> vector<2x3xf64> {
  %0 = math.sin %x : vector<2x3xf64>
  return %0 : vector<2x3xf64>
}

// CHECK-LABEL: @point(
// CHECK-NOT: vector.reduction
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: return
func.func @point(%x: vector<f32>) -> vector<f32> {
  %0 = math.cos %x : vector<f32>
  return %0 : vector<f32>
}

// Two clamps and no mask: the factor of two of the lowest exponent is 0 by its bits.
// CHECK-LABEL: @exp_once(
// CHECK-COUNT-2: arith.cmpf
// CHECK-NOT: arith.cmpf
// CHECK: %[[SUM:.*]] = arith.shli %{{.*}}, %c23
// CHECK: %[[HALF:.*]] = arith.shrui %[[SUM]], %c1
// CHECK: %[[A:.*]] = arith.andi %[[HALF]], %c-8388608
// CHECK: %[[LEFT:.*]] = arith.subi %[[SUM]], %[[A]]
// CHECK: arith.addi %[[LEFT]], %c855638016
// CHECK: return
func.func @exp_once(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}
