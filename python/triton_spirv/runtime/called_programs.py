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
    b"c-n1L>rNU`5I!u6f_TAJq~5rQB2+EXi(0KpQEN;Z+onzXa|109Q(?)%ChD)gPSdyOqcnYp{%O*gv){^O(@jp!%s1c6oHOTxu#q2CMo97"
    b"ZN_pS3GL(sZ1bYN~9Q*I2x9^cZrlRWo+mF`y#fQ_^R?F>v9$ea8t7l(!2TiB1CRLc2O0Oy6a?K*Go?|zfv~SWX)2h%)P_(FfC>0VbK{X"
    b"i9Xxr3w9<d1JME!b}MO)jccNmY**)-08b*(%sF0dP5;{v+{HZjEdoXpsy#BMxnN@BMj79*_gwB1g#JLv0rVMQZTwmTr(RC8o^-A<$FDD"
    b"BI6a6ZrElkI$MJGR?9|Dx~6GrDj)cW@tf=eeC-*^T<un^vpe9Pk^SQ9qu^uO!=1ZI}KtBadt9SOIUuKKJK2&7&6kvxt=udw^J3#43p85"
    b"UU`Tq!_<d78+ZJZ@|A#Rv0|iUKMznJl39xx6YEq`We-C=RRZF=G>8hX5`|$Y2=ykXHX*~&ND0cDe%2`MCZ+`;pbxu;7Dvq+|9=_IH$yN"
    b"IFH2gIG4m$aX+PVOtmKNoFac6b;3CN#@)G<+K0ah%=gOyzY@6X6Y*Xf)QM|71@15Iy@R~4;62Bz{56CB3g++Az6buc{$(hwPXqJbA%yQ"
    b"0gB{ZUF+)2p>~UdF2zyf4{QLYv)f2SWs2}U#9_n+?1L|gK4SKkN^IStCNyIoe1>MJ>70%@zbHEL}!y$2#IJb`-6UOxxQF8&jMcgUKOM|"
    b"xrUK;le^0MG%z{_G5LEbWWIq;S-ryy?yygYa-m|>7t0B;q%0_NcJ{?cT2Y58wlgqGIC8<+4l5A`fP9Y2CreSZsD_5H`t>QAc6{xe{#&2"
    b"PZAQHOB{8r=o{gE*|g7szF;eur)k1imG54-tDux%}QosHX&01r`$6OJIh;YN#i3kAcbD6JUluV_eVh6xuA|3{~`~p~i`r`#&8vglG"))
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
