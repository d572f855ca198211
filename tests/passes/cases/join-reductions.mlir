// A sum, one of products with what it sums, and the least of the other factor: one walk for all three. What follows
// from a sum stays where it is.
// pass: join-reductions cpu max_registers=4
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %p_0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %p_1 = tt.addptr %p_0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %p_1 : tensor<128x!tt.ptr<f32>>
    %q_0 = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %q_1 = tt.addptr %q_0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %y = tt.load %q_1 : tensor<128x!tt.ptr<f32>>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    tt.store %out, %sum : !tt.ptr<f32>
    %xy = arith.mulf %x, %y : tensor<128xf32>
    %products = "tt.reduce"(%xy) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    %c1 = arith.constant 1 : i32
    %out_1 = tt.addptr %out, %c1 : !tt.ptr<f32>, i32
    tt.store %out_1, %products : !tt.ptr<f32>
    %all = tt.splat %sum : f32 -> tensor<128xf32>
    %apart = arith.subf %x, %all : tensor<128xf32>
    %greatest = "tt.reduce"(%apart) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    %least = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.minnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    %c2 = arith.constant 2 : i32
    %out_2 = tt.addptr %out, %c2 : !tt.ptr<f32>, i32
    tt.store %out_2, %greatest : !tt.ptr<f32>
    %c3 = arith.constant 3 : i32
    %out_3 = tt.addptr %out, %c3 : !tt.ptr<f32>, i32
    tt.store %out_3, %least : !tt.ptr<f32>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %p_0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %p_1 = tt.addptr %p_0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %p_1 : tensor<128x!tt.ptr<f32>>
    %q_0 = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %q_1 = tt.addptr %q_0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %y = tt.load %q_1 : tensor<128x!tt.ptr<f32>>
    %xy = arith.mulf %x, %y : tensor<128xf32>
    %sum:3 = "tt.reduce"(%x, %xy, %y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %a_1: f32, %a_2: f32, %b: f32, %b_1: f32, %b_2: f32):
      %c = arith.addf %a, %b : f32
      %c_1 = arith.addf %a_1, %b_1 : f32
      %c_2 = arith.minnumf %a_2, %b_2 : f32
      tt.reduce.return %c, %c_1, %c_2 : f32, f32, f32
    }) : (tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) -> (f32, f32, f32)
    tt.store %out, %sum#0 : !tt.ptr<f32>
    %c1 = arith.constant 1 : i32
    %out_1 = tt.addptr %out, %c1 : !tt.ptr<f32>, i32
    tt.store %out_1, %sum#1 : !tt.ptr<f32>
    %all = tt.splat %sum#0 : f32 -> tensor<128xf32>
    %apart = arith.subf %x, %all : tensor<128xf32>
    %greatest = "tt.reduce"(%apart) <{axis = 0 : i32}> ({
    ^bb1(%a_3: f32, %b_3: f32):
      %c_3 = arith.maxnumf %a_3, %b_3 : f32
      tt.reduce.return %c_3 : f32
    }) : (tensor<128xf32>) -> f32
    %c2 = arith.constant 2 : i32
    %out_2 = tt.addptr %out, %c2 : !tt.ptr<f32>, i32
    tt.store %out_2, %greatest : !tt.ptr<f32>
    %c3 = arith.constant 3 : i32
    %out_3 = tt.addptr %out, %c3 : !tt.ptr<f32>, i32
    tt.store %out_3, %sum#2 : !tt.ptr<f32>
    tt.return
  }
}
