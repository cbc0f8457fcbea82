// Only the parts of a tag that Intl surely takes: some systems report things like "en-US@posix".
const tags = navigator.languages.map(tag => /^(pt|en)(?:-[a-z]{2})?(?![a-z])/i.exec(tag)).filter(Boolean);
const [locale, language] = tags[0] ?? (navigator.languages.length ? ["en", "en"] : ["pt-BR", "pt"]);
const text = TEXTS[language.toLowerCase()];

const DAY = 86_400_000;
const WINDOW = 62 * DAY;
const PATIENCE = 20_000;
/* Windows without a free time that are passed over at the beginning. */
const MAX_EMPTY = 12;

const $ = id => document.getElementById(id);
const form = $("form");
const fields = ["firstname", "lastname", "email"].map(name => form.elements[name]);

/* Dates and times, in the chosen zone unless another is named. A day is the browser's midnight of its date. */

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
let zone = ownZone;

const format = (date, options, timeZone = zone) => new Intl.DateTimeFormat(locale, { ...options, timeZone }).format(date);
const formatDay = (day, options) => format(day, options, ownZone);
const LONG_DAY = { weekday: "long", day: "numeric", month: "long" };
const FULL_DAY = { dateStyle: "full" };
const CLOCK = { timeStyle: "short" };

const monthOf = date => date.getFullYear() * 12 + date.getMonth();
let calendarDay;
function dayOf(date) {
  const part = Object.fromEntries(calendarDay.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
  return new Date(part.year, part.month - 1, part.day).getTime();
}
const dateIn = (month, day) => new Date(0, month - 1900 * 12, day);

function zoneName() {
  const name = { timeZoneName: "longGeneric", timeZone: zone };
  try {
    const parts = new Intl.DateTimeFormat(locale, name).formatToParts();
    return `${parts.find(part => part.type === "timeZoneName").value} (${pretty(zone)})`;
  } catch {
    return pretty(zone);
  }
}

const pretty = zone => zone.replaceAll("_", " ");

/* The day and time on the calendar's own clock; null where it shows what the chosen zone shows. */
function there(date) {
  const options = { ...FULL_DAY, ...CLOCK };
  try {
    const shown = format(date, options, calendarZone);
    return shown === format(date, options) ? null : shown;
  } catch {
    return null;
  }
}

/* The service */

class Failure extends Error {
  constructor(kind, detail = "") {
    super(kind);
    Object.assign(this, { kind, detail });
  }
}

async function call(path, query, init) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE);
  try {
    const url = `../../calendarmeeting${path}?${new URLSearchParams({ i: instance, ...query })}`;
    const answer = await fetch(url, { ...init, signal: patience.signal, cache: "no-store", credentials: "omit" });
    const body = await answer.json().catch(() => null);
    if (answer.ok && body?.data) return { data: body.data, now: Date.parse(answer.headers.get("date")) || Date.now() };
    throw failure(answer, body);
  } catch (error) {
    throw error instanceof Failure ? error : new Failure("unanswered");
  } finally {
    clearTimeout(timer);
  }
}

function failure({ ok, status, headers }, body) {
  const error = body?.error;
  if (status === 429) return new Failure("busy", Number(headers.get("retry-after")) || 30);
  if (error === "slot_unavailable") return new Failure("taken");
  // Whether a call was carried out is known only where the service refused it.
  if (ok || status >= 500 || status === 409) return new Failure("unanswered");
  if (error === "CL006" || status === 404) return new Failure("link");
  if (body?.details === "rescheduleKey") return new Failure("key");
  if (String(body?.details).startsWith("date: ")) return new Failure("old");
  return new Failure("refused", String(body?.details ?? body?.msg ?? error ?? status));
}

/* What is free: the slots of each day, and up to when they are known */

let instance, keyName, starts, slots, known, calendarZone, calendar;

