/* The service: documented endpoints, with the session of this tab. */

class Failure extends Error {
  constructor(kind, detail = "") {
    super(kind);
    Object.assign(this, { kind, detail });
  }
}

/* The reason in the visitor's words; of a rule of the service its own text. */
function reason(error) {
  if (error instanceof Failure && error.kind === "refused") return error.detail || text.unanswered;
  return (error instanceof Failure && text[error.kind]) || text.unanswered;
}

function failure({ ok, status, headers }, body) {
  if (status === 429) {
    state.pausedUntil = Date.now() + (Number(headers.get("retry-after")) || 30) * 1000;
    return new Failure("busy");
  }
  if (status === 401) return new Failure("ended");
  if (status === 403) return new Failure("forbidden");
  if (status === 404) return new Failure("missing");
  if (ok || status >= 500) return new Failure("unanswered");
  const said = headers.get("x-error-details") ?? body?.details ?? body?.msg ?? body?.error ?? status;
  const detail = String(typeof said === "string" ? said : (body?.msg ?? status)).slice(0, 300);
  if (/\bpermission\b/i.test(detail)) return new Failure("forbidden");
  return new Failure(/does not exist/.test(detail) ? "missing" : "refused", detail);
}

async function call(method, path, { query, headers, body, session = state.session } = {}) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE);
  let failed = null;
  try {
    const parameters = new URLSearchParams({ i: session.instance, ...query });
    const answer = await fetch(`${session.address}${path}?${parameters}`, {
      method, body: body && JSON.stringify(body), signal: patience.signal,
      headers: body ? { ...headers, "content-type": "application/json" } : headers,
      cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    });
    const content = await answer.json().catch(() => null);
    failed = answer.ok && content ? null : failure(answer, content);
    if (!failed) return { content, headers: answer.headers };
  } catch {
    failed = new Failure("unanswered");
  } finally {
    clearTimeout(timer);
    if (session === state.session) reachable(failed?.kind !== "unanswered");
  }
  // Endpoint 10 also refuses a funnel with 401 (C-82). The list of funnels decides.
  if (failed.kind === "ended" && path.startsWith("/crm/opportunities/") && !(await stillKnown(session))) failed = new Failure("missing");
  if (failed.kind === "ended" && session === state.session && state.phase !== "enter") endSession(text.ended);
  throw failed;
}

/* Whether a 401 of a board means the session. A session that can still list funnels has lost only this funnel. */
async function stillKnown(session) {
  try {
    const answer = await fetch(`${session.address}/crm?${new URLSearchParams({ i: session.instance, apitoken: session.key })}`, { cache: "no-store" });
    return answer.status === 401;
  } catch {
    return false;
  }
}

function reachable(isReachable) {
  if (state.offline === !isReachable) return;
  state.offline = !isReachable;
  draw();
}

const withKey = query => ({ query: { ...query, apitoken: state.session.key } });
const keys = session => (session.token ? { apitoken: session.key, authorization: `Bearer ${session.token}` } : { apitoken: session.key });
const withBoth = query => ({ query, headers: keys(state.session) });
const bodyOf = async answer => (await answer).content;

