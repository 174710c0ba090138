"""Limits on processor time: unlike wall-clock time, it does not depend on what else the machine does."""

import resource
import signal
import time
from contextlib import contextmanager

import pytest


@contextmanager
def processor_seconds(most):
    """Fails if the body takes more processor time than `most` seconds, summed over all threads of this process."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < most


def interrupt(process):
    """Sends Ctrl-C to a child; returns what it prints to stderr, and the processor seconds that it takes to end."""
    psutil = pytest.importorskip("psutil", reason="needs psutil, which Dask installs")
    ended = _children()
    before = psutil.Process(process.pid).cpu_times()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return errors, _children() - ended - before.user - before.system


def _children():
    """Processor seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
