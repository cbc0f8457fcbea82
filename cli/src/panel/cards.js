/* The board: bar of filters, columns and cards. */

/* A card draws again only if its record, its mode or the language changes: one changed card of a thousand redraws one. */
class Card extends Component {
  shouldComponentUpdate(next) {
    return ["record", "language", "isStop", "isLit", "isLifted", "edits", "today"].some(name => this.props[name] !== next[name]);
  }

  render({ record, isStop, isLit, isLifted, edits }) {
    const { id, title, status, expectedCloseDate, dataLead, user } = record;
    const name = title || `#${id}`;
    const day = expectedCloseDate && dayOf(expectedCloseDate);
    const isLate = status === "open" && day && day < today();
    const age = Math.floor((Date.now() - new Date(record.last_column_change ?? record.createDate)) / DAY);
    const css = ["card", record.waits && "waits", isLit && "lit", isLifted && "lifted"].filter(Boolean).join(" ");
    return html`<li class=${css} data-id=${id}>
      <h3 class="title"><a href=${to({ id })} tabindex=${isStop ? 0 : -1} draggable=${false} aria-describedby=${edits ? "card-keys" : "card-keys-read"}>${name}</a></h3>
      ${edits && html`<button type="button" class="dots" tabindex=${isStop ? 0 : -1} aria-haspopup="dialog" aria-label=${text.actionsOf(name)}>⋯</button>`}
      <p class="lead-line"><span class="soft lead-name">${dataLead?.fullname}</span>
        <span class="avatar" role="img" aria-label=${person(user)} title=${person(user)}>${initials(person(user))}</span></p>
      <p class="foot"><strong>${money(record.cents)}</strong>
        ${status !== "open" && html`<span class="tag ${status}">${text[`${status}1`]}</span>`}
        <span class=${isLate ? "late" : "soft"}>${isLate && html`<span aria-hidden="true">⚠ </span><span class="quiet">${text.overdue} </span>`}${day ? shortDay(day) : text.inStage(Math.max(age, 0))}</span></p>
    </li>`;
  }
}

/* The groups of a list's cards that are near the screen, as `first last`. The others are empty spaces of their height, because the browser
   lays out and paints whatever is drawn: a page of 25 cards at once takes too long for one frame. */
const GROUP = 5;
const SIGHT = 600;
const CARD = 100;
function useGroups(count) {
  const list = useRef();
  const heights = useRef([]);
  const [near, setNear] = useState("0 0");
  const look = () => {
    // A list that was taken away may still scroll.
    if (!list.current) return;
    const { scrollTop, clientHeight, firstElementChild: cards } = list.current;
    const tops = [...cards.querySelectorAll("[data-group]")].map(group => group.offsetTop - cards.offsetTop);
    const ends = [...tops.slice(1), cards.offsetHeight];
    heights.current = tops.map((top, i) => ends[i] - top);
    const isNear = i => tops[i] < scrollTop + clientHeight + SIGHT && ends[i] > scrollTop - SIGHT;
    const shown = tops.map((_, i) => i).filter(isNear);
    setNear(`${shown[0] ?? 0} ${shown.at(-1) ?? 0}`);
  };
  useLayoutEffect(look, [count]);
  const [first, last] = near.split(" ").map(Number);
  return { list, look, isNear: i => i >= first && i <= last, height: (i, length) => heights.current[i] ?? length * CARD };
}