const api = {
  me: session => bodyOf(call("GET", "/me", { headers: keys(session), session })).then(({ data }) => data),
  funnels: () => bodyOf(call("GET", "/crm", withKey())),
  users: () => bodyOf(call("GET", "/user", withBoth())),
  tags: () => bodyOf(call("GET", "/tags", withBoth())),
  reasons: () => bodyOf(call("GET", "/crmlossreason", withBoth())),
  reports: () => bodyOf(call("GET", "/advancedreports", withKey())).then(({ data }) => data.reports),
  report: (id, range) => bodyOf(call("GET", `/reportchart/${id}`, withKey(range))).then(({ data }) => data.report),
  board: (funnel, body) => call("POST", `/crm/opportunities/${funnel}`, { ...withKey(), body }),
  deal: id => bodyOf(call("GET", `/crmopportunity/${id}`, withBoth())),
  change: (id, funnel, body) => bodyOf(call("PUT", `/crmopportunity/${id}`, { ...withBoth({ id: funnel }), body })).then(({ data }) => data),
  create: (funnel, body) => bodyOf(call("POST", "/crmopportunity", once(body, withBoth({ id: funnel })))),
  leads: body => call("POST", "/leadsadvanced", { ...withBoth(), body }),
  findLeads: search => bodyOf(call("GET", "/leads", withBoth({ search, limit: 8 }))).then(({ data }) => data.leads),
  lead: id => bodyOf(call("GET", `/leads/${id}`, withBoth({ allFields: "1" }))).then(({ data }) => data.lead),
  createLead: body => bodyOf(call("POST", "/leads", once(body, withBoth()))),
  changeLead: (id, body) => bodyOf(call("PUT", `/leads/${id}`, { ...withBoth(), body })).then(({ data }) => data),
  timeline: (id, page) => bodyOf(call("GET", `/leads/${id}/timeline`, withBoth({ page, limit: 50 }))).then(({ data }) => data),
  meetings: id => bodyOf(call("GET", `/leads/${id}/meetings`, withBoth({ limit: 100 }))).then(({ data }) => data.meetings),
  dealsOf: id => bodyOf(call("GET", `/listopportunitysleadcomplete/${id}`, withBoth({ limit: 100 }))),
  tickets: id => bodyOf(call("GET", `/sac360/lead/${id}`, { query: { limit: 100 }, headers: { apitoken: state.session.key } })),
};

/* A creation takes effect once: the same body has the same key until its form is closed (C-10). */
const onceKeys = new Map();
function once(body, options) {
  const name = JSON.stringify(body);
  if (!onceKeys.has(name)) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    onceKeys.set(name, [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join(""));
  }
  return { ...options, body, headers: { ...options.headers, "idempotency-key": onceKeys.get(name) } };
}

/* The session */

const SESSION = "funil.session";
// The service serves the page under this path; elsewhere the visitor names the service.
const isOwn = /^https?:$/.test(location.protocol) && location.pathname === "/panel";

/* Takes a sign-in link out of the address before the first request, or finds the session of this tab. */
function foundSession() {
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("i") && link.has("k")) {
    const session = { address: "", instance: link.get("i"), key: link.get("k"), token: link.get("t") ?? "" };
    history.replaceState(null, "", location.pathname + location.search);
    sessionStorage.clear();
    sessionStorage.setItem(SESSION, JSON.stringify(session));
    return isOwn ? session : null;
  }
  return JSON.parse(sessionStorage.getItem(SESSION) ?? "null");
}

async function begin(session) {
  Object.assign(state, { phase: "loading", error: "", said: text.loading });
  draw();
  try {
    const me = await api.me(session);
    Object.assign(state, { session, me });
    const [funnels, users, tags, reasons, reports] = await Promise.all([
      api.funnels(), api.users(), api.tags(), api.reasons(), may("reports") ? api.reports() : null,
    ]);
    const full = user => [user.name, user.lastName].filter(Boolean).join(" ");
    Object.assign(state, {
      funnels, reports, reasons, phase: "ready", said: "",
      users: new Map(users.map(user => [user.id, { ...user, full: full(user) }])), tags: new Map(tags.map(({ id, tag }) => [id, tag])),
    });
    sessionStorage.setItem(SESSION, JSON.stringify(session));
    arrive();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    endSession(error.kind === "ended" && !sessionStorage.getItem(SESSION) ? text.credentials : reason(error), error.kind !== "ended");
  }
}

/* Ends the session. The address stays, so that the next session begins at the same place. */
function endSession(said, keepStored = false) {
  if (!keepStored) sessionStorage.clear();
  onceKeys.clear();
  Object.assign(state, {
    session: null, me: null, funnels: [], users: new Map(), tags: new Map(), reasons: [], reports: null, phase: "enter", error: said, said: "",
    route: null, board: null, items: new Map(), patches: new Map(), leads: null, report: null, menu: null, lose: null, lift: null, notice: null, more: null,
    offline: false, stop: null,
  });
  draw();
}
