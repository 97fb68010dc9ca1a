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
    "LabelRandomizer",
    "Ledger",
    "LedgerStatus",
    "Majority",
    "NoAnswerError",
    "PateCost",
    "PublishedCost",
    "Probe",
    "Profile",
    "ProfilePoint",
    "Risk",
    "RiskValue",
    "SamplingScheme",
    "SanitizedCost",
    "SelectionLaw",
    "Topic",
    "Training",
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
class GaussianDP:
    """The μ of Gaussian differential privacy of a plan at a tolerance, as a certified interval.

    ``regret`` is at most how far, in the trade-off of errors, the plan is from that μ.
    """

    tolerance: float
    lower: float
    upper: float
    regret: float
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Audit:
    """What an attack's scores prove: lower bounds of ε and μ, at a confidence.

    ``consistent`` is whether that agrees with the plan that is said to have run, None without one.
    """

    design: str
    confidence: float
    delta: float
    epsilon: float
    mu: float
    consistent: Optional[bool] = None
    reason: str = ""


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


@dataclass(frozen=True)
class Training:
    """The ε of a training run with DP-SGD, at each δ, and what that promises.

    ``any_order`` is the ε of the same steps without relying on sampling, when each
    example is used at most ``uses_per_example`` times. With a target,
    ``calibration`` is the bracket that proves ``noise_multiplier``.
    """

    neighbors: str
    sampling_rate: float
    steps: int
    noise_multiplier: float
    deltas: Sequence[float]
    epsilons: Sequence[Interval]
    any_order: Sequence[Interval]
    uses_per_example: int
    statement: str
    calibration: Optional[Calibration] = None
    batching: str = "poisson"


@dataclass(frozen=True)
class ProfilePoint:
    """δ at an ε in one direction of the relation.

    ``attack`` is what a known attack reaches, where theory leaves a gap.
    """

    epsilon: float
    direction: str
    lower: float
    estimate: float
    upper: float
    attack: Optional[float] = None


@dataclass(frozen=True)
class Profile:
    """The privacy profile of one run of a mechanism."""

    mechanism: str
    neighbors: str
    points: Sequence[ProfilePoint]


@dataclass(frozen=True)
class SamplingScheme:
    """What one sampling scheme makes of a mechanism: its ε after all steps.

    ``not_applicable`` says why there is none.
    """

    scheme: str
    not_applicable: str = ""
    eta: Optional[float] = None
    expected_distinct: Optional[float] = None
    kind: str = ""
    lower: Optional[float] = None
    upper: Optional[float] = None
    theory_gap: bool = False
    warnings: Sequence[str] = field(default_factory=tuple)
    noise_needed: Optional[float] = None


@dataclass(frozen=True)
class SelectionLaw:
    """What private selection costs by one law of the number of runs.

    ``epsilon`` is proved and an attack reaches ``lower``; ``papernot_steinke`` and ``paper``
    are what the literature says, None where it says nothing.
    """

    law: str
    mean: float
    lower: Optional[float]
    epsilon: Optional[float]
    delta: float
    papernot_steinke: Optional[float]
    paper: Optional[float]
    miss_top_1_percent: float
    miss_top_5_percent: float


@dataclass(frozen=True)
class Majority:
    """With what probability the majority is told when l mechanisms say yes."""

    gamma: Sequence[float]
    objective: float
    certified: bool
    max_f: float
    budget_f: float
    error: Mapping[str, float]
    attained_f: float
    epsilon_lower: Optional[float]
    epsilon_upper: Optional[float]


@dataclass(frozen=True)
class PateCost:
    """What labelling by votes cost. Only ``data_independent_epsilon`` may be published."""

    epsilon: float
    delta: float
    order: float
    report: str
    bound: bool
    guarantee: str
    data_independent_epsilon: float
    answered: float
    orders: Sequence[float]
    rdp: Sequence[float]
    price: str = "best"
    exact: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class SanitizedCost:
    """A sanitized ε: it may be published, and is an estimate, no upper bound.

    ``private`` must not be published. ``why_none`` says why there is no ε.
    """

    epsilon: Optional[float]
    why_none: str
    private: Mapping[str, Any]


