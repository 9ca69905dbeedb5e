"""The memory of the embedded Redis follows what the machine or the container has."""

import os
from pathlib import Path

import pytest

from lithify.node.memory import LEAST, MIB, choose_redis_memory, read_limits, read_memory

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def limits(tmp_path: Path, own: str) -> list[int]:
    write(tmp_path / "own", own)
    return list(read_limits(tmp_path / "groups", tmp_path / "own"))


def test_a_container_is_limited_by_its_root_group(tmp_path: Path) -> None:
    write(tmp_path / "groups/memory.max", f"{512 * MIB}\n")
    assert limits(tmp_path, "0::/\n") == [512 * MIB]


def test_the_groups_above_limit_as_well(tmp_path: Path) -> None:
    write(tmp_path / "groups/a/b/memory.max", "max\n")
    write(tmp_path / "groups/a/memory.max", "1000\n")
    assert limits(tmp_path, "0::/a/b\n") == [1000]


def test_groups_of_the_first_version_are_known(tmp_path: Path) -> None:
    write(tmp_path / "groups/memory/docker/x/memory.limit_in_bytes", "2000\n")
    write(tmp_path / "groups/memory/memory.limit_in_bytes", "9223372036854771712\n")
    own = "12:cpu,cpuacct:/docker/x\n11:memory:/docker/x\n"
    assert limits(tmp_path, own) == [2000, 9223372036854771712]


def test_a_path_that_only_the_host_sees_falls_back_on_the_root(tmp_path: Path) -> None:
    write(tmp_path / "groups/memory/memory.limit_in_bytes", "3000\n")
    assert limits(tmp_path, "4:memory:/kubepods/pod1\n") == [3000]


def test_the_least_of_machine_and_groups_counts(tmp_path: Path) -> None:
    write(tmp_path / "groups/memory.max", f"{64 * MIB}\n")
    write(tmp_path / "own", "0::/\n")
    assert read_memory(tmp_path / "groups", tmp_path / "own") == 64 * MIB
    assert read_memory(tmp_path / "none", tmp_path / "nowhere") == MACHINE


@pytest.mark.parametrize("setting", [16, 4096])
def test_a_setting_is_taken_as_it_is(setting: int) -> None:
    assert choose_redis_memory(setting) == setting * MIB


def test_without_a_setting_it_is_a_quarter() -> None:
    assert choose_redis_memory(None) == max(LEAST, int(read_memory() / 4))
