// Makes a Postman collection of openapi.yaml, or sends every request of one.
//
//   node postman.mjs make openapi.yaml collection.json
//   node postman.mjs send openapi.yaml collection.json
//
// The converter makes requests with examples, a variable for the address and one credential. This adds variables for the
// instance, the key and the token, the second credential, a new Idempotency-Key for each request, and a free time for a booking.
import { readFileSync, writeFileSync } from "node:fs";
import { requests } from "./requests.mjs";

const [, , task, document, file] = process.argv;

/** The requests of a folder and of those in it. */
function leaves(folder) {
  return folder.item.flatMap((entry) => (entry.item ? leaves(entry) : [entry]));
}

/** The operation of a request. */
function operation(item, operations) {
  const path = `/${item.request.url.path.join("/")}`;
  const isIts = ({ method, path: template }) =>
    method.toUpperCase() === item.request.method && template.replace(/{(\w+)}/g, ":$1") === path;
  return operations.find(isIts);
}

const script = (listen, line) => ({ listen, script: { type: "text/javascript", exec: [line] } });

function complete(item, { id, parameters }) {
  const { request } = item;
  for (const parameter of request.url.query ?? []) {
    if (parameter.key === "i") parameter.value = "{{instance}}";
    // The converter invents a random value for a parameter without an example.
    else if (parameters.query?.[parameter.key] === undefined) Object.assign(parameter, { disabled: true, value: "" });
  }
  for (const parameter of request.url.variable ?? []) {
    if (parameter.key === "instance") parameter.value = "{{instance}}";
  }
  // The converter describes the address in each request.
  request.url.variable = (request.url.variable ?? []).filter(({ key }) => key !== "serviceUrl");
  for (const header of request.header ?? []) {
    if (header.key === "Idempotency-Key") header.value = "{{$guid}}";
  }
  if (request.auth?.apikey?.some(({ key, value }) => key === "in" && value === "header")) {
    request.header.push({ key: "Authorization", value: "Bearer {{token}}" });
  }
  if (id === "listFreeSlots") {
    request.url.query = request.url.query.filter(({ key }) => !["from", "to"].includes(key));
    item.event = [script("test", 'pm.collectionVariables.set("freeTime", pm.response.json().data.slots[0]);')];
  }
  if (id === "bookMeeting") {
    request.body.raw = request.body.raw.replace(/"date": "[^"]*"/, '"date": "{{freeTime}}"');
  }
  // Responses are in openapi.yaml.
  item.response = [];
}

/** Without the random ids of the converter, so that equal documents make equal collections. */
function withoutIds(value) {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([name, member]) => !(/^(_postman_)?id$/.test(name) && /-.*-.*-/.test(member)));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutIds(member)]));
}

async function make() {
  const { default: converter } = await import("openapi-to-postmanv2");
  const input = { type: "string", data: readFileSync(document, "utf8") };
  const options = { folderStrategy: "Tags", requestParametersResolution: "Example" };
  const { result, reason, output } = await new Promise((done, fail) =>
    converter.convert(input, options, (error, made) => (error ? fail(error) : done(made))),
  );
  if (!result) throw new Error(reason);
  const collection = withoutIds(output[0].data);
  const operations = requests(document);
  for (const item of leaves(collection)) complete(item, operation(item, operations));
  const plain = ({ key, value }) => ({ key, value });
  const own = { instance: "demo", apiKey: "", token: "", freeTime: "" };
  collection.variable = [
    ...Object.entries(own).map(([key, value]) => ({ key, value })),
    ...collection.variable.map(plain),
  ];
  writeFileSync(file, `${JSON.stringify(collection, null, 1)}\n`);
}

async function send() {
  const { default: newman } = await import("newman");
  const collection = JSON.parse(readFileSync(file, "utf8"));
  const operations = requests(document);
  const { FUNIL_URL, FUNIL_KEY, FUNIL_TOKEN } = process.env;
  const values = { serviceUrl: FUNIL_URL, webhookUrl: FUNIL_URL, apiKey: FUNIL_KEY, token: FUNIL_TOKEN };
  const envVar = Object.entries(values).map(([key, value]) => ({ key, value }));
  const { run } = await new Promise((done, fail) =>
    newman.run({ collection, envVar, timeoutRequest: 20000 }, (error, summary) => (error ? fail(error) : done(summary))),
  );
  const items = leaves(collection);
  run.executions.forEach(({ response, requestError }, at) => {
    const { id, status } = operation(items[at], operations);
    if (response?.code === status) return;
    console.error(`${id}: ${requestError ?? `${response.code} ${response.text().slice(0, 300)}`}`);
    process.exitCode = 1;
  });
  if (run.executions.length !== operations.length) throw new Error(`${run.executions.length} requests sent`);
  console.log(`${run.executions.length} operations called`);
}

await (task === "make" ? make() : send());
