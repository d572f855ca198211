// Scores whose rows are reduced: warps lie below each other, so that a row is in one; other results stay.
// pass: place-tiles mtl sub_group_size=8
#b = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @kernel(%x: tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>>,
                         %y: tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>>,
                         %tops: tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>,
                         %out: tensor<16x64x!tt.ptr<f32>, #b>) {
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #b>
    %d = tt.dot %x, %y, %zero : tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>>
        * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<16x64xf32, #b>
    %top = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%one: f32, %other: f32):
      %most = arith.maxnumf %one, %other : f32
      tt.reduce.return %most : f32
    }) : (tensor<16x64xf32, #b>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #b}>>
    tt.store %tops, %top : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
    %e = tt.dot %x, %y, %zero : tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #b}>>
        * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<16x64xf32, #b>
    tt.store %out, %e : tensor<16x64x!tt.ptr<f32>, #b>
    tt.return
  }
}
// ---- becomes
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 8 : i32} {
  tt.func public @kernel(%x: tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>>, %y: tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>>, %tops: tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>>, %out: tensor<16x64x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>>) {
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>>
    %d = tt.dot %x, %y, %zero : tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>> -> tensor<16x64xf32, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [2, 1], order = [1, 0]}>>
    %top = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%one: f32, %other: f32):
      %most = arith.maxnumf %one, %other : f32
      tt.reduce.return %most : f32
    }) : (tensor<16x64xf32, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [2, 1], order = [1, 0]}>>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [2, 1], order = [1, 0]}>}>>
    tt.store %tops, %top : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>>
    %e = tt.dot %x, %y, %zero : tensor<16x64xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>}>> -> tensor<16x64xf32, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>>
    tt.store %out, %e : tensor<16x64x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 8], warpsPerCTA = [1, 2], order = [1, 0]}>>
    tt.return
  }
}
