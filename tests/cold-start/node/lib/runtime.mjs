// Lambda's side of a function: takes one event after the other from the Runtime API. AWS's own client does the same and
// more, so a function on it starts later than one on this.
import http from "node:http";
import { flushCompileCache } from "node:module";

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const path = "/2018-06-01/runtime/invocation";

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const request = http.request({ host, port, method, path, headers, agent }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ headers: response.headers, text: Buffer.concat(parts).toString() }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** Answers events until Lambda ends the process. */
export async function serve(handler) {
  for (;;) {
    const { headers, text } = await ask("GET", `${path}/next`);
    const id = headers["lambda-runtime-aws-request-id"];
    try {
      const answer = await handler(JSON.parse(text));
      console.log(JSON.stringify({ level: "INFO", requestId: id, status: answer?.statusCode }));
      // The measured starts find the cache that a deployment would bring.
      if (process.env.WRITE_COMPILE_CACHE) flushCompileCache();
      await ask("POST", `${path}/${id}/response`, JSON.stringify(answer));
    } catch (cause) {
      console.error(JSON.stringify({ level: "ERROR", requestId: id, cause: String(cause.stack) }));
      await ask("POST", `${path}/${id}/error`, JSON.stringify({ errorType: cause.name, errorMessage: cause.message }));
    }
  }
}
