// The page: reads the forms, asks the worker, shows its answers. It computes no privacy: all
// numbers are the library's, rounded outward to the digits that are shown.
"use strict";

const $ = (id) => document.getElementById(id);

// ---- the engine: a worker, whose script is loaded when something is asked; a request that is not wanted any more is cancelled.

const engine = { loading: false, worker: null, waiting: new Map() };

function showEngine(text) { $("engine").hidden = text === ""; $("engine").textContent = text; }

// startEngine starts the engine if it does not run; its script is loaded before.
function startEngine() {
  const made = globalThis.accountantEngine;
  if (engine.worker || engine.loading && !made) return;
  showEngine("The engine is starting …");
  if (!made) {
    engine.loading = true;
    const script = element("script", undefined, { src: "engine.js" });
    script.onload = startEngine;
    script.onerror = () => showEngine("engine.js is missing: build the page with go run ./cmd/web/build.");
    document.body.append(script);
    return;
  }
  const url = URL.createObjectURL(new Blob([accountantWorker], { type: "text/javascript" }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  engine.worker = worker;
  worker.onmessage = ({ data }) => {
    if (worker !== engine.worker) return;
    if (data.ready) { showEngine(""); return; }
    if (data.failed) { restart(); showEngine(`The engine has failed: ${data.failed}`); return; }
    const asked = engine.waiting.get(data.key);
    if (!asked) return;
    if (data.progress) { showProgress(data.progress); return; }
    engine.waiting.delete(data.key);
    clearTimeout(asked.timer);
    showBusy();
    asked.resolve(JSON.parse(data.response));
  };
  worker.onerror = (e) => showEngine(`The engine did not start: ${e.message}`);
  worker.postMessage({ engine: made.module, packing: made.packing });
  for (const [key, asked] of engine.waiting) worker.postMessage({ key, request: asked.request });
}

// restart ends a worker that does not answer any more; what it was asked is cancelled.
function restart() {
  engine.worker?.terminate();
  engine.worker = null;
  for (const asked of engine.waiting.values()) {
    clearTimeout(asked.timer);
    asked.resolve({ error: { kind: "cancelled", message: "cancelled" } });
  }
  engine.waiting.clear();
  showBusy();
}

// numeric are the keys of requests whose values are numbers in JSON, as people write them.
const numeric = Object.values(accountantFields).flatMap((keys) => Object.keys(keys).filter((k) => /^(number|whole number|list of numbers)$/.test(keys[k].type)));

// describe has each field of a form that stands for an operation say what it means, and offer what it may be.
function describe(form) {
  for (const [name, key] of Object.entries(accountantFields[form.dataset.op] ?? {})) {
    const field = form.elements[name];
    if (!field) continue;
    field.title = key.help ?? "";
    if (field.tagName === "INPUT") field.inputMode ||= key.whole ? "numeric" : key.type === "number" ? "decimal" : "text";
    else if (!field.options.length) field.append(...key.words.map((word) => element("option", word)));
  }
}

// inJSON is a request with numbers in the place of texts; a text that is no number is told.
function inJSON(request) {
  const number = (key, text) => {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw `${key}: ${JSON.stringify(text)} is not a number`;
    return Number(text);
  };
  return JSON.stringify(request, (key, value) => (numeric.includes(key) && typeof value === "string" ? number(key, value)
    : key === "delta" && Array.isArray(value) ? value.map((v) => number(key, String(v))) : value));
}

let lastKey = 0;

// ask resolves with the response to a request.
function ask(request) {
  let text;
  try {
    text = inJSON(request);
  } catch (problem) {
    return Object.assign(Promise.resolve({ error: { kind: "input", message: String(problem) } }), { cancel() {} });
  }
  const key = String(++lastKey);
  const promise = new Promise((resolve) => engine.waiting.set(key, { resolve, request: text }));
  if (engine.worker) engine.worker.postMessage({ key, request: text });
  else startEngine();
  promise.cancel = () => {
    const asked = engine.waiting.get(key);
    if (!asked || asked.timer) return;
    engine.worker?.postMessage({ cancel: key });
    // Where a computation does not come up for air, a new worker is faster than waiting.
    asked.timer = setTimeout(() => { restart(); startEngine(); }, 3000);
  };
  showBusy();
  return promise;
}

let busyTimer;
function showBusy() {
  clearTimeout(busyTimer);
  if (engine.waiting.size === 0) { $("busy").hidden = true; $("progress").removeAttribute("value"); return; }
  busyTimer = setTimeout(() => { $("busy").hidden = false; }, 400);
}

function showProgress({ done, total }) {
  if (total > 0) { $("progress").max = total; $("progress").value = done; }
}

// A place is what shows the answer to the latest of its requests: an earlier one is cancelled.
const places = {};
async function latest(place, request) {
  places[place]?.cancel();
  const mine = (places[place] = ask(request));
  const response = await mine;
  if (places[place] !== mine) return null;
  places[place] = null;
  return response;
}

// What the page shows of what its fields ask, and the places that it is asked for.
const shown = {
  training: { places: ["training", "batchings"], outputs: ["training-answer", "training-more", "statement"] },
  statistics: { places: ["statistics"], outputs: ["statistics-answer", "statistics-statement"] },
  plan: { places: ["check", "plan", "more"], outputs: ["plan-answer", "plan-more"] },
  more: { places: ["more"], outputs: ["plan-more"] },
};

// forget takes away every answer to what the fields asked before they changed, and what is on its way.
function forget(what) {
  for (const place of shown[what].places) { places[place]?.cancel(); places[place] = null; }
  for (const id of shown[what].outputs) $(id).replaceChildren();
  if (what === "training") trained = null;
  if (what === "statistics") counted = null;
}

$("cancel").onclick = () => { for (const p of Object.values(places)) p?.cancel(); };

// ---- numbers and elements

// outward writes a number with some digits, rounded up or down.
function outward(x, digits, up) {
  if (typeof x !== "number" || x === 0) return String(x);
  let s = Number(x.toPrecision(digits));
  if (up ? s < x : s > x) {
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(x))) - digits + 1);
    s = Number((s + (up ? unit : -unit)).toPrecision(digits));
  }
  return String(s);
}

