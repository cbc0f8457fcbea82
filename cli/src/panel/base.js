/* Language, numbers and dates. Data becomes text nodes and properties; markup is never made of it. */

const { h, render, Component } = preact;
const { useEffect, useLayoutEffect, useRef, useState } = preactHooks;
const html = htm.bind(h);

const PAGE = 25;
const LEADS_PAGE = 50;
const PATIENCE = 20_000;
const POLL = 6_000;
const DAY = 86_400_000;

const known = navigator.languages.map(tag => /^(pt|en)(?:-[a-z]{2})?(?![a-z])/i.exec(tag)).filter(Boolean);
let language = localStorage.getItem("funil.language") ?? known[0]?.[1].toLowerCase() ?? "pt";
if (!Object.hasOwn(TEXTS, language)) language = "pt";
let locale = "pt-BR";
let text = TEXTS.pt;

/* Everything that is shown. Writes go through the functions of the service and of the board. */
const state = {
  session: null, me: null, funnels: [], users: new Map(), tags: new Map(), reasons: [], reports: null, phase: "enter", error: "",
  route: null, board: null, items: new Map(), patches: new Map(), leads: null, report: null,
  stop: null, lit: null, menu: null, lose: null, lift: null, notice: null, said: "", offline: false, pausedUntil: 0, writes: 0, filters: false, more: null,
};

let isQueued = false;
/* Draws once per turn. */
function draw() {
  if (isQueued) return;
  isQueued = true;
  queueMicrotask(() => {
    isQueued = false;
    render(html`<${App} />`, document.getElementById("panel"));
  });
}

function speak(chosen) {
  language = chosen;
  const tag = known.find(([, found]) => found.toLowerCase() === language)?.[0];
  locale = tag ?? { pt: "pt-BR", en: "en" }[language];
  text = TEXTS[language];
  formats.clear();
  document.documentElement.lang = locale;
  document.title = text.title;
  draw();
}

/* Says a text to screen readers. The same text again is a new one. */
function say(content) {
  state.said = state.said === content ? `${content}\u00a0` : content;
  draw();
}

/* Numbers and dates. Formatters are expensive, so each is made once per language. */

const formats = new Map();
function format(Kind, options) {
  const name = `${Kind.name} ${JSON.stringify(options)}`;
  if (!formats.has(name)) formats.set(name, new Kind(locale, options));
  return formats.get(name);
}
const number = (value, options = {}) => format(Intl.NumberFormat, options).format(value);
const counted = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

/* Money is whole cents in the page: 9,999,999,999,999.99 fits a double. */
function cents(value) {
  const [, sign, whole, part = ""] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(typeof value === "number" ? value.toFixed(2) : String(value ?? "")) ?? [0, "", "0"];
  return Number(`${sign}${whole}${part.padEnd(2, "0").slice(0, 2)}`);
}
const currency = () => ({ style: "currency", currency: state.me?.currency ?? "BRL" });
const money = amount => number(amount / 100, { ...currency(), maximumFractionDigits: 2 });
/* A sum in a heading: without cents, from a million compact. */
function shortMoney(amount) {
  const compact = Math.abs(amount) >= 100_000_000;
  return number(amount / 100, compact ? { ...currency(), notation: "compact", maximumFractionDigits: 1 } : { ...currency(), maximumFractionDigits: 0 });
}
const MAX_AMOUNT = 999_999_999_999_999;
/* The amount as it is written into a field, and the decimal number read from one. Both marks are decimal before one or two digits. Before
   three digits only the mark that groups in the page's language is read: the other one may be meant as decimal. */
const amountText = amount => number(amount / 100, { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: false });
function readMoney(written) {
  const found = /^(\d+|[1-9]\d{0,2}([, ])\d{3}(?:\2\d{3})*(?!\2))(?:[.,](\d{1,2}))?$/.exec(pointed(written.replace(/[A-Z]{0,3}\p{Sc}/gu, "").trim()));
  if (!found) throw text.badAmount;
  const amount = Number(found[1].replace(/\D/g, "") + (found[3] ?? "").padEnd(2, "0"));
  if (amount > MAX_AMOUNT) throw text.largeAmount(money(MAX_AMOUNT));
  return `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, "0")}`;
}
/* A written number with a point as the decimal mark of the page's language, and commas or spaces between its groups. */
const pointed = written => written.replace(/[.,\s]/g, mark => (mark === amountText(0)[1] ? "." : /\s/.test(mark) ? " " : ","));
const isNumeric = kind => /^(number|int|dec|float)/i.test(kind);
/* The number that is written in a custom field, else its text. */
const numberText = value => number(value, { useGrouping: false, maximumFractionDigits: 20 });
function readNumber(written) {
  const plain = pointed(written).replace(/^-?[1-9]\d{0,2}(,\d{3})+(?=\.|$)/, groups => groups.replaceAll(",", "")).replace(",", ".");
  return /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : written;
}

const zone = () => state.me?.timezone ?? "UTC";
const dayFormats = new Map();
/* The day of a time in the instance's zone, as YYYY-MM-DD. */
function dayOf(time) {
  if (/^\d{4}-\d\d-\d\d$/.test(time)) return time;
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  if (!dayFormats.has(zone())) dayFormats.set(zone(), new Intl.DateTimeFormat("en-CA", { timeZone: zone(), year: "numeric", month: "2-digit", day: "2-digit" }));
  return dayFormats.get(zone()).format(date);
}
const today = () => dayOf(Date.now());

/* A day as it is, a time in the instance's zone, anything else as it is written. */
function when(value, options = { dateStyle: "medium" }) {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
  const date = new Date(isDay ? `${value}T00:00:00Z` : value);
  return Number.isNaN(date.getTime()) ? String(value) : format(Intl.DateTimeFormat, { ...options, timeZone: isDay ? "UTC" : zone() }).format(date);
}
const moment = value => when(value, { dateStyle: "medium", timeStyle: "short" });
/* A day without the present year, such as 12 nov. */
function shortDay(day) {
  const year = day.slice(0, 4) === today().slice(0, 4) ? undefined : "numeric";
  const parts = format(Intl.DateTimeFormat, { day: "numeric", month: "short", year, timeZone: "UTC" }).formatToParts(new Date(`${day}T00:00:00Z`));
  return parts.filter(({ type }) => type !== "literal").map(({ value }) => value.replace(".", "")).join(" ");
}

/* Names */

const person = id => state.users.get(id)?.full ?? text.person(id);
function initials(name) {
  const letters = String(name ?? "").split(/\s+/).filter(Boolean).map(([first]) => first);
  return [letters[0], letters.length > 1 ? letters.at(-1) : ""].join("").toUpperCase() || "·";
}
const isBlank = value => value === null || value === undefined || value === "" || value === false || (Array.isArray(value) && !value.length);
const may = name => Boolean(state.me?.permissions[name]) && state.me.permissions[name] !== "none";
const mayAdd = view => may("leads") && may(view === "leads" ? "editLeads" : "editOpportunities");
const funnelOf = id => state.funnels.find(funnel => funnel.id === id);
const columnOf = (funnel, id) => funnelOf(funnel)?.columns.find(column => column.id === id);

/* The value of a field that no form of the page knows. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).filter(([, inner]) => !isBlank(inner)).map(([name, inner]) => `${name}: ${plain(inner)}`).join(", ");
  }
  if (typeof value === "boolean") return value ? text.yes : text.no;
  if (typeof value === "number") return number(value, { maximumFractionDigits: 20 });
  return /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(value) ? when(value) : String(value ?? "");
}
