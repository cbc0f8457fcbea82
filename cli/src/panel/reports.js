/* Reports: a table whose rows have bars, and for a line a curve above it */

const PERIODS = [7, 30, 90, 365];
const USUAL_PERIOD = 90;

const daysBefore = days => new Date(Date.parse(today()) - days * DAY).toISOString().slice(0, 10);
const rangeOf = ({ from, to: end }) => ({ from: from || daysBefore(USUAL_PERIOD - 1), to: end || today() });

function showReport(id, filters) {
  const chosen = id ?? state.reports?.[0]?.id;
  if (chosen === undefined) return;
  const range = rangeOf(filters);
  const name = JSON.stringify([chosen, range]);
  if (state.report?.name === name) return;
  state.report = { name, id: chosen, data: null, error: "" };
  const mine = state.report;
  api.report(chosen, range).then(data => { mine.data = data; }, error => { mine.error = reason(error); }).then(draw);
}

/* Labels of the service: days, months, names, statuses, and - for no value. */
function label(value) {
  if (value === "-") return text.blank;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return when(value, { day: "numeric", month: "short", year: "2-digit" });
  if (/^\d{4}-\d\d$/.test(value)) return when(`${value}-01`, { month: "short", year: "numeric" });
  const { scheduled, rescheduled, canceled } = text;
  return { open: text.open1, gain: text.gain1, lost: text.lost1, scheduled, rescheduled, canceled }[value] ?? String(value);
}

/* A curve of a series over its groups. The table has the values. */
function Curve({ name, data }) {
  const [width, height, top] = [800, 180, Math.max(...data, 1)];
  const points = data.map((value, i) => `${(data.length > 1 ? (i / (data.length - 1)) * width : width / 2).toFixed(1)},${(height - (value / top) * (height - 8)).toFixed(1)}`);
  return html`<svg class="curve" viewBox="0 -4 ${width} ${height + 8}" preserveAspectRatio="none" role="img" aria-label=${text.lineOf(name)}>
    <polygon points=${`0,${height} ${points.join(" ")} ${width},${height}`} /><polyline points=${points.join(" ")} /></svg>`;
}

function Values({ data: { type, labels, series, total } }) {
  const all = series.flatMap(({ data }) => data);
  const digits = [...all, total].every(Number.isInteger) ? 0 : 2;
  const quantity = value => number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const top = Math.max(...all, 0);
  const sum = all.reduce((some, value) => some + value, 0);
  const isAverage = Math.abs(sum - total) > 0.01;
  const isShare = type === "pie" && !isAverage && sum > 0;
  const bar = value => html`<td class="bar-cell" aria-hidden="true"><progress max="1" value=${top > 0 ? Math.max(value, 0) / (isShare ? sum : top) : 0}></progress></td>`;
  return html`<p class="figure"><span class="soft">${isAverage ? text.average : text.total}</span> <strong>${quantity(total)}</strong></p>
    ${type === "line" && top > 0 && series.map(one => html`<${Curve} key=${one.name} ...${one} />`)}
    ${top <= 0 && html`<p class="empty">${text.noValues}</p>`}
    <div class="scroll" tabindex="0" role="group" aria-label=${text.report}><table class="values"><thead><tr><th scope="col">${text.group}</th>${series.map(({ name }) => html`<th key=${name} scope="col">${name}</th>`)}
      ${isShare && html`<th scope="col">${text.share}</th>`}<td class="bar-cell" aria-hidden="true"></td></tr></thead>
      <tbody>${labels.map((name, i) => html`<tr key=${i}><th scope="row">${label(name)}</th>${series.map(one => html`<td key=${one.name}>${quantity(one.data[i])}</td>`)}
        ${isShare && html`<td>${number(series[0].data[i] / sum, { style: "percent", maximumFractionDigits: 1 })}</td>`}${bar(series[0]?.data[i] ?? 0)}</tr>`)}</tbody></table></div>`;
}

function Reports() {
  const { reports, report, route: { filters } } = state;
  if (!reports?.length) return html`<section class="view reports"><h1 class="quiet">${text.reports}</h1><p class="empty">${text.noReports}</p></section>`;
  const range = rangeOf(filters);
  const days = range.to === today() ? PERIODS.find(period => daysBefore(period - 1) === range.from) : null;
  const period = chosen => chosen !== "" && replace({ filters: Number(chosen) === USUAL_PERIOD ? FILTERS.reports : { from: daysBefore(Number(chosen) - 1), to: "" } });
  const day = (name, title) => html`<input type="date" required aria-label=${title} value=${range[name]} onChange=${({ target }) => target.value && isDay(target.value) && replace({ filters: { ...range, [name]: target.value } })} />`;
  return html`<section class="view reports" aria-labelledby="report-title"><div class="row">
      <${Choice} css="funnel" label=${text.report} value=${report?.id} options=${reports.map(({ id, name }) => [id, name])} onChange=${id => visit({ id: Number(id) })} />
      <div class="filters shown"><${Choice} label=${text.period} value=${days ?? ""} options=${[...PERIODS.map(one => [one, one === 365 ? text.year : text.days(one)]), ["", text.otherPeriod]]} onChange=${period} />
        <fieldset><legend class="quiet">${text.period}</legend>${day("from", text.from)}<span aria-hidden="true">–</span>${day("to", text.to)}</fieldset></div></div>
    <article class="result"><h1 id="report-title">${report?.data?.name ?? reports.find(({ id }) => id === report?.id)?.name ?? text.report}</h1>
      ${report?.error && html`<${Failed} why=${report.error} again=${loadAgain} />`}${!report?.data && !report?.error && html`<p class="empty">${text.loading}</p>`}
      ${report?.data && html`<p class="soft">${when(report.data.from)} – ${when(report.data.to)} · ${text.stateAt(when(report.data.generatedAt, { dateStyle: "short", timeStyle: "short" }))}</p><${Values} data=${report.data} />`}</article>
  </section>`;
}
