/* Views in the address: `#/board/{funnel}[/{id}|/new]`, `#/leads[/{id}|/new]`, `#/reports[/{id}]`, with filters as parameters. */

const STATUSES = { open: ["open"], gain: ["gain"], lost: ["lost"], all: [] };
/* Filters and their defaults. Defaults are left out of the address. */
const FILTERS = {
  board: { status: "open", q: "", by: "lead", owner: "", cf: "", ct: "", ef: "", et: "", field: "", op: "contains", fv: "", archived: "" },
  leads: { q: "", tag: "" },
  reports: { from: "", to: "" },
};

const whole = part => (/^[1-9]\d{0,14}$/.test(part ?? "") ? Number(part) : null);

function parse(address) {
  const [path, search = ""] = address.replace(/^#\/?/, "").split("?");
  const [named, first, second] = path.split("/");
  const view = Object.hasOwn(FILTERS, named) ? named : null;
  const parameters = new URLSearchParams(search);
  const filters = Object.fromEntries(Object.entries(FILTERS[view] ?? {}).map(([name, usual]) => [name, parameters.get(name) ?? usual]));
  if (view === "board" && !Object.hasOwn(STATUSES, filters.status)) filters.status = "open";
  const sheet = part => (part === "new" ? "new" : whole(part));
  if (view === "board") return { view, funnel: whole(first), id: sheet(second), filters };
  return { view, id: view === "leads" ? sheet(first) : whole(first), filters };
}

function written({ view, funnel, id, filters }) {
  const path = [view, view === "board" ? funnel : null, id].filter(part => part !== null && part !== undefined);
  const parameters = new URLSearchParams(Object.entries(filters).filter(([name, value]) => value !== FILTERS[view][name]));
  return `#/${path.join("/")}${parameters.size ? `?${parameters}` : ""}`;
}

/* An address with changes: of the same view its filters stay. */
function to(changes) {
  const base = state.route && (!changes.view || changes.view === state.route.view) ? state.route : { filters: FILTERS[changes.view] };
  return written({ ...base, ...changes, filters: { ...base.filters, ...changes.filters } });
}

/* Opens a view or a sheet as an entry of its own. */
function visit(changes) {
  const address = to(changes);
  if (address === location.hash) return;
  leavePlace();
  history.pushState({ made: true }, "", address);
  arrive();
}

/* Changes filters, or corrects the address, in the present entry. */
function replace(changes) {
  history.replaceState(history.state, "", to(changes));
  arrive();
}

/* Closes a sheet: goes back if the panel opened it, else replaces its entry. */
function closeSheet() {
  onceKeys.clear();
  if (history.state?.made) history.back();
  else replace({ id: null });
}

/* Shows what the address names. */
function arrive() {
  if (state.phase !== "ready") return;
  const route = parse(location.hash);
  if (route.view === "board" && funnelOf(route.funnel)) state.route = route;
  else if (route.view === "leads" && may("leads")) state.route = route;
  else if (route.view === "reports" && may("reports")) state.route = route;
  else if (route.view === "board" && route.funnel && whole(route.id)) return void lookFor(route);
  else return home(route);
  Object.assign(state, { menu: null, lose: null });
  if (route.id === "new" && !mayAdd(route.view)) {
    notify(text.forbidden, "bad");
    return replace({ id: null });
  }
  return load();
}

/* Requests the data of the view. */
function load() {
  const { view, funnel, id, filters } = state.route;
  if (view === "board") showBoard(funnel, filters);
  if (view === "board" && typeof id === "number") fetchDeal(id);
  if (view === "leads") showLeads(filters);
  if (view === "leads" && typeof id === "number") fetchLead(id);
  if (view === "reports") showReport(id, filters);
  draw();
}

/* A link to a deal of a funnel that is not the key's may name a deal that has moved. */
async function lookFor({ id }) {
  const deal = await api.deal(id).catch(() => null);
  if (deal && funnelOf(deal.crm_id)) history.replaceState(history.state, "", written({ view: "board", funnel: deal.crm_id, id, filters: FILTERS.board }));
  else return home(parse(location.hash));
  return arrive();
}

/* The first view: the first funnel that has a board, else the leads. */
function home({ funnel: unknown } = {}) {
  if (unknown) notify(text.missing, "bad");
  const [funnel] = state.funnels;
  const view = funnel || !may("leads") ? { view: "board", funnel: funnel?.id ?? null, id: null, filters: FILTERS.board } : { view: "leads", id: null, filters: FILTERS.leads };
  history.replaceState(null, "", written(view));
  if (funnel || view.view === "leads") return arrive();
  state.route = view;
  return draw();
}

/* The place of a board that a reload finds again: loaded pages and scroll of every column. */
const PLACE = "funil.place";
function leavePlace() {
  if (state.route?.view !== "board" || !state.board) return;
  const columns = [...document.querySelectorAll("[data-scroll]")];
  const place = {
    name: state.board.name, left: document.querySelector(".columns")?.scrollLeft ?? 0, top: Object.fromEntries(columns.map(list => [list.dataset.scroll, list.scrollTop])),
    held: Object.fromEntries(state.board.columns.map(column => [column.id, column.held])),
  };
  sessionStorage.setItem(PLACE, JSON.stringify(place));
}
function placeOf(name) {
  const place = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
  return place?.name === name ? place : null;
}
