// Requests and answers of an HTTP API.
import { randomBytes } from "node:crypto";

/** The query's parameters. */
export const query = (event) => new URLSearchParams(event.rawQueryString);

/** The body as it was sent. */
export const body = (event) =>
  JSON.parse(event.isBase64Encoded ? Buffer.from(event.body, "base64").toString() : event.body);

/** An answer in JSON. */
export const answer = (statusCode, content) => ({
  statusCode,
  headers: {
    "content-type": "application/json",
    "access-control-allow-origin": "*",
    "x-request-id": randomBytes(16).toString("hex"),
  },
  body: JSON.stringify(content),
  isBase64Encoded: false,
});

export const unauthorized = () => answer(401, { error: "Unauthorized" });
