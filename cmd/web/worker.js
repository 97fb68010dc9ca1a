// The worker: unpacks the WebAssembly module that it is sent, starts it, and passes
// requests to it and responses back. wasm_exec.js of the Go distribution, which runs the
// module, comes before this text (cmd/web/build puts them together).
//
// Messages in:  {engine: base64 of the packed module, packing: "lzma" (unpack.js, which comes before this text, too) or "gzip"}, {key, request}, {cancel: key}
// Messages out: {ready: true}, {key, response}, {key, progress: {done, total, note}}, {failed: text}
"use strict";

let ready;

async function start(base64, packing) {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const go = new Go();
  const module = packing === "lzma" ? unpackLzma(packed) : await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() => self.postMessage({ failed: "the engine has ended" }));
  self.postMessage({ ready: true });
}

self.onmessage = async ({ data }) => {
  try {
    if (data.engine !== undefined) {
      ready = start(data.engine, data.packing);
      await ready;
    } else if (data.cancel !== undefined) {
      await ready;
      accountant.cancel(data.cancel);
    } else {
      await ready;
      const progress = (done, total, note) => self.postMessage({ key: data.key, progress: { done, total, note } });
      self.postMessage({ key: data.key, response: await accountant.answer(data.key, data.request, progress) });
    }
  } catch (problem) {
    self.postMessage({ failed: String(problem) });
  }
};
