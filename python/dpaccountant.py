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
import numbers
import os
import subprocess
import threading
import weakref
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Dict, Mapping, Optional, Sequence, Type, Union

__all__ = [
    "Accountant",
    "AccountantError",
    "BudgetError",
    "Calibration",
    "Comparison",
    "Curve",
    "CurvePoint",
    "InfeasibleError",
    "InputError",
    "Interval",
    "Ledger",
    "LedgerStatus",
    "NoAnswerError",
    "Probe",
    "Risk",
    "RiskValue",
]

Plan = Union[Mapping[str, Any], str]
"""A plan as a mapping, or as the text of a plan file (YAML or JSON)."""


class AccountantError(Exception):
    """The accountant could not answer."""


class InputError(AccountantError):
    """The request, or a file that it names, is wrong."""


class InfeasibleError(AccountantError):
    """No value meets the budget of a calibration; the message says why."""


class BudgetError(AccountantError):
    """A ledger refused a spend: the step must not run."""


class NoAnswerError(AccountantError):
    """The answer took longer than the request allowed; nothing has changed."""


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
class RiskValue:
    """A certified measure of what the best attacker can do.

    ``at`` is the false-positive rate or the prior. ``upper`` holds for every
    attacker, ``lower`` is reached by a concrete attack.
    """

    at: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


@dataclass(frozen=True)
class Risk:
    """What a release lets the best attacker do, in plain terms."""

    advantage: RiskValue
    true_positive_rate: Sequence[RiskValue]
    bayes_success: Sequence[RiskValue]
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class CurvePoint:
    """A certified point of a curve: y at x lies in [lower, upper]."""

    x: float
    lower: float
    estimate: float
    upper: float
    worst_direction: str


@dataclass(frozen=True)
class Curve:
    """A curve; ``x`` and ``y`` name its axes."""

    kind: str
    x: str
    y: str
    points: Sequence[CurvePoint]
    warnings: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Probe:
    """What is certified at one value: ε, or δ where the budget's ε is below 0.01."""

    value: float
    lower: float
    estimate: float
    upper: float


@dataclass(frozen=True)
class Calibration:
    """The value that meets a budget.

    ``meets`` is the proof, ``fails`` the neighbouring value that does not meet the
    budget (None when nothing limits the quantity). With ``common_factor``,
    ``value`` multiplies the quantity of several steps; ``steps`` maps the path of
    each step to its own value.
    """

    solve: str
    value: float
    common_factor: bool
    unlimited: bool
    asked: str
    meets: Probe
    fails: Optional[Probe]
    fails_proved: bool
    steps: Mapping[str, float]
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Comparison:
    """The ε of a plan by one method; None where it does not apply, see ``note``."""

    method: str
    kind: str
    epsilon: Optional[float]
    theorem: str
    lower: Optional[float] = None
    note: str = ""


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


# The accountants of this process. A forked child has copies of their pipes; as
# long as it holds them, the parent cannot end the program by closing its own.
_running: "weakref.WeakSet[Accountant]" = weakref.WeakSet()


