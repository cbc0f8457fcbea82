// POST /voip/webhook: records a call of a lead that is known by its number.
import { randomBytes } from "node:crypto";
import { read } from "./lib/access.mjs";
import { answer, body, query } from "./lib/http.mjs";
import { serve } from "./lib/runtime.mjs";
import { commit, get, list, padded, put, update, when } from "./lib/table.mjs";

/** The normal form of a Brazilian number, and the other form of a mobile's. */
function numbers(text) {
  const digits = text.replace(/\D/g, "");
  const exact = /^\+|^55\d{10,11}$/.test(text) ? digits : `55${digits}`;
  const twin = /^55\d\d9[6-9]\d{7}$/.test(exact) ? exact.slice(0, 4) + exact.slice(5) : undefined;
  return { digits, exact, twin };
}

/** What is wrong with a body: the first that the schema would find. */
const wrong = ({ event, data }) =>
  event !== "call" ||
  !["user", "duration"].every((name) => Number.isInteger(data?.[name])) ||
  !["leadPhone", "type", "status", "service"].every((name) => typeof data[name] === "string") ||
  typeof data.record !== "boolean";

serve(async (event) => {
  const [instance, sent] = [query(event).get("i"), body(event)];
  if (wrong(sent)) return answer(400, { msg: "invalid_body" });
  const { digits, exact, twin } = numbers(sent.data.leadPhone);
  const known = (number) => (number ? list(`${instance}#phone#${number}`, { limit: 1 }) : []);
  const [about, counter, found, other] = await Promise.all([
    get(`${instance}#directory`, "directory"),
    get(`${instance}#counter`, "call"),
    known(exact),
    known(twin),
  ]);
  const { user, type, status, duration, record, service, description } = sent.data;
  const lead = Number([...found, ...other][0]?.sk.split("#")[1]);
  const directory = read(about);
  if (!directory?.users[user] || !lead) return answer(400, { msg: "not in this comparison" });
  const [id, eventId, createDate] = [counter.call + 1, counter.event + 1, new Date().toISOString()];
  const call = {
    id, user, leadPhone: digits, type, status, duration, record, service, lead, description, createDate,
    event: eventId, nonce: randomBytes(16).toString("hex"),
  };
  const entry = {
    id: eventId, lead, name: type === "INCOMING" ? "voip.call_incoming" : "voip.call_outgoing", operator: user,
    phone: digits, status, duration, service, call: id, createDate,
  };
  const unarchived = {
    ConditionExpression: "#c = :c AND attribute_not_exists(archived)",
    ExpressionAttributeNames: { "#c": "id" },
    ExpressionAttributeValues: { ":c": lead },
  };
  const raised = directory.triggers && type === "INCOMING";
  await commit(
    put({ pk: `${instance}#call`, sk: padded(id), ...call }, when.absent),
    put({ pk: `${instance}#timeline#${lead}`, sk: `event#${padded(eventId)}`, ...entry }, when.absent),
    update([`${instance}#lead`, padded(lead)], { v: 1 }, { lastActive: createDate }, unarchived),
    update([`${instance}#notice`, `lead#${padded(lead)}`], { v: 1 }),
    update([`${instance}#counter`, "call"], { call: 1, event: 1 }, {}, when.is("call", counter.call)),
    ...(raised ? [put({ pk: `${instance}#trigger`, sk: `call#${padded(id)}`, v: 1 })] : []),
  );
  return answer(201, { msg: "created", id });
});
