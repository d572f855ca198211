// Masks as conjunctions of comparisons; the same part twice is one.
module {
  tt.func public @kernel(%m: i32, %n: i32, %given: tensor<16x32xi1>) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %ms = tt.splat %m : i32 -> tensor<16xi32>
    %rows = arith.cmpi slt, %r, %ms : tensor<16xi32>
    %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %down = tt.broadcast %rows1 : tensor<16x1xi1> -> tensor<16x32xi1>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %ns = tt.splat %n : i32 -> tensor<1x32xi32>
    %columns = arith.cmpi sgt, %ns, %c1 : tensor<1x32xi32>
    %across = tt.broadcast %columns : tensor<1x32xi1> -> tensor<16x32xi1>
    %both = arith.andi %down, %across : tensor<16x32xi1>
    %twice = arith.andi %both, %down : tensor<16x32xi1>
    %all = arith.andi %twice, %given : tensor<16x32xi1>
    %either = arith.ori %down, %across : tensor<16x32xi1>
    tt.return
  }
}
// ---- known
kernel:
    %m = argument
    %n = argument
    %given = argument
    %r = tt.make_range: contiguous 16, divisible by all, not negative
    %c = tt.make_range: contiguous 32, divisible by all, not negative
    %ms = tt.splat: constant along 16
    %rows = arith.cmpi: not negative; %r slt %ms
    %rows1 = tt.expand_dims: not negative; %r slt %ms below tt.expand_dims
    %down = tt.broadcast: constant along 1x32, not negative; %r slt %ms below tt.broadcast below tt.expand_dims
    %c1 = tt.expand_dims: contiguous 1x32, divisible by 1xall, not negative
    %ns = tt.splat: constant along 1x32
    %columns = arith.cmpi: not negative; %ns sgt %c1
    %across = tt.broadcast: constant along 16x1, not negative; %ns sgt %c1 below tt.broadcast
    %both = arith.andi: not negative; %r slt %ms below tt.broadcast below tt.expand_dims and %ns sgt %c1 below tt.broadcast
    %twice = arith.andi: not negative; %r slt %ms below tt.broadcast below tt.expand_dims and %ns sgt %c1 below tt.broadcast
    %all = arith.andi: not negative; %r slt %ms below tt.broadcast below tt.expand_dims and %ns sgt %c1 below tt.broadcast and %given
    %either = arith.ori: not negative; %either
