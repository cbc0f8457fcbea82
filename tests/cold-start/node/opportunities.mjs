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

/** Short names of a list's entries (shared/src/store/opportunities/entry.rs). Times are milliseconds. */
const OF_OPPORTUNITY = {
  t: "title", l: "lead_id", n: "sequence", s: "status", u: "user", lr: "loss_reason", gr: "gain_reason", ch: "sale_channel",
  ca: "campaign", p: "service_permission", pu: "service_permission_user", pd: "service_permission_department",
  us: "service_permission_users", ds: "service_permission_departments", f: "fields",
};
const TIMES_OF_OPPORTUNITY = {
  x: "expectedCloseDate", cd: "last_column_change", sd: "last_status_change", g: "gain_date", o: "lost_date", r: "reopen_date",
};
const OF_LEAD = {
  f: "firstname", l: "lastname", e: "email", p: "phone", w: "chatapp", m: "mobile", q: "points", o: "owner", sg: "stage",
  ph: "photoUrl", c: "company", ua: "userAccess", da: "departmentAccess", is: "ignoreSubDepartments", a: "address", y: "city",
  s: "state", n: "country", z: "zipcode", tz: "timezone", ar: "archived", ac: "acquisition_channel", cb: "createdBy",
  cn: "createdByName", ct: "createdByType", ub: "updatedBy", un: "updatedByName", t: "tags",
};
const OF_COMPANY = {
  i: "id", n: "companyname", cj: "cnpj", a: "companyaddress", ar: "companyannualrevenue", y: "companycity", c: "companycountry",
  e: "companyemail", in: "companyindustry", ne: "companynemployees", p: "companyphone", s: "companystate", z: "companyzipcode",
  cb: "createdBy", cn: "createdByName", pp: "pain_points", o: "owner", ph: "photoUrl", q: "points", cc: "customer_count",
  ub: "updatedBy", un: "updatedByName",
};
const LAST_MILLI = 253_402_300_799_999;
const MAX_ID = 999_999_999_999_999;

const time = (millis) => new Date(millis).toISOString();
const money = (cents) => `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;

function named(text, names, times) {
  const pairs = Object.entries(text).map(([name, value]) => [names[name] ?? times[name], name in times ? time(value) : value]);
  return Object.fromEntries(pairs.filter(([name]) => name));
}

/** An opportunity with its copies. The key has its time of creation, later ones first, and its id. */
function decoded(crm_id, crm_column, { sk, e }) {
  const { o, u, l, a, c } = JSON.parse(e);
  const [place, id] = sk.split("#").map(Number);
  const created = LAST_MILLI - place;
  const opportunity = {
    status: "open", ...named(o, OF_OPPORTUNITY, TIMES_OF_OPPORTUNITY), id: MAX_ID - id, crm_id, crm_column,
    value: money(BigInt(o.v ?? 0)), createDate: time(created), updateDate: time(u ?? created),
  };
  const lead = l && {
    ...named(l, OF_LEAD, { u: "updatedDate", d: "createDate" }), id: o.l, lastActive: time(a ?? l.d),
  };
  return { o: opportunity, l: lead, t: l?.ut, c: c && named(c, OF_COMPANY, { d: "createDate", u: "updatedDate" }) };
}

function shown(instance, { o, l, t, c }) {
  const company = c && { _id: `company-${c.id}`, ...COMPANY, ...c };
  return { ...OPPORTUNITY, ...o, dataLead: l ? whole(instance, l, t) : null, dataCompany: company ?? null };
}

const cents = (card) => BigInt(card.o.value.replace(".", ""));

async function column(instance, funnel, { id, name, sequence }, totals, limit) {
  const of = totals.filter(({ sk }) => sk.startsWith(`column#${id}#`)).flatMap(Object.entries);
  const sum = (begins) => of.filter(([name]) => name.startsWith(begins)).reduce((sum, [, n]) => sum + BigInt(n), 0n);
  const counted = Number(sum("n."));
  const head = { id, name, sequence, crm: funnel };
  if (counted === 0) return { ...head, total: 0, totalValue: 0, items: [] };
  const entries = await list(`${instance}#board#${funnel}#${id}#0#-#-`, { limit });
  const cards = entries.map((entry) => decoded(funnel, id, entry));
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
