// What rounds of a loop add: to the counter, to what is computed from it, to what travels.
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32, %stride: i32, %step: i32, %t: tensor<16xi32>) {
    %zero = arith.constant 0 : i32
    %c = arith.constant dense<4> : tensor<16xi32>
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %s = tt.splat %stride : i32 -> tensor<16xi32>
    %x:3 = scf.for %i = %zero to %n step %step iter_args(%a = %base, %b = %t, %d = %base)
        -> (tensor<16x!tt.ptr<f32>>, tensor<16xi32>, tensor<16x!tt.ptr<f32>>) : i32 {
      %k = tt.splat %i : i32 -> tensor<16xi32>
      %o = arith.addi %k, %r : tensor<16xi32>
      %far = arith.muli %o, %s : tensor<16xi32>
      %apart = arith.muli %o, %r : tensor<16xi32>
      %down = arith.subi %r, %k : tensor<16xi32>
      %rests = arith.muli %s, %r : tensor<16xi32>
      %at = tt.addptr %a, %far : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %number = tt.load %at : tensor<16x!tt.ptr<f32>>
      %odd = arith.remsi %i, %n : i32
      %a1 = tt.addptr %a, %c : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %a2 = tt.addptr %a1, %s : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %b1 = arith.addi %s, %b : tensor<16xi32>
      %d1 = tt.addptr %d, %b : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %a2, %b1, %d1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>, tensor<16x!tt.ptr<f32>>
    }
    tt.return
  }
}
// ---- known
kernel:
    %p = argument
    %n = argument
    %stride = argument
    %step = argument
    %t = argument
    %zero = arith.constant: constant 0
    %c = arith.constant: constant 4
    %r = tt.make_range: contiguous 16, divisible by all, not negative
    %base = tt.splat: constant along 16
    %s = tt.splat: constant along 16
    %x#0 = scf.for: constant along 16
    %x#1 = scf.for
    %x#2 = scf.for
    %i = argument: round %zero + %step
    %a = argument: constant along 16; round %base + (%c + %s)
    %b = argument: round %t + %s
    %d = argument: round unknown
    %k = tt.splat: constant along 16; round %zero + %step
    %o = arith.addi: contiguous 16; round ? + %step
    %far = arith.muli: along dimension 0 by 1 * %s; round ? + %step * %s
    %apart = arith.muli: round unknown
    %down = arith.subi: contiguous 16; round ? + %step * -1
    %rests = arith.muli: along dimension 0 by 1 * %s
    %at = tt.addptr: along dimension 0 by 1 * %s; round ? + ((%c + %s) + %step * %s)
    %odd = arith.remsi: round unknown
    %a1 = tt.addptr: constant along 16; round ? + (%c + %s)
    %a2 = tt.addptr: constant along 16; round ? + (%c + %s)
    %b1 = arith.addi: round ? + %s
    %d1 = tt.addptr: round unknown
