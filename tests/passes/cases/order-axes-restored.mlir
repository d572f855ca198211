// Three axes, memory contiguous along the first: it becomes the last one. Sums over the middle axis of the user's
// have the order that is left; a print has the user's order, and so has a transposition that says which axis is which.
// pass: order-axes cpu
module {
  tt.func public @three(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
    %c32 = arith.constant dense<32> : tensor<1x4x1xi32>
    %c128 = arith.constant dense<128> : tensor<1x1x2xi32>
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %x1 = tt.expand_dims %x {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %x2 = tt.expand_dims %x1 {axis = 2 : i32} : tensor<32x1xi32> -> tensor<32x1x1xi32>
    %y = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %y1 = tt.expand_dims %y {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %y2 = tt.expand_dims %y1 {axis = 2 : i32} : tensor<1x4xi32> -> tensor<1x4x1xi32>
    %z = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %z1 = tt.expand_dims %z {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %z2 = tt.expand_dims %z1 {axis = 1 : i32} : tensor<1x2xi32> -> tensor<1x1x2xi32>
    %ys = arith.muli %y2, %c32 : tensor<1x4x1xi32>
    %zs = arith.muli %z2, %c128 : tensor<1x1x2xi32>
    %xb = tt.broadcast %x2 : tensor<32x1x1xi32> -> tensor<32x4x2xi32>
    %yb = tt.broadcast %ys : tensor<1x4x1xi32> -> tensor<32x4x2xi32>
    %zb = tt.broadcast %zs : tensor<1x1x2xi32> -> tensor<32x4x2xi32>
    %xy = arith.addi %xb, %yb : tensor<32x4x2xi32>
    %xyz = arith.addi %xy, %zb : tensor<32x4x2xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x4x2x!tt.ptr<f32>>
    %at = tt.addptr %base, %xyz : tensor<32x4x2x!tt.ptr<f32>>, tensor<32x4x2xi32>
    %value = tt.load %at {tt.divisibility = dense<[16, 1, 1]> : tensor<3xi32>} : tensor<32x4x2x!tt.ptr<f32>>
    %again = tt.load %at : tensor<32x4x2x!tt.ptr<f32>>
    %third = tt.load %at : tensor<32x4x2x!tt.ptr<f32>>
    %both = arith.addf %value, %again : tensor<32x4x2xf32>
    %all = arith.addf %both, %third : tensor<32x4x2xf32>
    %sums = "tt.reduce"(%all) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<32x4x2xf32>) -> tensor<32x2xf32>
    tt.print " sums: " {hex = false, isSigned = array<i32: 0>} : %sums : tensor<32x2xf32>
    %turned = tt.trans %all {order = array<i32: 2, 1, 0>} : tensor<32x4x2xf32> -> tensor<2x4x32xf32>
    tt.print " turned: " {hex = false, isSigned = array<i32: 0>} : %turned : tensor<2x4x32xf32>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @three(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>) {
    %c32 = arith.constant dense<32> : tensor<4x1x1xi32>
    %c128 = arith.constant dense<128> : tensor<1x2x1xi32>
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %x1 = tt.expand_dims %x {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %x2 = tt.expand_dims %x1 {axis = 1 : i32} : tensor<1x32xi32> -> tensor<1x1x32xi32>
    %y = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %y1 = tt.expand_dims %y {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %y2 = tt.expand_dims %y1 {axis = 1 : i32} : tensor<4x1xi32> -> tensor<4x1x1xi32>
    %z = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %z1 = tt.expand_dims %z {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %z2 = tt.expand_dims %z1 {axis = 0 : i32} : tensor<2x1xi32> -> tensor<1x2x1xi32>
    %ys = arith.muli %y2, %c32 : tensor<4x1x1xi32>
    %zs = arith.muli %z2, %c128 : tensor<1x2x1xi32>
    %xb = tt.broadcast %x2 : tensor<1x1x32xi32> -> tensor<4x2x32xi32>
    %yb = tt.broadcast %ys : tensor<4x1x1xi32> -> tensor<4x2x32xi32>
    %zb = tt.broadcast %zs : tensor<1x2x1xi32> -> tensor<4x2x32xi32>
    %xy = arith.addi %xb, %yb : tensor<4x2x32xi32>
    %xyz = arith.addi %xy, %zb : tensor<4x2x32xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<4x2x32x!tt.ptr<f32>>
    %at = tt.addptr %base, %xyz : tensor<4x2x32x!tt.ptr<f32>>, tensor<4x2x32xi32>
    %value = tt.load %at {tt.divisibility = dense<[1, 1, 16]> : tensor<3xi32>} : tensor<4x2x32x!tt.ptr<f32>>
    %again = tt.load %at : tensor<4x2x32x!tt.ptr<f32>>
    %third = tt.load %at : tensor<4x2x32x!tt.ptr<f32>>
    %both = arith.addf %value, %again : tensor<4x2x32xf32>
    %all = arith.addf %both, %third : tensor<4x2x32xf32>
    %sums = "tt.reduce"(%all) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<4x2x32xf32>) -> tensor<2x32xf32>
    %sums_1 = tt.trans %sums {order = array<i32: 1, 0>} : tensor<2x32xf32> -> tensor<32x2xf32>
    tt.print " sums: " {hex = false, isSigned = array<i32: 0>} : %sums_1 : tensor<32x2xf32>
    %turned = tt.trans %all {order = array<i32: 1, 0, 2>} : tensor<4x2x32xf32> -> tensor<2x4x32xf32>
    tt.print " turned: " {hex = false, isSigned = array<i32: 0>} : %turned : tensor<2x4x32xf32>
    tt.return
  }
}
