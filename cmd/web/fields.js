// The keys of the operations that the page asks. Written by go generate ./cmd/service: do not edit.
const accountantFields = {
 "calibrate": {
  "accuracy": {
   "type": "number",
   "help": "relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)"
  },
  "at-fpr": {
   "type": "number",
   "help": "false-positive rate of target tpr"
  },
  "delta": {
   "type": "list of numbers",
   "help": "the budget's δ"
  },
  "epsilon": {
   "type": "list of numbers",
   "help": "the budget's ε"
  },
  "examples": {
   "type": "number",
   "whole": true,
   "help": "number N of examples, to turn the batch of Poisson sampling"
  },
  "memory": {
   "type": "number",
   "help": "limit of memory in MB (default 1 GiB); at the limit the interval gets wider and there is a warning"
  },
  "plan": {
   "type": "plan"
  },
  "recursion": {
   "type": "number",
   "whole": true,
   "help": "narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never"
  },
  "solve": {
   "type": "string",
   "help": "quantity to turn: noise-multiplier, count, rate, batch, records-per-person, epsilon (of a local randomizer) or users (of a shuffler)",
   "words": [
    "noise-multiplier",
    "count",
    "rate",
    "batch",
    "records-per-person",
    "epsilon",
    "users"
   ],
   "preset": "noise-multiplier"
  },
  "step": {
   "type": "string",
   "help": "name of the step or group to turn, or its place such as steps[0]; all steps if left out"
  },
  "target-advantage": {
   "type": "number",
   "help": "the largest advantage of any membership-inference attack, its true-positive rate minus its false-positive rate"
  },
  "target-tpr": {
   "type": "number",
   "help": "the largest true-positive rate of any attack with the false-positive rate at fpr"
  },
  "time-limit": {
   "type": "number",
   "help": "limit of the time in seconds (default none); at the limit what is proved by then is told, with a warning, which depends on the machine"
  },
  "work": {
   "type": "number",
   "help": "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the limit what is proved by then is told, with a warning"
  }
 },
 "compare": {
  "accuracy": {
   "type": "number",
   "help": "relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)"
  },
  "delta": {
   "type": "list of numbers",
   "help": "one or several δ to compare at"
  },
  "memory": {
   "type": "number",
   "help": "limit of memory in MB (default 1 GiB); at the limit the interval gets wider and there is a warning"
  },
  "plan": {
   "type": "plan"
  },
  "recursion": {
   "type": "number",
   "whole": true,
   "help": "narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never"
  },
  "time-limit": {
   "type": "number",
   "help": "limit of the time in seconds (default none); at the limit what is proved by then is told, with a warning, which depends on the machine"
  },
  "work": {
   "type": "number",
   "help": "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the limit what is proved by then is told, with a warning"
  }
 },
 "curve": {
  "accuracy": {
   "type": "number",
   "help": "relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)"
  },
  "delta": {
   "type": "list of numbers",
   "help": "kind steps: ε is told at this δ",
   "preset": "1e-5"
  },
  "from": {
   "type": "number",
   "help": "kind delta: first ε, may be negative (default 0)"
  },
  "kind": {
   "type": "string",
   "help": "kind of curve: delta, steps or trade-off",
   "words": [
    "delta",
    "steps",
    "trade-off"
   ],
   "preset": "delta"
  },
  "log": {
   "type": "true or false",
   "help": "kind trade-off: true-positive against false-positive rate, on logarithmic axes"
  },
  "memory": {
   "type": "number",
   "help": "limit of memory in MB (default 1 GiB); at the limit the interval gets wider and there is a warning"
  },
  "min-delta": {
   "type": "number",
   "help": "kind delta: where the axis of δ ends",
   "preset": "1e-12"
  },
  "plan": {
   "type": "plan"
  },
  "plans": {
   "type": "list of objects"
  },
  "points": {
   "type": "number",
   "whole": true,
   "help": "number of points on each curve (default 60; 25 for steps)"
  },
  "rdp": {
   "type": "true or false",
   "help": "kind delta: draw the upper bounds of Rényi accounting too"
  },
  "time-limit": {
   "type": "number",
   "help": "limit of the time in seconds (default none); at the limit what is proved by then is told, with a warning, which depends on the machine"
  },
  "to": {
   "type": "number",
   "help": "kind delta: last ε (default: where δ is min delta)"
  },
  "work": {
   "type": "number",
   "help": "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the limit what is proved by then is told, with a warning"
  }
 },
 "dpsgd": {
  "accuracy": {
   "type": "number",
   "help": "relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)"
  },
  "at-fpr": {
   "type": "number",
   "help": "false-positive rate of target tpr"
  },
  "batch-size": {
   "type": "number",
   "help": "expected size B of a batch"
  },
  "batching": {
   "type": "string",
   "help": "how batches are drawn: poisson, random-allocation, shuffle, truncated-poisson, without-replacement, fixed-order",
   "words": [
    "poisson",
    "random-allocation",
    "shuffle",
    "truncated-poisson",
    "without-replacement",
    "fixed-order"
   ],
   "preset": "poisson"
  },
  "cap": {
   "type": "number",
   "help": "largest batch B of truncated-poisson batching"
  },
  "delta": {
   "type": "list of numbers",
   "help": "one or several δ"
  },
  "epochs": {
   "type": "number",
   "help": "number of epochs E, a fraction is allowed"
  },
  "examples": {
   "type": "number",
   "whole": true,
   "help": "number of training examples N"
  },
  "memory": {
   "type": "number",
   "help": "limit of memory in MB (default 1 GiB); at the limit the interval gets wider and there is a warning"
  },
  "neighbors": {
   "type": "string",
   "help": "neighbouring relation: add-remove, substitute or zero-out",
   "words": [
    "add-remove",
    "substitute",
    "zero-out"
   ]
  },
  "noise-multiplier": {
   "type": "number",
   "help": "standard deviation σ of the noise over the clipping norm (required, or a target)"
  },
  "records-per-person": {
   "type": "number",
   "whole": true,
   "help": "how many training examples k a person has at most; the answer is about persons"
  },
  "sampling-rate": {
   "type": "number",
   "help": "probability q of an example to be in a batch, instead of examples and batch size"
  },
  "steps": {
   "type": "number",
   "whole": true,
   "help": "number of steps T, instead of epochs"
  },
  "target-advantage": {
   "type": "number",
   "help": "the largest advantage of any membership-inference attack, its true-positive rate minus its false-positive rate"
  },
  "target-epsilon": {
   "type": "list of numbers",
   "help": "find the smallest noise multiplier for this ε, instead of noise multiplier"
  },
  "target-tpr": {
   "type": "number",
   "help": "the largest true-positive rate of any attack with the false-positive rate at fpr"
  },
  "time-limit": {
   "type": "number",
   "help": "limit of the time in seconds (default none); at the limit what is proved by then is told, with a warning, which depends on the machine"
  },
  "work": {
   "type": "number",
   "help": "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the limit what is proved by then is told, with a warning"
  }
 },
 "epsilon": {
  "accountant": {
   "type": "string",
   "help": "method: fourier, or rdp for a looser upper bound by Rényi accounting",
   "words": [
    "fourier",
    "rdp"
   ],
   "preset": "fourier"
  },
  "accuracy": {
   "type": "number",
   "help": "relative width that an interval may have (default 1e-9, and 1e-3 where lattices are needed)"
  },
  "certificate": {
   "type": "true or false"
  },
  "delta": {
   "type": "list of numbers",
   "help": "one or several δ"
  },
  "group-black-box": {
   "type": "true or false",
   "help": "for persons with several records: a looser upper bound, from the privacy curve of one record alone"
  },
  "memory": {
   "type": "number",
   "help": "limit of memory in MB (default 1 GiB); at the limit the interval gets wider and there is a warning"
  },
  "plan": {
   "type": "plan"
  },
  "recursion": {
   "type": "number",
   "whole": true,
   "help": "narrow a theory gap for mechanisms that run at most this many times by the recursion over data configurations, and from 100 times on by blocks of runs, beside which the recursion takes on a tenth as many; takes seconds; 0 for never"
  },
  "time-limit": {
   "type": "number",
   "help": "limit of the time in seconds (default none); at the limit what is proved by then is told, with a warning, which depends on the machine"
  },
  "transform": {
   "type": "string",
   "help": "answer by lattices alone, with the Fourier transform of this library: gonum or go-dsp, which check each other",
   "words": [
    "gonum",
    "go-dsp"
   ]
  },
  "work": {
   "type": "number",
   "help": "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the limit what is proved by then is told, with a warning"
  }
 }
};
