"""A Dask cluster as treille uses it: its client, the versions on its workers, and sums over tasks in a tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from treille.io.errors import InputError
from treille.spaces.cluster import Cluster

FAN = 8  # results that one task adds up


def require_dask() -> Any:
    """The module `distributed`, or an InputError that says how to install it."""
    try:
        import distributed
    except ImportError:
        raise InputError("data on a Dask cluster need dask and distributed: pip install 'treille[dask]'") from None
    return distributed


class DaskCluster(Cluster):
    """The cluster of a Dask client.

    All that workers hold are results of tasks, never scattered data: what is lost with a worker is computed anew, from the inputs
    and from the messages of all rounds so far, which the scheduler keeps.
    """

    def __init__(self, client: Any):
        self.client = client
        self.n_threads = sum(client.nthreads().values())

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self.client.submit(function, *arguments, pure=False)

    def keep(self, value: Any) -> Any:
        return self.submit(_itself, value)

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """The values of futures."""
        return [self._result(future) for future in futures]

    def reduced(self, futures: list[Any], add: Callable[..., Any]) -> Any:
        while len(futures) > 1:
            groups = [futures[i : i + FAN] for i in range(0, len(futures), FAN)]
            futures = [self.submit(add, *group) if len(group) > 1 else group[0] for group in groups]
        return self._result(futures[0])

    def _result(self, future: Any) -> Any:
        distributed = require_dask()
        try:
            return future.result()
        except distributed.scheduler.KilledWorker as error:
            raise InputError(
                f"a task was given up after its worker died several times ({error}): the workers may have too little memory; use "
                "smaller parts, or more memory for each"
            ) from None
        except (distributed.client.FutureCancelledError, OSError, TimeoutError) as error:
            raise InputError(
                f"the Dask scheduler at {self.client.scheduler.address} is gone ({type(error).__name__}): start it again, and fit "
                "again; with Parts.on(..., checkpoint=folder), training goes on where it was"
            ) from None


def _itself(value: Any) -> Any:
    return value


def current_client(client: Any = None) -> tuple[Any, str]:
    """The client to use, checked, and a note: the one given, the current one, or that of a new local cluster."""
    distributed, note = require_dask(), ""
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=None)
            client = distributed.Client(cluster)
            note = f"started a local Dask cluster with {len(cluster.workers)} workers, since there was none"
    _check_workers(client)
    return client, note


def _check_workers(client: Any) -> None:
    """Refuses a cluster without workers, or whose workers lack treille or have another version, at once."""
    own = version("treille")
    try:
        found = client.run(_version_here)
    except (OSError, TimeoutError) as error:
        raise InputError(f"the Dask scheduler at {client.scheduler.address} does not answer: {error}") from None
    except ModuleNotFoundError as error:  # of this very function, or of what it was sent with
        raise InputError(f"the workers of the Dask cluster lack a module: {error}: install treille {own} on all of them") from None
    if not found:
        raise InputError("the Dask cluster has no workers: start some, or scale it")
    for address, theirs in found.items():
        if theirs != own:
            has = f"treille {theirs}" if theirs else "no treille"
            raise InputError(f"the worker {address} has {has}, and treille {own} is here: install the same version on all workers")


def _version_here() -> str | None:
    try:
        return version("treille")
    except Exception:  # whatever is wrong there, it is said here
        return None
