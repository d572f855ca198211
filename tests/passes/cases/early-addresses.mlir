// The addresses that a product is stored to, before its loop; those that follow from a number loaded behind it stay.
// pass: early-addresses cpu
module {
  tt.func public @kernel(%a: !tt.ptr<f32>, %out: !tt.ptr<f32>, %number: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
    %froms = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %place = tt.addptr %froms, %columns : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %sums:2 = scf.for %k = %c0 to %n step %step iter_args(%s = %zero, %t = %zero) -> (tensor<32x32xf32>, tensor<32x32xf32>) : i32 {
      %x = tt.load %place : tensor<32x32x!tt.ptr<f32>>
      %one = tt.dot %x, %x, %s : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
      %other = tt.dot %x, %x, %t : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
      scf.yield %one, %other : tensor<32x32xf32>, tensor<32x32xf32>
    }
    %size = arith.constant dense<32> : tensor<32x1xi32>
    %row = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %start = arith.muli %row, %size : tensor<32x1xi32>
    %rows = tt.broadcast %start : tensor<32x1xi32> -> tensor<32x32xi32>
    %scaled = arith.mulf %sums#0, %sums#0 : tensor<32x32xf32>
    %inside = arith.addi %rows, %columns : tensor<32x32xi32>
    %tos = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %to = tt.addptr %tos, %inside : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %to, %scaled : tensor<32x32x!tt.ptr<f32>>
    %far = tt.load %number : !tt.ptr<i32>
    %further = tt.splat %far : i32 -> tensor<32x32xi32>
    %there = tt.addptr %to, %further : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %there, %sums#1 : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%a: !tt.ptr<f32>, %out: !tt.ptr<f32>, %number: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
    %froms = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %place = tt.addptr %froms, %columns : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %size = arith.constant dense<32> : tensor<32x1xi32>
    %row = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %start = arith.muli %row, %size : tensor<32x1xi32>
    %rows = tt.broadcast %start : tensor<32x1xi32> -> tensor<32x32xi32>
    %inside = arith.addi %rows, %columns : tensor<32x32xi32>
    %tos = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %to = tt.addptr %tos, %inside : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %sums:2 = scf.for %k = %c0 to %n step %step iter_args(%s = %zero, %t = %zero) -> (tensor<32x32xf32>, tensor<32x32xf32>) : i32 {
      %x = tt.load %place : tensor<32x32x!tt.ptr<f32>>
      %one = tt.dot %x, %x, %s : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
      %other = tt.dot %x, %x, %t : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
      scf.yield %one, %other : tensor<32x32xf32>, tensor<32x32xf32>
    }
    %scaled = arith.mulf %sums#0, %sums#0 : tensor<32x32xf32>
    tt.store %to, %scaled : tensor<32x32x!tt.ptr<f32>>
    %far = tt.load %number : !tt.ptr<i32>
    %further = tt.splat %far : i32 -> tensor<32x32xi32>
    %there = tt.addptr %to, %further : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %there, %sums#1 : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
