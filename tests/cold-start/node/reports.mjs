// GET /reportchart/{id}: a report by column or by month, ready to plot, out of its stored result.
import { open } from "./lib/access.mjs";
import { answer, query, unauthorized } from "./lib/http.mjs";
import { serve } from "./lib/runtime.mjs";
import { get, getMany, list, padded } from "./lib/table.mjs";

const month = (day) => day.slice(0, 7);
const near = (day, days) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

/** The groups there are, with their labels. */
function groups(definition, funnels, from, to) {
  if (definition.groupBy === "month") {
    const months = [];
    for (let day = from; day <= to; day = near(day, 1)) if (months.at(-1) !== month(day)) months.push(month(day));
    return months.map((label) => [label, label]);
  }
  return funnels.flatMap(({ id, columns }) =>
    [...columns].sort((a, b) => a.sequence - b.sequence || a.id - b.id).map((of) => [`${id}/${of.id}`, of.name]),
  );
}

/** Count and amount of each group of the range. */
function sums(definition, parts, from, to) {
  const found = new Map();
  for (const [day, of] of parts.flatMap((part) => Object.entries(JSON.parse(part.days)))) {
    if (day < from || day > to) continue;
    for (const [group, [count, amount]] of Object.entries(of)) {
      const name = definition.groupBy === "month" ? month(day) : group;
      const [counted, summed] = found.get(name) ?? [0, 0];
      found.set(name, [counted + count, summed + Number(amount)]);
    }
  }
  return found;
}

serve(async (event) => {
  const parameters = query(event);
  const [instance, from, to] = ["i", "from", "to"].map((name) => parameters.get(name));
  const id = Number(/^\/reportchart\/(\d{1,15})$/.exec(event.rawPath)?.[1]);
  const data = `${instance}#report-data#${id}`;
  const [viewer, [stored, head], parts, , funnels] = await Promise.all([
    open(instance, { key: parameters.get("apitoken") }),
    getMany([`${instance}#report`, padded(id)], [data, "head"]),
    list(data, { from: month(near(from, -1)), to: `${month(near(to, 1))}#~` }),
    get(`${instance}#directory`, "names"),
    list(`${instance}#funnel`),
  ]);
  if (!viewer) return unauthorized();
  if (!viewer.may("reports") || !stored || !head) return answer(404, { error: "Not found" });
  const [definition, versions] = [JSON.parse(stored.report), JSON.parse(head.parts)];
  const current = parts.filter(({ sk }) => sk.slice(13) === versions[sk.slice(0, 12)]?.v);
  const found = sums(definition, current, from, to);
  const measured = ([count, amount]) => (definition.measure === "count" ? count : amount / 100);
  const all = [...found.values()].reduce(([n, a], [count, amount]) => [n + count, a + amount], [0, 0]);
  const plotted = groups(definition, funnels, from, to);
  const values = plotted.map(([group]) => measured(found.get(group) ?? [0, 0]));
  return answer(200, { data: { report: {
    id, name: definition.name, type: definition.type, from, to, generatedAt: head.generatedAt,
    labels: plotted.map(([, label]) => label), series: [{ name: definition.name, data: values }], total: measured(all),
  } } });
});