// small is a number as people write a δ: 1e-5.
const small = (x) => (x > 0 && x < 1e-3 ? x.toExponential() : String(x));

// between is a certified interval in as many digits as show its width, at most 9.
function between(name, { lower, upper }) {
  let digits = 4;
  while (digits < 9 && outward(lower, digits, true) !== outward(upper, digits, false)) digits++;
  return `${outward(lower, digits, false)} ≤ ${name} ≤ ${outward(upper, digits, true)}`;
}

function element(name, text, attributes = {}) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
}

function table(caption, head, rows) {
  const t = element("table");
  t.append(element("caption", caption));
  const tr = element("tr");
  for (const h of head) tr.append(element("th", h, { scope: "col" }));
  t.append(tr);
  for (const row of rows) {
    const tr = element("tr");
    row.forEach((cell, i) => tr.append(i === 0 ? element("th", cell, { scope: "row" }) : element("td", cell)));
    t.append(tr);
  }
  const div = element("div", undefined, { class: "table", tabindex: "0", role: "region", "aria-label": caption });
  div.append(t);
  return div;
}

// showFailure puts an error beside the field that it names.
function showFailure(id, form, error) {
  for (const field of form?.elements ?? []) field.removeAttribute("aria-invalid");
  $(id).textContent = error && error.kind !== "cancelled" ? error.message : "";
  const field = error?.message.match(/^([a-z-]+)(\[\d+\])?: /)?.[1];
  const input = field && form?.elements[field];
  if (input) { input.setAttribute("aria-invalid", "true"); input.setAttribute("aria-describedby", id); }
}

function showInterval(id, ...answers) {
  $(id).replaceChildren(...answers.flatMap((result) => [
    ...(result.calibration ? [element("div", `σ = ${result["noise-multiplier"]}`)] : []),
    ...result.results.flatMap((r) => [
      element("div", between("ε", r.epsilon)),
      element("small", `at δ = ${small(r.delta)}, ${result.neighbors}${r["theory-gap"] ? "; theory leaves a gap here" : ""}`),
      ...(r.warnings ?? []).map((w) => element("small", w)),
    ]),
  ]));
}

// ---- DP-SGD

let trained = null; // the latest answers, one for each target

