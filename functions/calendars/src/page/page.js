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

/* Dates and times, in the chosen zone unless another is named. A day is midnight UTC of its date. */

/* The first of these zones that the browser knows. A system without a zone has `undefined` or "Etc/Unknown". */
const knownZone = zones => zones.find(timeZone => {
  try {
    return timeZone && new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    return false;
  }
});
let zone = knownZone([new Intl.DateTimeFormat().resolvedOptions().timeZone]);

const formatters = new Map();
function formatter(options, timeZone, language = locale) {
  const key = JSON.stringify([language, timeZone, options]);
  if (!formatters.has(key)) formatters.set(key, new Intl.DateTimeFormat(language, { ...options, timeZone }));
  return formatters.get(key);
}
const format = (time, options, timeZone = zone) => formatter(options, timeZone).format(time);
const formatDay = (day, options) => format(day, options, "UTC");
const LONG_DAY = { weekday: "long", day: "numeric", month: "long" };
const FULL_DAY = { dateStyle: "full" };
const CLOCK = { timeStyle: "short" };
const ON_DAY = { ...FULL_DAY, ...CLOCK };

/* Months are counted from January 2000. */
const monthOf = day => (new Date(day).getUTCFullYear() - 2000) * 12 + new Date(day).getUTCMonth();
const dayIn = (month, day) => Date.UTC(2000, month, day);

/* What a zone's clock shows, as the time at which a clock in UTC shows the same. */
function clockAt(time, timeZone = zone) {
  const number = "numeric";
  const options = { hourCycle: "h23", year: number, month: number, day: number, hour: number, minute: number };
  const parts = formatter(options, timeZone, "en-US").formatToParts(time);
  const { year, month, day, hour, minute } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(year, month - 1, day, hour, minute);
}
const dayOf = time => Math.floor(clockAt(time) / DAY) * DAY;

/* Whether clocks show this time twice, because they go back before or after it. */
function isTwice(time, timeZone) {
  const offset = at => clockAt(at, timeZone) - at;
  const shifts = [time - DAY, time + DAY].map(other => offset(time) - offset(other));
  return shifts.some(shift => shift && clockAt(time + shift, timeZone) === clockAt(time, timeZone));
}

const zoneNameAt = (time, timeZoneName, timeZone) => {
  const parts = formatter({ timeZoneName }, timeZone).formatToParts(time);
  return parts.find(({ type }) => type === "timeZoneName").value;
};

/* The name of a time, unlike that of any other time. */
function nameTime(time, options = ON_DAY, timeZone = zone) {
  const name = format(time, options, timeZone);
  return isTwice(time, timeZone) ? `${name} ${zoneNameAt(time, "short", timeZone)}` : name;
}

function nameZone() {
  try {
    return `${zoneNameAt(Date.now(), "longGeneric", zone)} (${pretty(zone)})`;
  } catch {
    return pretty(zone);
  }
}

const pretty = zone => zone.replaceAll("_", " ");

/* The name of a time on the calendar's own clock; null where the chosen zone's is the same. */
function nameThere(time) {
  const name = knownZone([calendarZone]) && nameTime(time, ON_DAY, calendarZone);
  return name && name !== nameTime(time) ? name : null;
}

/* The service */

class Failure extends Error {
  constructor(kind, detail = "") {
    super(kind);
    Object.assign(this, { kind, detail });
  }
}

/* Only what the service refused is surely not done: the others may have been. */
const UNSURE = ["unanswered", "failed"];

async function call(path, query, init) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE);
  const url = `../../calendarmeeting${path}?${new URLSearchParams({ i: instance, ...query })}`;
  const options = { ...init, signal: patience.signal, cache: "no-store", credentials: "omit" };
  try {
    const answer = await fetch(url, options);
    const body = await answer.json().catch(() => null);
    return { answer, body };
  } catch {
    throw new Failure("unanswered");
  } finally {
    clearTimeout(timer);
  }
}

