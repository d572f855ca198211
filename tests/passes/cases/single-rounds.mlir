// The sum over a row of at most one block: the loop stays for longer rows, and the zeros leave the other copy.
// pass: single-rounds cpu max_registers=4
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32>
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %sum = scf.for %k = %c0 to %n step %step iter_args(%s = %zero) -> (tensor<128xf32>) : i32 {
      %first = tt.splat %k : i32 -> tensor<128xi32>
      %place = arith.addi %first, %i : tensor<128xi32>
      %at = tt.addptr %base, %place : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %x = tt.load %at : tensor<128x!tt.ptr<f32>>
      %t = arith.addf %s, %x : tensor<128xf32>
      scf.yield %t : tensor<128xf32>
    }
    %total = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32>) -> f32
    tt.store %out, %total : !tt.ptr<f32>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 128 : i32
    %once = arith.cmpi slt, %c0, %n : i32
    %once_1 = arith.subi %n, %c0 : i32
    %once_2 = arith.cmpi ule, %once_1, %step : i32
    %once_3 = arith.andi %once, %once_2 : i1
    scf.if %once_3 {
      %c0_1 = arith.constant 0 : i32
      %step_1 = arith.constant 128 : i32
      %zero = arith.constant dense<0.0> : tensor<128xf32>
      %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %base = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %first = tt.splat %c0_1 : i32 -> tensor<128xi32>
      %place = arith.addi %first, %i : tensor<128xi32>
      %at = tt.addptr %base, %place : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      %x = tt.load %at : tensor<128x!tt.ptr<f32>>
      %total = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<128xf32>) -> f32
      %zero_1 = arith.constant 0.0 : f32
      %total_1 = arith.addf %total, %zero_1 : f32
      tt.store %out, %total_1 : !tt.ptr<f32>
    } else {
      %c0_2 = arith.constant 0 : i32
      %step_2 = arith.constant 128 : i32
      %zero_2 = arith.constant dense<0.0> : tensor<128xf32>
      %i_1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
      %base_1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
      %sum = scf.for %k = %c0_2 to %n step %step_2 iter_args(%s = %zero_2) -> (tensor<128xf32>) : i32 {
        %first_1 = tt.splat %k : i32 -> tensor<128xi32>
        %place_1 = arith.addi %first_1, %i_1 : tensor<128xi32>
        %at_1 = tt.addptr %base_1, %place_1 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
        %x_1 = tt.load %at_1 : tensor<128x!tt.ptr<f32>>
        %t = arith.addf %s, %x_1 : tensor<128xf32>
        scf.yield %t : tensor<128xf32>
      }
      %total_2 = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
      ^bb1(%a_1: f32, %b_1: f32):
        %c_1 = arith.addf %a_1, %b_1 : f32
        tt.reduce.return %c_1 : f32
      }) : (tensor<128xf32>) -> f32
      tt.store %out, %total_2 : !tt.ptr<f32>
    }
    tt.return
  }
}
