"""Deeds that take memory until none is left."""

from __future__ import annotations

import mmap
import os
import time
from typing import NoReturn


def eat(report: object) -> NoReturn:
    hoard: list[bytearray] = []
    while True:
        hoard.append(bytearray(1 << 24))


def eat_at_once(report: object) -> int:
    return len(bytearray(10 << 30))


def eat_slowly(report: object) -> NoReturn:
    kept: list[bytearray] = []
    while True:
        kept.append(bytearray(1 << 20))
        time.sleep(0.001)


def eat_shared(report: object) -> NoReturn:
    kept: list[mmap.mmap] = []
    while True:
        kept.append(mmap.mmap(-1, 1 << 24))
        kept[-1].write(bytes(1 << 24))


def eat_shared_file(report: object) -> NoReturn:
    fd = os.memfd_create("eaten")
    size = 0
    while True:
        size += 1 << 24
        os.ftruncate(fd, size)
        with mmap.mmap(fd, size) as mapped:
            mapped[size - (1 << 24) :] = b"x" * (1 << 24)
            time.sleep(0.01)
