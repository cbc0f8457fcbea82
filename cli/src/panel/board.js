/* The data of a board. The server's records and totals, and over them what the visitor did and the server has not answered yet. */

const byOrder = (one, other) => (one.createDate === other.createDate ? other.id - one.id : one.createDate < other.createDate ? 1 : -1);

/* The opportunity as it is shown: the record with the changes that wait for their answer. */
const shownOf = new Map();
function shown(id) {
  const [item, patches] = [state.items.get(id), state.patches.get(id)];
  if (!item || !patches) return item;
  const cached = shownOf.get(id);
  if (cached?.item === item && cached.patches === patches) return cached.record;
  const record = Object.assign({}, item, ...patches, { waits: true });
  record.fields = Object.assign({}, item.fields, ...patches.map(({ fields }) => fields));
  if (patches.some(patch => "value" in patch)) record.cents = cents(record.value);
  shownOf.set(id, { item, patches, record });
  return record;
}

/* Keeps a record, unless a newer one is held. */
function keep(record) {
  const held = state.items.get(record.id);
  if (held && held.updateDate > record.updateDate) return held;
  const same = held && held.updateDate === record.updateDate && JSON.stringify(held.dataLead) === JSON.stringify(record.dataLead);
  if (same && held.crm_column === record.crm_column && held.status === record.status) return held;
  state.items.set(record.id, { ...record, cents: cents(record.value) });
  return state.items.get(record.id);
}

/* Filters */

/* A written value of a custom field as the service keeps it. */
function storedText(written, kind) {
  if (isNumeric(kind)) return String(readNumber(written));
  const flag = /^bool/i.test(kind) ? [text.no, text.yes].findIndex(said => said.toLowerCase() === written.toLowerCase()) : -1;
  return flag < 0 ? written : String(flag === 1);
}
const between = (start, end) => (start || end ? { start: start || null, end: end || null } : null);
function queryOf({ status, q, by, owner, cf, ct, ef, et, field, op, fv, archived }, funnel) {
  const kind = funnelOf(funnel).fields.find(({ name }) => name === field)?.type;
  const condition = field && { filterType: "opField", properties: { field, operator: op, value: storedText(fv, kind) } };
  return {
    filterByStatus: STATUSES[status], filterByUsers: owner ? [Number(owner)] : [], filterByCreateDate: between(cf, ct),
    filterByExpectedCloseDate: between(ef, et), filters: condition ? [condition] : [], search: q, searchBy: by === "opportunity" ? by : "lead", onlyArchived: archived === "1",
  };
}
/* Whether a record passes the filters that the page can judge. The others only the service can. */
function passes(board, record) {
  const { filterByStatus, filterByUsers, onlyArchived } = board.query;
  return record.crm_id === board.funnel && (!filterByStatus.length || filterByStatus.includes(record.status))
    && (!filterByUsers.length || filterByUsers.includes(record.user)) && Boolean(record.archived) === onlyArchived && (may("wonLost") || record.status === "open");
}
const isJudged = ({ query }) => !query.search && !query.filters.length && !query.filterByCreateDate && !query.filterByExpectedCloseDate;
const countFilters = ({ status, q, by, owner, cf, ct, ef, et, field, archived }) =>
  [status !== "open", q, q && by !== "lead", owner, cf || ct, ef || et, field, archived].filter(Boolean).length;

/* The board that is shown: columns with the server's totals, and the ids of the records that belong to it. */

function showBoard(funnel, filters) {
  const query = queryOf(filters, funnel);
  const name = JSON.stringify([funnel, query]);
  if (state.board?.name === name) return;
  if (state.board?.funnel !== funnel) state.here = null;
  const columns = funnelOf(funnel).columns.map(column => ({ ...column, total: null, cents: 0, held: 0, page: null, ends: false, busy: false }));
  state.board = { name, funnel, query, columns, members: new Set(), error: "", isPartial: false };
  state.lift = null;
  loadBoard(state.board);
}

