// Offsets of a program, and a page that it looks up.
module {
  tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %table: !tt.ptr<i32>, %n: i32) {
    %c = arith.constant 128 : i32
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %start = arith.muli %x, %c : i32
    %row = arith.muli %y, %n : i32
    %first = arith.addi %row, %start : i32
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %s = tt.splat %first : i32 -> tensor<128xi32>
    %o = arith.addi %s, %r : tensor<128xi32>
    %twice = arith.addi %o, %o : tensor<128xi32>
    %square = arith.muli %x, %x : i32
    %left = arith.subi %n, %x : i32
    %at = tt.addptr %table, %x : !tt.ptr<i32>, i32
    %page = tt.load %at : !tt.ptr<i32>
    tt.return
  }
}
// ---- known
kernel:
    %p = argument: divisible by 16
    %table = argument
    %n = argument
    %c = arith.constant: constant 128
    %x = tt.get_program_id: not negative; program x 0 + 1
    %y = tt.get_program_id: not negative; program y 0 + 1
    %start = arith.muli: divisible by 128, not negative; program x 0 + 1 * %c
    %row = arith.muli: program y 0 + 1 * %n
    %first = arith.addi: program x ? + 1 * %c; program y ? + 1 * %n
    %r = tt.make_range: contiguous 128, divisible by all, not negative
    %s = tt.splat: constant along 128; program x ? + 1 * %c; program y ? + 1 * %n
    %o = arith.addi: contiguous 128; program x ? + 1 * %c; program y ? + 1 * %n
    %twice = arith.addi: along dimension 0 by 2; program x ? + (1 * %c + 1 * %c); program y ? + (1 * %n + 1 * %n)
    %square = arith.muli: not negative; program x unknown
    %left = arith.subi: program x %n + -1
    %at = tt.addptr: program x %table + 1
    %page = tt.load: program x unknown; program y unknown