/* The starts by the days of the chosen zone. */
function group() {
  calendarDay = new Intl.DateTimeFormat("en-US", { timeZone: zone, year: "numeric", month: "numeric", day: "numeric" });
  slots = new Map();
  for (const start of starts) {
    const day = dayOf(new Date(start));
    if (!slots.has(day)) slots.set(day, new Set());
    slots.get(day).add(start);
  }
}

async function loadMore() {
  const first = known === null;
  const range = first ? {} : { from: new Date(known).toISOString(), to: new Date(known + WINDOW).toISOString() };
  const { data, now } = await call("/slots", { keyName, ...range });
  for (const start of data.slots) if (!Number.isNaN(Date.parse(start))) starts.add(start);
  group();
  known = (first ? now : known) + WINDOW;
  calendarZone = String(data.timezone);
  calendar = data.calendar;
}

/* A month is shown only when all of it is known, in any zone. */
async function loadUntil(month) {
  while (known === null || known < dateIn(month + 1, 1).getTime() + DAY) await loadMore();
}

const freeMonths = () => [...new Set([...slots.keys()].map(day => monthOf(new Date(day))))].sort((a, b) => a - b);

/* What is shown: one section at a time */

let month, day, slot, meeting, booked, attempt, working;

function show(name, focus = `${name}-title`) {
  for (const section of document.querySelectorAll("section")) section.hidden = section.id !== name;
  $("zones").disabled = name !== "choose";
  $("drop-row").hidden = name !== "choose" || !meeting?.date;
  if (!focus) return;
  $(focus).focus({ preventScroll: true });
  scrollTo(0, 0);
}

function set(id, content) {
  $(id).textContent = content || "";
  $(id).hidden = !content;
}

const say = content => { $("live").textContent = content; };

function add(parent, name, content, properties) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...[content].flat());
  parent.append(element);
  return element;
}

async function begin(focus) {
  const fragment = /^#([1-9]\d{0,14})\.([1-9]\d{0,14})\.([0-9a-f]{64})(?:\.(\d{1,15}))?$/.exec(location.hash);
  meeting = fragment && { id: Number(fragment[1]), leadId: Number(fragment[2]), key: fragment[3], date: Number(fragment[4]) };
  attempt = null;
  [starts, known] = [new Set(), null];
  document.title = meeting ? text.moveTitle : text.title;
  set("title", document.title);
  set("moving", meeting && text.moving(meeting.id));
  set("alert", location.hash.length > 1 && !meeting && text.fragment);
  $("person").hidden = $("person").disabled = Boolean(meeting);
  set("details-title", meeting ? text.moveDetails : text.details);
  show("wait", null);
  say(text.loading);
  try {
    // An address whose escapes are broken is nobody's link.
    [instance, keyName] = location.pathname.split("/").slice(-2).map(part => decodeURIComponent(part));
    await loadMore();
    set("what", describe());
    showZones();
    for (let i = 1; i < MAX_EMPTY && !starts.size; i++) await loadMore();
    await openMonth(freeMonths()[0], undefined, focus);
  } catch (error) {
    // At first nothing but the address can be wrong.
    fail(error.kind === "unanswered" || error.kind === "busy" ? error : new Failure("link"));
  }
}

/* What is booked, for how long, with whom. */
function describe() {
  const { name, durationMinutes, host, company } = calendar;
  return [name, text.minutes(durationMinutes), host && text.with(host), company].filter(Boolean).join(" · ");
}

function showZones() {
  const zones = new Set([ownZone, calendarZone, ...(Intl.supportedValuesOf?.("timeZone") ?? [])]);
  $("zones").replaceChildren(...[...zones].map(name => new Option(pretty(name), name, false, name === zone)));
}

function changeZone() {
  zone = $("zones").value;
  const chosen = slots.get(day)?.values().next().value;
  group();
  const at = chosen && dayOf(new Date(chosen));
  openMonth(at ? monthOf(new Date(at)) : freeMonths()[0], at, null).catch(explain);
}

const words = (kind, detail) => (typeof text[kind] === "function" ? text[kind](detail) : text[kind]);