def _after_fork() -> None:
    for accountant in list(_running):
        accountant._forget()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _plain(value: Any) -> Any:
    """A number, or a list, of another library as JSON's."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _answer(line: bytes, number: str) -> Dict[str, Any]:
    """The answer on a line, which must be that to the request of this number."""
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise AccountantError(f"not an answer of the accountant: {line[:80]!r}") from error
    # A request that is not understood is answered without its id.
    if not isinstance(answer, dict) or not (
        answer.get("id") == number or (answer.get("id") is None and "error" in answer)
    ):
        raise AccountantError("the answer is to another request")
    return answer


class Accountant:
    """A running ``accountant serve --stdio``; close it, or use it in ``with``.

    ``binary`` is the program: by default what the environment variable
    ``ACCOUNTANT`` names, else ``accountant`` on the path. It may be used by
    several threads; their requests wait for each other. It belongs to the
    process that made it: after a fork the child makes one of its own.

    ``timeout`` is how many seconds an answer may take; NoAnswerError is raised
    then.
    """

    def __init__(self, binary: Optional[str] = None, *, timeout: Optional[float] = None) -> None:
        program = binary or os.environ.get("ACCOUNTANT") or "accountant"
        try:
            # Without buffers: a fork would copy what is in them.
            self._process = subprocess.Popen(
                [program, "serve", "--stdio"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:
            raise AccountantError(f"cannot start {program}: {error}") from error
        self._lock = threading.Lock()
        self._last_id = 0
        self._rest = b""  # what was read after the latest answer
        self._timeout = timeout
        self._owner = os.getpid()
        _running.add(self)

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
        """End the process. Ledgers in memory end with it.

        In a forked child this does nothing: the process is the parent's.
        """
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._close_pipes()
            # The end of its input ends it, unless another process still holds a
            # copy of the pipe. It has answered everything that it was asked, so
            # that ending it loses nothing.
            for end in (lambda: None, self._process.terminate, self._process.kill):
                end()
                try:
                    self._process.wait(timeout=0.5)
                    return
                except subprocess.TimeoutExpired:
                    pass
            self._process.wait()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass  # the process ended by itself

    def _forget(self) -> None:
        """In a forked child: let go of the parent's process and its pipes."""
        self._close_pipes()
        self._process.returncode = 0  # not a child of this process: nothing to wait for

    def request(self, op: str, **arguments: Any) -> Any:
        """Send one request of docs/cli.md and return its result."""
        if self._timeout is not None:
            arguments.setdefault("timeout", self._timeout)
        # Before the lock, which a thread of the parent may have held at the fork.
        if os.getpid() != self._owner:
            raise AccountantError(
                "the accountant belongs to another process: make a new Accountant after a fork"
            )
        with self._lock:
            stdin, stdout = self._process.stdin, self._process.stdout
            if stdin is None or stdout is None or stdin.closed:
                raise AccountantError("the accountant is closed")
            self._last_id += 1
            number = f"{self._owner}-{self._last_id}"
            try:
                text = json.dumps({"id": number, "op": op, **arguments}, allow_nan=False, default=_plain)
            except (TypeError, ValueError) as error:
                raise InputError(f"{op}: cannot be written as JSON: {error}") from error
            try:
                data = memoryview(text.encode("utf-8") + b"\n")
                while data:
                    data = data[stdin.write(data) or 0 :]
                line = self._read_line(stdout)
                answer = _answer(line, number)
            except BaseException as error:
                # The answer may still come, and must not be taken for that of a
                # later request.
                self._process.kill()
                self._close_pipes()
                self._process.wait()
                if isinstance(error, OSError):
                    raise AccountantError("the accountant has ended") from error
                raise
        if "error" in answer:
            kind = {
                "input": InputError,
                "budget": BudgetError,
                "infeasible": InfeasibleError,
                "timeout": NoAnswerError,
            }.get(answer["error"]["kind"], AccountantError)
            raise kind(answer["error"]["message"])
        return answer["result"]

    def _read_line(self, pipe: Any) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            part = pipe.read(1 << 16)
            if not part:
                raise AccountantError("the accountant has ended")
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def version(self) -> str:
        """The version of the program."""
        return str(self.request("version")["version"])

    def epsilon(self, plan: Plan, delta: float, *, recursion: int = 0) -> Interval:
        """The smallest ε for which the plan is (ε, δ)-differentially private.

        ``recursion`` narrows the theory gap of samples of a fixed size where a
        mechanism runs at most that many times; it takes seconds for 1000.
        """
        arguments = dict(plan=_plan(plan), delta=delta, recursion=recursion)
        return _interval(self.request("epsilon", **arguments), "epsilon")

    def delta(self, plan: Plan, epsilon: float, *, recursion: int = 0) -> Interval:
        """The smallest δ for which the plan is (ε, δ)-differentially private.

        ``recursion`` is as for ``epsilon``.
        """
        arguments = dict(plan=_plan(plan), epsilon=epsilon, recursion=recursion)
        return _interval(self.request("delta", **arguments), "delta")

    def risk(
        self,
        plan: Plan,
        false_positives: Optional[Sequence[float]] = None,
        priors: Optional[Sequence[float]] = None,
    ) -> Risk:
        """What the best attacker can do, at false-positive rates and priors.

        The defaults are 0.1 %, 1 % and 10 %, and priors of 50 %, 10 % and 1 %.
        """
        arguments: Dict[str, Any] = {"plan": _plan(plan)}
        if false_positives is not None:
            arguments["false-positives"] = list(false_positives)
        if priors is not None:
            arguments["priors"] = list(priors)
        result = self.request("risk", **arguments)
        return Risk(
            advantage=_risk(result["advantage"], 0.0),
            true_positive_rate=tuple(
                _risk(r, float(r["false-positive-rate"])) for r in result["true-positive-rate"]
            ),
            bayes_success=tuple(_risk(r, float(r["prior"])) for r in result["bayes-success"]),
            theory_gap=bool(result.get("theory-gap", False)),
            warnings=tuple(result.get("warnings", ())),
        )

    def curve(
        self,
        plan: Plan,
        kind: str = "delta",
        *,
        points: Optional[int] = None,
        delta: Optional[float] = None,
        log: bool = False,
        from_: Optional[float] = None,
        to: Optional[float] = None,
        min_delta: Optional[float] = None,
    ) -> Curve:
        """A curve as numbers: δ against ε ("delta"), ε at ``delta`` against the
        length of the plan ("steps"), or the error rates of the best attacker
        ("trade-off"; with ``log`` the true-positive rate).
        """
        arguments: Dict[str, Any] = {"plan": _plan(plan), "kind": kind}
        options = {"points": points, "delta": delta, "from": from_, "to": to, "min-delta": min_delta}
        arguments.update({k: v for k, v in options.items() if v is not None})
        if log:
            arguments["log"] = True
        result = self.request("curve", **arguments)
        curve = result["curves"][0]
        return Curve(
            kind=result["kind"],
            x=result["x"],
            y=result["y"],
            points=tuple(
                CurvePoint(
                    x=float(p["x"]),
                    lower=float(p["lower"]),
                    estimate=float(p["estimate"]),
                    upper=float(p["upper"]),
                    worst_direction=p["worst-direction"],
                )
                for p in curve["points"]
            ),
            warnings=tuple(curve.get("warnings", ())),
        )

    def calibrate(
        self,
        plan: Plan,
        *,
        epsilon: float,
        delta: float,
        solve: str = "noise-multiplier",
        step: str = "",
        examples: Optional[int] = None,
        accuracy: Optional[float] = None,
        recursion: int = 0,
    ) -> Calibration:
        """The smallest noise multiplier, or the largest count, rate or batch, that
        meets a budget. Raises InfeasibleError when no value does. ``recursion`` is
        as for ``epsilon``, and takes its seconds a dozen times.
        """
        arguments: Dict[str, Any] = dict(
            plan=_plan(plan), epsilon=epsilon, delta=delta, solve=solve, recursion=recursion
        )
        if step:
            arguments["step"] = step
        if examples is not None:
            arguments["examples"] = examples
        if accuracy is not None:
            arguments["accuracy"] = accuracy
        result = self.request("calibrate", **arguments)
        asked = "delta" if "delta" in result["meets"] else "epsilon"

        def probe(p: Mapping[str, Any]) -> Probe:
            bounds = p[asked]
            return Probe(
                float(p["value"]), float(bounds["lower"]), float(bounds["estimate"]), float(bounds["upper"])
            )

        fails = result.get("fails")
        return Calibration(
            solve=result["solve"],
            value=float(result["value"]),
            common_factor=result["common-factor"],
            unlimited=result["unlimited"],
            asked=asked,
            meets=probe(result["meets"]),
            fails=None if fails is None else probe(fails),
            fails_proved=result["fails-proved"],
            steps={s["path"]: float(s["value"]) for s in result["steps"]},
            theory_gap=bool(result.get("theory-gap", False)),
            warnings=tuple(result.get("warnings", ())),
        )

    def compare(self, plan: Plan, delta: float, *, recursion: int = 0) -> Sequence[Comparison]:
        """ε by the methods of the literature, the Fourier accountant last.

        ``recursion`` is as for ``epsilon``.
        """
        return tuple(
            Comparison(
                method=m["method"],
                kind=m["kind"],
                epsilon=float(m["epsilon"]) if "epsilon" in m else None,
                theorem=m["theorem"],
                lower=float(m["lower"]) if "lower" in m else None,
                note=m.get("note", ""),
            )
            for m in self.request("compare", plan=_plan(plan), delta=delta, recursion=recursion)["methods"]
        )

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


def _risk(result: Mapping[str, Any], at: float) -> RiskValue:
    return RiskValue(
        at=at,
        lower=float(result["lower"]),
        estimate=float(result["estimate"]),
        upper=float(result["upper"]),
        worst_direction=result["worst-direction"],
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
