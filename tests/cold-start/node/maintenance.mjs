// A minute is over: looks in every instance for what is due, and finds nothing.
import { serve } from "./lib/runtime.mjs";
import { get, getMany, list } from "./lib/table.mjs";

const LIFETIME = 6 * 3_600_000;

async function copies() {
  for (const { name } of await list("#instance")) {
    if ((await list(`${name}#notice`)).length > 0) throw new Error("not in this comparison");
  }
}

async function reports() {
  for (const { name } of await list("#instance")) {
    const definitions = await list(`${name}#report`);
    if (definitions.length === 0) continue;
    await get(`${name}#directory`, "directory");
    const heads = await getMany(...definitions.map(({ id }) => [`${name}#report-data#${id}`, "head"]));
    const fresh = (head) => head && Date.now() < Date.parse(head.generatedAt) + LIFETIME;
    if (!heads.every(fresh)) throw new Error("not in this comparison");
  }
}

async function outboxes() {
  const instances = await list("#instance");
  await Promise.all(
    instances.map(async ({ name }) => {
      if ((await list(`${name}#trigger`)).length > 0) throw new Error("not in this comparison");
    }),
  );
}

serve(async () => {
  await Promise.all([copies(), reports(), outboxes()]);
  return null;
});
