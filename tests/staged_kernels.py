"""Kernels in TTIR for tests of launches whose arguments are copied."""

#: a = x + 1, then b = x * 2; x is read first
TWO_RESULTS = """
module {
  tt.func public @two_results(%x: !tt.ptr<f32>, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>) {
    %one = arith.constant dense<1.000000e+00> : tensor<16xf32>
    %two = arith.constant dense<2.000000e+00> : tensor<16xf32>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %v = tt.load %xp : tensor<16x!tt.ptr<f32>>
    %v1 = arith.addf %v, %one : tensor<16xf32>
    %v2 = arith.mulf %v, %two : tensor<16xf32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %ap = tt.addptr %as, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %ap, %v1 : tensor<16x!tt.ptr<f32>>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %bp = tt.addptr %bs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %bp, %v2 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
"""

#: the third argument's first element is 1; the others are not accessed
UNUSED = """
module {
  tt.func public @unused(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %one = arith.constant dense<1.000000e+00> : tensor<4xf32>
    %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %s = tt.splat %out : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
    %p = tt.addptr %s, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
    tt.store %p, %one : tensor<4x!tt.ptr<f32>>
    tt.return
  }
}
"""
