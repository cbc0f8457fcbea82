/* The board: the columns of a funnel with their totals, under filters */

let funnels = [];
let people = new Set();
let users = new Map();
let tagNames = new Map();
let board = [];

const funnel = () => funnels.find(({ id }) => String(id) === $("funnel").value);
const person = id => users.get(Number(id))?.name || text.person(id);
const choice = (value, label) => make("option", { value: String(value) }, String(label));

function range(name) {
  const [start, end] = ["start", "end"].map(end => $(`${name}-${end}`).value || null);
  return start || end ? { start, end } : null;
}

function conditions() {
  const [field, value] = [$("field").value, $("field-value").value];
  if (!field || !value) return [];
  const properties = { field, value, operator: $("operator").value };
  return [{ filterType: "opField", category: "opportunity", operator: "AND", properties }];
}

const filters = () => ({
  filterByStatus: [...document.querySelectorAll("#filters [name=status]:checked")].map(({ value }) => value),
  filterByUsers: $("user").value ? [Number($("user").value)] : [],
  filterByCreateDate: range("created"),
  filterByExpectedCloseDate: range("expected"),
  filters: conditions(),
  search: $("search").value.trim(),
  searchBy: $("search-by").value,
  onlyArchived: $("archived").checked,
});

function fillFunnels() {
  const chosen = $("funnel").value;
  $("funnel").replaceChildren(...funnels.map(({ id, name }) => choice(id, name)));
  if (funnels.some(({ id }) => String(id) === chosen)) $("funnel").value = chosen;
  $("funnel").parentElement.hidden = $("filters").hidden = !funnels.length;
  fillFields();
}

function fillFields() {
  const names = (funnel()?.fields ?? []).map(({ name }) => name);
  $("field").replaceChildren(choice("", text.none), ...names.map(name => choice(name, name.trim() || name)));
}

function fillPeople() {
  const chosen = $("user").value;
  const active = [...users].filter(([, { isActive }]) => isActive).map(([id]) => id);
  const { compare } = new Intl.Collator(locale, { numeric: true });
  const named = [...new Set([...people, ...active])].map(id => [id, person(id)]).sort(([, a], [, b]) => compare(a, b));
  $("user").replaceChildren(choice("", text.anyone), ...named.map(([id, name]) => choice(id, name)));
  $("user").value = named.some(([id]) => String(id) === chosen) ? chosen : "";
}

/* The names of users and tags. The service lists them only with the access token; without it, ids are shown. */
async function readNames() {
  const [listed, tags] = await Promise.all([api.users, api.tags].map(list => list().catch(() => [])));
  const entry = ({ id, name, lastName, active }) => [id, { name: [name, lastName].filter(Boolean).join(" "), isActive: Boolean(active) }];
  return [new Map(listed.map(entry)), new Map(tags.map(({ id, tag }) => [id, tag]))];
}

function loadBoard() {
  set("alert", "");
  if (!funnels.length) {
    say(text.noFunnels);
    $("columns").replaceChildren(make("p", { className: "empty" }, text.noFunnels));
    return undefined;
  }
  const asked = { of: funnel().id, filters: filters() };
  say(text.loading);
  if (!board.length) $("totals").replaceChildren();
  if (!board.length) $("columns").replaceChildren(...Array.from({ length: SKELETONS }, () => make("div", { className: "skeleton" })));
  return task("board", $("columns"), async current => {
    const { content, headers } = await api.opportunities(asked.of, { page: 1, limit: PAGE_SIZE, ...asked.filters });
    if (!current()) return;
    board = content.map(column => ({ ...column, asked }));
    notePeople(content.flatMap(({ items }) => items));
    showBoard();
    if (Number(headers.get("x-items-cut"))) set("alert", text.cut);
    const { count, sum } = totals();
    say(text.loaded(number(count), money(sum)));
  }, error => {
    if (!board.length) $("columns").replaceChildren();
    explain(error);
  });
}

function notePeople(items) {
  for (const { user } of items) if (Number.isInteger(user)) people.add(user);
  fillPeople();
}

/* Money is summed in cents, which a number holds exactly. */
function totals() {
  const cents = board.map(({ totalValue }) => Math.round(Number(totalValue) * 100));
  const [count, sum] = [board.reduce((all, { total }) => all + total, 0), cents.reduce((all, one) => all + one, 0)];
  return { count, sum: sum / 100, largest: sum ? board[cents.indexOf(Math.max(...cents))].name : "–" };
}

function showBoard() {
  const { count, sum, largest } = totals();
  const tile = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));
  $("totals").replaceChildren(
    tile(text.count, number(count)), tile(text.sum, money(sum)),
    tile(text.mean, count ? money(sum / count) : "–"), tile(text.largest, largest),
  );
  $("columns").replaceChildren(...board.map(column => showColumn(column, sum)));
}

function showColumn(column, sum) {
  const title = `column-${Number(column.id)}`;
  const share = sum ? Number(column.totalValue) / sum : 0;
  const list = make("ul", {}, column.items.map(card));
  const more = make("button", { type: "button", className: "plain more" });
  const rest = () => {
    const left = column.total - list.childElementCount;
    more.hidden = left <= 0;
    more.textContent = text.more(number(left));
    more.ariaLabel = `${text.moreOf(column.name)} (${number(left)})`;
  };
  more.addEventListener("click", () => loadMore(column, list, more, rest));
  rest();
  return make("section", { className: "column", "aria-labelledby": title },
    make("header", {},
      make("h2", { id: title }, column.name, make("span", { className: "badge", "aria-hidden": "true" }, number(column.total))),
      make("p", {}, make("strong", {}, money(column.totalValue)), make("span", { className: "quiet" }, `, ${text.items(number(column.total))}`),
        make("span", { className: "soft" }, ` ${percent(share)} ${text.share}`)),
      make("progress", { max: 1, value: share, "aria-hidden": "true" })),
    column.items.length ? list : [list, make("p", { className: "empty" }, text.emptyColumn)],
    more);
}

/* The next page of a column. Opportunities that moved since the last one are not shown twice. */
function loadMore(column, list, more, rest) {
  if (more.ariaBusy === "true") return;
  task(`column ${column.id}`, more, async current => {
    const page = Math.floor(column.items.length / PAGE_SIZE) + 1;
    const body = { page, limit: PAGE_SIZE, columnId: column.id, ...column.asked.filters };
    const { content } = await api.opportunities(column.asked.of, body);
    if (!current() || !list.isConnected) return;
    const shown = new Set(column.items.map(({ id }) => id));
    const added = content.filter(({ id }) => !shown.has(id));
    column.items.push(...added);
    if (content.length < PAGE_SIZE) column.total = column.items.length;
    const cards = added.map(card);
    list.append(...cards);
    notePeople(added);
    rest();
    say(text.added(number(added.length)));
    cards[0]?.querySelector("button").focus();
  });
}

function card(item) {
  const who = item.dataLead?.fullname || item.dataCompany?.companyname || "";
  const open = make("button", { type: "button" }, item.title || `#${item.id}`);
  open.addEventListener("click", () => showDetails("opportunity", item.id));
  return make("li", { className: "deal" }, make("h3", {}, open),
    who && make("p", { className: "soft" }, who),
    make("p", { className: "foot" }, make("strong", {}, money(item.value)), statusBadge(item.status), make("span", { className: "soft" }, when(item.createDate))));
}

function statusBadge(value) {
  const names = { open: text.isOpen, gain: text.gain, lost: text.lost };
  return make("span", { className: `status ${value in names ? value : ""}` }, names[value] ?? String(value));
}