function Column({ column, stop, now }) {
  const { id, name, records, total, ends, busy } = column;
  const left = Math.max((total ?? 0) - records.length, 0);
  const isOver = state.lift?.over === String(id);
  const groups = useGroups(records.length);
  const scrolled = ({ currentTarget: list }) => {
    groups.look();
    if (!ends && left && list.scrollTop + list.clientHeight > list.scrollHeight - 600) more(state.board, state.board.columns.find(one => one.id === id));
  };
  const card = record => html`<${Card} key=${record.id} record=${record} language=${language} isStop=${record.id === stop} isLit=${record.id === state.lit}
    isLifted=${record.id === state.lift?.id} edits=${may("editOpportunities")} today=${now} />`;
  const group = (cards, i) => {
    const isDrawn = groups.isNear(i) || cards.some(one => [stop, state.lit, state.lift?.id].includes(one.id));
    const height = isDrawn ? 0 : groups.height(i, cards.length);
    return [html`<li key=${`group-${i}`} data-group=${i} aria-hidden="true" style=${{ height: `${height}px` }} />`, ...(isDrawn ? cards.map(card) : [])];
  };
  const cards = Array.from({ length: Math.ceil(records.length / GROUP) }, (_, i) => group(records.slice(i * GROUP, (i + 1) * GROUP), i)).flat();
  return html`<section class=${isOver ? "column over" : "column"} data-drop=${id} data-column=${id} aria-labelledby=${`column-${id}`}>
    <header><h2 id=${`column-${id}`}>${name}</h2>
      ${total !== null && html`<p class="soft"><span class="count">${number(total)}</span><span title=${money(column.cents)}>${shortMoney(column.cents)}</span></p>`}</header>
    <div ref=${groups.list} class="list" data-scroll=${id} onScroll=${scrolled}>
      <ul>${total === null && !state.board.error ? [1, 2].map(one => html`<li key=${one} class="card skeleton" aria-hidden="true"></li>`) : cards}</ul>
      ${total !== null && !records.length && html`<p class="empty">${text.emptyStage}</p>`}
      ${total !== null && !ends && left > 0 && html`<button type="button" class="more" aria-disabled=${busy} onClick=${() => more(state.board, state.board.columns.find(one => one.id === id))}>${text.more(number(left))}</button>`}
    </div>
  </section>`;
}

function Columns({ columns }) {
  const ids = columns.flatMap(({ records }) => records.map(({ id }) => id));
  const stop = ids.includes(state.stop) ? state.stop : ids[0];
  const clicked = event => {
    const card = event.target.closest("[data-id]");
    if (!card) return;
    const id = Number(card.dataset.id);
    if (event.target.closest(".dots")) openMenu(id);
    else if (!event.target.closest("a") && !getSelection().toString()) visit({ id });
  };
  const scrolled = ({ currentTarget: { scrollLeft, firstElementChild, children } }) => {
    const here = columns[Math.round(scrollLeft / ((children[1]?.offsetLeft ?? Infinity) - firstElementChild.offsetLeft))]?.id;
    if (here !== undefined && here !== state.here) state.here = here;
    else return;
    draw();
    afterDraw(() => {
      const chips = document.querySelector(".stages");
      const chip = chips?.querySelector(".here");
      if (chip) chips.scrollTo({ left: chip.offsetLeft - 16 });
    });
  };
  const focused = ({ target }) => {
    const id = Number(target.closest("[data-id]")?.dataset.id);
    if (!id || id === state.stop) return;
    state.stop = id;
    draw();
  };
  return html`<div class="columns" role="group" aria-label=${text.stages} onScroll=${scrolled} onPointerDown=${pressCard} onKeyDown=${pressKey} onClick=${clicked} onFocusIn=${focused}>
    ${columns.map(column => html`<${Column} key=${column.id} column=${column} stop=${stop} now=${today()} />`)}</div>`;
}

/* The stages as chips, on a phone. */
function Stages({ columns }) {
  const here = columns.some(({ id }) => id === state.here) ? state.here : columns[0]?.id;
  const jump = id => document.querySelector(`[data-column="${id}"]`)?.scrollIntoView({ inline: "start", block: "nearest", behavior: "smooth" });
  return html`<nav class="stages" aria-label=${text.stages}>${columns.map(({ id, name, total }) => html`
    <button key=${id} type="button" class=${id === here ? "here" : ""} aria-current=${id === here ? "true" : undefined} onClick=${() => jump(id)}>${name}<span>${total === null ? "" : number(total)}</span></button>`)}</nav>`;
}

