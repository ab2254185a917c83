// SPDX-License-Identifier: Apache-2.0
//
// Attention and its derivatives: contractions that are one op each, so that a GPU's
// kernels need not store what lies between the products. Not in Hjx.h: few look at
// them, and those include dialects/hjx/Attention.h.
#ifndef HJX_ATTENTION_TD
#define HJX_ATTENTION_TD

include "dialects/hjx/Base.td"

def Hjx_AttentionOp : Hjx_InferredOp<"attention"> {
  let summary = "softmax(scale * query key^T) value, for each head";
  let description = [{
    For query [..., T, N, D], key [..., S, N, D] and value [..., S, N, E], where N
    counts heads and the leading dimensions are a batch:

        s[t, s]      = scale * sum over d of query[t, d] * key[s, d]
        logsumexp[t] = log(sum over s of exp(s[t, s]))               [..., T, N]
        out[t]       = sum over s of exp(s[t, s] - logsumexp[t]) * value[s]   [..., T, N, E]

    With `causal`, position t sees positions s <= t only. Halves are computed in
    f32, the element type of logsumexp. Without anything to see, out is 0.

    One op, so that a target with kernels for it never stores s (Dao et al. 2022);
    for all others `hjx-decompose-attention` writes it out before anything else.

    Constraints: (C1) query, key and value have one element type. (C2) they have one
    rank of at least 3, the same leading dimensions and heads. (C3) query and key
    have the same features, key and value the same positions.
    ```mlir
    %out, %logsumexp = hjx.attention %q, %k, %v scale = 0.5 causal : (tensor<3x2x4xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<3x2xf32>)
    ```
  }];
  let arguments = (ins Hjx_FloatArray:$query, Hjx_FloatArray:$key, Hjx_FloatArray:$value,
      F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Hjx_FloatArray:$out, Hjx_FloatArray:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value `scale` `=` $scale (`causal` $causal^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def Hjx_AttentionTangentOp : Hjx_InferredOp<"attention_tangent"> {
  let summary = "The tangent of attention";
  let description = [{
    Linear in query_dot, key_dot and value_dot together. With p[t, s] =
    exp(s[t, s] - logsumexp[t]) where t sees s, else 0, and s_dot = scale *
    (query_dot key^T + query key_dot^T):

        logsumexp_dot[t] = sum over s of p[t, s] * s_dot[t, s]
        out_dot[t]       = sum over s of p[t, s] * (s_dot[t, s] * value[s] + value_dot[s])
                           - logsumexp_dot[t] * out[t]

    Constraints: those of attention, and (C4) out and logsumexp have the types of
    attention's results, query_dot, key_dot and value_dot those of its operands.
  }];
  let arguments = (ins Hjx_FloatArray:$query, Hjx_FloatArray:$key, Hjx_FloatArray:$value,
      Hjx_FloatArray:$out, Hjx_FloatArray:$logsumexp,
      Hjx_FloatArray:$query_dot, Hjx_FloatArray:$key_dot, Hjx_FloatArray:$value_dot,
      F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Hjx_FloatArray:$out_dot, Hjx_FloatArray:$logsumexp_dot);
  let assemblyFormat = [{
    $query `,` $key `,` $value `out` `=` $out `,` $logsumexp
    `tangents` `=` $query_dot `,` $key_dot `,` $value_dot
    `scale` `=` $scale (`causal` $causal^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Hjx_AttentionCotangentOp : Hjx_InferredOp<"attention_cotangent"> {
  let summary = "The transpose of attention_tangent";
  let description = [{
    Linear in out_bar and shift together; p as in attention_tangent:

        value_bar = p^T out_bar
        s_bar     = p * (out_bar value^T - shift)
        query_bar = scale * s_bar key          key_bar = scale * s_bar^T query

    where shift[t] = sum over e of out_bar[t, e] * out[t, e], minus the cotangent of
    logsumexp[t]: one number a row, which other ops compute.

    Constraints: those of attention, and (C4) out_bar has the type of out, logsumexp
    and shift that of logsumexp.
  }];
  let arguments = (ins Hjx_FloatArray:$query, Hjx_FloatArray:$key, Hjx_FloatArray:$value,
      Hjx_FloatArray:$logsumexp, Hjx_FloatArray:$out_bar, Hjx_FloatArray:$shift,
      F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Hjx_FloatArray:$query_bar, Hjx_FloatArray:$key_bar, Hjx_FloatArray:$value_bar);
  let assemblyFormat = [{
    $query `,` $key `,` $value `logsumexp` `=` $logsumexp `cotangents` `=` $out_bar `,` $shift
    `scale` `=` $scale (`causal` $causal^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // HJX_ATTENTION_TD
