// A record of the table's stream: carries out what automations do for a call.
import { serve } from "./lib/runtime.mjs";
import { commit, get, getMany, list, padded, put, remove, update, when } from "./lib/table.mjs";

/** The first action that a trigger did not come past yet. */
function next(trigger, automations) {
  for (const { id, actions } of automations.filter(({ active }) => active)) {
    const skip = id === trigger.automation ? trigger.action : 0;
    if (id >= (trigger.automation ?? 0) && skip < actions.length) return { id, at: skip, action: actions[skip] };
  }
  return undefined;
}

/** The writes of an action. */
function act(instance, lead, { type, points }) {
  if (type !== "addPoints") throw new Error("not in this comparison");
  const { updatedBy, updatedByName, ...kept } = lead;
  return [
    put({ ...kept, points: (lead.points ?? 0) + points, edited: 1, v: lead.v + 1 }, when.is("v", lead.v)),
    update([`${instance}#notice`, `lead#${padded(lead.id)}`], { v: 1 }),
  ];
}

async function run(instance, call) {
  const [outbox, number] = [`${instance}#trigger`, padded(call)];
  const key = [outbox, `call#${number}`];
  for (;;) {
    const [trigger, record] = await getMany(key, [`${instance}#call`, number], [`${instance}#directory`, "directory"]);
    if (!trigger) break;
    const [lead, stored] = await Promise.all([
      get(`${instance}#lead`, padded(record.lead)),
      list(`${instance}#automation`),
    ]);
    const step = next(trigger, stored.map(({ automation }) => JSON.parse(automation)));
    const unmoved = when.is("v", trigger.v);
    if (!step) {
      await commit(remove(key, unmoved));
      continue;
    }
    const moved = update(key, { v: 1 }, { automation: step.id, action: step.at + 1 }, unmoved);
    await commit(...act(instance, lead, step.action), moved);
  }
  await list(outbox, { from: `notify#${number}`, to: `notify#${number}~` });
}

serve(async ({ Records }) => {
  const failures = await Promise.all(
    Records.map(async ({ eventName, dynamodb: { Keys, SequenceNumber } }) => {
      const instance = /^([^#]+)#trigger$/.exec(Keys.pk.S)?.[1];
      const call = /^call#(\d{15})$/.exec(Keys.sk.S)?.[1];
      if (eventName !== "INSERT" || !instance || !call) return [];
      try {
        await run(instance, Number(call));
        return [];
      } catch (cause) {
        console.error(JSON.stringify({ level: "WARN", cause: String(cause.stack) }));
        return [{ itemIdentifier: SequenceNumber }];
      }
    }),
  );
  return { batchItemFailures: failures.flat() };
});