function fail({ kind, detail }) {
  const final = kind === "link";
  set("failed-title", words(kind, detail));
  set("failed-text", final && text.linkText);
  $("reload").hidden = final;
  say("");
  show("failed");
}

/* Opens the choice of a time at a month, or without one where nothing is free. */
async function openMonth(at, chosen, focus) {
  if (at !== undefined) await loadUntil(at);
  month = at;
  const days = [...slots.keys()].filter(day => monthOf(new Date(day)) === at).sort((a, b) => a - b);
  const first = slots.get(days[0])?.values().next().value ?? Date.now();
  set("calendar-zone", there(new Date(first)) && text.calendarZone(pretty(calendarZone)));
  showDays(days, days.includes(chosen) ? chosen : days[0]);
  show("choose", focus);
}

function showDays(days, chosen) {
  const none = !days.length;
  $("days").hidden = $("times").hidden = none;
  $("choose").classList.toggle("both", !none);
  set("none", "");
  $("earlier").hidden = none || freeMonths()[0] === month;
  if (none) return tellNone();
  set("month", formatDay(dateIn(month, 1), { month: "long", year: "numeric" }));
  $("grid").replaceChildren();
  const info = new Intl.Locale(locale);
  const firstWeekday = (info.getWeekInfo?.() ?? info.weekInfo)?.firstDay ?? 7;
  // 4 January 1970 was a Sunday.
  for (let i = 0; i < 7; i++) {
    const name = formatDay(new Date(1970, 0, 4 + firstWeekday + i), { weekday: "short" });
    add($("grid"), "span", name.slice(0, 3), { className: "week", ariaHidden: "true" });
  }
  // From the week of the first free day to that of the last.
  const weekday = date => (new Date(date).getDay() - firstWeekday + 7) % 7;
  const [first, last] = [days[0], days.at(-1)].map(date => new Date(date).getDate() - weekday(date));
  for (let i = first; i < last + 7; i++) addDay(dateIn(month, i), chosen);
  showTimes(chosen);
}

function tellNone() {
  set("none", (slots.size ? text.noMore : text.none)(format(known, FULL_DAY)));
  say($("none").textContent);
}

function addDay(date, chosen) {
  if (monthOf(date) !== month) return add($("grid"), "span", "");
  const free = slots.get(date.getTime());
  if (!free) return add($("grid"), "span", String(date.getDate()), { ariaHidden: "true" });
  const label = add($("grid"), "label", []);
  const name = `${formatDay(date, LONG_DAY)}, ${text.free(free.size)}`;
  const radio = add(label, "input", [], { type: "radio", name: "day", ariaLabel: name, value: String(date.getTime()) });
  radio.checked = date.getTime() === chosen;
  return add(label, "span", String(date.getDate()), { ariaHidden: "true" });
}

function showTimes(chosen) {
  day = chosen;
  const free = [...slots.get(day)].sort();
  set("times-title", text.times(formatDay(day, LONG_DAY)));
  say(`${formatDay(day, LONG_DAY)}: ${text.free(free.length)}`);
  const clock = new Intl.DateTimeFormat(locale, { ...CLOCK, timeZone: zone });
  const names = free.map(slot => clock.format(new Date(slot)));
  $("list").replaceChildren(...free.map((slot, i) => {
    const item = document.createElement("li");
    // Where clocks go back, an hour has two of each time.
    const twice = names.indexOf(names[i]) !== names.lastIndexOf(names[i]);
    const name = twice ? format(new Date(slot), { hour: "2-digit", minute: "2-digit", timeZoneName: "short" }) : names[i];
    add(item, "button", name, { type: "button", value: slot });
    return item;
  }));
}

async function turn(step) {
  if (working) return;
  busy("later", true);
  set("alert", "");
  say(text.loading);
  try {
    const current = month ?? monthOf(new Date(known)) - 1;
    const next = () => freeMonths().filter(other => (step > 0 ? other > current : other < current)).at(step > 0 ? 0 : -1);
    if (next() === undefined) await loadMore();
    const found = next();
    if (found !== undefined) await openMonth(found);
    else tellNone();
  } catch (error) {
    explain(error);
  }
  busy("later", false);
}

