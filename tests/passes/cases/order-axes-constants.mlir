// A constant goes into a loop and comes back from each round, so only what it becomes says that all of these have
// one order. Another use of it keeps the user's order: a product's accumulator.
// pass: order-axes cpu
module {
  tt.func public @constants(%p: !tt.ptr<f32>, %n: i32, %a: tensor<32x16xf32>, %b: tensor<16x32xf32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %rows = arith.constant dense<32> : tensor<1x32xi32>
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %xs = tt.expand_dims %x {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %rs = tt.expand_dims %x {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %down = arith.muli %rs, %rows : tensor<1x32xi32>
    %xb = tt.broadcast %xs : tensor<32x1xi32> -> tensor<32x32xi32>
    %rb = tt.broadcast %down : tensor<1x32xi32> -> tensor<32x32xi32>
    %place = arith.addi %xb, %rb : tensor<32x32xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %at = tt.addptr %base, %place : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<32x32xf32>) : i32 {
      %value = tt.load %at : tensor<32x32x!tt.ptr<f32>>
      %next = arith.addf %sum, %value : tensor<32x32xf32>
      tt.store %at, %next : tensor<32x32x!tt.ptr<f32>>
      scf.yield %zero : tensor<32x32xf32>
    }
    tt.store %at, %last : tensor<32x32x!tt.ptr<f32>>
    %product = tt.dot %a, %b, %zero : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
    tt.store %at, %product : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @constants(%p: !tt.ptr<f32>, %n: i32, %a: tensor<32x16xf32>, %b: tensor<16x32xf32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %zero_1 = arith.constant dense<0.0> : tensor<32x32xf32>
    %rows = arith.constant dense<32> : tensor<32x1xi32>
    %x = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %xs = tt.expand_dims %x {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rs = tt.expand_dims %x {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %down = arith.muli %rs, %rows : tensor<32x1xi32>
    %xb = tt.broadcast %xs : tensor<1x32xi32> -> tensor<32x32xi32>
    %rb = tt.broadcast %down : tensor<32x1xi32> -> tensor<32x32xi32>
    %place = arith.addi %xb, %rb : tensor<32x32xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %at = tt.addptr %base, %place : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero_1) -> (tensor<32x32xf32>) : i32 {
      %value = tt.load %at : tensor<32x32x!tt.ptr<f32>>
      %next = arith.addf %sum, %value : tensor<32x32xf32>
      tt.store %at, %next : tensor<32x32x!tt.ptr<f32>>
      scf.yield %zero_1 : tensor<32x32xf32>
    }
    tt.store %at, %last : tensor<32x32x!tt.ptr<f32>>
    %product = tt.dot %a, %b, %zero : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
    %product_1 = tt.trans %product {order = array<i32: 1, 0>} : tensor<32x32xf32> -> tensor<32x32xf32>
    tt.store %at, %product_1 : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
