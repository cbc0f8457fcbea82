/* Reports: a chart, and the same values as a table */

const COLORS = 8;
const MAX_BARS = 24;
const MAX_LABEL = 18;
const DAY = 86_400_000;
const PERIODS = [7, 30, 90, 365];
const CUSTOM = "custom";

let reports = null;
let report = null;
let chart = null;

const isoDay = time => {
  const date = new Date(time);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, "0")).join("-");
};

function fillReports() {
  const chosen = [$("report").value, $("period").value || "90"];
  $("report").replaceChildren(...(reports ?? []).map(({ id, name }) => choice(id, name)));
  const label = days => (days === 365 ? text.year : text.days(days));
  $("period").replaceChildren(...PERIODS.map(days => choice(days, label(days))), choice(CUSTOM, text.custom));
  if (reports?.some(({ id }) => String(id) === chosen[0])) $("report").value = chosen[0];
  $("period").value = chosen[1];
}

function choosePeriod() {
  const days = Number($("period").value);
  if (!days) return $("report-from").focus();
  const now = Date.now();
  [$("report-from").value, $("report-to").value] = [isoDay(now - (days - 1) * DAY), isoDay(now)];
  return loadReport();
}

/* The list of reports is read once in a session. */
async function openReports() {
  if (reports) return;
  say(text.loading);
  await task("reports", $("reports"), async current => {
    const found = await api.reports();
    if (!current()) return;
    reports = found;
    fillReports();
    $("range").hidden = !reports.length;
    if (reports.length) return choosePeriod();
    say("");
    return set("alert", text.noReports);
  });
}

function loadReport(keepKind = false) {
  set("alert", "");
  const [id, range] = [$("report").value, { from: $("report-from").value, to: $("report-to").value }];
  if (!id) return undefined;
  say(text.loading);
  return task("report", $("result"), async current => {
    const found = await api.report(id, range);
    if (!current()) return;
    report = found;
    const kinds = [...document.querySelectorAll("[name=kind]")];
    if (!keepKind || !kinds.some(({ checked }) => checked)) {
      for (const radio of kinds) radio.checked = radio.value === report.type;
      if (!kinds.some(({ checked }) => checked)) kinds[0].checked = true;
    }
    showReport();
    say(`${report.name}: ${totalName()} ${quantity(report.total)}`);
  });
}

const values = () => report.series.flatMap(({ data }) => data);

/* The total of an average is not the sum of its groups. Its groups have no shares. */
const isAverage = () => Math.abs(values().reduce((all, value) => all + value, 0) - report.total) > 0.01;
const totalName = () => (isAverage() ? text.average : text.total);

