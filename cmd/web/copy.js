// What the page hands on: the same question as a plan, a command, Go or Python. The numbers
// are those of the form and of the answer; nothing is computed here. The tests run these
// functions under node and ask the library what they wrote.
"use strict";

// wholeNumber is a count as people write it, with separators between groups of three digits, without them;
// any other text is as it was.
const wholeNumber = (text) => (/^\d{1,3}([,' _\u00a0\u2009\u202f]\d{3})+$/.test(text) ? text.replace(/\D/g, "") : text);

// planOf is the plan of a DP-SGD run: form has its texts, answer what the library made of it.
function planOf(form, answer) {
  const by = answer["steps-per-epoch"];
  const epochs = by && answer.steps / by; // whole epochs, or the last one is cut short
  const rate = answer["sampling-rate"];
  const scheme = {
    "poisson": `poisson: {rate: ${rate}}`,
    "random-allocation": `random-allocation: {steps: ${by}}`,
    "shuffle": `shuffle: {batches: ${by}}`,
    "truncated-poisson": `truncated-poisson: {rate: ${rate}, cap: ${answer.cap}, population: ${answer.examples}}`,
    "without-replacement": `without-replacement: {population: ${answer.examples}, batch: ${answer["batch-size"]}}`,
    "fixed-order": "fixed-order: {uses: 1}",
  }[answer.batching];
  if (by && !Number.isInteger(epochs)) return null; // a plan has two steps for that: not written here
  const count = answer.batching === "fixed-order" ? answer["any-order"]["uses-per-example"] : by ? epochs : answer.steps;
  return [
    `# DP-SGD: ${form.examples} examples, batches of ${form["batch-size"]}, ${form.epochs} epochs.`,
    `neighbors: ${answer.neighbors}`,
    "steps:",
    "  - name: training",
    `    mechanism: {gaussian: {noise-multiplier: ${answer["noise-multiplier"]}}}`,
    `    sampling: {${scheme}}`,
    `    count: ${count}`,
    "",
  ].join("\n");
}

// statisticsPlan is the plan of statistics with bounds on what a person contributes; form has its texts.
// Products stay products: the reader of plans computes them exactly.
function statisticsPlan(form) {
  const laplace = form.noise === "laplace";
  const scale = `${laplace ? "scale" : "standard-deviation"}: ${form.scale}`;
  const bound = form.statistic === "sums" ? `${form.records}*${form.largest}` : form.records;
  // Laplace noise is for one partition at a time, as many times as a person is in partitions.
  const each = laplace && form.statistic === "partitions";
  const mechanism = form.statistic === "partitions"
    ? `threshold: {noise: ${form.noise}, ${scale}, threshold: ${form.threshold}${each ? "" : `, partitions: ${form.partitions}`}}`
    : `${form.noise}: {${scale}, partitions: ${form.partitions}, per-partition: ${bound}}`;
  return [
    `# ${form.statistic}: a person is in at most ${form.partitions} partitions.`,
    "neighbors: add-remove",
    "steps:",
    `  - name: ${form.statistic}`,
    `    mechanism: {${mechanism}}`,
    `    count: ${each ? `${form.releases}*${form.partitions}` : form.releases}`,
    "",
  ].join("\n");
}

// statisticsStatement says what an answer about statistics promises, and what it assumes.
function statisticsStatement(form, epsilon, delta) {
  const sums = form.statistic === "sums", keys = form.statistic === "partitions";
  return [
    "PRIVACY STATEMENT",
    "",
    `The ${form.releases} releases together are (ε = ${epsilon}, δ = ${delta})-differentially`,
    "private, with respect to adding or removing one person with all records.",
    "",
    "Assumed:",
    `  - A person is in at most ${form.partitions} partitions of each release${keys ? ", and counts once in each." : ","}`,
    ...(keys ? [] : [`    with at most ${form.records} records in each. Others are dropped at random, or by the`, "    person's data alone, before anything is computed."]),
    ...(sums ? [`  - Each summand is between -${form.largest} and ${form.largest}: others are cut off there.`] : []),
    `  - Each value has fresh exact ${form.noise === "laplace" ? "Laplace" : "Gaussian"} noise of ${form.noise === "laplace" ? "scale" : "standard deviation"} ${form.scale}.`,
    keys ? `  - A partition is shown only if a person is in it and its noisy count is at least ${form.threshold}.` : "  - The partitions are known beforehand: those that are empty are released, too.",
    "  - Noise, bounds and the number of releases were fixed before the data were seen.",
    "",
  ].join("\n");
}

// shellQuoted is a text as one word of a shell.
const shellQuoted = (text) => (/^[\w.,:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

// commandOf is a DP-SGD request as a command line.
function commandOf(request) {
  const flags = Object.entries(request).filter(([key]) => key !== "op").map(([key, value]) => `--${key} ${shellQuoted(String(value))}`);
  return `accountant ${["dpsgd", ...flags].join(" ")}\n`;
}

// planCommandOf is a plan and a δ as a command line, the plan behind it up to a word that is no line of it.
function planCommandOf(plan, delta) {
  const lines = plan.replace(/\n$/, "").split("\n");
  let end = "PLAN";
  while (lines.includes(end)) end += "_";
  return `accountant epsilon --delta ${shellQuoted(delta)} - <<'${end}'\n${lines.join("\n")}\n${end}\n`;
}

// goOf is a plan and a δ as a Go program.
function goOf(plan, delta) {
  return `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/dpaccountant/accountant/plan"
)

const text = ${"`" + plan.replaceAll("`", "` + \"`\" + `") + "`"}

func main() {
	p, err := plan.Parse([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	a := p.Accountant()
	if err := a.AddPlan(context.Background(), p); err != nil {
		log.Fatal(err)
	}
	eps, err := a.Epsilon(context.Background(), ${delta})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(eps.Lower, "≤ ε ≤", eps.Upper)
}
`;
}

// pythonOf is a plan and a δ as a Python program.
function pythonOf(plan, delta) {
  return `from dpaccountant import Accountant

PLAN = """${plan.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"')}"""

with Accountant() as accountant:
    answer = accountant.epsilon(PLAN, delta=${delta})
    print(answer.lower, "≤ ε ≤", answer.upper)
`;
}

if (typeof module !== "undefined") module.exports = { planOf, statisticsPlan, statisticsStatement, wholeNumber, commandOf, planCommandOf, goOf, pythonOf };