/* What a card can be dropped on while it is held. */
function DropBar() {
  const { lift, board } = state;
  if (!lift || !board) return null;
  const all = targetsOf(board).filter(target => lift.mode !== "mouse" || !/^\d/.test(target));
  return html`<div class="drop-bar ${lift.mode}" aria-hidden="true">${all.map(target => html`
    <div key=${target} class=${`drop ${/^\d/.test(target) ? "" : target}${lift.over === target ? " over" : ""}`} data-drop=${target}>${targetName(target)}</div>`)}</div>`;
}

/* The name of a total says what it counts. */
function Total({ columns }) {
  const { status } = state.route.filters;
  if (columns.some(({ total }) => total === null)) return html`<p class="total soft">${state.board.error || text.loading}</p>`;
  const [count, sum] = columns.reduce(([n, all], { total, cents: some }) => [n + total, all + some], [0, 0]);
  const name = { open: "totalOpen", gain: "totalGain", lost: "totalLost", all: "totalAll" }[status];
  return html`<p class="total">${state.board.isPartial && `${text.atLeast} `}${text[name](count, money(sum))}</p>`;
}

/* Whether a day is complete: while its year is typed, it is a year of antiquity. */
const isDay = value => value === "" || value >= "1900";

let typed;
/* Applies a filter when the visitor rests. */
const later = changes => {
  clearTimeout(typed);
  typed = setTimeout(() => state.phase === "ready" && replace({ filters: changes }), 250);
};

function Search({ value, onText }) {
  const [draft, setDraft] = useState(value);
  const field = useRef();
  useEffect(() => {
    if (document.activeElement !== field.current) setDraft(value);
  }, [value]);
  const changed = ({ target }) => {
    setDraft(target.value);
    onText(target.value.trim());
  };
  return html`<label class="search"><span class="quiet">${text.search}</span>
    <input ref=${field} type="search" placeholder=${text.search} maxlength="100" autocomplete="off" value=${draft} onInput=${changed} /></label>`;
}

const Choice = ({ label, value, options, onChange, css = "" }) => html`<label class=${css}><span class="quiet">${label}</span>
  <select title=${label} value=${value} onChange=${({ target }) => onChange(target.value)}>
    ${options.map(([id, name]) => html`<option key=${id} value=${id} selected=${String(id) === String(value)}>${name}</option>`)}</select></label>`;

const userOptions = (chosen = null) => [...state.users.values()].filter(({ id, active }) => active || id === chosen).map(({ id, full }) => [id, full]);

/* Filters that are seldom used. */
function MoreFilters({ isLast }) {
  const { filters, funnel } = state.route;
  const set = changes => replace({ filters: changes });
  const close = () => {
    state.more = null;
    draw();
  };
  const fields = funnelOf(funnel)?.fields ?? [];
  const day = (name, label) => html`<input type="date" aria-label=${label} value=${filters[name]} onChange=${({ target }) => isDay(target.value) && set({ [name]: target.value })} />`;
  const range = (title, start, end) => html`<fieldset><legend>${title}</legend>${day(start, `${title}: ${text.from}`)}<span aria-hidden="true">–</span>${day(end, `${title}: ${text.to}`)}</fieldset>`;
  return html`<${Dialog} name="more" css="menu rare" label=${text.moreFilters} onClose=${close} isLast=${isLast} style=${below(state.more, 432)}>
    <h2>${text.moreFilters}</h2>${range(text.created, "cf", "ct")}${range(text.expectedBetween, "ef", "et")}
    ${fields.length > 0 && html`<fieldset><legend>${text.customField}</legend>
      <${Choice} label=${text.customField} value=${filters.field} options=${[["", text.none], ...fields.map(({ name }) => [name, name])]} onChange=${field => set({ field })} />
      <${Choice} label=${text.condition} value=${filters.op} options=${[["contains", text.contains], ["=", text.equals], ["!=", text.differs]]} onChange=${op => set({ op })} />
      <input aria-label=${text.fieldValue} placeholder=${text.fieldValue} maxlength="200" value=${filters.fv} onChange=${({ target }) => set({ fv: target.value })} /></fieldset>`}
    <label class="check"><input type="checkbox" checked=${filters.archived === "1"} onChange=${({ target }) => set({ archived: target.checked ? "1" : "" })} /> ${text.archivedOnly}</label>
    <div class="acts"><button type="button" onClick=${close}>${text.close}</button></div>
  </${Dialog}>`;
}