async function loadBoard(board) {
  const place = placeOf(board.name);
  board.error = "";
  draw();
  try {
    const answer = await api.board(board.funnel, { page: 1, limit: PAGE, ...board.query });
    if (state.board !== board) return;
    board.isPartial = answer.headers.get("x-total-relation") === "gte";
    for (const column of answer.content) merge(board, column, PAGE);
    draw();
    for (const column of board.columns) while (state.board === board && column.held < (place?.held[column.id] ?? 0) && !column.ends) await more(board, column);
    if (place && state.board === board) afterDraw(() => restore(place));
  } catch (error) {
    if (state.board === board) board.error = reason(error);
  }
  draw();
}

function restore({ left, top }) {
  const columns = document.querySelector(".columns");
  if (columns) columns.scrollLeft = left;
  for (const list of document.querySelectorAll("[data-scroll]")) list.scrollTop = top[list.dataset.scroll] ?? 0;
}
const afterDraw = work => setTimeout(() => requestAnimationFrame(work));

/* Takes a column of an answer: its totals and its first records. Those that the answer lacks have left the column. */
function merge(board, { id, total, totalValue, items }, limit) {
  const column = board.columns.find(one => one.id === id);
  if (!column) return;
  Object.assign(column, { total, cents: cents(totalValue) });
  take(board, column, items);
  const listed = new Set(items.map(one => one.id));
  const last = items.at(-1);
  for (const held of board.members) {
    const record = state.items.get(held);
    const isCovered = items.length < limit || byOrder(record, last) <= 0;
    if (record.crm_column === id && !listed.has(held) && isCovered && !state.patches.has(held)) board.members.delete(held);
  }
  column.ends = items.length < limit;
}
function take(board, column, items) {
  for (const item of items) {
    keep(item);
    board.members.add(item.id);
  }
  column.held = [...board.members].filter(id => state.items.get(id)?.crm_column === column.id).length;
}

/* The next page of a column. Its own walk begins with the first page (C-42). */
async function more(board, column) {
  if (column.busy || column.ends) return;
  column.busy = true;
  draw();
  try {
    const before = column.held;
    for (;;) {
      const page = column.page === null ? state.me.pageBase : column.page + 1;
      const { content: items } = await api.board(board.funnel, { page, limit: PAGE, columnId: column.id, ...board.query });
      if (state.board !== board) return;
      column.page = page;
      take(board, column, items);
      column.ends = items.length < PAGE;
      if (column.held > before || column.ends) break;
    }
  } catch (error) {
    if (state.board === board) notify(reason(error), "bad");
  } finally {
    column.busy = false;
    draw();
  }
}

/* The records of each column in their order, and the totals with what waits. */
function layout(board) {
  const lists = new Map(board.columns.map(column => [column.id, []]));
  const effect = new Map(board.columns.map(column => [column.id, { total: 0, cents: 0 }]));
  const add = (record, sign) => {
    const of = effect.get(record.crm_column);
    if (!of || !passes(board, record)) return;
    of.total += sign;
    of.cents += sign * record.cents;
  };
  for (const id of board.members) {
    const record = shown(id);
    if (state.patches.has(id)) {
      add(state.items.get(id), -1);
      add(record, 1);
    }
    if (passes(board, record)) lists.get(record.crm_column)?.push(record);
  }
  return board.columns.map(column => {
    const { total, cents: sum } = effect.get(column.id);
    return { ...column, records: lists.get(column.id).sort(byOrder), total: column.total === null ? null : column.total + total, cents: column.cents + sum };
  });
}

/* Writes. Those to one record form a queue, and end with the session that began them. */

const queues = new Map();
function inTurn(name, work) {
  const { session } = state;
  const turn = (queues.get(name) ?? Promise.resolve()).catch(() => {}).then(() => {
    if (session !== state.session) throw new Failure("ended");
    return work();
  });
  queues.set(name, turn);
  return turn;
}

async function write(id, change, funnel = state.items.get(id)?.crm_id) {
  if (state.offline) throw new Failure("unanswered");
  const waiting = state.patches.get(id) ?? [];
  state.patches.set(id, [...waiting, change]);
  state.writes++;
  draw();
  try {
    const record = await inTurn(`deal-${id}`, () => api.change(id, funnel, change));
    settle(id, change, record);
    return record;
  } catch (error) {
    settle(id, change, null);
    throw error;
  }
}