// fields are the texts of a form, counts without separators between thousands.
const fields = (form) => Object.fromEntries([...new FormData(form)].map(([k, v]) => [k, form.elements[k].inputMode === "numeric" ? wholeNumber(v.trim()) : v.trim()]).filter(([, v]) => v !== ""));

// listed are the numbers of a text with commas between them.
const listed = (text) => text.split(",").map((number) => number.trim());

// trainingRequest is the form as a request; the service says what is wrong with it.
function trainingRequest() {
  const q = fields($("training-form"));
  if (q["target-epsilon"]) delete q["noise-multiplier"];
  if (q.batching !== "truncated-poisson") delete q.cap;
  for (const key of ["delta", "target-epsilon"]) if (q[key]?.includes(",")) q[key] = listed(q[key]);
  return { op: "dpsgd", ...q };
}

async function train() {
  keepLink();
  forget("training");
  const response = await latest("training", trainingRequest());
  if (!response) return;
  showFailure("training-error", $("training-form"), response.error);
  trained = response.result?.results ?? null;
  if (!trained) return;
  showInterval("training-answer", ...trained);
  $("statement").textContent = trained.map((run) => run.statement).join("\n");
}

// compareBatchings fills a table, each cell as it is known: first what the batchings cost with the same
// noise, then the noise with which they cost what Poisson sampling does.
async function compareBatchings() {
  const q = { op: "dpsgd", accuracy: "1e-3", ...fields($("training-form")) };
  if (trained) q["noise-multiplier"] = String(trained[0]["noise-multiplier"]);
  delete q["target-epsilon"];
  q.neighbors ??= "zero-out"; // which all batchings have
  q.delta = q.delta?.split(",")[0];
  // A cap that is not given is 4.5 standard deviations above the mean, where it costs next to nothing.
  q.cap ??= String(Math.min(Number(q.examples), Math.ceil(Number(q["batch-size"]) + 4.5 * Math.sqrt(Number(q["batch-size"])))));
  const ways = [...$("training-form").elements.batching.options].map((o) => o.value);
  const rows = ways.map((way) => [way, "…", "…"]);
  const named = () => rows.map(([way, ...rest]) => [way === "truncated-poisson" ? `${way}, cap ${q.cap}` : way, ...rest]);
  const show = () => $("training-more").replaceChildren(table(`Ways to draw batches, σ = ${q["noise-multiplier"]}, ${q.neighbors}, δ = ${q.delta}`, ["batching", "certified", "σ for the ε of the first"], named()));
  const request = (batching, more) => {
    const r = { ...q, ...more, batching };
    if (more["target-epsilon"]) delete r["noise-multiplier"];
    if (batching !== "truncated-poisson") delete r.cap;
    return r;
  };
  show();
  let target;
  for (const row of rows) {
    const response = await latest("batchings", request(row[0], {}));
    if (!response) return;
    const epsilon = response.result?.results[0].results[0].epsilon;
    target ??= epsilon?.upper;
    row[1] = epsilon ? between("ε", epsilon) : response.error.message;
    if (!epsilon) row[2] = "";
    show();
    if (response.error?.kind === "cancelled") return;
  }
  for (const row of rows) {
    if (row[2] === "" || typeof target !== "number" || !(target > 0)) continue;
    const response = await latest("batchings", request(row[0], { "target-epsilon": target }));
    if (!response) return;
    row[2] = response.result ? outward(response.result.results[0]["noise-multiplier"], 5, true) : "not found";
    show();
  }
}

// ---- statistics

let counted = null; // the plan of the latest answer

async function account() {
  keepLink();
  forget("statistics");
  const form = $("statistics-form").elements;
  const needed = { counts: ["records"], sums: ["records", "largest"], partitions: ["threshold"] }[form.statistic.value];
  for (const name of ["records", "largest", "threshold"]) form[name].disabled = !needed.includes(name);
  $("scale-name").textContent = form.noise.value === "laplace" ? "Scale" : "Standard deviation";
  const q = fields($("statistics-form"));
  const missing = ["scale", "partitions", "releases", "delta", ...needed].find((key) => !q[key]);
  const plan = missing ? null : statisticsPlan(q);
  const response = missing ? { error: { kind: "input", message: `${missing}: is missing` } } : await latest("statistics", { op: "epsilon", plan, delta: listed(q.delta) });
  if (!response) return;
  showFailure("statistics-error", $("statistics-form"), response.error);
  if (!response.result) return;
  counted = plan;
  showInterval("statistics-answer", response.result);
  const { epsilon, delta } = response.result.results[0];
  if (typeof epsilon.upper === "number") $("statistics-statement").textContent = statisticsStatement(q, outward(epsilon.upper, 6, true), small(delta));
}

