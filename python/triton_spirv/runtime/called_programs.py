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
    b"c-n1L+fGwa5S^Z$a=$7Cxs^h>im3Gh1*BFkR^+N6=u-n)2$A-X(>4K~{2k+8_$kJZ@WsTLeb$D_iA{F)>@{m<_L@DXQ72VTPK4z5iGp"
    b"7zIpkum!yd!ljQw{!*cbTRL=CjJdr(;4-e21+oYcynt7l%haN(Vmt3|&;Z4_lDnbpo*$vMgE!uO7gywC7T^UCn*VDF@<K@?G|gL4QzW"
    b"Ng>iDfnU>(_r%z3cQ{AM<u~yd^dv&P`IQ3YgX75uoi_~18cp-DiSPMo5rpJtX*T*0oKUak$+k%70cC%$rmMV8F{rT+b;F8U9Odmi$0m"
    b"N?uY1+p5)KH<D>JPlaorZO1P8s>Cp4Pp88(xV*QKZO5e6?r5jl4<++~p<X2qm24heCr$=PCuJMiIjpQu#rBB1iCFgGV((v`cmsY+EeD"
    b"~nXz!ztqyj2o2HjT4`^If*0;K}UefG7AQv*+TilWfWS)SG_D{hEv|v2~%D(M#ew5$EFEg&YxepKitP0YC7^Ok5w`{w&rHj>ZO+Hj546"
    b"o*Em*eKeNBy)-rkePm)>noyd1_&kj~QQZB(&Ao{hah_4y9>R8&KONFKtKQ3UGT?Nvx<%Eu4d|UUlTK#d9Q1FF5xHk0?1=f#xV4*=-J<"
    b"MPWw$9?zPCS|y@U5<t|#w$2l=Ju5?6E0Oa-`u`&{D9<M2sr4`#IyZ!fV@qZhb?9%Y#u$Gt7K!kFY6K+b;f2B0a-OMo{BUIKc<yd-!-;"
    b"3d(EFmD9BVem%Kr!a36ycBq&=wX;Q4&E4e<LHCs{pHSNc-c3e#B5BcH=e@V+(&<9&K_a*g0~62@5jI`=LzOdbDjeKhIxDjOk#b^-E-h"
    b"S!I^`9R^^_@-0Iv5z<)4D=J*9-<@^4Q`B_r<f~uK?&*py#ecdX54!GsKf<Dbz25$AO0L!UbtH7<kHTbo@*U+bP=Yd;&ZxE~Xtt&jQYQ"
    b"BZf=HG<A4V8ZjxaDj^pXTfUxB7O0ZK+!CfLnd<;n({1pik%C2X6I!K&;kxpzwWF^ANsy{z_$zKjQyk3iGszdu7p!LpA&V0K*=f5C"))
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
