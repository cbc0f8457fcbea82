/* The page: sign-in, views, sheets. */

function enter(event) {
  event.preventDefault();
  const entries = Object.fromEntries([...new FormData(event.currentTarget)].map(([name, value]) => [name, value.trim()]));
  const address = entries.address ?? "";
  if (!isOwn && !(URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))) return showError(text.badAddress);
  if (!entries.instance || !entries.key) return showError(text.required);
  return begin({ address: isOwn ? "" : address.replace(/[?#].*$/, "").replace(/\/+$/, ""), instance: entries.instance, key: entries.key, token: entries.token });
}
function showError(said) {
  state.error = said;
  draw();
}

function Enter() {
  const busy = state.phase === "loading";
  const title = useRef();
  useEffect(() => { if (state.error) title.current.focus(); }, [state.error]);
  const field = (name, label, rest) => html`<label>${label}<input name=${name} autocomplete="off" autocapitalize="none" spellcheck=${false} ...${rest} /></label>`;
  return html`<main id="main" class="enter"><h1 ref=${title} tabindex="-1">${text.enterTitle}</h1><p class="soft">${text.enterText}</p>
    <div role="alert">${state.error && html`<p class="note bad">${state.error} ${!busy && sessionStorage.getItem(SESSION) && html`<button type="button" onClick=${start}>${text.again}</button>`}</p>`}</div>
    <form onSubmit=${enter} novalidate>${!isOwn && field("address", text.address, { type: "url", placeholder: "https://…" })}
      ${field("instance", text.instance, { maxlength: 64 })}${field("key", text.key, { type: "password", maxlength: 200, placeholder: "fk_…" })}
      ${field("token", text.token, { type: "password", maxlength: 200, placeholder: "fa_…" })}
      <button class="main" aria-disabled=${busy}>${busy ? text.loading : text.open}</button></form><p class="soft">${text.kept}</p></main>`;
}

const Languages = () => html`<div class="segments languages" role="group" aria-label=${text.language}>${[["pt", "Português"], ["en", "English"]].map(([code, name]) => html`
  <button key=${code} type="button" lang=${code} aria-label=${`${code.toUpperCase()} – ${name}`} aria-pressed=${language === code} onClick=${() => { localStorage.setItem("funil.language", code); speak(code); }}>${code.toUpperCase()}</button>`)}</div>`;

const Mark = () => html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><path d="M4 5h24l-9 11.5V25l-6 3V16.5z" /></svg>`;

function Header() {
  const { route, me } = state;
  const views = [["board", text.board, state.funnels.length > 0], ["leads", text.leads, may("leads")], ["reports", text.reports, state.reports !== null]];
  const first = { board: { view: "board", funnel: state.board?.funnel ?? state.funnels[0]?.id, id: null }, leads: { view: "leads", id: null }, reports: { view: "reports", id: null } };
  const canAdd = route?.view === "board" && state.funnels.length > 0 && mayAdd("board");
  const choose = name => event => {
    event.preventDefault();
    if (name === "leads" && route?.view !== name) state.leads = null;
    visit({ ...first[name], filters: route?.view === name ? {} : FILTERS[name] });
  };
  const leave = async () => {
    if (state.patches.size) say(text.saving);
    await Promise.allSettled(queues.values());
    history.replaceState(null, "", location.pathname + location.search);
    endSession("");
    say(text.left);
  };
  return html`<header class="top"><a class="skip" href="#main" onClick=${event => { event.preventDefault(); document.getElementById("main").focus(); }}>${text.skip}</a>
    <p class="brand"><${Mark} /><span class="product">Funil</span>${me && html`<span class="who" title=${me.user.name}>${me.instance}</span>`}</p>
    ${me && html`<nav class="views" aria-label=${text.views}>${views.filter(([, , isShown]) => isShown).map(([name, title]) => html`
      <a key=${name} href=${`#/${name}`} aria-current=${route?.view === name ? "page" : undefined} onClick=${choose(name)}>${title}</a>`)}</nav>`}
    <div class="tools">${canAdd && html`<button type="button" class="main add" onClick=${() => visit({ id: "new" })} aria-label=${text.newDeal}><span aria-hidden="true">+</span><span class="wide"> ${text.newDeal}</span></button>`}
      <${Languages} />${me && html`<button type="button" class="plain" onClick=${leave}>${text.leave}</button>`}</div></header>`;
}

function App() {
  const { phase, route, offline } = state;
  if (phase !== "ready" || !route) return html`<${Header} /><${Enter} /><p class="quiet" role="status">${state.said}</p>`;
  const dialogs = [];
  const sheets = { board: state.board && [NewDeal, DealSheet], leads: [NewLead, LeadSheet] }[route.view];
  if (route.id && sheets) dialogs.push([sheets[route.id === "new" ? 0 : 1], `${route.view}-${route.id}`]);
  if (state.more && route.view === "board") dialogs.push([MoreFilters, "more"]);
  if (state.menu) dialogs.push([Menu, "menu"]);
  if (state.lose) dialogs.push([Lose, "lose"]);
  const View = { board: Board, leads: Leads, reports: Reports }[route.view];
  return html`<${Header} />${offline && html`<p class="strip" role="alert">${text.offline}</p>`}
    <main id="main" tabindex="-1"><${View} /></main><${DropBar} />
    ${dialogs.length === 0 && html`<${Notice} key="notice" />`}
    ${dialogs.map(([Shown, key], i) => html`<${Shown} key=${key} isLast=${i === dialogs.length - 1} />`)}`;
}

/* Own links change the address without a load, so that closing knows whether the panel made the entry. */
document.addEventListener("click", event => {
  const link = event.target.closest?.("a[href^='#/']");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (link.hash === location.hash) return;
  leavePlace();
  history.pushState({ made: true }, "", link.hash);
  arrive();
});
addEventListener("popstate", () => {
  state.more = null;
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("i") && link.has("k")) {
    endSession("");
    start();
  } else if (state.phase === "ready") arrive();
});
addEventListener("beforeunload", event => state.patches.size && event.preventDefault());
addEventListener("pagehide", leavePlace);
document.addEventListener("visibilitychange", () => !document.hidden && poll());
setInterval(poll, POLL);

function start() {
  const session = foundSession();
  if (session) begin(session);
  else draw();
}
speak(language);
start();
