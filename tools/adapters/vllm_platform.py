"""A pytest plugin: vLLM's platform has device "cuda", is like CUDA, and is not CUDA itself.

vLLM takes its platform from what is installed, and lets others name one. Without any its tests skip
themselves.
"""

from __future__ import annotations


def pytest_configure() -> None:
    """Before the tests are loaded."""
    import torch
    import vllm.platforms
    from vllm.platforms.interface import DeviceCapability, Platform, PlatformEnum

    class Processor(Platform):
        _enum = PlatformEnum.OOT
        device_name = device_type = "cuda"
        dispatch_key = "CPU"

        def is_cuda_alike(self) -> bool:
            return True

        @classmethod
        def manual_seed_all(cls, seed: int) -> None:
            torch.manual_seed(seed)

        @classmethod
        def get_device_name(cls, device_id: int = 0) -> str:
            return torch.cuda.get_device_name(device_id)

        @classmethod
        def get_device_capability(cls, device_id: int = 0) -> DeviceCapability:
            return DeviceCapability(8, 9)  # the first that has 8-bit floats

        @classmethod
        def get_device_total_memory(cls, device_id: int = 0) -> int:
            return torch.cuda.get_device_properties(device_id).total_memory

        @classmethod
        def num_compute_units(cls, device_id: int = 0) -> int:
            return torch.cuda.get_device_properties(device_id).multi_processor_count

        @classmethod
        def is_pin_memory_available(cls) -> bool:
            return False

    vllm.platforms._current_platform = Processor()