@dataclass(frozen=True)
class LabelGroup:
    """The randomizer of a group of examples, and the half-loss of its labels."""

    name: str
    share: float
    loss: float
    outputs: Sequence[float]
    probabilities: Sequence[Sequence[float]]


@dataclass(frozen=True)
class PublishedCost:
    """An upper bound on ε that may be published, except with probability 1 − ``confidence``.

    ``private`` must not be published.
    """

    epsilon: float
    confidence: float
    statement: str
    private: Mapping[str, Any]


@dataclass(frozen=True)
class LabelRandomizer:
    """The unbiased randomizer of private labels with the least loss.

    ``probabilities[i][j]`` is that of ``outputs[j]`` for ``labels[i]``; ``loss`` has
    half the mean squared error of this and of other methods. Of classes labels and outputs
    are numbers from 0 on, and ``kept`` the share that comes out unchanged.
    """

    epsilon: float
    labels: Sequence[float]
    prior: Sequence[float]
    outputs: Sequence[float]
    probabilities: Sequence[Sequence[float]]
    loss: Mapping[str, float]
    gap: float
    kept: Mapping[str, float] = field(default_factory=dict)
    grouped_loss: Optional[float] = None
    groups: Sequence[LabelGroup] = field(default_factory=tuple)


@dataclass(frozen=True)
class Topic:
    """A term of the answers, or a theorem that they rest on."""

    name: str
    title: str
    text: str
    also: Sequence[str] = field(default_factory=tuple)


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
        return _calibration(result)

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

    def plan_convert(self, plan: Plan, *, to: Optional[str] = None) -> str:
        """The text of a plan as ``steps`` or as ``events`` of dp_accounting, the other one by default."""
        return self.request("plan-convert", plan=_plan(plan), to=to)["text"]

    def gdp(self, plan: Plan, *, tolerance: Optional[float] = None) -> GaussianDP:
        """The μ of Gaussian differential privacy at a tolerance, by default 1e-10."""
        answer = self.request("gdp", plan=_plan(plan), tolerance=tolerance)
        return GaussianDP(
            tolerance=float(answer["tolerance"]),
            lower=float(answer["mu"]["lower"]),
            upper=float(answer["mu"]["upper"]),
            regret=float(answer["regret"]["upper"]),
            warnings=tuple(answer.get("warnings", ())),
        )

    def gdp_solve(
        self,
        plan: Plan,
        *,
        solve: str,
        mu: Optional[float] = None,
        zcdp: Optional[float] = None,
        tolerance: Optional[float] = None,
        step: Optional[str] = None,
        examples: Optional[int] = None,
    ) -> float:
        """The value of ``solve`` with which the plan meets a budget in μ, or in ρ of zCDP."""
        return float(
            self.request(
                "gdp-solve",
                plan=_plan(plan),
                solve=solve,
                mu=mu,
                zcdp=zcdp,
                tolerance=tolerance,
                step=step,
                examples=examples,
            )["value"]
        )

    def audit(
        self,
        *,
        design: str,
        members: Sequence[float],
        non_members: Sequence[float],
        delta: float,
        confidence: Optional[float] = None,
        threshold: Optional[float] = None,
        seed: Optional[int] = None,
        guesses: Optional[int] = None,
        plan: Optional[Plan] = None,
    ) -> Audit:
        """What an attack's scores prove; ``design`` is ``many-runs`` or ``one-run``."""
        answer = self.request(
            "audit",
            design=design,
            members=list(members),
            **{"non-members": list(non_members)},
            delta=delta,
            confidence=confidence,
            threshold=threshold,
            seed=seed,
            guesses=guesses,
            plan=None if plan is None else _plan(plan),
        )
        claim = answer.get("claim")
        return Audit(
            design=answer["design"],
            confidence=float(answer["confidence"]),
            delta=float(answer["delta"]),
            epsilon=float(answer["epsilon"]["lower"]),
            mu=float(answer["mu"]["lower"]),
            consistent=None if claim is None else claim["consistent"],
            reason="" if claim is None else claim["reason"],
        )

    def dpsgd(
        self,
        *,
        delta: Union[float, Sequence[float]],
        examples: Optional[int] = None,
        batch_size: Optional[int] = None,
        sampling_rate: Optional[float] = None,
        epochs: Optional[float] = None,
        steps: Optional[int] = None,
        noise_multiplier: Optional[float] = None,
        target_epsilon: Optional[float] = None,
        neighbors: Optional[str] = None,
        batching: Optional[str] = None,
        cap: Optional[int] = None,
        records_per_person: Optional[int] = None,
    ) -> Training:
        """The ε of training with DP-SGD, and what that promises in plain words.

        ``batching`` is poisson, random-allocation, shuffle, truncated-poisson (with a
        ``cap``), without-replacement or fixed-order. Batches are given by ``examples`` and ``batch_size`` or by ``sampling_rate``, the
        length by ``epochs`` or ``steps``; ``target_epsilon`` finds the noise.
        ``neighbors`` is add-remove, substitute or zero-out.
        """
        result = self.request(
            "dpsgd",
            **_given(
                delta=delta, examples=examples, batch_size=batch_size, sampling_rate=sampling_rate,
                epochs=epochs, steps=steps, noise_multiplier=noise_multiplier,
                target_epsilon=target_epsilon, neighbors=neighbors, batching=batching, cap=cap,
                records_per_person=records_per_person,
            ),
        )
        found = result.get("calibration")
        return Training(
            neighbors=result["neighbors"],
            sampling_rate=float(result["sampling-rate"]),
            steps=result["steps"],
            noise_multiplier=float(result["noise-multiplier"]),
            deltas=tuple(float(r["delta"]) for r in result["results"]),
            epsilons=tuple(_interval(r, "epsilon") for r in result["results"]),
            any_order=tuple(_interval(r, "epsilon") for r in result["any-order"]["results"]),
            uses_per_example=result["any-order"]["uses-per-example"],
            statement=result["statement"],
            calibration=None if found is None else _calibration(found),
            batching=result["batching"],
        )

    def profile(
        self,
        mechanism: str,
        *,
        at: Optional[Sequence[float]] = None,
        sampling_rate: Optional[float] = None,
        neighbors: Optional[str] = None,
        min_delta: Optional[float] = None,
        **parameters: Any,
    ) -> Profile:
        """δ at every ε of one run of a mechanism, in each direction.

        ``parameters`` are those of plan files: ``noise_multiplier=1``.
        """
        options = _given(
            at=at, sampling_rate=sampling_rate, neighbors=neighbors, min_delta=min_delta, **parameters
        )
        result = self.request("profile", mechanism=mechanism, **options)
        points = []
        for row in result["results"]:
            for d in row["directions"]:
                bounds = d["delta"]
                points.append(
                    ProfilePoint(
                        epsilon=float(row["epsilon"]),
                        direction=d["direction"],
                        lower=float(bounds["lower"]),
                        estimate=float(bounds["estimate"]),
                        upper=float(bounds["upper"]),
                        attack=float(d["attack"]["lower"]) if "attack" in d else None,
                    )
                )
        return Profile(result["mechanism"], result["neighbors"], tuple(points))

    def sampling(
        self,
        *,
        population: int,
        batch: int,
        noise_multiplier: float,
        subset: Optional[int] = None,
        mechanism: Optional[str] = None,
        epsilon: Optional[float] = None,
        steps: Optional[int] = None,
        delta: Optional[float] = None,
        recursion: Optional[int] = None,
        epochs: Optional[float] = None,
        neighbors: Optional[str] = None,
        target_epsilon: Optional[float] = None,
        cap: Optional[int] = None,
    ) -> Sequence[SamplingScheme]:
        """The sampling schemes side by side for one mechanism, under substitution.

        With ``epochs``, all ways to draw batches for so many epochs, under ``neighbors``
        (zero-out if not given), with the noise that each needs for ``target_epsilon``
        (that of Poisson sampling if not given).
        """
        result = self.request(
            "sampling",
            **_given(
                population=population, batch=batch, noise_multiplier=noise_multiplier, subset=subset,
                mechanism=mechanism, epsilon=epsilon, steps=steps, delta=delta, recursion=recursion,
                epochs=epochs, neighbors=neighbors, target_epsilon=target_epsilon, cap=cap,
            ),
        )
        schemes = []
        for s in result["schemes"]:
            ends = s.get("epsilon", {})
            schemes.append(
                SamplingScheme(
                    scheme=s["scheme"],
                    not_applicable=s.get("not-applicable", ""),
                    eta=_number(s.get("eta")),
                    expected_distinct=_number(s.get("expected-distinct")),
                    kind=s.get("kind", ""),
                    lower=_number(ends.get("lower")),
                    upper=_number(ends.get("upper")),
                    theory_gap=bool(s.get("theory-gap", False)),
                    warnings=tuple(s.get("warnings", ())),
                    noise_needed=_number(s.get("noise-needed")),
                )
            )
        return tuple(schemes)

    def select(
        self,
        plan: Optional[Plan] = None,
        *,
        candidate_epsilon: Optional[float] = None,
        candidate_delta: Optional[float] = None,
        law: Optional[Sequence[str]] = None,
        shape: Optional[float] = None,
        mean: Optional[Sequence[float]] = None,
        max_: Optional[int] = None,
        first_above: Optional[bool] = None,
        delta: Optional[float] = None,
    ) -> Sequence[SelectionLaw]:
        """What the best of a random number of private runs costs, by laws of that number.

        One run is a plan, at a ``delta``, or declares its own guarantee. With
        ``first_above`` it is the first outcome above a threshold instead.
        """
        options = _given(
            candidate_epsilon=candidate_epsilon, candidate_delta=candidate_delta, law=law,
            shape=shape, mean=mean, max_=max_, first_above=first_above, delta=delta,
        )
        if plan is not None:
            options["plan"] = _plan(plan)
        return tuple(
            SelectionLaw(
                law=r["law"],
                mean=float(r["mean"]),
                lower=_number(r["epsilon"]["lower"]),
                epsilon=_number(r["epsilon"]["tight"]),
                delta=float(r["delta"]),
                papernot_steinke=_number(r["epsilon"]["papernot-steinke"]),
                paper=_number(r["epsilon"]["paper"]),
                miss_top_1_percent=float(r["miss-top-1-percent"]),
                miss_top_5_percent=float(r["miss-top-5-percent"]),
            )
            for r in self.request("select", **options)["laws"]
        )

    def majority(
        self,
        *,
        mechanisms: int,
        epsilon: float,
        allowance: float,
        delta_each: Optional[float] = None,
        output_delta: Optional[float] = None,
        gamma: Optional[str] = None,
        objective: Optional[str] = None,
        prior_mean: Optional[float] = None,
        monotone: Optional[bool] = None,
        disjoint_shards: Optional[bool] = None,
        voter_epsilons: Optional[Sequence[float]] = None,
        voter_deltas: Optional[Sequence[float]] = None,
        plan: Optional[Plan] = None,
        classes: Optional[int] = None,
        answers: Optional[int] = None,
        delta: Optional[float] = None,
    ) -> Majority:
        """The noise function of a private majority of mechanisms, certified.

        ``voter_epsilons`` (and ``voter_deltas``) are those of unlike mechanisms, ``plan`` is
        that of each of them; ``epsilon`` is then the unit of ``allowance``. ``classes`` is
        the number of labels, 2 if left out. So many ``answers`` are priced at ``delta``.
        """
        r = self.request(
            "majority",
            **_given(
                mechanisms=mechanisms, epsilon=epsilon, allowance=allowance, delta_each=delta_each,
                output_delta=output_delta, gamma=gamma, objective=objective, prior_mean=prior_mean,
                monotone=monotone, disjoint_shards=disjoint_shards,
                voter_epsilons=voter_epsilons, voter_deltas=voter_deltas,
                plan=None if plan is None else _plan(plan),
                classes=classes, answers=answers, delta=delta,
            ),
        )
        return Majority(
            gamma=tuple(r["gamma"]), objective=r["objective"], certified=r["certified"],
            max_f=r["max-f"], budget_f=r["budget-f"], error=dict(r["error"]),
            attained_f=r["attained-f"],
            epsilon_lower=r.get("epsilon-lower"), epsilon_upper=r.get("epsilon-upper"),
        )

    def pate(
        self, votes: Sequence[Sequence[int]], mechanism: str, *, delta: float, **options: Any
    ) -> PateCost:
        """What labelling by the noisy votes of teachers cost.

        ``votes`` has a row per query and a column per class. ``options`` are the keys of
        the request ``pate`` in docs/cli.md: ``sigma2=40``, ``report="independent"``.
        """
        r = self.request("pate", votes=_rows(votes), mechanism=mechanism, delta=delta, **_given(**options))
        return PateCost(
            epsilon=r["epsilon"],
            delta=r["delta"],
            order=r["order"],
            report=r["report"],
            bound=r["bound"],
            guarantee=r["guarantee"],
            data_independent_epsilon=r["data-independent-epsilon"],
            answered=r["answered"],
            orders=tuple(r["orders"]),
            rdp=tuple(r["rdp"]),
            price=r["price"],
            exact=r.get("exact-epsilon"),
        )

    def pate_smooth(
        self,
        votes: Sequence[Sequence[int]],
        mechanism: str,
        *,
        delta: float,
        order: float,
        beta: float,
        sigma_ss: Optional[float] = None,
        **options: Any,
    ) -> SanitizedCost:
        """Sanitize the cost of votes. Every call publishes anew: make it once.

        ``options`` are as for ``pate``.
        """
        r = self.request(
            "pate-smooth", votes=_rows(votes), mechanism=mechanism, delta=delta, order=order, beta=beta,
            **_given(sigma_ss=sigma_ss, **options),
        )
        return SanitizedCost(r["sanitized-epsilon"], r.get("why-none", ""), dict(r["not-safe-to-publish"]))

    def pate_publish(
        self,
        votes: Sequence[Sequence[int]],
        mechanism: str,
        *,
        delta: float,
        order: float,
        beta: float,
        noise: float,
        confidence: Optional[float] = None,
        **options: Any,
    ) -> PublishedCost:
        """Publish an upper bound on the cost of votes. Every call publishes anew: make it once.

        ``order``, ``beta``, ``noise``, ``confidence`` and ``delta`` must have been fixed
        without looking at the votes. ``options`` are as for ``pate``.
        """
        r = self.request(
            "pate-publish", votes=_rows(votes), mechanism=mechanism, delta=delta, order=order, beta=beta,
            noise=noise, **_given(confidence=confidence, **options),
        )
        return PublishedCost(r["published-epsilon"], r["confidence"], r["statement"], dict(r["not-safe-to-publish"]))

    def label(
        self,
        epsilon: float,
        labels: Optional[Sequence[float]] = None,
        weights: Optional[Sequence[float]] = None,
        *,
        grid: Optional[int] = None,
        bias: Optional[float] = None,
        classes: Optional[Sequence[str]] = None,
        groups: Optional[Mapping[str, Sequence[float]]] = None,
    ) -> LabelRandomizer:
        """The optimal unbiased randomizer of private labels with a public prior.

        ``classes`` stand for ``labels`` that are names: the randomizer then keeps as many
        as it can. ``groups`` has weights for each group of examples, in place of ``weights``.
        """
        r = self.request(
            "label",
            epsilon=epsilon,
            **_given(
                labels=None if labels is None else list(labels),
                weights=None if weights is None else list(weights),
                grid=grid,
                bias=bias,
                classes=None if classes is None else list(classes),
                groups=None if groups is None else [{"name": k, "weights": list(v)} for k, v in groups.items()],
            ),
        )
        return LabelRandomizer(
            epsilon=r["epsilon"],
            labels=tuple(r["labels"]),
            prior=tuple(r["prior"]),
            outputs=tuple(r["outputs"]),
            probabilities=tuple(tuple(row) for row in r["probabilities"]),
            loss=dict(r["loss"]),
            gap=r["gap"],
            kept=dict(r.get("kept", {})),
            grouped_loss=r.get("grouped-loss"),
            groups=tuple(
                LabelGroup(
                    g["name"], g["share"], g["loss"], tuple(g["outputs"]), tuple(tuple(row) for row in g["probabilities"])
                )
                for g in r.get("groups", ())
            ),
        )

    def plan_check(self, plan: Plan) -> Mapping[str, Any]:
        """Read a plan without computing privacy: its relation, steps and runs."""
        return self.request("plan-check", plan=_plan(plan))

    def diff(self, old: Plan, new: Plan, *, delta: float) -> Mapping[str, Any]:
        """What tells two plans apart, ε of each, and the difference (``more``)."""
        return self.request("diff", old=_plan(old), new=_plan(new), delta=delta)

    def explain(self, topic: str) -> Topic:
        """What a term of the answers means, or what a theorem says."""
        r = self.request("explain", topic=topic)
        return Topic(r["topic"], r["title"], r["text"], tuple(r.get("also", ())))

    def topics(self) -> Sequence[Topic]:
        """Everything that ``explain`` knows."""
        return tuple(
            Topic(r["topic"], r["title"], r["text"], tuple(r.get("also", ()))) for r in self.request("explain")
        )

    def create_ledger(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        neighbors: str,
        epsilon: float,
        delta: float,
        mode: str,
        records_per_person: Optional[int] = None,
    ) -> "Ledger":
        """Make a ledger file, or a ledger in memory if there is no path.

        ``mode`` is "planned", or "adaptive" if steps depend on earlier outputs;
        ``records_per_person`` makes persons with so many records the unit.
        """
        arguments = dict(neighbors=neighbors, epsilon=epsilon, delta=delta, mode=mode)
        if records_per_person is not None:
            arguments["records_per_person"] = records_per_person
        if path is not None:
            arguments["path"] = _path(path)
        return Ledger(self, self.request("ledger-create", **arguments)["ledger"])

    def open_ledger(self, path: Union[str, "os.PathLike[str]"]) -> "Ledger":
        """Open a ledger file; other processes may use it at the same time."""
        return Ledger(self, self.request("ledger-open", path=_path(path))["ledger"])

    def log_ledger(self, path: Union[str, "os.PathLike[str]"]) -> Sequence[Mapping[str, Any]]:
        """What was spent in a ledger file, oldest first: time, note, runs, plan and head."""
        return tuple(self.request("ledger-log", path=_path(path))["entries"])

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

    def fits(self, plan: Plan, limit: Optional[int] = None) -> int:
        """How many times in a row the plan could be spent now, at most ``limit`` times.

        Nothing is spent or reserved: only ``spend`` is.
        """
        return int(
            self._accountant.request(
                "ledger-fits", ledger=self._name, plan=_plan(plan), **_given(limit=limit)
            )["fits"]
        )

    def status(self) -> LedgerStatus:
        """What is spent and what is left."""
        return _status(self._accountant.request("ledger-status", ledger=self._name))

    def close(self) -> None:
        """Forget the ledger; a file stays as it is."""
        self._accountant.request("ledger-close", ledger=self._name)


def _plan(plan: Plan) -> Any:
    return plan if isinstance(plan, str) else dict(plan)


def _rows(rows: Sequence[Sequence[int]]) -> Any:
    return [list(row) for row in rows]


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


def _given(**options: Any) -> Dict[str, Any]:
    """The keys of a request for the options that are given."""
    return {k.strip("_").replace("_", "-"): v for k, v in options.items() if v is not None}


def _number(value: Any) -> Optional[float]:
    return None if value is None else float(value)


def _calibration(result: Mapping[str, Any]) -> Calibration:
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
