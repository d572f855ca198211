// A number of 8 bits is never above what its type holds.
// pass: simplify lavapipe
module {
  tt.func public @kernel(%x: i8, %p: !tt.ptr<i1>) {
    %most = arith.constant 127 : i32
    %wide = arith.extsi %x : i8 to i32
    %fits = arith.cmpi sle, %wide, %most : i32
    tt.store %p, %fits : !tt.ptr<i1>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%x: i8, %p: !tt.ptr<i1>) {
    %most = arith.constant 127 : i32
    %wide = arith.extsi %x : i8 to i32
    %fits = arith.constant true
    tt.store %p, %fits : !tt.ptr<i1>
    tt.return
  }
}