// ---- plans

async function check() {
  keepLink();
  forget("plan");
  const plan = $("text").value;
  const response = await latest("check", { op: "plan-check", plan });
  if (!response) return;
  const line = Number(response.error?.message.match(/\bline (\d+)\b/)?.[1] ?? 0);
  showLines(line);
  $("plan-error").textContent = response.error && response.error.kind !== "cancelled" ? response.error.message : "";
  $("text").setAttribute("aria-invalid", String(Boolean(response.error)));
  if (response.error) return;
  const delta = fields($("plan-form")).delta ?? "";
  const answer = await latest("plan", { op: "epsilon", plan, delta: listed(delta) });
  if (!answer) return;
  showFailure("plan-error", $("plan-form"), answer.error);
  if (answer.result) showInterval("plan-answer", answer.result);
}

function showLines(wrong) {
  const lines = $("text").value.split("\n").map((_, i) => element(i + 1 === wrong ? "b" : "span", `${i + 1}\n`));
  $("lines").replaceChildren(...lines);
}

async function more(request, show) {
  forget("more");
  const response = await latest("more", request);
  if (!response) return;
  $("plan-error").textContent = response.error ? response.error.message : "";
  if (response.result) $("plan-more").replaceChildren(...show(response.result));
}

const planDeltas = () => listed(fields($("plan-form")).delta ?? "");

function draw(kind) {
  const request = { op: "curve", plan: $("text").value, kind };
  if (kind === "steps") request.delta = planDeltas();
  more(request, (r) => r.curves.map((curve) => picture(r, curve)));
}

const letter = (name) => ({ epsilon: "ε", delta: "δ" })[name] ?? name;

// ticks are multiples of 1, 2 or 5 times a power of ten from one end of an axis to the other, some five of them.
function ticks(from, to, whole) {
  const span = to - from || 1, power = 10 ** Math.floor(Math.log10(span / 5));
  const step = Math.max(power * [1, 2, 5, 10].find((k) => span / (k * power) <= 6), whole ? 1 : 0);
  const all = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * span; i++) all.push(Number((i * step).toPrecision(12)));
  return all;
}

