// Runs the nodes of an n8n flow in their order: settings and HTTP requests, with the expressions that they contain.
// Argument: the flow. n8n itself is too large for a test.
import { readFileSync } from "node:fs";

const { nodes, connections } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { FUNIL_URL, FUNIL_KEY, FUNIL_TOKEN } = process.env;
const results = {};
const $ = (name) => ({ item: { json: results[name] } });

/** The value of a parameter: text, or after `=` a template with expressions in `{{ }}`. */
function evaluate(text, $json) {
  if (!text.startsWith("=")) return text;
  return text.slice(1).replace(/{{(.*?)}}/g, (_, code) => new Function("$", "$json", `return ${code}`)($, $json));
}

const pairs = (list, $json) => list.parameters.map(({ name, value }) => [name, evaluate(value, $json)]);

const kinds = {
  manualTrigger: () => ({}),
  set({ assignments }) {
    const values = assignments.assignments.map(({ name, value }) => [name, value]);
    return { ...Object.fromEntries(values), url: FUNIL_URL, key: FUNIL_KEY, token: FUNIL_TOKEN };
  },
  async httpRequest({ method, url, queryParameters, headerParameters, jsonBody }, $json) {
    const headers = { "content-type": "application/json", ...Object.fromEntries(pairs(headerParameters, $json)) };
    const address = `${evaluate(url, $json)}?${new URLSearchParams(pairs(queryParameters, $json))}`;
    const response = await fetch(address, { method, headers, body: evaluate(jsonBody, $json) });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return response.json();
  },
};

let name = nodes.find(({ type }) => type.endsWith("Trigger")).name;
for (let json = {}; name; name = connections[name]?.main[0][0].node) {
  const { type, parameters } = nodes.find((node) => node.name === name);
  json = results[name] = await kinds[type.split(".")[1]](parameters, json);
}
const last = Object.values(results).at(-1);
console.log(`opportunity ${last.id} of lead ${last.lead_id}`);
