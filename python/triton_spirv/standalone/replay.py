"""Repeats the recorded launch in this folder. Needs pyopencl and numpy, nothing else.

    python replay.py                  on the first device of the kind that it was recorded on
    python replay.py --repeat 20      the least and the median time of twenty launches
    python replay.py --device cpu     on a device whose name or platform has this in it
    python replay.py --tolerance 1e-6 floats may differ by that much from what was recorded

launch.json says what was launched, arguments.npz has the memory before and after. Status 1 if results differ.
`triton-spirv replay FOLDER` does the same with this file as the package has it, and runs nothing from FOLDER
but the kernel itself.
"""

import argparse

from .loader import (
    CODES,
    FOLDER,
    Kernel,
    LoaderError,
    Path,
    ctypes,
    devices,
    hidden_words,
    json,
    kind_of,
    numpy,
    struct,
    sys,
)


class Recorded(Kernel):
    """A kernel that takes memory as it was recorded: whole allocations, and offsets in them."""

    def repeat(self, record, memories):
        """One launch on these allocations; nanoseconds on the device."""
        artifact, cl = self.artifact, self.cl
        words = hidden_words(artifact, record["grid"])
        places = [*record["arguments"], *({"hidden": name} for name in words)]
        copies = {}
        if artifact["passing"] == "struct":
            values = [self._address(place, memories, words) for place in places]
            data = struct.pack(self.facts["struct_format"], *values)
            self.kernel.set_arg(0, numpy.frombuffer(data, numpy.uint8))
        else:
            copies = {name: self._copied(memory) for name, memory in (*memories.items(), *words.items())}
            for at, place in enumerate(places):
                self.kernel.set_arg(at, self._argument(at, place, copies))
        local = artifact["local_size"]
        size = [programs * items for programs, items in zip(record["grid"], local, strict=True)]
        event = cl.enqueue_nd_range_kernel(self.queue, self.kernel, size, local)
        event.wait()
        for name, copy in copies.items():
            cl.enqueue_copy(self.queue, words[name] if name in words else memories[name], copy).wait()
        if "assert_buffer" in words and words["assert_buffer"][0]:
            print(self._assertion(*words["assert_buffer"].tolist()))
        return event.profile.end - event.profile.start

    def _address(self, place, memories, words):
        if "hidden" in place:
            return words[place["hidden"]].ctypes.data
        if "memory" in place:
            return memories[place["memory"]].ctypes.data + place["offset"]
        return place["value"]

    def _copied(self, memory):
        """Shared virtual memory, where a pointer may begin anywhere; a part of a buffer begins at a multiple
        of 128 bytes on Intel's GPUs."""
        cl = self.cl
        copy = cl.SVMAllocation(self.context, max(memory.nbytes, 1), 0, cl.svm_mem_flags.READ_WRITE)
        cl.enqueue_copy(self.queue, copy, memory).wait()
        return copy

    def _argument(self, at, place, copies):
        if "hidden" in place:
            return copies[place["hidden"]]
        if "memory" in place:
            copy, offset = copies[place["memory"]], place["offset"]
            if not offset:
                return copy
            part = (ctypes.c_char * (copy.size - offset)).from_address(copy.svm_ptr + offset)
            return self.cl.SVM(numpy.frombuffer(part, numpy.uint8))
        kind = self.artifact["parameters"][at][1]
        if kind == "ptr":
            return None
        return numpy.frombuffer(struct.pack(CODES[kind], place["value"]), numpy.uint8)


def aligned(data, remainder):
    """A copy whose address has the same remainder by 4096 as the memory that was recorded."""
    block = numpy.empty(data.nbytes + 8192, numpy.uint8)
    start = (remainder - block.ctypes.data) % 4096
    memory = block[start:start + data.nbytes]
    memory[:] = data
    return memory


