// Runs the worker of a built page under node, for tests:
//
//	node run.js DIST/ENGINE.js REQUEST...    answers each request in turn, one response a line
//	node run.js DIST/ENGINE.js --cancel REQUEST    cancels it after 50 ms
//
// Times in milliseconds go to standard error: until the engine is ready, then each answer.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [file, ...args] = process.argv.slice(2);
const cancel = args[0] === "--cancel" && args.shift();
for (const f of [path.join(path.dirname(file), "engine-worker.js"), file]) vm.runInThisContext(fs.readFileSync(f, "utf8"));
const engine = globalThis.accountantEngine;
globalThis.require = require;

let settle;
const next = () => new Promise((resolve) => { settle = resolve; });
globalThis.self = {
  postMessage(message) {
    if (message.failed) { console.error(message.failed); process.exit(1); }
    if (message.ready || message.response) settle(message.response);
  },
};
vm.runInThisContext(accountantWorker);

(async () => {
  let from = performance.now();
  const lap = (what) => { console.error(what, Math.round(performance.now() - from)); from = performance.now(); };
  let answer = next();
  self.onmessage({ data: { engine: engine.module, packing: engine.packing } });
  await answer;
  lap("ready");
  for (const [i, request] of args.entries()) {
    answer = next();
    self.onmessage({ data: { key: String(i), request } });
    if (cancel) setTimeout(() => self.onmessage({ data: { cancel: String(i) } }), 50);
    console.log(await answer);
    lap("answer");
  }
  process.exit(0);
})();
