// Writes calls.ts: one call of the generated client for each operation. Arguments: openapi.yaml and the file to write.
import { writeFileSync } from "node:fs";
import { requests } from "./requests.mjs";

const [, , document, output] = process.argv;

// Members of bodies that the document cannot fix.
const OVERRIDES = { bookMeeting: { date: "await freeTime()" } };

// The source of an object literal. TypeScript refuses a member that its type lacks in a literal alone.
const literal = (object, sources = {}) => {
  const members = Object.entries(object).map(([name, value]) => [name, JSON.stringify(value)]);
  const all = Object.entries({ ...Object.fromEntries(members), ...sources });
  return `{ ${all.map(([name, source]) => `${JSON.stringify(name)}: ${source}`).join(", ")} }`;
};

const calls = requests(document).map(({ id, method, path, parameters, absent, body, status, isJson }) => {
  // Optional parameters may be written as undefined.
  const undefineds = Object.fromEntries(absent.map((name) => [name, "undefined"]));
  const query = parameters.query && { query: literal(parameters.query, undefineds) };
  const options = [`params: ${literal(parameters, query)}`];
  if (body) options.push(`body: ${literal(body, OVERRIDES[id])}`);
  if (!isJson) options.push('parseAs: "text"');
  const call = `client.${method.toUpperCase()}(${JSON.stringify(path)}, { ${options.join(", ")} })`;
  return `await check(${JSON.stringify(id)}, ${status}, ${call});\n`;
});
const imports = 'import { check, client, freeTime } from "./client.js";\n';
writeFileSync(output, `${imports}${calls.join("")}console.log("${calls.length} operations called");\n`);