function busy(id, now) {
  working = now;
  $(id).setAttribute("aria-disabled", String(now));
}

function choose(chosen) {
  slot = chosen;
  const date = new Date(slot), other = there(date);
  set("alert", "");
  set("chosen", format(date, { ...FULL_DAY, ...CLOCK }));
  set("chosen-there", other && text.there(other, pretty(calendarZone)));
  lock(false);
  show("details");
}

function back() {
  set("alert", "");
  const time = [...$("list").querySelectorAll("button")].find(button => button.value === slot);
  show("choose");
  time?.focus();
}

/* While nobody knows whether an attempt was carried out, nothing else may be sent: only the same again. */
function lock(locked) {
  for (const field of fields) field.readOnly = locked;
  $("back").hidden = locked;
  set("send", locked ? text.again : meeting ? text.move : text.book);
}

function newAttempt(body) {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const key = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
  return { key, body: JSON.stringify(body), unknown: false };
}

function bookingBody() {
  const common = { keyName, date: slot };
  const [firstname, lastname, email] = fields.map(field => field.value.trim());
  const formData = lastname ? { firstname, lastname, email } : { firstname, email };
  return meeting
    ? { ...common, leadId: meeting.leadId, properties: { rescheduleMeetingId: meeting.id, rescheduleKey: meeting.key } }
    : { ...common, leadId: null, formData, properties: {} };
}

/* Sends the attempt once; its meeting, or nothing where it failed. */
async function post() {
  const headers = { "content-type": "application/json", "idempotency-key": attempt.key };
  try {
    const { data } = await call("", {}, { method: "POST", headers, body: attempt.body });
    attempt = null;
    return data;
  } catch (error) {
    if (error.kind === "unanswered") attempt.unknown = true;
    // Too many requests tell nothing of the one before.
    else if (error.kind !== "busy" || !attempt.unknown) attempt = null;
    await explain(error);
    return null;
  }
}

async function send(event) {
  event.preventDefault();
  if (working) return;
  attempt ??= newAttempt(bookingBody());
  busy("send", true);
  set("alert", "");
  set("send", text.sending);
  say(text.sending);
  const made = await post();
  if (made) showMeeting(made);
  busy("send", false);
  lock(attempt !== null);
}

/* Asks before a meeting is cancelled: that of the link, or the one just booked. */
function drop(dropped) {
  if (working) return;
  booked = dropped;
  set("alert", "");
  set("dropping", format(booked.date, { ...FULL_DAY, ...CLOCK }));
  show("sure");
}

async function dropIt() {
  if (working) return;
  const { id, leadId, key, date } = booked;
  const properties = { cancelMeetingId: id, rescheduleKey: key };
  attempt ??= newAttempt({ keyName, leadId, date: new Date(date).toISOString(), properties });
  busy("drop-it", true);
  set("alert", "");
  say(text.sending);
  const canceled = await post();
  if (canceled) {
    showMeeting(canceled);
    set("done-title", text.dropped);
    $("change").hidden = true;
  }
  busy("drop-it", false);
}

/* While nobody knows whether it was cancelled, it can only be tried again. */
const keepIt = () => working || attempt || show(meeting ? "choose" : "done");

async function explain({ kind, detail }) {
  say("");
  if (kind === "link") return fail({ kind });
  if (kind === "taken") return taken();
  set("alert", words(attempt && kind === "unanswered" ? "resend" : kind, detail));
  $("alert").scrollIntoView({ block: "nearest" });
}

async function taken() {
  [starts, known] = [new Set(), null];
  show("wait", null);
  try {
    await loadUntil(month);
    const months = freeMonths();
    await openMonth(months.includes(month) ? month : months[0], day);
    set("alert", meeting ? text.moveTaken : text.taken);
  } catch (error) {
    fail(error);
  }
}

