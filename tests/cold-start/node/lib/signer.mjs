// Calls of the table without an SDK: signature version 4 and attribute values as far as the functions need them. No retries.
import { createHash, createHmac } from "node:crypto";
import https from "node:https";

const { AWS_REGION: region, AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_SESSION_TOKEN: token } = process.env;
const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;
const { host, hostname, port } = new URL(endpoint ?? `https://dynamodb.${region}.amazonaws.com`);
const agent = new https.Agent({ keepAlive: true });

const digest = (text) => createHash("sha256").update(text).digest("hex");
const hmac = (key, text) => createHmac("sha256", key).update(text).digest();

function headers(operation, body) {
  const at = new Date().toISOString().replace(/[:-]|\.\d{3}/g, "");
  const day = at.slice(0, 8);
  const signed = { host, "x-amz-date": at, "x-amz-target": `DynamoDB_20120810.${operation}` };
  if (token) signed["x-amz-security-token"] = token;
  const names = Object.keys(signed).sort();
  const list = names.join(";");
  const canonical = ["POST", "/", "", ...names.map((name) => `${name}:${signed[name]}`), "", list, digest(body)];
  const scope = `${day}/${region}/dynamodb/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", at, scope, digest(canonical.join("\n"))].join("\n");
  const key = [day, region, "dynamodb", "aws4_request"].reduce(hmac, `AWS4${secret}`);
  const signature = hmac(key, text).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${list}, Signature=${signature}`;
  return { ...signed, authorization, "content-type": "application/x-amz-json-1.0", "content-length": Buffer.byteLength(body) };
}

function call(operation, content) {
  const body = JSON.stringify(content);
  return new Promise((resolve, reject) => {
    const options = { method: "POST", hostname, port, path: "/", agent, headers: headers(operation, body) };
    const request = https.request(options, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(text));
      });
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** The fields of an item. */
const fields = (of, by) => of && Object.fromEntries(Object.entries(of).map(([name, value]) => [name, by(value)]));

/** The keys and conditions of the functions contain text only. */
const encode = (text) => ({ S: text });

function decode(value) {
  const [[type, of]] = Object.entries(value);
  if (type === "N") return Number(of);
  if (type === "L") return of.map(decode);
  if (type === "M") return fields(of, decode);
  return type === "NULL" ? null : of;
}

function encoded({ Key, RequestItems, ExpressionAttributeValues, ExclusiveStartKey, ...rest }) {
  const keys = (table) => ({ ...table, Keys: table.Keys.map((key) => fields(key, encode)) });
  return {
    ...rest,
    Key: fields(Key, encode),
    RequestItems: fields(RequestItems, keys),
    ExpressionAttributeValues: fields(ExpressionAttributeValues, encode),
    ExclusiveStartKey: fields(ExclusiveStartKey, encode),
  };
}

/** The response to a call. */
export async function send(operation, request) {
  const { Item, Items, Responses, LastEvaluatedKey } = await call(operation, encoded(request));
  const all = (items) => items.map((item) => fields(item, decode));
  return {
    Item: fields(Item, decode),
    Items: Items && all(Items),
    Responses: fields(Responses, all),
    LastEvaluatedKey: fields(LastEvaluatedKey, decode),
  };
}
