// The larger or smaller number, or the first one where it is NaN; not where the second one is asked, or others compared.
// pass: simplify cpu
module {
  tt.func public @kernel(%x: tensor<64xf32>, %y: tensor<64xf32>, %p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<i1>>) {
    %a = arith.cmpf ogt, %x, %y : tensor<64xf32>
    %b = arith.cmpf une, %x, %x : tensor<64xf32>
    %c = arith.ori %a, %b : tensor<64xi1>
    %d = arith.select %c, %x, %y : tensor<64xi1>, tensor<64xf32>
    tt.store %p, %d : tensor<64x!tt.ptr<f32>>
    %e = arith.cmpf olt, %x, %y : tensor<64xf32>
    %f = arith.ori %b, %e : tensor<64xi1>
    %g = arith.select %f, %x, %y : tensor<64xi1>, tensor<64xf32>
    tt.store %p, %g : tensor<64x!tt.ptr<f32>>
    tt.store %q, %f : tensor<64x!tt.ptr<i1>>
    %h = arith.cmpf une, %y, %y : tensor<64xf32>
    %i = arith.ori %a, %h : tensor<64xi1>
    %j = arith.select %i, %x, %y : tensor<64xi1>, tensor<64xf32>
    tt.store %p, %j : tensor<64x!tt.ptr<f32>>
    %k = arith.cmpf oge, %x, %y : tensor<64xf32>
    %l = arith.ori %k, %b : tensor<64xi1>
    %m = arith.select %l, %x, %y : tensor<64xi1>, tensor<64xf32>
    tt.store %p, %m : tensor<64x!tt.ptr<f32>>
    %n = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%r: f32, %s: f32):
      %t = arith.cmpf ogt, %r, %s : f32
      %u = arith.cmpf une, %r, %r : f32
      %v = arith.ori %t, %u : i1
      %w = arith.select %v, %r, %s : f32
      tt.reduce.return %w : f32
    }) : (tensor<64xf32>) -> f32
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%x: tensor<64xf32>, %y: tensor<64xf32>, %p: tensor<64x!tt.ptr<f32>>, %q: tensor<64x!tt.ptr<i1>>) {
    %a = arith.cmpf ogt, %x, %y : tensor<64xf32>
    %b = arith.cmpf une, %x, %x : tensor<64xf32>
    %d = ts.larger %x, %y : tensor<64xf32>
    tt.store %p, %d : tensor<64x!tt.ptr<f32>>
    %e = arith.cmpf olt, %x, %y : tensor<64xf32>
    %f = arith.ori %b, %e : tensor<64xi1>
    %g = ts.smaller %x, %y : tensor<64xf32>
    tt.store %p, %g : tensor<64x!tt.ptr<f32>>
    tt.store %q, %f : tensor<64x!tt.ptr<i1>>
    %h = arith.cmpf une, %y, %y : tensor<64xf32>
    %i = arith.ori %a, %h : tensor<64xi1>
    %j = arith.select %i, %x, %y : tensor<64xi1>, tensor<64xf32>
    tt.store %p, %j : tensor<64x!tt.ptr<f32>>
    %k = arith.cmpf oge, %x, %y : tensor<64xf32>
    %l = arith.ori %k, %b : tensor<64xi1>
    %m = arith.select %l, %x, %y : tensor<64xi1>, tensor<64xf32>
    tt.store %p, %m : tensor<64x!tt.ptr<f32>>
    %n = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%r: f32, %s: f32):
      %w = ts.larger %r, %s : f32
      tt.reduce.return %w : f32
    }) : (tensor<64xf32>) -> f32
    tt.return
  }
}
