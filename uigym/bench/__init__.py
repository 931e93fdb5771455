"""How fast environments are on this machine, what they cost, and how that compares."""

from uigym.bench.measure import Plan, bench_pages
from uigym.bench.memory import bench_memory
from uigym.bench.throughput import bench_env

__all__ = ["Plan", "bench_env", "bench_memory", "bench_pages"]
