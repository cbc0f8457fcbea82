/* Language, elements and the service. Data becomes text nodes and properties; markup is never made of it. */

const tags = navigator.languages.map(tag => /^(pt|en)(?:-[a-z]{2})?(?![a-z])/i.exec(tag)).filter(Boolean);
let [locale, language] = (tags[0] ?? ["pt-BR", "pt"]).map((part, i) => (i ? part.toLowerCase() : part));
let text = TEXTS[language];

const $ = id => document.getElementById(id);
const PAGE_SIZE = 25;
const PATIENCE = 20_000;
const SKELETONS = 3;

/* An element with properties, or attributes where a name has a hyphen. Children are elements and texts. */
function make(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

function set(id, content) {
  $(id).textContent = content || "";
  $(id).hidden = !content;
}

const say = content => { $("live").textContent = content; };

/* Numbers and dates */

const isNumber = value => value !== null && value !== "" && Number.isFinite(Number(value));
const number = (value, options) => (isNumber(value) ? new Intl.NumberFormat(locale, options).format(value) : String(value));
const money = value => number(value ?? 0, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const short = value => number(value, { notation: "compact", maximumFractionDigits: 1 });
const percent = part => number(part, { style: "percent", maximumFractionDigits: 1 });

/* A day as it is; a time in the visitor's zone. Anything else as it is written. */
function when(value, options = { dateStyle: "medium" }) {
  const day = /^\d{4}-\d\d-\d\d$/.test(value);
  const date = new Date(day ? `${value}T00:00:00` : value);
  return Number.isNaN(date.getTime()) ? String(value) : new Intl.DateTimeFormat(locale, options).format(date);
}

/* The service: eight of its documented endpoints. Nothing of the session outlives the page. */

let session = null;

class Failure extends Error {
  constructor(kind, detail = "") {
    super(kind);
    Object.assign(this, { kind, detail });
  }
}

const words = ({ kind, detail }) => {
  const said = text[kind] ?? text.unanswered;
  return typeof said === "function" ? said(detail) : said;
};

async function call(path, { query, headers, body } = {}) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE);
  try {
    const parameters = new URLSearchParams({ i: session.instance, ...query });
    const answer = await fetch(`${session.address}${path}?${parameters}`, {
      method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal: patience.signal,
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    });
    const content = await answer.json().catch(() => null);
    if (answer.ok && content) return { content, headers: answer.headers };
    throw failure(answer, content);
  } catch (error) {
    throw error instanceof Failure ? error : new Failure("unanswered");
  } finally {
    clearTimeout(timer);
  }
}

function failure({ ok, status, headers }, body) {
  if (status === 429) return new Failure("busy", Number(headers.get("retry-after")) || 30);
  if (status === 401) return new Failure("credentials");
  if (status === 403) return new Failure("forbidden");
  if (status === 404) return new Failure("missing");
  if (ok || status >= 500) return new Failure("unanswered");
  const details = typeof body?.details === "string" ? body.details : body?.msg;
  return new Failure("refused", String(details ?? body?.error ?? status).slice(0, 200));
}

const withKey = query => ({ query: { ...query, apitoken: session.key } });
const withBoth = query => ({
  query, headers: session.token ? { apitoken: session.key, authorization: `Bearer ${session.token}` } : { apitoken: session.key },
});

const api = {
  funnels: async () => (await call("/crm", withKey())).content,
  opportunities: (funnel, body) =>
    call(`/crm/opportunities/${funnel}`, { ...withKey(), headers: { "content-type": "application/json" }, body }),
  users: async () => (await call("/user", withBoth())).content,
  tags: async () => (await call("/tags", withBoth())).content,
  opportunity: async id => (await call(`/crmopportunity/${id}`, withBoth())).content,
  lead: async id => (await call(`/leads/${id}`, withBoth({ allFields: "1" }))).content.data.lead,
  reports: async () => (await call("/advancedreports", withKey())).content.data.reports,
  report: async (id, range) => (await call(`/reportchart/${id}`, withKey(range))).content.data.report,
};

/* A task of a view. A later one of the same view, or the end of the session, makes its result void. */
const latest = new Map();

async function task(view, element, work, fail = explain) {
  const mine = Symbol(view);
  const of = session;
  latest.set(view, mine);
  const current = () => latest.get(view) === mine && session === of;
  element.setAttribute("aria-busy", "true");
  try {
    await work(current);
  } catch (error) {
    if (current()) fail(error instanceof Failure ? error : new Failure("unanswered"));
  }
  if (latest.get(view) === mine) element.removeAttribute("aria-busy");
}

function explain(error) {
  say("");
  if (error.kind === "credentials") return leave(words(error));
  set("alert", words(error));
  $("alert").scrollIntoView({ block: "nearest" });
}
