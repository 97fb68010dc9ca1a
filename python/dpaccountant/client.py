"""The client: the methods of _operations, and those that are more than one request."""

from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from ._operations import (
    LabelRandomizer, LedgerStatus, Topic, _read_delta_at, _read_epsilon_at,
)
from ._query import Queries
from ._read import PlanLike, each, listed
from ._runs import Runs
from .answers import Curve, Interval, Profile, ProfilePoint
from .ledger import Ledger
from .menu import Menu


class Accountant(Queries, Runs):
    """A running ``accountant serve --stdio``; close it, or use it in ``with``.

    ``binary`` is the program. By default it is what the environment variable
    ``ACCOUNTANT`` names, else the one that came with this package, else
    ``accountant`` on the path. It may be used by several threads; their requests
    wait for each other. It belongs to the process that made it: after a fork the
    child makes one of its own, or asks ``shared()``.

    ``timeout`` is how many seconds an answer may take; NoAnswerError is raised
    then.

    What computes takes ``limits`` by name: ``accuracy`` (the relative width that an interval may have), ``memory`` in MB, ``work`` and
    ``time_limit`` in seconds. At a limit an interval is wider, and has a warning; what has no interval raises NoAnswerError or InputError.
    Where a method takes a δ, an ε, a μ or a tolerance, a list or an array of them is answered by a list.
    """

    @each("delta")
    def epsilon(self, plan: PlanLike, delta: Any, *, recursion: int = 0, **limits: Any) -> Any:
        """The smallest ε for which the plan is (ε, δ)-differentially private: for a list or an array of δ, a list.

        δ is in (0, 1). ``recursion`` narrows the theory gap of samples of a fixed size where a mechanism runs at most that
        many times; it takes seconds for 1000. ``limits`` are ``accuracy`` (the relative width that an interval may have),
        ``memory`` in MB, ``work`` and ``time_limit`` in seconds: at a limit the interval is wider, and has a warning.
        InputError names what is wrong.

            accountant.epsilon(Plan(Gaussian(1.1).poisson(0.004) * 1000), 1e-5).upper
        """
        return _read_epsilon_at(self._epsilon(plan, delta, recursion=recursion, **limits)["results"][0])

    @each("delta")
    def certificate(self, plan: PlanLike, delta: float, **limits: Any) -> str:
        """A text with which another program can prove the answer of ``epsilon``.

        ``docs/reference/certificates.md`` has its form; ``verify/src`` is such a program.
        """
        return str(self._epsilon(plan, delta, certificate=True, **limits)["certificate"])

    @each("epsilon")
    def delta(self, plan: PlanLike, epsilon: Any, *, recursion: int = 0, **limits: Any) -> Any:
        """The smallest δ for which the plan is (ε, δ)-differentially private: for a list or an array of ε, a list.

        ε is at least 0. ``recursion`` and ``limits`` are as for ``epsilon``.
        """
        return _read_delta_at(self._delta(plan, epsilon, recursion=recursion, **limits)["results"][0])

    @each("delta")
    def curve(self, plan: PlanLike, kind: str = "delta", *, delta: Optional[float] = None, **options: Any) -> Curve:
        """A curve as numbers: δ against ε ("delta"), ε at ``delta`` against the length of the plan ("steps"), or the error rates
        of the best attacker ("trade-off"; with ``log`` the true-positive rate).

        ``options`` are points, log, from_, to, min_delta, rdp and the limits.
        """
        answer = self._curve(plan, kind=kind, delta=delta, **options)
        return Curve(answer.kind, answer.x, answer.y, answer.curves[0].points, answer.curves[0].warnings)

    def filter(self, menu: Mapping[str, Any], *, units: Optional[int] = None, **limits: float) -> Menu:
        """The price of picking each step from a menu by the results so far; see ``Menu``."""
        return Menu(self, menu, units=units, **limits)

    def profile(self, mechanism: str, **parameters: Any) -> Profile:
        """δ at every ε of one run of a mechanism, in each direction.

        ``parameters`` are those of plan files, ``noise_multiplier=1``, and at, sampling_rate, neighbors, min_delta and the
        limits ``accuracy``, ``memory`` (MB), ``work`` and ``time_limit`` (seconds).
        """
        answer = self._profile(mechanism, **parameters)
        points = [
            ProfilePoint(at.epsilon, d.direction, d.delta.lower, d.delta.estimate, d.delta.upper, d.attack.lower if d.attack else None)
            for at in answer.results
            for d in at.directions
        ]
        return Profile(answer.mechanism, answer.neighbors, tuple(points))

    def local_messages(self, mechanism: str, values: Sequence[int], *, epsilon: float, categories: int, **options: Any) -> List[List[int]]:
        """A message of each value by a local randomizer, drawn exactly: k-rr, unary, subset-selection, hadamard, local-hash.

        In a survey each user's device draws its own; a list of all values is for rehearsals. ``values`` are whole
        numbers below ``categories``; ``options`` are size and test_seed. The messages cost what ``accountant shuffle`` tells
        behind a shuffler, and ε each without.
        """
        return self._local_messages(mechanism, epsilon, categories, values, **options)

    def local_estimates(
        self, mechanism: str, messages: Sequence[Sequence[int]], *, epsilon: float, categories: int, size: Optional[int] = None
    ) -> List[Tuple[float, float]]:
        """How many users hold each value, without bias, and the standard deviation of that, from messages of ``local_messages``."""
        estimates = self._local_estimates(mechanism, epsilon, categories, messages, size=size)
        return [(e.count, e.deviation) for e in estimates]

    @each("epsilon")
    def label(
        self,
        epsilon: float,
        labels: Optional[Sequence[float]] = None,
        weights: Optional[Sequence[float]] = None,
        *,
        groups: Optional[Mapping[str, Sequence[float]]] = None,
        **options: Any,
    ) -> LabelRandomizer:
        """The optimal unbiased randomizer of private labels with a public prior.

        ``classes`` stand for ``labels`` that are names: the randomizer then keeps as many
        as it can. ``groups`` has weights for each group of examples, in place of ``weights``. ``options`` are grid, bias, classes
        and the limits.
        """
        rows = None if groups is None else [{"name": name, "weights": listed(row)} for name, row in groups.items()]
        return self._label(epsilon, labels=labels, weights=weights, groups=rows, **options)

    def explain(self, topic: str) -> Topic:
        """What a term of the answers means, or what a theorem says."""
        return self._explain(topic=topic)[0]

    def topics(self, containing: Optional[str] = None) -> Sequence[Topic]:
        """Everything that ``explain`` knows, or the topics whose text has these words."""
        return self._explain(containing=containing)

    def create_ledger(
        self, path: Optional[Union[str, "os.PathLike[str]"]] = None, *, mode: str, menu: Optional[Mapping[str, Any]] = None, **options: Any
    ) -> "Ledger":
        """Make a ledger file, or a ledger in memory if there is no path.

        ``mode`` is "planned", or "adaptive" if steps depend on earlier outputs. ``options`` are neighbors, epsilon and delta, and
        records_per_person, which makes persons with so many records the unit. With "adaptive-menu" steps are of the
        types of ``menu``, which has the relation, the unit and the budget.
        """
        return Ledger(self, self._ledger_create(mode, path=None if path is None else os.fspath(path), menu=menu, **options))

    def open_ledger(self, path: Union[str, "os.PathLike[str]"]) -> "Ledger":
        """Open a ledger file; other processes may use it at the same time."""
        return Ledger(self, self._ledger_open(os.fspath(path)))

    def log_ledger(self, path: Union[str, "os.PathLike[str]"]) -> Sequence[Mapping[str, Any]]:
        """What was spent in a ledger file, oldest first: time, note, runs, plan and head."""
        return tuple(self.request("ledger-log", path=self._path(path))["entries"])

    def check_ledger(
        self, path: Union[str, "os.PathLike[str]"], head: str = "", **limits: float
    ) -> LedgerStatus:
        """Verify every checksum of a ledger file and recompute the total.

        ``head`` is a ``LedgerStatus.head`` of earlier that must still be there, ``limits`` are as for ``Ledger``.
        """
        return self._ledger_check(os.fspath(path), head=head, **limits)
