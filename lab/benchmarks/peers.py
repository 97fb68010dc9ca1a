"""Asks another accountant about plans, for the benchmarks beside this file.

    PYTHONPATH=... python3 peers.py dp_accounting|prv_accountant

The first line of the output is {"Missing": ...}, which is empty if the package was imported. Then each line of the
input is a question of benchmarks beside this file, with the seconds of processor time that it may take. Each line of
the output is the answer: what the peer says of epsilon, and the processor time.
"""
import json
import math
import resource
import signal
import sys
import time
import warnings


class Cannot(Exception):
    """What the peer has no mechanism, relation or function for."""


def flat(steps, times=1):
    """Yields mechanism, its parameters, sampling, its parameters and count of each step."""
    for s in steps:
        count = times * s.get("count", 1)
        if "steps" in s:
            yield from flat(s["steps"], count)
            continue
        if "mechanism" not in s:
            raise Cannot(", ".join(s))
        (kind, p), = s["mechanism"].items()
        sampling, at = next(iter(s.get("sampling", {}).items()), (None, {}))
        yield kind, p, sampling, at, count


class DPAccounting:
    def __init__(self):
        import dp_accounting
        from dp_accounting.pld import pld_privacy_accountant
        from dp_accounting.rdp import rdp_privacy_accountant
        self.d, self.pld, self.rdp = dp_accounting, pld_privacy_accountant, rdp_privacy_accountant

    def event(self, kind, p, sampling, at, scale):
        d = self.d
        if kind == "gaussian":
            e = d.GaussianDpEvent(float(p["noise-multiplier"]) * scale)
        elif kind == "laplace":
            e = d.LaplaceDpEvent(float(p["noise-multiplier"]) * scale)
        elif kind == "discrete-laplace":
            k = p.get("sensitivity", 1)
            e = d.DiscreteLaplaceDpEvent(1 / (p["noise-multiplier"] * k), k)
        elif kind == "exponential":
            e = d.ExponentialMechanismDpEvent(p["epsilon"])
        elif kind == "approximate":
            e = d.EpsilonDeltaDpEvent(p["epsilon"], p["delta"])
        else:
            raise Cannot(kind)
        if sampling is None:
            return e
        if sampling == "poisson":
            return d.PoissonSampledDpEvent(at["rate"], e)
        if sampling == "without-replacement":
            return d.SampledWithoutReplacementDpEvent(at["population"], at["batch"], e)
        if sampling == "truncated-poisson" and kind == "gaussian":
            return d.TruncatedSubsampledGaussianDpEvent(at["population"], at["rate"], at["cap"], float(p["noise-multiplier"]))
        raise Cannot(sampling)

    def ask(self, q):
        plan, mesh = q["Plan"], q["Setting"] or 1e-4
        relation = {"add-remove": self.d.NeighboringRelation.ADD_OR_REMOVE_ONE, "substitute": self.d.NeighboringRelation.REPLACE_ONE,
                    "zero-out": self.d.NeighboringRelation.REPLACE_SPECIAL}[plan["neighbors"]]
        # Its noise is relative to what two neighbours differ by, which is twice what one record adds under substitute.
        scale = .5 if plan["neighbors"] == "substitute" else 1
        steps = list(flat(plan["steps"]))
        renyi = any(s[2] == "without-replacement" for s in steps)

        def fresh():
            return self.rdp.RdpAccountant(neighboring_relation=relation) if renyi else self.pld.PLDAccountant(relation, mesh)

        if q["Ask"] == "calibrate":
            (kind, p, sampling, at, count), = steps
            got = self.d.calibrate_dp_mechanism(
                fresh, lambda s: self.d.SelfComposedDpEvent(self.event(kind, {"noise-multiplier": s}, sampling, at, scale), count), q["Epsilon"], q["Delta"])
            return {"Upper": got}
        a = fresh()
        for kind, p, sampling, at, count in steps:
            e = self.event(kind, p, sampling, at, scale)
            if not a.supports(e):
                raise Cannot(f"{kind} by {sampling}" if sampling else kind)
            a.compose(e, count)
        got = [a.get_epsilon(d) for d in q["Deltas"]]
        return {"Upper": float(got[-1]), "Note": "Rényi" if renyi else ""}


class PRVAccountant:
    def __init__(self):
        import prv_accountant
        from prv_accountant import dpsgd
        self.p, self.dpsgd = prv_accountant, dpsgd

    def ask(self, q):
        plan, error = q["Plan"], q["Setting"] or 1e-3
        if plan["neighbors"] != "add-remove":
            raise Cannot(plan["neighbors"])
        if q["Ask"] == "curve":
            raise Cannot("one composition for many deltas")
        steps = list(flat(plan["steps"]))
        if q["Ask"] == "calibrate":
            (_, _, _, at, count), = steps
            return {"Upper": float(self.dpsgd.find_noise_multiplier(at["rate"], count, q["Epsilon"], q["Delta"], error))}
        variables, counts = [], []
        for kind, p, sampling, at, count in steps:
            if kind == "gaussian" and sampling == "poisson":
                v = self.p.PoissonSubsampledGaussianMechanism(sampling_probability=at["rate"], noise_multiplier=p["noise-multiplier"])
            elif sampling is not None:
                raise Cannot(f"{kind} by {sampling}")
            elif kind == "gaussian":
                v = self.p.GaussianMechanism(noise_multiplier=p["noise-multiplier"])
            elif kind == "laplace":
                v = self.p.LaplaceMechanism(mu=1 / p["noise-multiplier"])
            else:
                raise Cannot(kind)
            variables.append(v)
            counts.append(count)
        a = self.p.PRVAccountant(prvs=variables, max_self_compositions=counts, eps_error=error, delta_error=q["Delta"] / 1000)
        lower, _, upper = a.compute_epsilon(q["Delta"], counts)
        return {"Lower": float(lower), "Upper": float(upper)}


class TooLong(Exception):
    pass


def too_long(*_):
    raise TooLong()


def main():
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    signal.signal(signal.SIGPROF, too_long)

    def say(x):
        print(json.dumps(x), flush=True)

    try:
        peer = {"dp_accounting": DPAccounting, "prv_accountant": PRVAccountant}[sys.argv[1]]()
    except ImportError as e:
        say({"Missing": f"{sys.executable}: {e}"})
        return
    say({"Missing": ""})
    for line in sys.stdin:
        q = json.loads(line)
        start = time.process_time()
        try:
            signal.setitimer(signal.ITIMER_PROF, q["Limit"])
            out = peer.ask(q)
        except Cannot as e:
            out = {"Note": f"no {e}"}
        except (TooLong, MemoryError) as e:
            out = {"Note": "more than 8 GB" if isinstance(e, MemoryError) else f"more than {q['Limit']:g} s"}
        except Exception as e:  # whatever a peer raises is its answer
            out = {"Note": type(e).__name__}
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        out["Seconds"] = time.process_time() - start
        # JSON has no infinity; what is not finite is a note.
        for end in "Lower", "Upper":
            if end in out and not math.isfinite(out[end]):
                out["Note"] = str(out.pop(end))
        say(out)


main()
