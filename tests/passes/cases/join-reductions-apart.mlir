// What stays apart: nothing is read by both; something between them cannot be moved; other axes.
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
    %other = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    tt.store %out, %sum : !tt.ptr<f32>
    %again = tt.load %q_1 : tensor<128x!tt.ptr<f32>>
    %xy = arith.mulf %x, %again : tensor<128xf32>
    %products = "tt.reduce"(%xy) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    %rows = tt.reshape %x : tensor<128xf32> -> tensor<8x16xf32>
    %along = "tt.reduce"(%rows) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    %across = "tt.reduce"(%rows) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8x16xf32>) -> tensor<16xf32>
    tt.store %out, %other : !tt.ptr<f32>
    tt.store %out, %products : !tt.ptr<f32>
    %e = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %o_1 = tt.addptr %o, %e : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %o_1, %along : tensor<8x!tt.ptr<f32>>
    %f = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %u = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %u_1 = tt.addptr %u, %f : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %u_1, %across : tensor<16x!tt.ptr<f32>>
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
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    %other = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb1(%a_1: f32, %b_1: f32):
      %c_1 = arith.addf %a_1, %b_1 : f32
      tt.reduce.return %c_1 : f32
    }) : (tensor<128xf32>) -> f32
    tt.store %out, %sum : !tt.ptr<f32>
    %again = tt.load %q_1 : tensor<128x!tt.ptr<f32>>
    %xy = arith.mulf %x, %again : tensor<128xf32>
    %products = "tt.reduce"(%xy) <{axis = 0 : i32}> ({
    ^bb2(%a_2: f32, %b_2: f32):
      %c_2 = arith.addf %a_2, %b_2 : f32
      tt.reduce.return %c_2 : f32
    }) : (tensor<128xf32>) -> f32
    %rows = tt.reshape %x : tensor<128xf32> -> tensor<8x16xf32>
    %along = "tt.reduce"(%rows) <{axis = 1 : i32}> ({
    ^bb3(%a_3: f32, %b_3: f32):
      %c_3 = arith.addf %a_3, %b_3 : f32
      tt.reduce.return %c_3 : f32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    %across = "tt.reduce"(%rows) <{axis = 0 : i32}> ({
    ^bb4(%a_4: f32, %b_4: f32):
      %c_4 = arith.addf %a_4, %b_4 : f32
      tt.reduce.return %c_4 : f32
    }) : (tensor<8x16xf32>) -> tensor<16xf32>
    tt.store %out, %other : !tt.ptr<f32>
    tt.store %out, %products : !tt.ptr<f32>
    %e = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %o = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %o_1 = tt.addptr %o, %e : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %o_1, %along : tensor<8x!tt.ptr<f32>>
    %f = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %u = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %u_1 = tt.addptr %u, %f : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %u_1, %across : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
