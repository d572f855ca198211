// The first blocks are loaded before the loop, the next ones while it multiplies.
// pass: fetch-ahead lavapipe
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x32x!tt.ptr<f16>, #b>,
                         %out: tensor<32x32x!tt.ptr<f32>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #b>
    %steps = arith.constant dense<32> : tensor<32x32xi32, #b>
    %start = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #b>
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %start)
        -> (tensor<32x32xf32, #b>, tensor<32x32x!tt.ptr<f16>, #b>) : i32 {
      %a = tt.load %p : tensor<32x32x!tt.ptr<f16>, #b>
      %b = tt.load %y : tensor<32x32x!tt.ptr<f16>, #b>
      %left = ttg.convert_layout %a : tensor<32x32xf16, #b>
          -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>>
      %right = ttg.convert_layout %b : tensor<32x32xf16, #b>
          -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>>
      %d = tt.dot %left, %right, %sum : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>>
          * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<32x32xf32, #b>
      %q = tt.addptr %p, %steps : tensor<32x32x!tt.ptr<f16>, #b>, tensor<32x32xi32, #b>
      scf.yield %d, %q : tensor<32x32xf32, #b>, tensor<32x32x!tt.ptr<f16>, #b>
    }
    tt.store %out, %r#0 : tensor<32x32x!tt.ptr<f32>, #b>
    tt.return
  }
}
// ---- becomes
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, %out: tensor<32x32x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %steps = arith.constant dense<32> : tensor<32x32xi32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %start = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %more = arith.cmpi slt, %c0, %n : i32
    %more_1 = tt.splat %more : i1 -> tensor<32x32xi1, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %a = tt.load %start, %more_1 : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %more_2 = arith.cmpi slt, %c0, %n : i32
    %more_3 = tt.splat %more_2 : i1 -> tensor<32x32xi1, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %b = tt.load %y, %more_3 : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %start, %a_1 = %a, %b_1 = %b) -> (tensor<32x32xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>) : i32 {
      %next = arith.addi %k, %c1 : i32
      %more_4 = arith.cmpi slt, %next, %n : i32
      %more_5 = tt.splat %more_4 : i1 -> tensor<32x32xi1, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      %b_2 = tt.load %y, %more_5 : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      %next_1 = arith.addi %k, %c1 : i32
      %more_6 = arith.cmpi slt, %next_1, %n : i32
      %q = tt.addptr %p, %steps : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xi32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      %more_7 = tt.splat %more_6 : i1 -> tensor<32x32xi1, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      %a_2 = tt.load %q, %more_7 : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      %left = ttg.convert_layout %a_1 : tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}>>
      %right = ttg.convert_layout %b_1 : tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}>>
      %d = tt.dot %left, %right, %sum : tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}>> * tensor<32x32xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}>> -> tensor<32x32xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      %q_1 = tt.addptr %p, %steps : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xi32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      scf.yield %d, %q_1, %a_2, %b_2 : tensor<32x32xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    }
    tt.store %out, %r#0 : tensor<32x32x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    tt.return
  }
}
