"""Drive the privacy accountant from Python.

One ``accountant serve --stdio`` process runs beside the program and answers
requests, so a question costs no process start::

    from dpaccountant import Accountant

    plan = {
        "neighbors": "add-remove",
        "steps": [{
            "mechanism": {"gaussian": {"noise-multiplier": 1.1}},
            "sampling": {"poisson": {"rate": 0.004}},
            "count": 14000,
        }],
    }
    with Accountant() as accountant:
        answer = accountant.epsilon(plan, delta=1e-5)
        print(answer.lower, answer.upper)

Needs Python 3.8 or newer, the ``accountant`` program, and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Type, Union

__all__ = [
    "Accountant",
    "AccountantError",
    "BudgetError",
    "InputError",
    "Interval",
    "Ledger",
    "LedgerStatus",
]

Plan = Union[Mapping[str, Any], str]
"""A plan as a mapping, or as the text of a plan file (YAML or JSON)."""


class AccountantError(Exception):
    """The accountant could not answer."""


class InputError(AccountantError):
    """The request, or a file that it names, is wrong."""


class BudgetError(AccountantError):
    """A ledger refused a spend: the step must not run."""


@dataclass(frozen=True)
class Interval:
    """A certified answer: the true value lies in [lower, upper].

    Promise ``upper``; ``estimate`` carries no guarantee.
    """

    lower: float
    estimate: float
    upper: float
    worst_direction: str
    error_budget: Mapping[str, float]
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class LedgerStatus:
    """What a ledger promises and what is spent.

    A planned ledger tells ``spent_epsilon``, an upper bound; an adaptive one
    ``spent_renyi`` of ``budget_renyi`` at ``order``. ``left`` is of the same kind.
    """

    mode: str
    neighbors: str
    budget_epsilon: float
    budget_delta: float
    entries: int
    runs: int
    left: float
    guarantee: str
    head: str = ""
    spent_epsilon: Optional[float] = None
    order: Optional[float] = None
    spent_renyi: Optional[float] = None
    budget_renyi: Optional[float] = None
    warnings: Sequence[str] = field(default_factory=tuple)


class Accountant:
    """A running ``accountant serve --stdio``; close it, or use it in ``with``.

    ``binary`` is the program: by default what the environment variable
    ``ACCOUNTANT`` names, else ``accountant`` on the path. It may be used by
    several threads; their requests wait for each other.
    """

    def __init__(self, binary: Optional[str] = None) -> None:
        program = binary or os.environ.get("ACCOUNTANT") or "accountant"
        try:
            self._process = subprocess.Popen(
                [program, "serve", "--stdio"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        except OSError as error:
            raise AccountantError(f"cannot start {program}: {error}") from error
        self._lock = threading.Lock()
        self._last_id = 0

    def __enter__(self) -> "Accountant":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process. Ledgers in memory end with it."""
        with self._lock:
            process = self._process
            for pipe in (process.stdin, process.stdout):
                if pipe is not None and not pipe.closed:
                    try:
                        pipe.close()
                    except OSError:
                        pass  # it ended by itself
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def request(self, op: str, **arguments: Any) -> Any:
        """Send one request of docs/cli.md and return its result."""
        with self._lock:
            stdin, stdout = self._process.stdin, self._process.stdout
            if stdin is None or stdout is None or stdin.closed:
                raise AccountantError("the accountant is closed")
            self._last_id += 1
            number = self._last_id
            try:
                text = json.dumps({"id": number, "op": op, **arguments}, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise InputError(f"{op}: cannot be written as JSON: {error}") from error
            try:
                stdin.write(text.encode("utf-8") + b"\n")
                stdin.flush()
                line = stdout.readline()
            except BaseException as error:
                # The answer may still come, and must not be taken for that of a
                # later request.
                self._process.kill()
                for pipe in (stdin, stdout):
                    try:
                        pipe.close()
                    except OSError:
                        pass
                self._process.wait()
                if isinstance(error, OSError):
                    raise AccountantError("the accountant has ended") from error
                raise
            if not line.endswith(b"\n"):
                raise AccountantError("the accountant has ended")
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise AccountantError(f"not an answer of the accountant: {line[:80]!r}") from error
        if "error" in answer:
            kind = {"input": InputError, "budget": BudgetError}.get(
                answer["error"]["kind"], AccountantError
            )
            raise kind(answer["error"]["message"])
        if answer["id"] != number:
            raise AccountantError("the answer is to another request")
        return answer["result"]

    def version(self) -> str:
        """The version of the program."""
        return str(self.request("version")["version"])

    def epsilon(self, plan: Plan, delta: float) -> Interval:
        """The smallest ε for which the plan is (ε, δ)-differentially private."""
        return _interval(self.request("epsilon", plan=_plan(plan), delta=delta), "epsilon")

    def delta(self, plan: Plan, epsilon: float) -> Interval:
        """The smallest δ for which the plan is (ε, δ)-differentially private."""
        return _interval(self.request("delta", plan=_plan(plan), epsilon=epsilon), "delta")

    def create_ledger(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        neighbors: str,
        epsilon: float,
        delta: float,
        mode: str,
    ) -> "Ledger":
        """Make a ledger file, or a ledger in memory if there is no path.

        ``mode`` is "planned", or "adaptive" if steps depend on earlier outputs.
        """
        arguments = dict(neighbors=neighbors, epsilon=epsilon, delta=delta, mode=mode)
        if path is not None:
            arguments["path"] = _path(path)
        return Ledger(self, self.request("ledger-create", **arguments)["ledger"])

    def open_ledger(self, path: Union[str, "os.PathLike[str]"]) -> "Ledger":
        """Open a ledger file; other processes may use it at the same time."""
        return Ledger(self, self.request("ledger-open", path=_path(path))["ledger"])

    def check_ledger(
        self, path: Union[str, "os.PathLike[str]"], head: str = ""
    ) -> LedgerStatus:
        """Verify every checksum of a ledger file and recompute the total.

        ``head`` is a ``LedgerStatus.head`` of earlier that must still be there.
        """
        return _status(self.request("ledger-check", path=_path(path), head=head))


class Ledger:
    """A budget that is spent step by step."""

    def __init__(self, accountant: Accountant, name: str) -> None:
        self._accountant = accountant
        self._name = name

    def spend(self, plan: Plan, note: str = "") -> None:
        """Spend a plan before it runs.

        Raises BudgetError when it would pass the budget: nothing is spent then,
        and the step must not run.
        """
        self._accountant.request(
            "ledger-spend", ledger=self._name, plan=_plan(plan), note=note
        )

    def status(self) -> LedgerStatus:
        """What is spent and what is left."""
        return _status(self._accountant.request("ledger-status", ledger=self._name))

    def close(self) -> None:
        """Forget the ledger; a file stays as it is."""
        self._accountant.request("ledger-close", ledger=self._name)


def _plan(plan: Plan) -> Any:
    return plan if isinstance(plan, str) else dict(plan)


def _path(path: Union[str, "os.PathLike[str]"]) -> str:
    return os.path.abspath(os.fspath(path))


def _interval(result: Mapping[str, Any], key: str) -> Interval:
    bounds = result[key]
    return Interval(
        lower=float(bounds["lower"]),
        estimate=float(bounds["estimate"]),
        upper=float(bounds["upper"]),
        worst_direction=result["worst-direction"],
        error_budget={k: float(v) for k, v in result["error-budget"].items()},
        theory_gap=bool(result.get("theory-gap", False)),
        warnings=tuple(result.get("warnings", ())),
    )


def _status(result: Mapping[str, Any]) -> LedgerStatus:
    spent = result.get("spent-epsilon")
    renyi = result.get("spent-renyi")
    return LedgerStatus(
        mode=result["mode"],
        neighbors=result["neighbors"],
        budget_epsilon=float(result["budget"]["epsilon"]),
        budget_delta=float(result["budget"]["delta"]),
        entries=result["entries"],
        runs=result["runs"],
        left=float(result["left"]),
        guarantee=result["guarantee"],
        head=result.get("head", ""),
        spent_epsilon=None if spent is None else float(spent["upper"]),
        order=None if renyi is None else float(renyi["order"]),
        spent_renyi=None if renyi is None else float(renyi["spent"]),
        budget_renyi=None if renyi is None else float(renyi["budget"]),
        warnings=tuple(result.get("warnings", ())),
    )
