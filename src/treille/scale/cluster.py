"""A Dask cluster as treille uses it: client, versions on workers, sums in a tree, rows on workers, and collections as parts."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

import numpy as np

from treille.features import FeatureRows, RowParts
from treille.io.errors import InputError
from treille.scale.parts import Part
from treille.spaces.parts import FAN, Cluster

PATIENCE = 5.0  # seconds between two looks at the cluster while a result is waited for
WITHOUT_WORKERS = 60.0  # seconds after which a cluster without workers is given up


class LocalClusterWarning(UserWarning):
    """There was no Dask client, so that a local cluster was started for this call of `fit`, and closed after it.

    >>> issubclass(LocalClusterWarning, UserWarning)
    True
    """


def require_dask() -> Any:
    """The module `distributed`, or an InputError that says how to install it."""
    try:
        import distributed
    except ImportError:
        raise InputError("data on a Dask cluster need dask and distributed: pip install 'treille[dask]'") from None
    return distributed


class DaskCluster(Cluster):
    """The cluster of a Dask client.

    Workers hold results of tasks only, never scattered data. If a worker is lost, its results are computed again from the inputs
    and the messages of all rounds so far, which the scheduler keeps.
    """

    def __init__(self, client: Any, note: str = ""):
        self.client, self.address = client, _address(client)
        self.note = note  # for a `LocalClusterWarning`
        self.direct = _reaches_workers(client)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._sending():
            return self.client.submit(function, *arguments, pure=False)

    def submit_all(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        with self._sending():  # in one message: the scheduler takes milliseconds for each
            return self.client.map(function, *columns, pure=False)

    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Like `submit_all`, for a function that carries data, which are sent once."""
        return self.submit_all(_call, [self.keep(function)] * len(columns[0]), *columns)

    def submit_there(self, function: Callable[..., Any], values: Sequence[Any], *columns: Sequence[Any]) -> list[Any]:
        """Like `submit_all`, but each task runs on the worker that holds its first argument, which must exist, if it lives.

        Dask weighs bytes to send against tasks that wait, and would move the rows of whole parts to save milliseconds.
        """
        with self._sending():
            where = self.client.who_has(list(values))
            found: dict[int, Any] = {}
            for address in {holders[0] if holders else None for holders in where.values()}:
                own = [i for i, value in enumerate(values) if (where[value.key] or [None])[0] == address]
                chosen = [[column[i] for i in own] for column in (values, *columns)]
                place = {} if address is None else {"workers": [address], "allow_other_workers": True}
                found |= zip(own, self.client.map(function, *chosen, pure=False, **place), strict=True)
        return [found[i] for i in range(len(values))]

    def keep(self, value: Any) -> Any:
        return self.submit(_itself, value)

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """The values of futures, which arrive together."""
        self._wait(list(futures))
        with self._answering():
            return self.client.gather(list(futures), direct=self.direct)

    def result(self, future: Any) -> Any:
        """The value of a future."""
        return self.gather([future])[0]

    def total(self, futures: Sequence[Any]) -> Any:
        while len(futures) > 1:
            futures = [self.submit(_sum, *futures[i : i + FAN]) for i in range(0, len(futures), FAN)]
        return self.result(futures[0])

    def release(self, futures: Sequence[Any]) -> None:
        for future in futures:
            future.release()

    def _wait(self, futures: list[Any]) -> None:
        """Waits until all tasks have ended, or one has failed. Dask would wait for ever if no worker is left to run them."""
        distributed, since = require_dask(), None
        while True:
            with self._answering():
                try:
                    distributed.wait(futures, timeout=PATIENCE)
                    return
                except TimeoutError:
                    if any(future.status == "error" for future in futures):
                        return
                if self.client.status in ("closed", "closing"):
                    self._gone("it was closed")
                workers = self.client.nthreads()
            since = None if workers else since or time.monotonic()
            if since is not None and time.monotonic() - since > WITHOUT_WORKERS:
                raise InputError(
                    f"the Dask cluster at {self.address} has had no workers for {WITHOUT_WORKERS:.0f} seconds: they may have died "
                    "for lack of memory; start new ones, and fit again"
                )

    @contextmanager
    def _sending(self) -> Iterator[None]:
        with warnings.catch_warnings(), self._answering():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            yield

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Errors of tasks and of the cluster, as one InputError without the frames of Dask."""
        distributed = require_dask()
        gone = (CancelledError, OSError, TimeoutError)
        try:
            yield
        except InputError as error:
            raise InputError(str(error)) from None
        except distributed.scheduler.KilledWorker as error:
            raise InputError(
                f"a task was given up after its worker died several times ({error}): the workers may have too little memory; use "
                "smaller parts, or more memory for each"
            ) from None
        except gone as error:
            self._gone(type(error).__name__)
        except Exception as error:  # Dask has many for a client that has lost its scheduler, and a task may raise any
            if self.client.status == "running":
                raise
            self._gone(type(error).__name__)

    def _gone(self, how: str) -> NoReturn:
        raise InputError(
            f"the Dask scheduler at {self.address} is gone ({how}): start it again, and fit again; with Parts.on(..., "
            "checkpoint=folder), training continues where it was"
        ) from None


class DaskRows(RowParts["DaskRows"]):
    """Rows in parts on the workers, as futures. Functions go to them, and sums come back."""

    def __init__(self, cluster: DaskCluster, futures: Sequence[Any], lengths: np.ndarray):
        self.cluster, self.futures, self.lengths = cluster, list(futures), lengths

    def each(self, compute: Callable[[FeatureRows, int], Any]) -> list[Any]:
        return self.cluster.gather(self.cluster.map(compute, self.futures, range(len(self.futures))))

    def total(self, compute: Callable[[FeatureRows, int], np.ndarray]) -> np.ndarray:
        return self.cluster.total(self.cluster.map(compute, self.futures, range(len(self.futures))))

    def changed(self, change: Callable[..., FeatureRows], others: Sequence["DaskRows"] = ()) -> "DaskRows":
        columns = [self.futures, *(other.futures for other in others)]
        return DaskRows(self.cluster, self.cluster.map(change, *columns), self.lengths)


def _itself(value: Any) -> Any:
    return value


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _sum(*arrays: Any) -> Any:
    return sum(arrays[1:], arrays[0])


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", "an unknown address"))


@contextmanager
def connected(client: Any = None) -> Iterator[DaskCluster]:
    """The cluster to use: of the given client, of the current one, or else a local one, which is closed in the end.

    A cluster without workers, or whose workers lack treille or have another version, is refused at once.
    """
    distributed, note = require_dask(), ""
    with ExitStack() as opened:
        if client is None:
            try:
                client = distributed.get_client()
            except ValueError:
                client, note = opened.enter_context(_local(distributed))
        _check_workers(client)
        # Functions of Dask wait in the loop of the current client, and there may be another default one.
        opened.enter_context(client.as_current())
        yield DaskCluster(client, note)


@contextmanager
def _local(distributed: Any) -> Iterator[tuple[Any, str]]:
    """Starts a local cluster; returns its client and the text of the warning."""
    try:
        cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0")
    except RuntimeError as error:
        raise InputError(
            f"there is no Dask client, and no local cluster could be started: {str(error).splitlines()[0]}. Create a "
            'distributed.Client first; in a script, below if __name__ == "__main__":'
        ) from None
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield (
            client,
            f"there is no Dask client: a local cluster of {len(cluster.workers)} workers was started for this call, and is closed "
            "when it ends; create a distributed.Client to use another one, or to keep it",
        )


def _check_workers(client: Any) -> None:
    own, address = version("treille"), _address(client)
    try:
        client.wait_for_workers(1, timeout=WITHOUT_WORKERS / 2)
        found = client.run(_version_here, on_error="return")
    except (OSError, TimeoutError, RuntimeError) as error:
        raise InputError(
            f"the Dask scheduler at {address} does not answer, or has no workers ({str(error) or type(error).__name__}): start "
            "workers, and fit again"
        ) from None
    for worker, theirs in found.items():
        if isinstance(theirs, OSError):  # a worker that has died since; others take over its tasks
            continue
        if isinstance(theirs, Exception):
            raise InputError(f"the worker {worker} cannot run treille: {theirs}: install treille {own} on all workers")
        if theirs != own:
            has = f"treille {theirs}" if theirs else "no treille"
            raise InputError(
                f"the worker {worker} has {has}, and treille {own} is here: install the same version on all workers"
            )


def _reaches_workers(client: Any) -> bool:
    """Returns whether this process can connect to workers: results that come through the scheduler are sent twice."""
    connect, addresses = require_dask().comm.connect, client.nthreads()

    async def connects() -> bool:
        try:
            comm = await connect(next(iter(addresses)), timeout=1, **client.connection_args)
        except (OSError, StopIteration):
            return False
        await comm.close()
        return True

    return bool(client.sync(connects))


def _version_here() -> str | None:
    try:
        return version("treille")
    except Exception:  # any error of the worker is reported here
        return None


def is_collection(X: Any) -> bool:
    """Returns whether this is a Dask collection, or a list of delayed objects. Dask need not be installed.

    >>> is_collection(["abba"]), is_collection([])
    (False, False)
    """
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(_is_dask(each) for each in X)
    return _is_dask(X)


def _is_dask(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def partitions(X: Any) -> list[Any]:
    """The delayed partitions of a collection."""
    if isinstance(X, (list, tuple)):
        return list(X)
    if hasattr(X, "to_delayed"):
        parts = X.to_delayed()
        if isinstance(parts, np.ndarray):
            if parts.ndim > 1 and any(size > 1 for size in parts.shape[1:]):
                raise InputError(
                    f"the array has {parts.shape} chunks along its axes: rechunk it so that each holds whole rows"
                )
            return parts.ravel().tolist()
        return list(parts)
    return [X]  # one delayed object


def as_parts(client: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Futures of a `Part` for each partition; y and weights are divided like X."""
    columns = [X, y, sample_weight]
    for name, own in zip(("y", "sample_weight"), columns[1:], strict=True):
        if own is not None and not is_collection(own):
            raise InputError(
                f"X is a Dask collection, {name} a {type(own).__name__} in memory: pass {name} as a collection divided like X, "
                "such as a bag, a series, an array or a list of delayed parts"
            )
    each = [None if column is None else partitions(column) for column in columns]
    n = len(each[0] or ())
    if n == 0:
        raise InputError("X has no partitions: fit needs at least one example")
    for name, own in zip(("y", "sample_weight"), each[1:], strict=True):
        if own is not None and len(own) != n:
            raise InputError(
                f"X has {n} partitions, {name} {len(own)}: divide them alike, for example with repartition"
            )
    delayed = import_module("dask").delayed
    made = [
        delayed(_part, pure=False)(*(None if own is None else own[p] for own in each), f"partition {p}")
        for p in range(n)
    ]
    return client.compute(made)


def _part(X: Any, y: Any, sample_weight: Any, place: str) -> Part:
    X, y, sample_weight = (list(own) if hasattr(own, "__next__") else own for own in (X, y, sample_weight))
    return Part(X, y, sample_weight, place)


def computed(values: Any) -> Any:
    """Computes a collection of labels or numbers as one array; returns None and arrays unchanged."""
    if not is_collection(values):
        return values
    each = import_module("dask").compute(*partitions(values))
    return np.concatenate([np.asarray(part if hasattr(part, "__len__") else list(part)) for part in each])


def lazily(predict: Callable[[Any], np.ndarray], X: Any, sample: np.ndarray) -> Any:
    """A Dask array of ``predict`` of each partition, computed when it is asked for. `sample` has its type and columns."""
    da, function = import_module("dask.array"), import_module("dask").delayed(predict)
    shape = (np.nan, *sample.shape[1:])
    return da.concatenate([da.from_delayed(function(part), shape, dtype=sample.dtype) for part in partitions(X)])