async function ask(...request) {
  const { answer, body } = await call(...request);
  if (!answer.ok || !body?.data) throw failure(answer, body);
  now = Date.parse(answer.headers.get("date")) || Date.now();
  return body.data;
}

function failure({ ok, status, headers }, body) {
  const error = body?.error;
  if (status === 429) return new Failure("busy", Number(headers.get("retry-after")) || 30);
  if (error === "slot_unavailable") return new Failure("taken");
  if (ok || status >= 500 || status === 409) return new Failure("failed");
  if (error === "CL006" || status === 404) return new Failure("link");
  // The name of the field, or of the meeting's state; the rule after it is not in the visitor's language.
  const cause = String(body?.details ?? "").split(":")[0];
  return ["rescheduleKey", "canceled", "past", "date"].includes(cause) ? new Failure(cause) : new Failure("refused", cause);
}

/* What is free: the slots of each day, and up to when they are known */

let instance, keyName, now, starts, slots, known, calendarZone, calendar;

/* The starts by the days of the chosen zone. */
function group() {
  slots = new Map();
  for (const start of starts) {
    const day = dayOf(start);
    if (!slots.has(day)) slots.set(day, new Set());
    slots.get(day).add(start);
  }
}

async function loadMore() {
  const first = known === null;
  const range = first ? {} : { from: new Date(known).toISOString(), to: new Date(known + WINDOW).toISOString() };
  const own = first && meeting;
  const data = await ask("/slots", { keyName, ...range, ...(own ? proof("meetingId") : {}) });
  for (const start of data.slots) if (Date.parse(start)) starts.add(Date.parse(start));
  known = (first ? now : known) + WINDOW;
  [calendar, calendarZone] = [data.calendar, String(data.timezone)];
  zone ??= knownZone([calendarZone, "UTC"]);
  if (own) takeMeeting(data.meeting);
  group();
}

/* Whether the calendar is active. Times of an inactive one are shown only with the proof, and then are none. */
async function loadFirst() {
  [starts, known] = [new Set(), null];
  await loadMore();
  try {
    for (let i = 1; i < MAX_EMPTY && !starts.size; i++) await loadMore();
    return true;
  } catch (error) {
    if (meeting && error.kind === "link") return false;
    throw error;
  }
}

/* A month is shown only when all of it is known, in any zone. */
async function loadUntil(month) {
  while (known < dayIn(month + 1, 1) + DAY) await loadMore();
}

const freeMonths = () => [...new Set([...slots.keys()].map(monthOf))].sort((a, b) => a - b);

/* What is known of the visitor's own meeting, and the address by which a reload finds it. */
function takeMeeting({ id = meeting.id, rescheduleKey: key = meeting.key, date, endDate, status, moves, updateDate }) {
  const start = Date.parse(date);
  const minutes = endDate ? (Date.parse(endDate) - start) / 60_000 : meeting.minutes;
  const modified = updateDate ? Date.parse(updateDate) : now;
  meeting = { id, key, start, end: start + minutes * 60_000, minutes, status, moves, modified };
  history.replaceState(null, "", `#${id}.${key}.${minutes}`);
}

/* What is shown: one section at a time */

let month, day, slot, meeting, active, attempt, working;