def checked(record, folder, stored):
    """What launch.json says, where it can be meant: LoaderError for a recording that is damaged, or made to
    reach beyond itself."""
    try:
        artifact, memories, places = record["artifact"], record["memories"], record["arguments"]
        sizes = {name: stored[name].nbytes for name in memories}
        right = (
            Path(record["spv"]).name == record["spv"] and (folder / record["spv"]).is_file()
            and len(record["grid"]) == 3 and len(artifact["local_size"]) == 3
            and all(isinstance(n, int) and n > 0 for n in [*record["grid"], *artifact["local_size"]])
            and all(stored[name].dtype == numpy.uint8 and stored[name].ndim == 1 for name in memories)
            and all(0 <= int(row["remainder"]) < 4096 for row in memories.values())
            and all(stored[f"{name}_after"].nbytes == sizes[name] for name, row in memories.items()
                    if row["written"])
            and len(places) == len(artifact["parameters"])
            and all(kind == "ptr" or kind in CODES for _, kind in artifact["parameters"])
            and all(0 <= place["offset"] <= sizes[place["memory"]] if "memory" in place
                    else isinstance(place["value"], (int, float))
                    and (kind != "ptr" or place["value"] == 0)
                    for place, (_, kind) in zip(places, artifact["parameters"], strict=True))
            and set(record["struct_format"]) <= set("<xBbHhiqefdQ0123456789")
            and struct.calcsize(record["struct_format"]) <= 16 * (len(places) + len(artifact["hidden"]))
        )
    except (KeyError, TypeError, ValueError, AttributeError, OSError, struct.error) as error:
        raise LoaderError(f"the recording is damaged: {type(error).__name__}: {error}") from error
    if not right:
        raise LoaderError("the recording is damaged: launch.json and arguments.npz do not agree")
    return record


def difference(found, expected, dtype, tolerance):
    """What differs, in words; empty where nothing does."""
    if (found == expected).all():
        return ""
    kinds = {"float16", "float32", "float64"}
    if dtype in kinds:
        size = numpy.dtype(dtype).itemsize
        end = len(found) // size * size
        now, then = (memory[:end].view(dtype).astype(numpy.float64) for memory in (found, expected))
        same = (now == then) | (numpy.isnan(now) & numpy.isnan(then))
        with numpy.errstate(invalid="ignore"):
            most = numpy.nanmax(numpy.where(same, 0.0, abs(now - then)), initial=0.0)
            close = bool((same | (abs(now - then) <= tolerance)).all())
        return "" if close else f"{int((~same).sum())} of {len(now)} {dtype} differ, by up to {most:g}"
    return f"{int((found != expected).sum())} of {len(found)} bytes differ"


def main():
    """Repeat, compare, say."""
    parser = argparse.ArgumentParser(description="Repeats the recorded launch in this folder.")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="another recording; default: this one")
    parser.add_argument("--device", default="", help="part of a device's name or platform")
    parser.add_argument("--repeat", type=int, default=1, help="launches to time")
    parser.add_argument("--tolerance", type=float, default=0.0, help="that floats may differ by")
    options = parser.parse_args()
    try:
        record = json.loads((options.folder / "launch.json").read_text(encoding="utf-8"))
        stored = numpy.load(options.folder / "arguments.npz", allow_pickle=False)
        checked(record, options.folder, stored)
    except (OSError, ValueError, EOFError, LoaderError) as error:
        print(f"{options.folder.name}: {error}")
        return 1
    candidates = [device for device in devices()
                  if options.device.lower() in f"{device.platform.name} {device.name}".lower()
                  and (options.device or kind_of(device) == record["device_kind"])]
    if not candidates:
        print(f"no device {options.device or 'of the kind ' + record['device_kind']}")
        return 2
    try:
        kernel = Recorded(record, (options.folder / record["spv"]).read_bytes(), b"", candidates[0])
    except LoaderError as error:
        print(error)
        return 1
    times, differences = [], []
    for launch in range(max(options.repeat, 1)):
        memories = {name: aligned(stored[name], row["remainder"]) for name, row in record["memories"].items()}
        times.append(kernel.repeat(record, memories) / 1e3)
        for name, row in record["memories"].items():
            if row["written"] and not launch:
                said = difference(memories[name], stored[f"{name}_after"], row["dtype"], options.tolerance)
                differences += [f"{name} ({', '.join(row['arguments'])}): {said}"] if said else []
    x, y, z = record["grid"]
    times.sort()
    told = f"{times[0]:.1f} us" + (f", median {times[len(times) // 2]:.1f} us" if len(times) > 1 else "")
    print(f"{record['entry']}, grid {x} x {y} x {z}, on {candidates[0].name.strip()}: {told}")
    print("\n".join(differences) if differences else "the results are those that were recorded")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
