// Where a product without a loop is stored, and under which mask, before the product; a mask that hangs on its result stays.
// pass: early-addresses cpu
module {
  tt.func public @kernel(%a: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
    %froms = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %place = tt.addptr %froms, %columns : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %x = tt.load %place : tensor<32x32x!tt.ptr<f32>>
    %one = tt.dot %x, %x, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    %ns = tt.splat %n : i32 -> tensor<32x32xi32>
    %inside = arith.cmpi slt, %columns, %ns : tensor<32x32xi32>
    %tos = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %to = tt.addptr %tos, %columns : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    tt.store %to, %one, %inside : tensor<32x32x!tt.ptr<f32>>
    %other = tt.dot %x, %x, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    %large = arith.cmpf ogt, %other, %zero : tensor<32x32xf32>
    tt.store %to, %other, %large : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%a: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %column = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<32x32xi32>
    %froms = tt.splat %a : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %place = tt.addptr %froms, %columns : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %x = tt.load %place : tensor<32x32x!tt.ptr<f32>>
    %tos = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
    %to = tt.addptr %tos, %columns : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
    %ns = tt.splat %n : i32 -> tensor<32x32xi32>
    %inside = arith.cmpi slt, %columns, %ns : tensor<32x32xi32>
    %one = tt.dot %x, %x, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    tt.store %to, %one, %inside : tensor<32x32x!tt.ptr<f32>>
    %other = tt.dot %x, %x, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
    %large = arith.cmpf ogt, %other, %zero : tensor<32x32xf32>
    tt.store %to, %other, %large : tensor<32x32x!tt.ptr<f32>>
    tt.return
  }
}
