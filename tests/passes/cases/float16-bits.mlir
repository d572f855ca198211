// Registers hold the bits of f16 on a device that does not compute with it.
// pass: float16-bits lavapipe
module {
  tt.func public @kernel(%p: !tt.ptr<f16>, %out: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<f16>
    %y = arith.extf %x : f16 to f32
    tt.store %out, %y : !tt.ptr<f32>
    tt.return
  }
}
// ---- becomes
module {
  tt.func public @kernel(%p: !tt.ptr<!ts.bits<f16>>, %out: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<!ts.bits<f16>>
    %y = arith.extf %x : !ts.bits<f16> to f32
    tt.store %out, %y : !tt.ptr<f32>
    tt.return
  }
}
