// The table: strongly consistent reads, each telling what it cost, and transactions.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";

const { TABLE_NAME: TableName, AWS_REGION: region, AWS_ENDPOINT_URL_DYNAMODB: endpoint } = process.env;
const ReturnConsumedCapacity = "TOTAL";

// Named here, the credentials cost no walk through the places where they might be.
const credentials = {
  accessKeyId: process.env.AWS_ACCESS_KEY_ID,
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
  sessionToken: process.env.AWS_SESSION_TOKEN,
};
const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region, endpoint, credentials }), {
  marshallOptions: { removeUndefinedValues: true },
});

/** An id as sort keys have it. */
export const padded = (id) => String(id).padStart(15, "0");

const key = ([pk, sk]) => ({ pk, sk });

/** The item with this key. */
export async function get(...of) {
  const request = { TableName, Key: key(of), ConsistentRead: true, ReturnConsumedCapacity };
  return (await client.send(new GetCommand(request))).Item;
}

/** The items with these keys, in their order. */
export async function getMany(...keys) {
  const wanted = { Keys: keys.map(key), ConsistentRead: true };
  const request = { RequestItems: { [TableName]: wanted }, ReturnConsumedCapacity };
  const found = (await client.send(new BatchGetCommand(request))).Responses[TableName];
  return keys.map(([pk, sk]) => found.find((item) => item.pk === pk && item.sk === sk));
}

/** The items of a partition, or those between two sort keys. */
export async function list(pk, { from, to, limit = 1000 } = {}) {
  const between = from === undefined ? "" : " AND sk BETWEEN :from AND :to";
  const request = {
    TableName,
    KeyConditionExpression: `pk = :pk${between}`,
    ExpressionAttributeValues: { ":pk": pk, ...(between && { ":from": from, ":to": to }) },
    ConsistentRead: true,
    Limit: limit,
    ReturnConsumedCapacity,
  };
  const items = [];
  do {
    const page = await client.send(new QueryCommand(request));
    items.push(...page.Items);
    request.ExclusiveStartKey = page.LastEvaluatedKey;
  } while (request.ExclusiveStartKey && items.length < limit);
  return items;
}

const absent = { ConditionExpression: "attribute_not_exists(pk)" };
const is = (name, value) => ({
  ConditionExpression: "#c = :c",
  ExpressionAttributeNames: { "#c": name },
  ExpressionAttributeValues: { ":c": value },
});

/** Conditions of writes. */
export const when = { absent, is };

/** A new item, or one in the place of another. */
export const put = (item, condition) => ({ Put: { TableName, Item: item, ...condition } });

/** No item any more. */
export const remove = (of, condition) => ({ Delete: { TableName, Key: key(of), ...condition } });

/** Numbers of an item that grow, and attributes that are set beside them. */
export function update(of, add, set = {}, condition = {}) {
  const names = { ...condition.ExpressionAttributeNames };
  const values = { ...condition.ExpressionAttributeValues };
  const clause = (word, entries, sign, tag) => {
    const parts = Object.entries(entries).map(([name, value], at) => {
      names[`#${tag}${at}`] = name;
      values[`:${tag}${at}`] = value;
      return `#${tag}${at} ${sign}:${tag}${at}`;
    });
    return parts.length ? `${word} ${parts.join(", ")}` : "";
  };
  return {
    Update: {
      TableName,
      Key: key(of),
      UpdateExpression: `${clause("ADD", add, "", "a")} ${clause("SET", set, "= ", "s")}`,
      ...condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    },
  };
}

/** Writes that happen together or not at all. */
export const commit = (...TransactItems) =>
  client.send(new TransactWriteCommand({ TransactItems, ReturnConsumedCapacity }));
