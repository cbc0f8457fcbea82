// The panel as its visitors use it. Each part opens the page anew; the first failure ends the walk.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { Browser } from "./browser.mjs";
import { CONTRAST } from "./contrast.mjs";

const [name, profile, shots, ...funil] = process.argv.slice(2);
const { ADDRESS, DATA, KEY, TOKEN } = process.env;
const HOSTILE = new URL("hostile.ndjson", import.meta.url).pathname;
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };
/* The page calls nothing but these endpoints of the service, and changes nothing. */
const CALLS = [/^GET \/panel$/, /^GET \/crm\?/, /^POST \/crm\/opportunities\/\d+\?/, /^GET \/crmopportunity\/\d+\?/,
  /^GET \/leads\/\d+\?/, /^GET \/user\?/, /^GET \/tags\?/, /^GET \/advancedreports\?/, /^GET \/reportchart\/\d+\?/, /^OPTIONS /];
const BOARD = "!document.getElementById('board').hidden && document.querySelector('#columns .column')";
const FOREIGN = "document.querySelectorAll('img, iframe, object, embed, svg svg, svg [onload], [onerror], [onmouseover], [style]:not(canvas)').length";
const CLOSED = "!document.getElementById('details').open";

const browser = new Browser(name, profile);
const press = (...keys) => browser.press(...keys);
const value = expression => browser.evaluate(expression);
const text = selector => value(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`);
const click = selector => value(`document.querySelector(${JSON.stringify(selector)}).click()`);
const settled = () => browser.until("!document.querySelector('[aria-busy]')");
const active = () => value("document.activeElement.id || document.activeElement.textContent.trim()");

async function fill(id, content) {
  await value(`document.getElementById('${id}').value = ''; document.getElementById('${id}').focus()`);
  await browser.write(content);
}

async function signIn(options, page = `${ADDRESS}/panel`, token = TOKEN) {
  await browser.open(page, options);
  if (!page.startsWith(ADDRESS)) await fill("address", `${ADDRESS}/`);
  await fill("instance", "demo");
  await fill("key", KEY);
  await fill("token", token);
  await press("Enter");
  await browser.until(BOARD);
}

/* The values of a fact in the open details. */
const fact = name => value(`[...document.querySelectorAll('#details-body dl div')]
  .filter(({ firstChild }) => firstChild.textContent === ${JSON.stringify(name)}).map(({ lastChild }) => lastChild.textContent)`);
function operate(command, input) {
  const [name, ...rest] = [...funil, "--data", DATA, ...command];
  return execFileSync(name, rest, { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] }).trim();
}

const responsibles = () => value("[...$('user').options].map(({ value, textContent }) => [value, textContent])");

async function chooseFunnel(id) {
  await value(`$('funnel').value = '${id}'; $('funnel').dispatchEvent(new Event('change', { bubbles: true }))`);
  await settled();
}

async function openCard() {
  await click(".deal button");
  await browser.until("document.querySelector('#details-body dl')");
}

async function openReport(id) {
  await click("[data-view=reports]");
  await browser.until("report && $('report').options.length > 1");
  await value(`$('report').value = '${id}'; $('report').dispatchEvent(new Event('change', { bubbles: true }))`);
  await browser.until(`report.id === ${id}`);
  await settled();
}

/* Nothing exceeds the width, every control has a name, texts are legible, data is no markup, and the policy was not violated. */
async function sound() {
  // A phone's `innerWidth` grows with the page.
  assert.ok(await value("document.documentElement.scrollWidth") <= browser.width, "the page is wider than the screen");
  const { nodes } = await browser.command("Accessibility.getFullAXTree");
  const roles = ["button", "textbox", "searchbox", "combobox", "checkbox", "radio", "dialog", "link", "heading", "image", "table", "region", "group"];
  const nameless = nodes.filter(({ ignored, role, name }) => !ignored && roles.includes(role?.value) && role.value !== "group" && !name?.value?.trim());
  assert.deepEqual(nameless.map(({ role }) => role.value), []);
  assert.deepEqual(await value(CONTRAST), []);
  assert.equal(await value(FOREIGN), 0);
  assert.deepEqual(await value("violations"), []);
  assert.deepEqual(browser.faults, []);
}

const parts = {
  async "every view on phone and desktop, light and dark, in both languages"() {
    for (const [size, options] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
      for (const dark of [false, true]) {
        const shot = step => browser.screenshot(join(shots, `${size}-${dark ? "dark" : "light"}-${step}.png`));
        await browser.open(`${ADDRESS}/panel`, { ...options, dark });
        await shot("1-enter");
        await sound();
        await signIn({ ...options, dark, languages: dark ? "en-GB" : "pt-BR" });
        assert.equal(await text("#board-title"), dark ? "Board" : "Quadro");
        assert.equal(await value("document.documentElement.lang"), dark ? "en-GB" : "pt-BR");
        await sound();
        await shot("2-board");
        await click("#more summary");
        await sound();
        await shot("3-filters");
        await click("#more summary");
        await openCard();
        await sound();
        await shot("4-opportunity");
        await click("#details-body button.main");
        await browser.until("!$('back').hidden && document.querySelector('#details-body dl')");
        await sound();
        await shot("5-lead");
        await press("Escape");
        for (const [id, kind] of [[1, "bar"], [2, "line"], [1, "pie"]]) {
          await openReport(id);
          await click(`[name=kind][value=${kind}]`);
          await value("new Promise(done => setTimeout(done, 100))");
          await sound();
          await shot(`6-${kind}`);
        }
      }
    }
  },

  async "the board's totals are those of its columns, and filters reach the service"() {
    await signIn(DESKTOP);
    const total = () => value("Number(document.querySelector('#totals dd').textContent.replace(/\\D/g, ''))");
    const all = await total();
    assert.equal(all, await value("board.reduce((all, { total }) => all + total, 0)"));
    assert.ok(all >= 9);
    assert.match(await text("#live"), new RegExp(`^${all} oportunidades, valor total `));
    await click("[name=status][value=gain]");
    await settled();
    const won = await total();
    assert.ok(won > 0 && won < all);
    assert.ok(await value("board.every(({ items }) => items.every(({ status }) => status === 'gain'))"));
    await click("#clear");
    await settled();
    assert.equal(await total(), all);
    await click("#more summary");
    await value("$('field').value = 'Origem do Lead'");
    await fill("field-value", "Indica");
    await press("Enter");
    await settled();
    assert.ok(await value("board.some(({ items }) => items.length)"));
    assert.ok(await value("board.every(({ items }) => items.every(({ fields }) => fields['Origem do Lead'].startsWith('Indica')))"));
    await click("#clear");
    await fill("search", "nobody has this name");
    await press("Enter");
    await settled();
    assert.equal(await total(), 0);
    await sound();
  },

  async "a column shows all of its opportunities, each once"() {
    await signIn(DESKTOP);
    for (let i = 0; i < 40 && await value("Boolean(document.querySelector('.more:not([hidden])'))"); i++) {
      await click(".more:not([hidden])");
      await settled();
    }
    assert.ok(await value("board.every(({ items, total }) => new Set(items.map(({ id }) => id)).size === total && items.length === total)"));
    assert.equal(await value("document.querySelectorAll('.deal').length"), await value("board.reduce((all, { total }) => all + total, 0)"));
    await sound();
  },

  async "details name the lead, and the focus returns to the card"() {
    await signIn(DESKTOP);
    await value("document.querySelector('.deal button').focus()");
    const card = await active();
    await press("Enter");
    await browser.until("document.querySelector('#details-body dl')");
    assert.equal(await text("#details-title"), card);
    assert.equal(await active(), "details-title");
    await click("#details-body button.main");
    await browser.until("!$('back').hidden && document.querySelector('#details-body dl')");
    await click("#back");
    await browser.until("document.querySelector('#details-body button.main')");
    await press("Escape");
    assert.ok(await value(CLOSED));
    assert.equal(await active(), card);
    await sound();
  },

  async "users and tags have names, or ids if the token is not entered"() {
    await signIn(DESKTOP);
    assert.deepEqual(await responsibles(),
      [["", "Todos"], ["7", "Ana Souza"], ["8", "Bruno Lima"], ["9", "Carla Mendes"], ["10", "Diego Alves"], ["11", "Elisa Prado"]]);
    await value("$('user').value = '8'");
    await click("#filters button.main");
    await settled();
    assert.ok(await value("board.some(({ items }) => items.length) && board.every(({ items }) => items.every(({ user }) => user === 8))"));
    await openCard();
    assert.deepEqual(await fact("Responsável"), ["Bruno Lima"]);
    await value("showDetails('lead', 1011)");
    await browser.until("!$('back').hidden && document.querySelector('#details-body dl')");
    assert.deepEqual([await fact("Responsável"), await fact("Etiquetas"), await fact("tags")], [["Bruno Lima"], ["Quente, Parceiro"], []]);
    await click("#languages [value=en]");
    assert.deepEqual((await responsibles()).slice(0, 3), [["", "Everyone"], ["7", "Ana Souza"], ["8", "Bruno Lima"]]);
    assert.equal(await value("$('user').value"), "8");
    await sound();
    await signIn(DESKTOP, `${ADDRESS}/panel`, "");
    assert.equal(await text("#alert"), "");
    const ids = (await responsibles()).slice(1);
    assert.ok(ids.length);
    assert.deepEqual(ids, ids.map(([id]) => [id, `Usuário ${id}`]));
    await sound();
  },

  async "a report is a chart and a table, for the range that was chosen"() {
    await signIn(DESKTOP);
    const shown = "[$('report-total-name').textContent, $('values').rows[0].cells.length, document.querySelector('[value=pie]').disabled]";
    await openReport(5);
    assert.deepEqual(await value(shown), ["Média", 2, true]);
    const many = "report = { ...report, labels: Array.from({ length: 300 }, (_, i) => `N${i}`), series: [{ name: 'n', data: Array(300).fill(2) }]";
    await value(`${many}, total: 600 }; showReport()`);
    assert.deepEqual(await value("[chart.data.labels.length, chart.data.labels.at(-1), chart.data.datasets[0].data.at(-1)]"), [24, "Outros", 554]);
    await openReport(2);
    assert.deepEqual(await value(shown), ["Total", 3, false]);
    assert.match(await text("#report-total"), /^[\d.]+,\d\d$/);
    await value("$('report-from').value = '2026-01-01'; $('report-to').value = '2026-06-30'");
    await click("#range button.main");
    await browser.until("report.from === '2026-01-01' && report.to === '2026-06-30'");
    await settled();
    assert.equal(await value("document.querySelectorAll('#values tbody tr').length"), 6);
    assert.match(await value("$('canvas').ariaLabel"), /^Gráfico \(Linha\) de Receita ganha por mês/);
    assert.equal(await text("#values tbody th"), "jan. de 2026");
    for (const kind of ["bar", "pie", "line"]) {
      await click(`[name=kind][value=${kind}]`);
      assert.ok(await value(`chart === null || chart.config.type === '${kind}'`));
    }
    await click("#languages [value=en]");
    assert.equal(await text("#values tbody th"), "Jan 2026");
    assert.equal(await text("#reports-title"), "Reports");
    await sound();
  },

  async "credentials stay in memory: no storage, no address, nothing after a reload"() {
    await signIn(PHONE);
    const kept = "JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, history.state, document.documentElement.outerHTML])";
    const left = await value(kept);
    assert.ok(!left.includes(KEY) && !left.includes(TOKEN));
    assert.deepEqual(JSON.parse(left).slice(0, 4), ["", {}, {}, `${ADDRESS}/panel`]);
    assert.deepEqual(await value("['instance', 'key', 'token'].map(id => $(id).value)"), ["", "", ""]);
    await click("#leave");
    assert.equal(await value("session"), null);
    assert.equal(await active(), "enter-title");
    assert.equal(await value("document.querySelectorAll('.deal').length"), 0);
    await fill("instance", "demo");
    await fill("key", KEY.replace(/.$/, last => (last === "a" ? "b" : "a")));
    await press("Enter");
    await browser.until("!$('alert').hidden && !$('enter').hasAttribute('aria-busy')");
    assert.match(await text("#alert"), /^As credenciais foram recusadas/);
    await sound();
  },

  async "an instance without funnels and reports, and a funnel that cannot be loaded"() {
    operate(["instance", "create", "vazia"]);
    operate(["import", "--instance", "vazia", "-"], '{"kind":"user","id":1,"name":"Ana","admin":true}');
    const key = operate(["key", "issue", "--instance", "vazia", "--user", "1", "--label", "x"]);
    await browser.open(`${ADDRESS}/panel`, PHONE);
    for (const [id, content] of [["instance", "vazia"], ["key", key]]) await fill(id, content);
    await press("Enter");
    await browser.until("!$('board').hidden");
    assert.deepEqual([await text("#columns"), await text("#live")], Array(2).fill("Esta chave não vê nenhum funil."));
    await click("[data-view=reports]");
    await browser.until("!$('alert').hidden");
    assert.deepEqual([await text("#alert"), await text("#live")], ["Esta instância não tem relatórios.", ""]);
    assert.deepEqual(await value("['filters', 'range'].map(id => $(id).hidden)"), [true, true]);
    await sound();
    await signIn(PHONE);
    await value("api.opportunities = () => Promise.reject(new Failure('busy', 9))");
    await chooseFunnel(await value("$('funnel').options[1].value"));
    assert.match(await text("#alert"), / 9 segundos/);
    assert.deepEqual(await value("['totals', 'columns'].map(id => $(id).childElementCount)"), [0, 0]);
  },

  async "hostile data is text"() {
    operate(["import", "--instance", "demo", HOSTILE]);
    await signIn(DESKTOP);
    await chooseFunnel(90);
    assert.equal(await text(".deal button"), "<img src=x onerror=alert(1)><b>title</b>");
    assert.equal(await text(".deal strong"), "9.999.999.999.999,99");
    await openCard();
    await sound();
    assert.deepEqual(await fact("Empresa"), ["<img src=x onerror=alert(1)>"]);
    assert.deepEqual(await fact("Responsável"), ["<img src=x onerror=alert(1)> </option><script>window.stolen=1</script>"]);
    const links = "[...document.querySelectorAll('#details-body a')].map(({ protocol, rel }) => [protocol, rel])";
    assert.deepEqual(await value(links), [["https:", "noopener noreferrer"]]);
    await browser.screenshot(join(shots, "hostile-opportunity.png"));
    await click("#details-body button.main");
    await browser.until("!$('back').hidden && document.querySelector('#details-body dl')");
    assert.match(await text("#details-title"), /^<img src=x onerror=fetch/);
    assert.deepEqual((await value(links)).map(([protocol]) => protocol), ["mailto:"]);
    assert.deepEqual(await fact("Etiquetas"), ["<img src=x onerror=alert(1)>"]);
    await sound();
    await press("Escape");
    await openReport(90);
    const markup = "<img src=x onerror=alert(1)>";
    await value(`report = { ...report, labels: ["${markup}"], series: [{ name: "${markup}", data: [1] }], total: 1 }; showReport()`);
    assert.equal(await text("#values tbody th"), markup);
    await sound();
    await browser.screenshot(join(shots, "hostile-report.png"));
    assert.equal(await value("document.scripts.length"), 2);
    assert.equal(await value("typeof stolen"), "undefined");
  },

  async "the keyboard suffices"() {
    await browser.open(`${ADDRESS}/panel`, DESKTOP);
    const tabTo = async condition => {
      for (let i = 0; i < 60; i++) {
        await press("Tab");
        if (await value(`document.activeElement.matches(${JSON.stringify(condition)})`)) return;
      }
      assert.fail(`Tab does not reach ${condition}`);
    };
    await press("Tab");
    assert.equal(await active(), "Ir para o conteúdo");
    for (const [id, content] of [["instance", "demo"], ["key", KEY], ["token", TOKEN]]) {
      await tabTo(`#${id}`);
      await browser.write(content);
    }
    await press("Enter");
    await browser.until(BOARD);
    assert.equal(await active(), "board-title");
    await tabTo("#search");
    await browser.write("silva");
    await press("Enter");
    await settled();
    await tabTo(".deal button");
    const card = await active();
    await press("Enter");
    await browser.until("document.querySelector('#details-body dl')");
    await tabTo("#details-body button.main");
    await press("Enter");
    await browser.until("!$('back').hidden && document.querySelector('#details-body dl')");
    assert.ok(await value("$('details').contains(document.activeElement)"));
    await press("Escape");
    assert.equal(await active(), card);
    await value("document.activeElement.blur(); $('main').focus()");
    for (let i = 0; i < 10 && await value("document.activeElement.dataset?.view") !== "reports"; i++) await press("Shift+Tab");
    await press("Enter");
    await browser.until("report && chart");
    assert.equal(await active(), "reports-title");
    await tabTo("[name=kind]");
    await press("ArrowRight");
    assert.equal(await value("chart.config.type"), "line");
    await tabTo(".scroll");
    await sound();
  },

  async "the copy works from another place"() {
    await signIn(DESKTOP, new URL("../../examples/panel.html", import.meta.url).href);
    await openCard();
    await sound();
  },
};

try {
  for (const [part, walk] of Object.entries(parts)) {
    await walk();
    console.log(`passed: ${part}`);
  }
  const called = browser.requests.filter(({ url }) => url.startsWith("http"));
  const allowed = ({ method, url }) => CALLS.some(call => url.startsWith(`${ADDRESS}/`) && call.test(`${method} ${url.slice(ADDRESS.length)}`));
  assert.ok(called.length > 50);
  assert.deepEqual(called.filter(request => !allowed(request)).map(({ method, url }) => `${method} ${url}`), []);
  console.log(`${called.length} requests, all to the eight endpoints`);
} finally {
  await browser.close();
}
console.log(`screenshots in ${shots}`);
