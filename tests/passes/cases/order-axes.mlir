// Sums of columns, written for tiles [X, R]: neighbours lie along X, so the tiles become [R, X], as does what goes
// round the loop. A number for all elements is made anew; the sums themselves have one axis.
// pass: order-axes cpu
module {
  tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %rows: i32) {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x8xf32>
    %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %xs = tt.expand_dims %x {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rs = tt.expand_dims %r {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %ns = tt.splat %n : i32 -> tensor<1x8xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %column = tt.addptr %base, %xs : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %columns = tt.broadcast %column : tensor<64x1x!tt.ptr<f32>> -> tensor<64x8x!tt.ptr<f32>>
    %total = scf.for %i = %c0 to %rows step %c8 iter_args(%sum = %zero) -> (tensor<64x8xf32>) : i32 {
      %start = tt.splat %i : i32 -> tensor<1x8xi32>
      %row = arith.addi %start, %rs : tensor<1x8xi32>
      %place = arith.muli %row, %ns : tensor<1x8xi32>
      %places = tt.broadcast %place : tensor<1x8xi32> -> tensor<64x8xi32>
      %at = tt.addptr %columns, %places : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
      %value = tt.load %at : tensor<64x8x!tt.ptr<f32>>
      %next = arith.addf %sum, %value : tensor<64x8xf32>
      scf.yield %next : tensor<64x8xf32>
    }
    %sums = "tt.reduce"(%total) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x8xf32>) -> tensor<64xf32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %to = tt.addptr %outs, %x : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %to, %sums : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @columns(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %rows: i32) {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant dense<0.0> : tensor<8x64xf32>
    %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %xs = tt.expand_dims %x {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rs = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %ns = tt.splat %n : i32 -> tensor<8x1xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1x64x!tt.ptr<f32>>
    %column = tt.addptr %base, %xs : tensor<1x64x!tt.ptr<f32>>, tensor<1x64xi32>
    %columns = tt.broadcast %column : tensor<1x64x!tt.ptr<f32>> -> tensor<8x64x!tt.ptr<f32>>
    %total = scf.for %i = %c0 to %rows step %c8 iter_args(%sum = %zero) -> (tensor<8x64xf32>) : i32 {
      %start = tt.splat %i : i32 -> tensor<8x1xi32>
      %row = arith.addi %start, %rs : tensor<8x1xi32>
      %place = arith.muli %row, %ns : tensor<8x1xi32>
      %places = tt.broadcast %place : tensor<8x1xi32> -> tensor<8x64xi32>
      %at = tt.addptr %columns, %places : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
      %value = tt.load %at : tensor<8x64x!tt.ptr<f32>>
      %next = arith.addf %sum, %value : tensor<8x64xf32>
      scf.yield %next : tensor<8x64xf32>
    }
    %sums = "tt.reduce"(%total) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8x64xf32>) -> tensor<64xf32>
    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %to = tt.addptr %outs, %x : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %to, %sums : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
