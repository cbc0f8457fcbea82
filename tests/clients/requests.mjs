// The requests that openapi.yaml describes: for each operation, the first example of every parameter and of the body.
import { readFileSync } from "node:fs";
import { parse } from "yaml";

const METHODS = ["get", "post", "put", "delete"];

export function requests(path) {
  const document = parse(readFileSync(path, "utf8"));
  const resolve = (value) => {
    const at = value?.$ref?.slice(2).split("/");
    return at ? at.reduce((found, name) => found[name], document) : value;
  };
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method];
      const parameters = {};
      const absent = [];
      for (const parameter of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve)) {
        if (parameter.example !== undefined) {
          (parameters[parameter.in] ??= {})[parameter.name] = parameter.example;
        } else if (parameter.in === "query") {
          absent.push(parameter.name);
        }
      }
      const json = resolve(operation.requestBody)?.content["application/json"];
      const [status, response] = Object.entries(operation.responses).find(([status]) => status < "300");
      return {
        id: operation.operationId,
        method,
        path,
        parameters,
        absent,
        body: json?.example ?? Object.values(json?.examples ?? {})[0]?.value,
        status: Number(status),
        isJson: Boolean(resolve(response).content?.["application/json"]),
      };
    }),
  );
}