/* Drops a patch. The server's totals follow the record in the same draw. */
function settle(id, change, record) {
  const rest = (state.patches.get(id) ?? []).filter(one => one !== change);
  if (rest.length) state.patches.set(id, rest);
  else state.patches.delete(id);
  state.writes++;
  const before = state.items.get(id);
  if (record && before) {
    const held = keep({ ...before, ...record, dataLead: record.dataLead ?? before.dataLead });
    if (state.board?.members.has(id)) shift(state.board, before, held);
  }
  draw();
}
function shift(board, before, after) {
  for (const [record, sign] of [[before, -1], [after, 1]]) {
    const column = record && passes(board, record) && board.columns.find(({ id }) => id === record.crm_column);
    if (!column || column.total === null) continue;
    column.total += sign;
    column.cents += sign * record.cents;
    column.held += sign;
  }
}

/* A move, a win, a loss or a reopening, with its notice. The card comes back if the service refuses it. */
async function act(id, change, said, undoes = true) {
  const record = shown(id);
  const title = record.title;
  const { crm_column: column, status, loss_reason: lossReason } = record;
  follow(id, change);
  say(said);
  const isUndoable = undoes && (may("wonLost") || (change.status ?? status) === "open");
  const back = { ...("crm_column" in change && { crm_column: column }), ...("status" in change && { status, loss_reason: lossReason }) };
  notify(said, "ok", isUndoable ? () => act(id, back, text.undone, false) : null);
  try {
    await write(id, change);
    if (!may("wonLost") && change.status && change.status !== "open") {
      forget(id);
      if (state.route?.id === id) closeSheet();
    }
  } catch (error) {
    if (error.kind === "ended") return;
    focusCard(id);
    notify(text.refused(title, reason(error)), "bad");
  }
}

const move = (id, column) => (shown(id).crm_column === column
  ? say(text.backAgain(shown(id).title)) : act(id, { crm_column: column }, text.moved(shown(id).title, columnOf(shown(id).crm_id, column).name)));
const win = id => act(id, { status: "gain", loss_reason: null }, text.won(shown(id).title));
const loseFor = (id, why) => act(id, { status: "lost", loss_reason: why }, text.wasLost(shown(id).title));
const reopen = id => act(id, { status: "open", loss_reason: null }, text.reopened(shown(id).title));

