// GET /calendarmeeting/slots: when a meeting can be booked.
import { answer, query } from "./lib/http.mjs";
import { serve } from "./lib/runtime.mjs";
import { get, list } from "./lib/table.mjs";

const [MINUTE, DAY] = [60_000, 86_400_000];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const date = (millis) => new Date(millis).toISOString().slice(0, 10);

/** Local time of a zone as if it were UTC. */
function clock(zone) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric",
    minute: "numeric", second: "numeric",
  });
  return (millis) => {
    const of = Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(of.year, of.month - 1, of.day, of.hour, of.minute, of.second);
  };
}

/** The moment at which a zone's clock shows this. */
function moment(local, shown) {
  const guess = shown - (local(shown) - shown);
  return guess - (local(guess) - shown);
}

function starts(calendar, from, to, taken) {
  const [length, local] = [calendar.durationMinutes * MINUTE, clock(calendar.timezone)];
  const step = length + (calendar.bufferMinutes ?? 0) * MINUTE;
  const earliest = Math.max(from, Date.now() + (calendar.minimumNoticeMinutes ?? 0) * MINUTE);
  const found = [];
  const first = Math.floor(local(earliest) / DAY) * DAY - DAY;
  for (let day = first; day <= local(to) + DAY; day += DAY) {
    const hours = calendar.dates?.[date(day)] ?? calendar.hours[WEEKDAYS[new Date(day).getUTCDay()]] ?? [];
    for (const [opens, closes] of hours) {
      const at = (text) => moment(local, day + (Number(text.slice(0, 2)) * 60 + Number(text.slice(3))) * MINUTE);
      for (let [start, end] = [at(opens), at(closes)]; start + length <= end; start += step) {
        const busy = ([begins, ends]) => start < ends && begins < start + step;
        if (start >= earliest && start < to && !taken.some(busy)) found.push(start);
      }
    }
  }
  return found.map((start) => new Date(start).toISOString());
}

serve(async (event) => {
  const parameters = query(event);
  const instance = parameters.get("i");
  const [from, to] = ["from", "to"].map((name) => Date.parse(parameters.get(name)));
  const [directory, link] = await Promise.all([
    get(`${instance}#directory`, "directory"),
    get(`${instance}#calendar-link#${parameters.get("keyName")}`, "calendar"),
  ]);
  const calendar = link && JSON.parse(link.calendar);
  if (!directory || !calendar?.isPublished || calendar.horizon?.type !== "unlimited") {
    return answer(400, { error: "CL001", msg: "not in this comparison" });
  }
  const behind = to + (calendar.durationMinutes + (calendar.bufferMinutes ?? 0)) * MINUTE;
  const days = await list(`${instance}#agenda#${calendar.id}`, { from: date(from - DAY), to: date(behind) });
  const counted = days.flatMap((day) => Object.entries(day)).filter(([name, n]) => name.startsWith("n.") && n > 0);
  const taken = counted.map(([name]) => name.slice(2).split("_").map(Number));
  const { name, durationMinutes, company = null, host = null, timezone } = calendar;
  const shown = { name, durationMinutes, company, host };
  return answer(200, { data: { slots: starts(calendar, from, to, taken), timezone, calendar: shown } });
});
