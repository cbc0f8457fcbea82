// The table: strongly consistent reads, each with its cost. `client` is sdk.mjs or signer.mjs, chosen by the bundler.
import { send } from "client";

const { TABLE_NAME: TableName } = process.env;
const ReturnConsumedCapacity = "TOTAL";

/** An id as sort keys have it. */
export const padded = (id) => String(id).padStart(15, "0");

const key = ([pk, sk]) => ({ pk, sk });

/** The item with this key. */
export async function get(...of) {
  const request = { TableName, Key: key(of), ConsistentRead: true, ReturnConsumedCapacity };
  return (await send("GetItem", request)).Item;
}

/** The items with these keys, in their order. */
export async function getMany(...keys) {
  const wanted = { Keys: keys.map(key), ConsistentRead: true };
  const request = { RequestItems: { [TableName]: wanted }, ReturnConsumedCapacity };
  const found = (await send("BatchGetItem", request)).Responses[TableName];
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
    const page = await send("Query", request);
    items.push(...page.Items);
    request.ExclusiveStartKey = page.LastEvaluatedKey;
  } while (request.ExclusiveStartKey && items.length < limit);
  return items;
}
