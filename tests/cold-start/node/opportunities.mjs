// POST /crm/opportunities/{id}: the board of a funnel, every column with its totals and its newest opportunities.
import { open } from "./lib/access.mjs";
import { answer, body, query, unauthorized } from "./lib/http.mjs";
import { whole } from "./lib/leads.mjs";
import { serve } from "./lib/runtime.mjs";
import { get, list, padded } from "./lib/table.mjs";

const OPPORTUNITY = {
  sequence: 0, loss_reason: null, gain_reason: null, expectedCloseDate: null, sale_channel: null, campaign: null,
  last_column_change: null, last_status_change: null, gain_date: null, lost_date: null, reopen_date: null,
  await_column_approved: null, await_column_approved_user: null, reject_appro: null, reject_appro_desc: null,
  archived: 0, service_permission: "all", service_permission_user: null, service_permission_department: null,
  service_permission_users: [], service_permission_users_select: [], service_permission_departments: [],
  service_permission_departments_select: [], dataCompanyExtra: [], fields: {}, files: [], filesData: [],
  conf_installment: [],
};

const COMPANY = {
  cnpj: null, companyaddress: null, companyannualrevenue: null, companycity: null, companycountry: null,
  companyemail: null, companyindustry: null, companyname: null, companynemployees: null, companyphone: null,
  companystate: null, companyzipcode: null, createDate: null, createdBy: null, createdByName: null,
  pain_points: null, owner: null, photoUrl: null, points: null, customer_count: null, updatedBy: null,
  updatedByName: null, updatedDate: null,
};

function shown(instance, { o, l, t, c }) {
  const company = c && { _id: `company-${c.id}`, ...COMPANY, ...c };
  return { ...OPPORTUNITY, ...o, dataLead: l ? whole(instance, l, t) : null, dataCompany: company ?? null };
}

const money = (cents) => `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
const cents = (card) => BigInt(card.o.value.replace(".", ""));

async function column(instance, funnel, { id, name, sequence }, totals, limit) {
  const of = totals.filter(({ sk }) => sk.startsWith(`column#${id}#`)).flatMap(Object.entries);
  const sum = (begins) => of.filter(([name]) => name.startsWith(begins)).reduce((sum, [, n]) => sum + BigInt(n), 0n);
  const counted = Number(sum("n."));
  const head = { id, name, sequence, crm: funnel };
  if (counted === 0) return { ...head, total: 0, totalValue: 0, items: [] };
  const entries = await list(`${instance}#board#${funnel}#${id}#0#-#-`, { limit });
  const cards = entries.map(({ card }) => JSON.parse(card));
  // What is there is less than was asked for: counted and shown are of one moment.
  const all = cards.length < limit;
  const total = all ? cards.length : counted;
  const value = all ? cards.map(cents).reduce((sum, of) => sum + of, 0n) : sum("c.");
  const items = cards.map((card) => shown(instance, card));
  return { ...head, total, totalValue: money(value), items };
}

serve(async (event) => {
  const [parameters, { limit }] = [query(event), body(event)];
  const instance = parameters.get("i");
  const id = Number(/^\/crm\/opportunities\/(\d{1,15})$/.exec(event.rawPath)?.[1]);
  const [isOpen, funnel, notices, totals] = await Promise.all([
    open(instance, { key: parameters.get("apitoken") }),
    get(`${instance}#funnel`, padded(id)),
    list(`${instance}#notice`),
    list(`${instance}#board-total#${id}#0`, { from: "column#", to: "column#~" }),
  ]);
  if (!isOpen) return unauthorized();
  if (!funnel || notices.length > 0) return answer(400, { msg: "not in this comparison" });
  const columns = [...funnel.columns].sort((a, b) => a.sequence - b.sequence || a.id - b.id);
  return answer(200, await Promise.all(columns.map((of) => column(instance, id, of, totals, limit))));
});
