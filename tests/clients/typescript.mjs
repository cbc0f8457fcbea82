// Writes calls.ts: one call of the generated client for each operation. Arguments: openapi.yaml and the file to write.
import { writeFileSync } from "node:fs";
import { requests } from "./requests.mjs";

const [, , document, output] = process.argv;

// Members of bodies that the document cannot fix.
const OVERRIDES = { bookMeeting: "date: await freeTime()" };

const calls = requests(document).map(({ id, method, path, parameters, body, status, isJson }) => {
  const options = [`params: ${JSON.stringify(parameters)}`];
  if (body) options.push(`body: { ...${JSON.stringify(body)}, ${OVERRIDES[id] ?? ""} }`);
  if (!isJson) options.push('parseAs: "text"');
  const call = `client.${method.toUpperCase()}(${JSON.stringify(path)}, { ${options.join(", ")} })`;
  return `await check(${JSON.stringify(id)}, ${status}, ${call});\n`;
});
const imports = 'import { check, client, freeTime } from "./client.js";\n';
writeFileSync(output, `${imports}${calls.join("")}console.log("${calls.length} operations called");\n`);
