// Sums, operands and loads take the layouts of the matrix unit; the zeros are converted before the loop.
// pass: place-products pvc
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
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
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 16 : i32} {
  tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, %out: tensor<32x32x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %steps = arith.constant dense<32> : tensor<32x32xi32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %start = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    %zero_1 = ttg.convert_layout %zero : tensor<32x32xf32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>> -> tensor<32x32xf32, #ts.matrix<{operand = "c", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>>
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero_1, %p = %start) -> (tensor<32x32xf32, #ts.matrix<{operand = "c", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>>, tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>) : i32 {
      %a = "tt.load"(%p) <{ts.natural = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}> : (tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>) -> tensor<32x32xf16, #ts.matrix<{operand = "a", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>>
      %b = "tt.load"(%y) <{ts.natural = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}> : (tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>) -> tensor<32x32xf16, #ts.matrix<{operand = "b", component = [[1, 0], [2, 0], [4, 0], [8, 0]], register = [[16, 0], [0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>>
      %d = tt.dot %a, %b, %sum {ts.left = #ts.matrix<{operand = "a", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>, ts.right = #ts.matrix<{operand = "b", component = [[1, 0], [2, 0], [4, 0], [8, 0]], register = [[16, 0], [0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>} : tensor<32x32xf16, #ts.matrix<{operand = "a", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>> * tensor<32x32xf16, #ts.matrix<{operand = "b", component = [[1, 0], [2, 0], [4, 0], [8, 0]], register = [[16, 0], [0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>> -> tensor<32x32xf32, #ts.matrix<{operand = "c", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>>
      %q = tt.addptr %p, %steps : tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>, tensor<32x32xi32, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
      scf.yield %d, %q : tensor<32x32xf32, #ts.matrix<{operand = "c", component = [[1, 0], [2, 0], [4, 0]], register = [[0, 16], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>>, tensor<32x32x!tt.ptr<f16>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    }
    tt.store %out, %r#0 : tensor<32x32x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>>
    tt.return
  }
}
