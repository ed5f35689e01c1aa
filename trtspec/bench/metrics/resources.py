"""What of the machine an arm used: processor, memory, GPU energy."""

from trtspec.bench.metrics.base import ArmData, ArmMetric, share, total


class CpuPerToken(ArmMetric):
    """CPU seconds of all counted blocks / output tokens of them.

    Of this process and its children; a server elsewhere is not seen. None where it
    could not be read.
    """

    tag = "cpu_per_token"
    header = "CPU ms/token"
    unit = "s/token"
    digits = 2
    scale = 1000.0

    def value(self, data: ArmData) -> float | None:
        """Give the mean in seconds per token."""
        cpu = total(b.resources.cpu_seconds for b in data.blocks)
        return share(cpu, sum(b.output_tokens for b in data.blocks))


class Memory(ArmMetric):
    """Most resident memory in any counted block, of this process and its children.

    All arms of one process share it. None where it could not be read.
    """

    tag = "memory"
    header = "memory MiB"
    unit = "bytes"
    digits = 0
    scale = 1 / (1 << 20)

    def value(self, data: ArmData) -> float | None:
        """Give the maximum in bytes."""
        seen = [b.resources.memory_bytes for b in data.blocks]
        return max((m for m in seen if m is not None), default=None)


class GpuMemory(ArmMetric):
    """Most device memory in use in any counted block, all GPUs together.

    As the driver tells it, so programs beside this one are in it. None without NVML.
    """

    tag = "gpu_memory"
    header = "GPU memory MiB"
    unit = "bytes"
    digits = 0
    scale = 1 / (1 << 20)

    def value(self, data: ArmData) -> float | None:
        """Give the maximum in bytes."""
        seen = [b.resources.gpu_memory_bytes for b in data.blocks]
        return max((sum(gpus) for gpus in seen if gpus), default=None)


class EnergyPerToken(ArmMetric):
    """GPU energy of all counted blocks / output tokens of them. None without NVML."""

    tag = "energy_per_token"
    header = "GPU J/token"
    unit = "J/token"
    digits = 3

    def value(self, data: ArmData) -> float | None:
        """Give the mean in joules per token."""
        gpus = [b.resources.gpu_energy_joules for b in data.blocks]
        energy = total(sum(joules) if joules else None for joules in gpus)
        return share(energy, sum(b.output_tokens for b in data.blocks))
