/* The session and what the visitor does */

// The service serves the page under this path; elsewhere the visitor names the service.
const own = /^https?:$/.test(location.protocol) && location.pathname === "/panel";

function view(name, focus = true) {
  for (const id of ["enter", "board", "reports"]) $(id).hidden = id !== name;
  for (const button of document.querySelectorAll("[data-view]")) {
    if (button.dataset.view === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  $("views").hidden = $("leave").hidden = !session;
  set("alert", "");
  if (!focus) return;
  $(`${name}-title`).focus({ preventScroll: true });
  scrollTo(0, 0);
}

function service() {
  if (own) return "";
  const value = $("address").value.trim();
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) return null;
  const { origin, pathname } = new URL(value);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

async function enter(event) {
  event.preventDefault();
  const address = service();
  set("alert", address === null ? text.badAddress : "");
  if (address === null) return $("address").focus();
  session = { address, instance: $("instance").value.trim(), key: $("key").value.trim(), token: $("token").value.trim() };
  say(text.loading);
  $("open").setAttribute("aria-disabled", "true");
  await task("enter", $("enter"), async current => {
    const [found, names] = await Promise.all([api.funnels(), readNames()]);
    if (!current()) return;
    funnels = found;
    [users, tagNames] = names;
    $("credentials").reset();
    set("who", session.instance);
    fillFunnels();
    fillPeople();
    fillReports();
    view("board");
    loadBoard();
  }, error => {
    session = null;
    say("");
    set("alert", words(error));
    if (error.kind === "credentials") $("key").focus();
  });
  $("open").removeAttribute("aria-disabled");
  return undefined;
}

function leave(said) {
  const address = session?.address;
  session = report = reports = null;
  [funnels, board, people, users, tagNames] = [[], [], new Set(), new Map(), new Map()];
  trail.length = 0;
  latest.clear();
  for (const element of document.querySelectorAll("[aria-busy]")) element.removeAttribute("aria-busy");
  chart?.destroy();
  chart = null;
  if ($("details").open) $("details").close();
  for (const id of ["columns", "totals", "values", "details-body", "funnel", "report", "user", "field"]) $(id).replaceChildren();
  for (const id of ["credentials", "filters", "range"]) $(id).reset();
  $("address").value = address ?? "";
  $("result").hidden = true;
  $("range").hidden = false;
  set("who", "");
  view("enter");
  if (said) set("alert", said);
}

function translate() {
  text = TEXTS[language];
  document.documentElement.lang = locale;
  document.title = text.title;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text[element.dataset.text];
  for (const element of document.querySelectorAll("[data-label]")) element.ariaLabel = text[element.dataset.label];
  for (const button of $("languages").children) button.setAttribute("aria-pressed", String(button.value === language));
  if (!session) return;
  const field = $("field").value;
  fillFunnels();
  $("field").value = field;
  fillPeople();
  fillReports();
  if (board.length) showBoard();
  showReport();
}

$("languages").addEventListener("click", ({ target }) => {
  if (!(target.value in TEXTS)) return;
  language = target.value;
  locale = tags.find(([, found]) => found.toLowerCase() === language)?.[0] ?? { pt: "pt-BR", en: "en" }[language];
  translate();
});
$("views").addEventListener("click", ({ target }) => {
  if (!target.dataset.view) return;
  view(target.dataset.view);
  if (target.dataset.view === "reports") openReports();
});
$("credentials").addEventListener("submit", enter);
$("leave").addEventListener("click", () => leave(text.left));
$("filters").addEventListener("submit", event => {
  event.preventDefault();
  loadBoard();
});
$("filters").addEventListener("change", ({ target }) => target.name === "status" && loadBoard());
$("clear").addEventListener("click", () => {
  $("filters").reset();
  loadBoard();
});
$("funnel").addEventListener("change", () => {
  board = [];
  fillFields();
  loadBoard();
});
$("report").addEventListener("change", () => loadReport());
$("period").addEventListener("change", choosePeriod);
for (const id of ["report-from", "report-to"]) $(id).addEventListener("change", () => { $("period").value = CUSTOM; });
$("range").addEventListener("submit", event => {
  event.preventDefault();
  loadReport(true);
});
$("kinds").addEventListener("change", () => report && showReport());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart && draw());
$("back").addEventListener("click", back);
$("close").addEventListener("click", () => $("details").close());
$("details").addEventListener("close", () => { trail.length = 0; });
// A click outside of the dialog's box.
$("details").addEventListener("click", ({ target }) => target === $("details") && $("details").close());

$("address-field").hidden = own;
$("address").required = !own;
translate();
view("enter", false);
