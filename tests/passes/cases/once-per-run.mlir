// Two numbers of rows are loaded, adjusted and asserted; the elements of the rows have them repeated.
// pass: once-per-run cpu
module {
  tt.func public @kernel(%rows: !tt.ptr<i32>, %table: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c64 = arith.constant dense<64> : tensor<128xi32>
    %zero = arith.constant dense<0> : tensor<128xi32>
    %size = arith.constant 128 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size : i32
    %starts = tt.splat %start : i32 -> tensor<128xi32>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %i = arith.addi %starts, %range : tensor<128xi32>
    %r = arith.divsi %i, %c64 : tensor<128xi32>
    %rs = tt.splat %rows : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %row = tt.load %rp : tensor<128x!tt.ptr<i32>>
    %ns = tt.splat %n : i32 -> tensor<128xi32>
    %m = arith.cmpi slt, %row, %zero : tensor<128xi32>
    %s = arith.addi %row, %ns : tensor<128xi32>
    %k = arith.select %m, %s, %row : tensor<128xi1>, tensor<128xi32>
    %ok = arith.cmpi slt, %k, %ns : tensor<128xi32>
    tt.assert %ok, "no such row" : tensor<128xi1>
    %a = arith.muli %k, %c64 : tensor<128xi32>
    %c = arith.remsi %i, %c64 : tensor<128xi32>
    %o = arith.addi %a, %c : tensor<128xi32>
    %ts = tt.splat %table : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %tp = tt.addptr %ts, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %tp : tensor<128x!tt.ptr<f32>>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %op = tt.addptr %os, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %op, %x : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%rows: !tt.ptr<i32>, %table: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %c64 = arith.constant dense<64> : tensor<128xi32>
    %zero = arith.constant dense<0> : tensor<128xi32>
    %size = arith.constant 128 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %size : i32
    %starts = tt.splat %start : i32 -> tensor<128xi32>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %i = arith.addi %starts, %range : tensor<128xi32>
    %r = arith.divsi %i, %c64 : tensor<128xi32>
    %rs = tt.splat %rows : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %rs_1 = tt.splat %rows : !tt.ptr<i32> -> tensor<2x!tt.ptr<i32>>
    %starts_1 = tt.splat %start : i32 -> tensor<2xi32>
    %range_1 = tt.make_range {start = 0 : i32, end = 2 : i32} : tensor<2xi32>
    %range_2 = arith.constant dense<64> : tensor<2xi32>
    %range_3 = arith.constant dense<0> : tensor<2xi32>
    %range_4 = arith.muli %range_1, %range_2 : tensor<2xi32>
    %range_5 = arith.addi %range_4, %range_3 : tensor<2xi32>
    %i_1 = arith.addi %starts_1, %range_5 : tensor<2xi32>
    %c64_1 = arith.constant dense<64> : tensor<2xi32>
    %r_1 = arith.divsi %i_1, %c64_1 : tensor<2xi32>
    %rp_1 = tt.addptr %rs_1, %r_1 : tensor<2x!tt.ptr<i32>>, tensor<2xi32>
    %row = tt.load %rp_1 : tensor<2x!tt.ptr<i32>>
    %ns = tt.splat %n : i32 -> tensor<128xi32>
    %zero_1 = arith.constant dense<0> : tensor<2xi32>
    %m = arith.cmpi slt, %row, %zero_1 : tensor<2xi32>
    %ns_1 = tt.splat %n : i32 -> tensor<2xi32>
    %s = arith.addi %row, %ns_1 : tensor<2xi32>
    %k = arith.select %m, %s, %row : tensor<2xi1>, tensor<2xi32>
    %ns_2 = tt.splat %n : i32 -> tensor<2xi32>
    %ok = arith.cmpi slt, %k, %ns_2 : tensor<2xi32>
    tt.assert %ok, "no such row" {run = 64 : i32} : tensor<2xi1>
    %c64_2 = arith.constant dense<64> : tensor<2xi32>
    %a = arith.muli %k, %c64_2 : tensor<2xi32>
    %a_1 = tt.expand_dims %a {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %a_2 = tt.broadcast %a_1 : tensor<2x1xi32> -> tensor<2x64xi32>
    %a_3 = tt.reshape %a_2 : tensor<2x64xi32> -> tensor<128xi32>
    %c = arith.remsi %i, %c64 : tensor<128xi32>
    %o = arith.addi %a_3, %c : tensor<128xi32>
    %ts = tt.splat %table : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %tp = tt.addptr %ts, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %x = tt.load %tp : tensor<128x!tt.ptr<f32>>
    %os = tt.splat %out : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %op = tt.addptr %os, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %op, %x : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