// picture draws one of some curves: between its ends, on a logarithmic axis for δ.
function picture(r, curve) {
  const [w, h, left, bottom] = [640, 360, 70, 45];
  const log = r.kind === "delta";
  const points = curve.points.filter((p) => typeof p.x === "number" && typeof p.upper === "number" && (!log || p.upper > 0));
  const floor = log ? Math.min(...points.map((p) => p.upper)) : 0;
  const scale = (y) => (log ? Math.log10(Math.max(y, floor)) : y);
  const xs = points.map((p) => p.x);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const y0 = scale(floor), y1 = Math.max(...points.map((p) => scale(p.upper)));
  const px = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (w - left - 15);
  const py = (y) => h - bottom - ((scale(y) - y0) / (y1 - y0 || 1)) * (h - bottom - 15);
  const svg = (name, attributes, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const line = (key) => points.map((p) => `${px(p.x).toFixed(1)},${py(p[key]).toFixed(1)}`);
  const out = svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${r.y} against ${r.x}${curve.delta ? ` at δ = ${small(curve.delta)}` : ""}: ${points.length} certified points` });
  out.append(svg("polygon", { class: "between", points: [...line("upper"), ...line("lower").reverse()].join(" ") }),
    svg("polyline", { class: "upper", points: line("upper").join(" ") }), svg("polyline", { class: "lower", points: line("lower").join(" ") }),
    svg("path", { class: "axis", d: `M${left},15V${h - bottom}H${w - 15}` }), svg("text", { x: w / 2, y: h - 6 }, letter(r.x)), svg("text", { x: 4, y: 12 }, letter(r.y)));
  for (const x of ticks(x0, x1)) out.append(svg("text", { class: "tick", x: px(x), y: h - bottom + 18, "text-anchor": "middle" }, x));
  // On a logarithmic axis powers of ten are marked, whose exponents are round.
  for (const y of ticks(y0, y1, log)) {
    const value = log ? 10 ** y : y;
    out.append(svg("text", { class: "tick", x: left - 6, y: py(value) + 4, "text-anchor": "end" }, log ? `1e${y}` : y));
  }
  const figure = element("figure");
  figure.append(out, element("figcaption", `${curve.delta ? `ε at δ = ${small(curve.delta)}. ` : ""}The line is proved; the broken line is attained. They often lie on each other.`));
  return figure;
}

const compare = () => more({ op: "compare", plan: $("text").value, delta: planDeltas() }, ({ results }) => results.map((r) =>
  table(`Methods of accounting, ${r.neighbors}, δ = ${r.delta}`, ["method", "ε", "kind", "theorem"],
    r.methods.map((m) => [m.method, m.lower !== undefined ? between("ε", { lower: m.lower, upper: m.epsilon }) : m.epsilon !== undefined ? outward(m.epsilon, 6, true) : "–", m.kind, [m.theorem, m.note].filter(Boolean).join("; ")]))));

const calibrate = () => {
  const q = fields($("calibrate-form"));
  return more({ op: "calibrate", plan: $("text").value, delta: planDeltas(), solve: q.solve, epsilon: listed(q.epsilon ?? "") }, ({ results }) => results.flatMap((r) => [
    ...(results.length > 1 ? [element("p", `ε ≤ ${small(r.budget.epsilon)} at δ = ${small(r.budget.delta)}`)] : []),
    element("p", r.unlimited ? `No ${r.solve} is too large for this budget.` : `${r.solve}${r["common-factor"] ? " (common factor)" : ""}: ${r.value}`),
    element("p", r.meets.epsilon ? `There, ${between("ε", r.meets.epsilon)}.` : `There, ${between("δ", r.meets.delta)}.`),
    ...(r.warnings ?? []).map((w) => element("p", w)),
  ]));
};

// ---- completion: Control and the space bar, or the first letters; arrows, then Enter or Tab

const choice = { at: 0, words: [], word: "" };

function complete(asked) {
  const text = $("text");
  const { word, words } = text.selectionStart === text.selectionEnd ? completions(text.value.slice(0, text.selectionStart), accountantSchema) : { word: "", words: [] };
  Object.assign(choice, { at: 0, word, words: asked || word ? words : [] });
  showChoices();
}

function showChoices() {
  const options = choice.words.map((w, i) => element("li", w.replace(/: $/, ""), { role: "option", id: `choice-${i}`, "aria-selected": String(i === choice.at) }));
  options.forEach((o, i) => { o.onmousedown = (e) => { e.preventDefault(); choice.at = i; take(); }; });
  $("choices").replaceChildren(...options);
  $("choices").hidden = options.length === 0;
  if (options.length) $("text").setAttribute("aria-activedescendant", `choice-${choice.at}`);
  else $("text").removeAttribute("aria-activedescendant");
  options[choice.at]?.scrollIntoView({ block: "nearest" });
}

// take puts the chosen word into the text; setRangeText would lose what undo knows.
function take() {
  const text = $("text");
  const rest = choice.words[choice.at].slice(choice.word.length);
  text.focus();
  if (!document.execCommand("insertText", false, rest)) text.setRangeText(rest, text.selectionStart, text.selectionEnd, "end");
  choice.words = [];
  showChoices();
  checkLater();
}

function chooseByKey(e) {
  const moves = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (e.key === " " && e.ctrlKey) complete(true);
  else if (!choice.words.length) return;
  else if (moves) { choice.at = (choice.at + moves + choice.words.length) % choice.words.length; showChoices(); }
  else if (e.key === "Enter" || e.key === "Tab") take();
  else if (e.key === "Escape") { choice.words = []; showChoices(); }
  else return;
  e.preventDefault();
}

// ---- links, copies, tabs

// now is the tab that is shown.
const now = () => document.querySelector('[role="tab"][aria-selected="true"]').getAttribute("aria-controls");

// The fragment of the address has the form, or the plan: it is never sent to a server.
function link() {
  const tab = now();
  const state = new URLSearchParams(tab === "plan" ? { plan: $("text").value, ...fields($("plan-form")) } : fields($(`${tab}-form`)));
  return `${location.href.split("#")[0]}#${state}`;
}

function keepLink() { history.replaceState(null, "", link()); }

function readLink() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (state.has("plan")) {
    $("text").value = state.get("plan");
    if (state.has("delta")) $("plan-form").elements.delta.value = state.get("delta");
    select("plan");
    return;
  }
  const tab = state.has("statistic") ? "statistics" : "training";
  for (const field of $(`${tab}-form`).elements) if ([...state.keys()].length) field.value = state.get(field.name) ?? "";
  select(tab);
}

