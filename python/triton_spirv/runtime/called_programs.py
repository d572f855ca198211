"""Programs as functions that threads of this process call, where the driver's compiler makes such
(program_code.py). TRITON_SPIRV_CALLS=0 leaves all launches to the driver.

cl_intel_function_pointers promises an address, but not how arguments are passed. So a process calls a program
that is known before any other: it notes what it is given.

A function has its private arrays on the stack of whoever calls it, where the driver may have other memory for
large ones. So what does not fit there is left to the driver.
"""

from __future__ import annotations

import base64
import ctypes
import struct
import zlib
from typing import TYPE_CHECKING

from ..errors import DeviceError
from ..once import Once
from ..settings import flag
from . import builder, running_kernels, stacks
from .devices import Context, Device, choose, open_device
from .opencl import data_of
from .program import Program, build, compiled

if TYPE_CHECKING:
    from ..artifact import Artifact
    from .team_code import Team

VARIABLE = "TRITON_SPIRV_CALLS"

#: A module for the CPU device: its program stores its place, how many programs there are, and a number of 32
#: bits, its second argument, from the address on that is the first.
PROBE = zlib.decompress(base64.b85decode(
    b"c-n1K>rN9<5T0(gl*+AWTSS2t%B><^uoftS$i-R&G|}kKrp4M2X_qXm0p7^?7CwscA^c<F%-QeQN#iCbXXcx4=FDxwPBuzTh~#@i!8b|{"
    b"xw!jqM{p0|{*?^wBI`G(pWeOwP$?h3-#@H;?zB$Yr(Uaa?wz*Ub^n5fDa=eVXN00A<|3bS->cR6UgneM6KBh!iBA+#C(izYr;Y3yISX5a"
    b"efn*zN`<e6Uu_B=;k*nkK;@DGY(QaGzy=j|4Q!~3U5K+_!y3B^un~=22Uv`;s^91|>#g>Mi5Dhr7kQmF%Px(x-0C!Ib)Sr`dlBLONIyzv"
    b"UafjoZhiGms?yE!r=V8p({ZQy(euAFe6MpZ@k<<EdhjzTa=(#t|LF-Cu4`=bn1|@{p7dn`u|!Y7mWS;&Y<bv{Y?J<Huro{09q6}M3WF!R"
    b"v<-ZUHQ6N>^UJU#`w%s?6HW8fL>Aw^o;}b<{6^vDLQfz@Nad4K{4wwYd&KzNq3&m~yWnVSQq^X$H1gEgH1g3{7I|rG4)u}oacM!-JjVJG"
    b";)Id={eO8AZ9rdEwLO6Bsy9~De5_9%yaZRXs`|8t`U+-S$?TAWeyuVhdBq@y%s=0i2b4Uh<RK*wD_Q=T-yA*8_YS`&bG(W8^5!PL=9(P}"
    b"a0mHZV#Z0>#CHt48N;l_SKb&0?w}`I%uOP1i|sO&z}_b@ci~N-re59@c$45wq269z2D~(Q8T6u;Hv`@@cr)lzFK-sSEO@i%VJ~kUygBgZ"
    b"(Fe=>!<|{<V`sdG-B?gF&S5t9&|lfBhuF1XHo^b=2)K{^c?|3acJB%F6&2?x_D{zt0RPS$*~c~b%76I{d$6wXf_k$En~lGLJX0$EGvL-|"
    b"6PV3&3%btpIr7wTwt?F`U%*%AxufuH_2w>YHvT^H+*9#i0=GUTU^dTJ&~=_=<f-Ev0JnL*hOf@^P~iva%_G>>dHZEQj`82+FyBq&RYXlk"
    b"YN!4JKkkfy"))
ENTRY, FUNCTION = "probe", "probe__program"

#: clGetDeviceFunctionPointerINTEL
_ADDRESS = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p,
                            ctypes.c_void_p)
_PROGRAM = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_uint32] * 6)


def address_of(context: Context, program: Program, artifact: Artifact, team: Team | None = None) -> int:
    """Where the function of a kernel's program begins; 0 where there is none, or this thread may not call it,
    or the threads of its team."""
    arrays = artifact.private_bytes
    if not artifact.exports or not calls(context) or not stacks.may_call(arrays):
        return 0
    if team and not (stacks.crew_may_call if team.crew else stacks.team_may_call)(arrays):
        return 0
    return _found(context, program, artifact.exports)


def calls(context: Context) -> bool:
    """May functions be called that the device's compiler made?"""
    return flag(VARIABLE, True) and context.device.kind == "cpu" and _passes_arguments(context.device)


def prepare(choice: str) -> None:
    """Start a CPU driver, and its compiler, in the thread that builds, where that has not been done: what a
    first launch does while its kernel is compiled. choice: as TRITON_SPIRV_DEVICE has it."""
    # a binary from the disk would not start the compiler
    builder.begin(lambda: compiled(open_device(choose(choice)), PROBE, ENTRY))


@Once
def _passes_arguments(device: Device) -> bool:
    """As C does, which is tried out."""
    context = open_device(device)
    try:
        program = build(context, PROBE, ENTRY)
    except DeviceError:
        return False
    address = _found(context, program, FUNCTION)
    if not address:
        return False
    noted, expected = (ctypes.c_uint32 * 8)(), (3, 1 << 31, 5, 7, (1 << 32) - 1, 11, 13, 0)
    arguments = struct.pack("<QIxxxx", ctypes.addressof(noted), expected[6])
    _PROGRAM(address)(data_of(arguments), *expected[:6])
    return tuple(noted) == expected


def _found(context: Context, program: Program, name: str) -> int:
    """0 where the driver does not tell."""
    library, device = context.device.library, context.device.handle
    try:
        place = library.extension(device, "clGetDeviceFunctionPointerINTEL")
    except DeviceError:
        return 0
    found = ctypes.c_uint64(0)
    with running_kernels.calls:
        code = _ADDRESS(place)(device, program.handle, name.encode(), ctypes.addressof(found))
    return 0 if code else found.value
