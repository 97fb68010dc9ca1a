// What may come next in a plan: the keys and words that the plan's JSON Schema has at a place of
// the text. It reads as much of YAML as plans have, lines by their indentation and {…} between, and
// assumes nothing about the text: where it does not understand, there is nothing to choose.
"use strict";

// placeAt is where the end of a text is: the keys that lead there, the word that is being
// written, and whether that is a key's value.
function placeAt(text) {
  const word = text.match(/[\w-]*$/)[0];
  const before = text.slice(0, text.length - word.length);
  const lines = before.split("\n");
  const open = []; // {indent, key} of a line, {flow: true, key} of a brace
  let value = false;
  for (const line of lines) {
    let rest = line.replace(/(^|\s)#.*$/, "$1");
    const inFlow = open.some((o) => o.flow);
    if (!rest.trim() && line !== lines.at(-1)) continue;
    if (!inFlow) {
      const indent = rest.match(/^(\s*(-\s+)*)/)[0].length;
      while (open.length && open.at(-1).indent >= indent) open.pop();
      rest = rest.slice(indent);
      const key = rest.match(/^([\w-]+)\s*:(\s|$)/);
      if (key) {
        open.push({ indent, key: key[1] });
        rest = rest.slice(key[0].length);
      }
      value = Boolean(key);
    }
    let last = "";
    for (const [token, , name] of rest.matchAll(/"[^"]*"|'[^']*'|(([\w-]+)\s*:(?=\s|$))|[{}[\],]|[^\s{}[\],]+/g)) {
      if (name) { last = name; value = true; }
      else if (token === "{" || token === "[") { open.push({ flow: true, key: last }); last = ""; value = false; }
      else if (token === "}" || token === "]") { while (open.length && !open.pop().flow); last = ""; value = false; }
      else if (token === ",") { last = ""; value = false; }
    }
    if (value && last) open.push({ flow: false, indent: Infinity, key: last, word: true });
    if (line !== lines.at(-1) && open.at(-1)?.word) open.pop();
  }
  return { word, path: open.map((o) => o.key).filter(Boolean), value };
}

// completions are the words that can stand at the end of a text, by a JSON Schema.
function completions(text, schema) {
  const { word, path, value } = placeAt(text);
  if (/(^|\s)#[^\n]*$/.test(text)) return { word, words: [] };
  const resolve = (s) => (s?.$ref ? resolve(schema.$defs[s.$ref.split("/").at(-1)]) : s?.type === "array" ? resolve(s.items) : s);
  let at = schema;
  for (const key of path) at = resolve(at?.properties?.[key]);
  const words = value ? at?.enum ?? [] : Object.keys(at?.properties ?? {}).map((key) => `${key}: `);
  return { word, words: words.filter((w) => w.startsWith(word) && w.trim() !== word) };
}

if (typeof module !== "undefined") module.exports = { completions };