/* With two decimals if a value of the report has decimals. */
function quantity(value) {
  const digits = [...values(), report.total].every(Number.isInteger) ? 0 : 2;
  return number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const kind = () => document.querySelector("[name=kind]:checked")?.value ?? "bar";

/* Labels of the service: days, months, names, statuses, and - for no value. */
function label(value) {
  if (value === "-") return text.blank;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return when(value, { day: "numeric", month: "short", year: "2-digit" });
  if (/^\d{4}-\d\d$/.test(value)) return when(`${value}-01`, { month: "short", year: "numeric" });
  const { scheduled, rescheduled, canceled } = text;
  return { open: text.isOpen, gain: text.gain, lost: text.lost, scheduled, rescheduled, canceled }[value] ?? String(value);
}

function showReport() {
  if (!report) return;
  $("result").hidden = false;
  $("report-name").textContent = report.name;
  $("report-range").textContent =
    `${when(report.from)} – ${when(report.to)} · ${text.state(when(report.generatedAt, { dateStyle: "short", timeStyle: "short" }))}`;
  $("report-total-name").textContent = totalName();
  $("report-total").textContent = quantity(report.total);
  const [pie, bar] = ["pie", "bar"].map(name => document.querySelector(`[name=kind][value=${name}]`));
  pie.disabled = isAverage();
  if (pie.checked && pie.disabled) bar.checked = true;
  const empty = !report.series.some(({ data }) => data.some(Boolean));
  $("report-empty").hidden = !empty;
  $("canvas").parentElement.hidden = empty;
  showValues();
  if (empty) chart?.destroy();
  if (empty) chart = null;
  else draw();
}

function showValues() {
  const { series, labels } = report;
  const shares = isAverage() ? [] : [text.percent];
  const whole = series.map(({ data }) => data.reduce((all, value) => all + value, 0));
  const head = make("tr", {}, make("th", { scope: "col" }, text.group),
    series.flatMap(({ name }) => [name, ...shares].map(name => make("th", { scope: "col" }, name))));
  const share = (value, all) => make("td", { className: "soft" }, all ? percent(value / all) : "–");
  const row = (name, i) => make("tr", {}, make("th", { scope: "row" }, label(name)),
    series.flatMap(({ data }, of) => [make("td", {}, quantity(data[i])), ...shares.map(() => share(data[i], whole[of]))]));
  $("values").replaceChildren(make("caption", { className: "quiet" }, report.name), make("thead", {}, head), make("tbody", {}, labels.map(row)));
}

/* The largest groups, and the others together: a chart with more parts is unreadable. The others of an average have no value. */
function largest({ data }, max) {
  const sorted = report.labels.map((name, i) => [label(name), data[i]]).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  const rest = sorted.splice(sorted.length > max ? max - 1 : max).reduce((all, [, value]) => all + value, 0);
  return rest && !isAverage() ? [...sorted, [text.others, rest]] : sorted;
}

/* The groups of the chart: all of them, unless they are too many and not times. */
function groups() {
  const [series] = report.series;
  if (kind() === "pie") return largest(series, COLORS);
  const isTime = report.labels.every(name => /^\d{4}-/.test(name));
  return isTime || report.series.length > 1 || report.labels.length <= MAX_BARS ? null : largest(series, MAX_BARS);
}

const cut = name => (name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name);

function draw() {
  chart?.destroy();
  const style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue(`--${name}`).trim();
  const palette = Array.from({ length: COLORS }, (_, i) => color(`c${i + 1}`));
  const round = kind() === "pie";
  const few = groups();
  const line = kind() === "line";
  const dataset = ({ name, data }, i) => ({
    label: name, data: few?.map(([, value]) => value) ?? data, borderColor: round ? color("paper") : palette[i % COLORS],
    backgroundColor: round ? palette : line ? `${palette[i % COLORS]}22` : palette[i % COLORS],
    borderWidth: line || round ? 2 : 0, borderRadius: round || line ? 0 : 6, maxBarThickness: 56, fill: line, cubicInterpolationMode: "monotone",
    pointRadius: data.length > 40 ? 0 : 3, pointHitRadius: 12,
  });
  const axis = { border: { display: false }, ticks: { color: color("soft"), maxRotation: 45 } };
  Chart.defaults.font.size = 13;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  $("canvas").ariaLabel = text.chartLabel(text[kind()], report.name);
  chart = new Chart($("canvas"), {
    type: kind(),
    data: {
      labels: few?.map(([name]) => name) ?? report.labels.map(label),
      datasets: (round ? report.series.slice(0, 1) : report.series).map(dataset),
    },
    options: {
      locale, maintainAspectRatio: false, animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? false : { duration: 300 },
      interaction: { mode: round ? "nearest" : "index", intersect: round },
      scales: round ? {} : {
        x: { ...axis, grid: { display: false }, ticks: { ...axis.ticks, callback(value) { return cut(this.getLabelForValue(value)); } } },
        y: { ...axis, beginAtZero: true, grid: { color: color("line") }, ticks: { ...axis.ticks, precision: 0, callback: short } },
      },
      plugins: { legend: {
        display: round || report.series.length > 1, position: innerWidth < 640 ? "bottom" : "right",
        labels: { color: color("ink"), usePointStyle: true, pointStyle: "circle", boxHeight: 8, padding: 14 },
      } },
    },
  });
}