const noPlan = () => (trained ? "There is no plan of one step for this run." : "There is no answer yet.");

// planNow is the plan of what is shown, and its δ; none where there is no answer.
function planNow() {
  switch (now()) {
    case "training": return trained ? { plan: planOf(fields($("training-form")), trained[0]), delta: String(trained[0].results[0].delta) } : {};
    case "statistics": return { plan: counted, delta: fields($("statistics-form")).delta };
    default: return { plan: $("text").value, delta: planDeltas()[0] };
  }
}

async function copy(what) {
  const { plan, delta } = planNow();
  const text = what === "link" ? link() : now() === "training" && what === "command" ? commandOf(trainingRequest()) : !plan ? null
    : { plan: () => plan, command: () => planCommandOf(plan, delta), go: () => goOf(plan, delta), python: () => pythonOf(plan, delta) }[what]();
  if (text === null) { $("copied").textContent = noPlan(); return; }
  try {
    await navigator.clipboard.writeText(text);
    $("copied").textContent = `Copied: ${what}.`;
  } catch {
    $("copied").replaceChildren(element("pre", text, { tabindex: "0" })); // a page from a disk may have no clipboard
  }
}

function select(name) {
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const on = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !on;
  }
  if (name === "plan") { showLines(0); check(); } else if (name === "statistics") account(); else train();
}

// changed forgets the answers at once, and asks f when nothing has happened for a moment.
function changed(what, f) {
  let timer;
  return () => { forget(what); clearTimeout(timer); timer = setTimeout(f, 120); };
}

for (const tab of document.querySelectorAll('[role="tab"]')) {
  tab.onclick = () => select(tab.getAttribute("aria-controls"));
  tab.onkeydown = (e) => {
    if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
    const tabs = [...document.querySelectorAll('[role="tab"]')];
    const other = tabs.at((tabs.indexOf(tab) + (e.key === "ArrowRight" ? 1 : -1)) % tabs.length);
    other.focus();
    other.click();
  };
}
for (const b of document.querySelectorAll("[data-copy]")) b.onclick = () => copy(b.dataset.copy);
for (const b of document.querySelectorAll("[data-draw]")) b.onclick = () => draw(b.dataset.draw);
$("training-form").oninput = changed("training", train);
$("statistics-form").oninput = changed("statistics", account);
const checkLater = changed("plan", check);
$("text").oninput = () => { complete(false); checkLater(); };
$("text").onkeydown = chooseByKey;
$("text").onblur = () => { choice.words = []; showChoices(); };
$("plan-form").oninput = checkLater;
$("calibrate-form").oninput = () => forget("more");
for (const form of document.forms) { describe(form); form.onsubmit = (e) => e.preventDefault(); }
$("calibrate-form").onsubmit = (e) => { e.preventDefault(); calibrate(); };
$("batchings").onclick = compareBatchings;
$("compare").onclick = compare;
for (const b of document.querySelectorAll("[data-open]")) {
  b.onclick = () => {
    const { plan, delta } = planNow();
    if (!plan) { $("copied").textContent = noPlan(); return; }
    $("text").value = plan;
    $("plan-form").elements.delta.value = delta;
    select("plan");
  };
}
$("text").onscroll = () => { $("lines").scrollTop = $("text").scrollTop; };
for (const { name, text } of accountantExamples) $("example").append(element("option", name, { value: text }));
$("example").onchange = () => { if ($("example").value) { $("text").value = $("example").value; check(); } };
if (!$("text").value) $("text").value = accountantExamples.find((e) => e.name === "dpsgd")?.text ?? "";
window.onhashchange = readLink;
readLink();