/* The focus follows a card to its new place. If it leaves the board, the next card of its column gets the focus. */
function follow(id, change) {
  const { board } = state;
  if (!board || state.route.id) return;
  const record = { ...shown(id), ...change };
  const list = layout(board).find(column => column.id === shown(id).crm_column)?.records ?? [];
  const at = list.findIndex(one => one.id === id);
  focusCard(passes(board, record) ? id : (list[at + 1] ?? list[at - 1])?.id ?? null);
}
function focusCard(id) {
  if (id === null) return;
  Object.assign(state, { stop: id, lit: id });
  setTimeout(() => {
    if (state.lit === id) state.lit = null;
    draw();
  }, 1600);
  draw();
  afterDraw(() => {
    if (document.querySelector("dialog[open]")) return;
    const link = document.querySelector(`[data-id="${id}"] .title a`);
    link?.focus({ preventScroll: true });
    link?.closest(".card").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}

/* What others do: totals and newest card of each column, and the columns again that differ. */

async function poll() {
  const { board, offline } = state;
  const rests = document.hidden || state.lift || state.patches.size || Date.now() < state.pausedUntil;
  if (state.phase !== "ready" || !state.route || rests) return;
  if (offline) return void api.me(state.session).then(loadAgain, () => {});
  if (state.route.view !== "board" || !board || board.columns.some(({ busy }) => busy)) return;
  if (board.columns.every(({ total }) => total === null)) return void loadBoard(board);
  const writes = state.writes;
  const isCurrent = () => state.board === board && state.writes === writes && !state.lift;
  try {
    const { content: found } = await api.board(board.funnel, { page: 1, limit: 1, ...board.query });
    if (!isCurrent()) return;
    board.error = "";
    const lists = new Map(layout(board).map(column => [column.id, column]));
    const differs = ({ id, total, totalValue, items: [newest] }) => {
      const list = lists.get(id);
      const same = newest && list.records[0]?.id === newest.id && list.records[0].updateDate >= newest.updateDate;
      return total !== list.total || cents(totalValue) !== list.cents || (newest ? !same : list.records.length);
    };
    if (found.some(column => !lists.has(column.id)) || found.length !== lists.size) return void renewFunnels();
    await again(board, found.filter(differs), isCurrent);
  } catch (error) {
    if (error.kind === "missing") board.error = reason(error);
    draw();
  }
}

/* Repeats the requests that had no answer. */
function loadAgain() {
  if (!state.route) return;
  if (state.leads?.error) moreLeads();
  if (state.report?.error) state.report = null;
  load();
  poll();
}

/* Reads columns again, as far as they were loaded, up to the largest page of the service. */
async function again(board, columns, isCurrent) {
  if (!columns.length) return;
  const before = new Map([...board.members].map(id => [id, state.items.get(id)?.crm_column]));
  const limits = columns.map(({ id }) => Math.min(100, Math.max(PAGE, board.columns.find(column => column.id === id).held)));
  const lists = await Promise.all(columns.map(({ id }, i) => api.board(board.funnel, { page: state.me.pageBase, limit: limits[i], columnId: id, ...board.query })));
  if (!isCurrent()) return;
  // Arrivals first, so that a card that moved between two of these columns has left the first one.
  lists.forEach(({ content: items }, i) => take(board, board.columns.find(({ id }) => id === columns[i].id), items));
  lists.forEach(({ content: items }, i) => {
    const column = board.columns.find(({ id }) => id === columns[i].id);
    const ends = column.ends && items.length === limits[i];
    merge(board, { ...columns[i], items }, limits[i]);
    column.ends ||= ends;
    if (column.held > column.total) forgetAfter(board, column, items.at(-1));
    // The next page follows what is held.
    if (column.held < column.total) Object.assign(column, { ends: false, page: state.me.pageBase + Math.floor(column.held / PAGE) - 1 });
  });
  for (const [id, column] of before) {
    const now = state.items.get(id);
    if (board.members.has(id) && now && column !== now.crm_column) say(text.others(now.title, columnOf(now.crm_id, now.crm_column)?.name ?? ""));
  }
  const open = state.route?.id;
  if (typeof open === "number") fetchDeal(open);
  draw();
}

/* A card that was loaded and is not among the first ones has left the column. Those after the first ones are loaded again. */
function forgetAfter(board, column, last) {
  for (const id of board.members) {
    const record = state.items.get(id);
    if (record.crm_column === column.id && last && byOrder(record, last) > 0 && !state.patches.has(id)) board.members.delete(id);
  }
  take(board, column, []);
}

/* The stages of the funnel have changed. */
async function renewFunnels() {
  state.funnels = await api.funnels();
  state.board = null;
  arrive();
}

/* Removes a record that the key no longer sees. */
function forget(id) {
  if (state.board?.members.delete(id)) shift(state.board, state.items.get(id), null);
  state.items.delete(id);
  state.writes++;
}

/* Whether the key no longer sees a record after it was saved, because of its owner. Then its sheet is closed with a notice. `ask` reads it. */
async function hasGone(permission, ask, id, saved) {
  if (state.me.permissions[permission] === "all" || await ask(id).then(() => true, error => error.kind !== "missing")) return false;
  const said = `${saved} ${text.unseen}`;
  if (ask === api.deal) forget(id);
  else renewLeads();
  if ([id, "new"].includes(state.route?.id)) closeSheet();
  notify(said, "ok");
  // After the message of the field.
  afterDraw(() => say(said));
  return true;
}

/* One opportunity, for its sheet. */
async function fetchDeal(id) {
  try {
    const record = keep(await api.deal(id));
    if (state.route.id === id && state.route.view === "board" && record.crm_id !== state.route.funnel) replace({ funnel: record.crm_id });
  } catch (error) {
    if (error.kind === "missing") forget(id);
    if (state.route?.id === id) state.missing = { id, why: reason(error) };
  }
  draw();
}