function showMeeting({ id, date, endDate, leadId, rescheduleKey }) {
  const [start, end] = [new Date(date), new Date(endDate)];
  const other = there(start);
  set("done-title", meeting ? text.moved : text.booked);
  set("booked", format(start, FULL_DAY));
  $("facts").replaceChildren();
  const fact = (name, value) => value && add($("facts"), "div", []).append(
    Object.assign(document.createElement("dt"), { textContent: name }),
    Object.assign(document.createElement("dd"), { textContent: value }),
  );
  const [first, last, email] = meeting ? [] : fields.map(field => field.value.trim());
  fact(text.name, [first, last].filter(Boolean).join(" "));
  fact(text.email, email);
  fact(text.time, `${format(start, CLOCK)} – ${format(end, CLOCK)}`);
  fact(text.yourZone, zoneName());
  fact(text.calendar, other && `${other} (${pretty(calendarZone)})`);
  fact(text.number, String(id));
  booked = { id, leadId, key: rescheduleKey, date: start.getTime() };
  $("link").href = `#${id}.${leadId}.${rescheduleKey}.${booked.date}`;
  $("file").href = `data:text/calendar;charset=utf-8,${encodeURIComponent(calendarFile(id, start, end))}`;
  $("file").download = `${keyName}-${id}.ics`;
  $("copy").hidden = !navigator.clipboard;
  say("");
  show("done");
}

/* The meeting as a file for the visitor's own calendar (RFC 5545). */
function calendarFile(id, start, end) {
  const stamp = date => date.toISOString().replace(/[-:]|\.\d+/g, "");
  const escaped = value => value.replace(/[\\;,]/g, "\\$&").replace(/[\r\n]+/g, " ");
  const lines = [
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Funil//Booking//EN", "BEGIN:VEVENT",
    `UID:${id}.${keyName}.${instance}@${location.hostname}`, `DTSTAMP:${stamp(new Date())}`,
    `DTSTART:${stamp(start)}`, `DTEND:${stamp(end)}`, `SUMMARY:${escaped(describe())}`, `URL:${$("link").href}`,
    "END:VEVENT", "END:VCALENDAR",
  ];
  // A line has at most 75 bytes, and a character up to 4.
  return lines.map(line => `${line.replace(/.{18}(?=.)/gu, "$&\r\n ")}\r\n`).join("");
}

/* What the visitor does */

$("grid").addEventListener("change", ({ target }) => {
  showTimes(Number(target.value));
  $("times-title").scrollIntoView({ block: "nearest" });
});
$("grid").addEventListener("keydown", event => {
  if (event.key !== "Enter") return;
  // Or the same stroke would press the button.
  event.preventDefault();
  $("list").querySelector("button").focus();
});
$("list").addEventListener("click", ({ target }) => target.value && choose(target.value));
$("earlier").addEventListener("click", () => turn(-1));
$("later").addEventListener("click", () => turn(1));
$("back").addEventListener("click", back);
$("zones").addEventListener("change", changeZone);
$("drop").addEventListener("click", () => drop(meeting));
$("drop-booked").addEventListener("click", () => drop(booked));
$("drop-it").addEventListener("click", dropIt);
$("keep-it").addEventListener("click", keepIt);
$("reload").addEventListener("click", () => begin());
form.addEventListener("submit", send);
fields[0].addEventListener("input", ({ target }) => {
  target.setCustomValidity(target.value && !target.value.trim() ? text.blank : "");
});
addEventListener("keydown", event => {
  if (event.key === "Escape" && !$("details").hidden && !$("back").hidden && !working) back();
});
// A link to where one already is changes no fragment.
$("link").addEventListener("click", () => $("link").hash === location.hash && location.reload());
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("link").href).then(() => say(text.copied), () => {});
});
addEventListener("hashchange", () => location.reload());

document.documentElement.lang = locale;
for (const element of document.querySelectorAll("[data-text]")) element.textContent = text[element.dataset.text];
for (const name of ["earlier", "later", "back"]) set(name, text[name]);
for (const landmark of document.querySelectorAll("header, main")) landmark.hidden = false;
begin(null);