function show(name, focus = `${name}-title`) {
  for (const section of document.querySelectorAll("section")) section.hidden = section.id !== name;
  const choosing = name === "choose" || name === "details";
  document.title = !meeting ? text.title : choosing ? text.moveTitle : text.yours;
  set("title", document.title);
  set("moving", meeting && choosing && text.moving(meeting.id, nameTime(meeting.start)));
  $("stay-row").hidden = !meeting || name !== "choose";
  $("zones").disabled = name !== "choose";
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

/* Opens the meeting of the address, or the choice of a time: for a new meeting, or for another time of that one. */
async function begin(focus, changing) {
  const fragment = /^#([1-9]\d{0,14})\.([0-9a-f]{64})\.([1-9]\d{0,4})$/.exec(location.hash);
  meeting = fragment && { id: Number(fragment[1]), key: fragment[2], minutes: Number(fragment[3]) };
  attempt = null;
  set("alert", location.hash.length > 1 && !meeting && text.fragment);
  show("wait", null);
  say(text.loading);
  try {
    active = await loadFirst();
    set("what", describe());
    showZones();
    if (meeting && !(changing && active && !whyOver())) showMeeting(focus);
    else await openMonth(freeMonths()[0], undefined, focus);
  } catch (error) {
    fail(error);
  }
}

/* Why a meeting can be neither moved nor cancelled; null if it can. */
const whyOver = () => (meeting.status === "canceled" ? "canceled" : meeting.start <= now ? "past" : null);

/* What is booked, for how long, with whom. */
function describe() {
  const { name, durationMinutes, host, company } = calendar;
  return [name, text.minutes(durationMinutes), host && text.with(host), company].filter(Boolean).join(" · ");
}

function showZones() {
  const zones = new Set([zone, knownZone([calendarZone]) ?? zone, ...(Intl.supportedValuesOf?.("timeZone") ?? [])]);
  $("zones").replaceChildren(...[...zones].map(name => new Option(pretty(name), name, false, name === zone)));
  $("zone-row").hidden = false;
}

function changeZone() {
  zone = $("zones").value;
  const chosen = slots.get(day)?.values().next().value;
  group();
  const at = chosen && dayOf(chosen);
  openMonth(at ? monthOf(at) : freeMonths()[0], at, null).catch(explain);
}

const words = (kind, detail) => (typeof text[kind] === "function" ? text[kind](detail) : text[kind]);

/* Nothing can be shown. Only the service's word makes a link a wrong one. */
function fail({ kind, detail }) {
  const known = ["link", "rescheduleKey", "busy", "unanswered"].includes(kind) ? kind : "failed";
  set("failed-title", words(known, detail));
  set("failed-text", known === "link" && text.linkText);
  $("reload").hidden = known === "link" || known === "rescheduleKey";
  $("restart").hidden = known !== "rescheduleKey";
  say("");
  show("failed");
}

/* Opens the choice of a time at a month, or without one where nothing is free. */
async function openMonth(at, chosen, focus) {
  if (at !== undefined) await loadUntil(at);
  month = at;
  const days = [...slots.keys()].filter(day => monthOf(day) === at).sort((a, b) => a - b);
  const first = slots.get(days[0])?.values().next().value ?? now;
  set("calendar-zone", nameThere(first) && text.calendarZone(pretty(calendarZone)));
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
  set("month", formatDay(dayIn(month, 1), { month: "long", year: "numeric" }));
  $("grid").replaceChildren();
  const info = new Intl.Locale(locale);
  const firstWeekday = (info.getWeekInfo?.() ?? info.weekInfo)?.firstDay ?? 7;
  // 4 January 1970 was a Sunday.
  for (let i = 0; i < 7; i++) {
    const name = formatDay(Date.UTC(1970, 0, 4 + firstWeekday + i), { weekday: "short" });
    add($("grid"), "span", name.slice(0, 3), { className: "week", ariaHidden: "true" });
  }
  // From the week of the first free day to that of the last.
  const weekday = day => (new Date(day).getUTCDay() - firstWeekday + 7) % 7;
  const [first, last] = [days[0], days.at(-1)].map(day => new Date(day).getUTCDate() - weekday(day));
  for (let i = first; i < last + 7; i++) addDay(dayIn(month, i), chosen);
  showTimes(chosen);
}

function tellNone() {
  set("none", (slots.size ? text.noMore : text.none)(format(known, FULL_DAY)));
  say($("none").textContent);
}

function addDay(day, chosen) {
  if (monthOf(day) !== month) return add($("grid"), "span", "");
  const [free, date] = [slots.get(day), String(new Date(day).getUTCDate())];
  if (!free) return add($("grid"), "span", date, { ariaHidden: "true" });
  const label = add($("grid"), "label", []);
  const name = `${formatDay(day, LONG_DAY)}, ${text.free(free.size)}`;
  const radio = add(label, "input", [], { type: "radio", name: "day", ariaLabel: name, value: String(day) });
  radio.checked = day === chosen;
  return add(label, "span", date, { ariaHidden: "true" });
}

function showTimes(chosen) {
  day = chosen;
  const free = [...slots.get(day)];
  set("times-title", text.times(formatDay(day, LONG_DAY)));
  say(`${formatDay(day, LONG_DAY)}: ${text.free(free.length)}`);
  $("list").replaceChildren(...free.map(time => {
    const item = document.createElement("li");
    add(item, "button", nameTime(time, CLOCK), { type: "button", value: new Date(time).toISOString() });
    return item;
  }));
}

async function turn(step) {
  if (working) return;
  busy("later", true);
  set("alert", "");
  say(text.loading);
  try {
    const current = month ?? monthOf(known) - 1;
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
  const time = Date.parse(slot);
  const there = nameThere(time);
  set("alert", "");
  set("chosen", nameTime(time));
  set("chosen-there", there && text.there(there, pretty(calendarZone)));
  set("details-title", meeting ? text.moveDetails : text.details);
  $("person").hidden = $("person").disabled = Boolean(meeting);
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

const written = () => fields.map(field => field.value.trim());

function bookingBody() {
  const [firstname, lastname, email] = written();
  const formData = lastname ? { firstname, lastname, email } : { firstname, email };
  const person = meeting ? { properties: proof("rescheduleMeetingId") } : { formData, properties: {} };
  return { keyName, date: slot, leadId: null, ...person };
}

const proof = name => ({ [name]: meeting.id, rescheduleKey: meeting.key });

/* Sends the attempt once, and shows the meeting with a title and the person's name and e-mail. */
async function post(title, ...person) {
  const headers = { "content-type": "application/json", "idempotency-key": attempt.key };
  try {
    const made = await ask("", {}, { method: "POST", headers, body: attempt.body });
    attempt = null;
    takeMeeting(made);
    showMeeting(undefined, title, ...person);
  } catch (error) {
    if (UNSURE.includes(error.kind)) attempt.unknown = true;
    // Too many requests tell nothing of the one before.
    else if (error.kind !== "busy" || !attempt.unknown) attempt = null;
    await explain(error);
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
  const [first, last, email] = written();
  await (meeting ? post(text.moved) : post(text.booked, [first, last].filter(Boolean).join(" "), email));
  busy("send", false);
  lock(attempt !== null);
}

/* Asks before the meeting is cancelled. */
function drop() {
  if (working) return;
  set("alert", "");
  set("dropping", nameTime(meeting.start));
  show("sure");
}

async function dropIt() {
  if (working) return;
  const date = new Date(meeting.start).toISOString();
  attempt ??= newAttempt({ keyName, leadId: null, date, properties: proof("cancelMeetingId") });
  busy("drop-it", true);
  set("alert", "");
  say(text.sending);
  await post();
  busy("drop-it", false);
}

/* While nobody knows whether it was cancelled, it can only be tried again. */
const keepIt = () => working || attempt || show("done");

async function explain(error) {
  const { kind, detail } = error;
  say("");
  if (kind === "taken") return taken();
  if (meeting && ["link", "rescheduleKey", "canceled", "past", "date"].includes(kind)) {
    await begin();
    if (kind === "date") set("alert", text.date);
    return;
  }
  if (!kind || kind === "link") return fail(error);
  set("alert", words(attempt && UNSURE.includes(kind) ? "resend" : kind, detail));
  $("alert").scrollIntoView({ block: "nearest" });
}

async function taken() {
  show("wait", null);
  try {
    await loadFirst();
    await loadUntil(month);
    const months = freeMonths();
    await openMonth(months.includes(month) ? month : months[0], day);
    set("alert", meeting ? text.moveTaken : text.taken);
  } catch (error) {
    fail(error);
  }
}

function showMeeting(focus, title = text.booked, name = "", email = "") {
  const { id, start, end, status } = meeting;
  const [over, there] = [whyOver(), nameThere(start)];
  $("done").className = over ?? "live";
  set("done-title", over ? text[over](active) : title);
  set("booked", format(start, FULL_DAY));
  $("facts").replaceChildren();
  const fact = (name, value) => value && add($("facts"), "div", []).append(
    Object.assign(document.createElement("dt"), { textContent: name }),
    Object.assign(document.createElement("dd"), { textContent: value }),
  );
  fact(text.name, name);
  fact(text.email, email);
  fact(text.time, `${nameTime(start, CLOCK)} – ${nameTime(end, CLOCK)}`);
  fact(text.zone, nameZone());
  fact(text.calendar, there && `${there} (${pretty(calendarZone)})`);
  fact(text.number, String(id));
  set("file", over === "past" ? "" : over ? text.fileOff : text.file);
  $("file").href = `data:text/calendar;charset=utf-8,${encodeURIComponent(calendarFile())}`;
  $("file").download = `${keyName}-${id}.ics`;
  set("keep", over ? "" : active ? text.keep : text.closed);
  $("link").href = location.hash;
  $("drop").hidden = Boolean(over);
  $("link").hidden = Boolean(over) || !active;
  $("copy").hidden = Boolean(over) || !navigator.clipboard;
  $("anew").hidden = !over || !active;
  say("");
  show("done", focus);
}

/* The meeting, or its cancellation, as a file for the visitor's own calendar (RFC 5545, RFC 5546). */
function calendarFile() {
  const { id, start, end, status, moves, modified } = meeting;
  const canceled = status === "canceled";
  const stamp = time => new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
  const escaped = value => value.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").replace(/[\\;,]/g, "\\$&");
  const lines = [
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Funil//Booking//EN", ...(canceled ? ["METHOD:CANCEL"] : []), "BEGIN:VEVENT",
    // The same for every calendar, host name and time, or a reader would add the meeting again.
    `UID:${escaped(`${id}.${instance}@funil`)}`, `SEQUENCE:${moves + (canceled ? 1 : 0)}`,
    `STATUS:${canceled ? "CANCELLED" : "CONFIRMED"}`, `DTSTAMP:${stamp(now)}`, `LAST-MODIFIED:${stamp(modified)}`,
    `DTSTART:${stamp(start)}`, `DTEND:${stamp(end)}`, `SUMMARY:${escaped(describe())}`, `URL:${location.href}`,
    "END:VEVENT", "END:VCALENDAR",
  ];
  return lines.map(fold).join("");
}

/* A line has at most 75 bytes and ends after a whole character. */
function fold(line) {
  let [folded, bytes] = ["", 0];
  for (const character of line) {
    const size = new TextEncoder().encode(character).length;
    const full = bytes + size > 75;
    folded += (full ? "\r\n " : "") + character;
    bytes = (full ? 1 : bytes) + size;
  }
  return `${folded}\r\n`;
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
$("drop").addEventListener("click", drop);
$("stay").addEventListener("click", () => {
  if (working) return;
  set("alert", "");
  show("done");
});
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
$("link").addEventListener("click", event => {
  event.preventDefault();
  begin(undefined, true);
});
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("link").href).then(() => say(text.copied), () => {});
});
addEventListener("hashchange", () => location.reload());

[instance, keyName] = location.pathname.split("/").slice(-2).map(part => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
});
document.documentElement.lang = locale;
for (const element of document.querySelectorAll("[data-text]")) element.textContent = text[element.dataset.text];
for (const name of ["earlier", "later", "back"]) set(name, text[name]);
for (const landmark of document.querySelectorAll("header, main")) landmark.hidden = false;
begin(null);