function Filters() {
  const { filters } = state.route;
  const set = changes => replace({ filters: changes });
  const statuses = [["open", text.openMany], ["gain", text.gainMany], ["lost", text.lostMany], ["all", text.all]];
  const open = ({ currentTarget }) => {
    const { right, bottom } = currentTarget.getBoundingClientRect();
    state.more = { x: right, y: bottom + 4 };
    draw();
  };
  return html`<div class=${state.filters ? "filters shown" : "filters"} role="search" aria-label=${text.filters(0)}>
    <${Search} value=${filters.q} onText=${q => later({ q })} />
    <${Choice} label=${text.searchBy} value=${filters.by} options=${[["lead", text.byLead], ["opportunity", text.byOpportunity]]} onChange=${by => set({ by })} />
    <fieldset class="segments"><legend class="quiet">${text.status}</legend>${statuses.filter(([id]) => id === "open" || may("wonLost")).map(([id, name]) => html`
      <label key=${id}><input type="radio" name="status" value=${id} checked=${filters.status === id} onChange=${() => set({ status: id })} /><span>${name}</span></label>`)}</fieldset>
    <${Choice} label=${text.owner} value=${filters.owner} options=${[["", text.owner], ...userOptions(Number(filters.owner))]} onChange=${owner => set({ owner })} />
    <button type="button" class="plain more-filters" aria-haspopup="dialog" onClick=${open}>${text.moreFilters}</button>
    ${countFilters(filters) > 0 && html`<button type="button" class="plain clear" aria-label=${text.clear} title=${text.clear} onClick=${() => set(FILTERS.board)}>×</button>`}
  </div>`;
}

function Board() {
  const { route, board, funnels } = state;
  if (!board || !funnels.length) return html`<section class="view"><h1 class="quiet">${text.board}</h1><p class="empty">${text.noFunnels}</p></section>`;
  const columns = layout(board);
  const isEmpty = columns.every(({ total }) => total === 0);
  const count = countFilters(route.filters);
  return html`<section class="view board" aria-labelledby="board-title">
    <h1 id="board-title" class="quiet">${text.board}: ${funnelOf(route.funnel).name}</h1>
    <div class="row">
      <${Choice} css="funnel" label=${text.funnel} value=${route.funnel} options=${funnels.map(({ id, name }) => [id, name])}
        onChange=${id => visit({ view: "board", funnel: Number(id), id: null, filters: { field: "", fv: "" } })} />
      <${Total} columns=${columns} />
      <button type="button" class="filter-toggle" aria-expanded=${state.filters} onClick=${() => { state.filters = !state.filters; draw(); }}>${text.filters(count)}</button>
      <${Filters} />
    </div>
    <${Stages} key=${`stages-${board.funnel}`} columns=${columns} />
    ${board.error && html`<p class="note bad">${board.error}</p>`}
    ${isEmpty && !board.error && html`<div class="offer"><p>${count ? text.emptySearch : text.emptyBoard}</p>
      ${count ? html`<button type="button" onClick=${() => replace({ filters: FILTERS.board })}>${text.clear}</button>`
        : mayAdd("board") && html`<button type="button" class="main" onClick=${() => visit({ id: "new" })}>${text.newDeal}</button>`}</div>`}
    <${Columns} key=${`columns-${board.funnel}`} columns=${columns} />
    <p id="card-keys" hidden>${text.keys}</p><p id="card-keys-read" hidden>${text.keysRead}</p>
  </section>`;
}
