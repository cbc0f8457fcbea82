/* Dialogs, notices, and fields that save themselves. */

/* A modal dialog. It is closed before it is removed, else the focus falls to the body. The last one has the notices, because others are inert. */
function Dialog({ name, css, label, onClose, children, isLast, style }) {
  const element = useRef();
  useLayoutEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      const id = opener?.closest?.("[data-id]")?.dataset.id;
      if (!opener?.isConnected && id) document.querySelector(`[data-id="${id}"] .title a`)?.focus();
    };
  }, [name]);
  const cancelled = event => {
    event.preventDefault();
    onClose();
  };
  // A click outside begins and ends there: a selection of text may end outside, and an element below the dialog gets no click.
  const wasOutside = useRef(false);
  const isOutside = ({ target, clientX: x, clientY: y }) => {
    const { left, right, top, bottom } = element.current.getBoundingClientRect();
    return target === element.current && (x < left || x > right || y < top || y > bottom);
  };
  return html`<dialog ref=${element} class=${css} aria-label=${label} onCancel=${cancelled} onPointerDown=${event => { wasOutside.current = isOutside(event); }}
    onClick=${event => wasOutside.current && isOutside(event) && onClose()} style=${style}>
    ${children}${isLast && html`<${Notice} />`}</dialog>`;
}

const OK_TIME = 8_000;
const BAD_TIME = 12_000;
let noticeTimer;

/* Shows a notice, with an undo if there is one. */
function notify(said, kind, undo = null) {
  state.notice = { said, kind, undo };
  if (kind === "bad") say(said);
  runNotice();
  draw();
}
function runNotice() {
  clearTimeout(noticeTimer);
  const shown = state.notice;
  noticeTimer = setTimeout(() => {
    if (state.notice === shown) state.notice = null;
    draw();
  }, shown?.kind === "bad" ? BAD_TIME : OK_TIME);
}

/* The notice and what screen readers are told. A notice stays while it is pointed at or focused. */
function Notice() {
  const element = useRef();
  const { notice } = state;
  useLayoutEffect(() => {
    if (notice) element.current.showPopover();
  }, [notice]);
  const dismiss = () => {
    const hadFocus = element.current.contains(document.activeElement);
    state.notice = null;
    draw();
    if (hadFocus) focusCard(state.stop);
  };
  const undo = () => {
    state.notice = null;
    notice.undo();
  };
  return html`<aside class="said" aria-label=${text.notices}><p class="quiet" role="status">${state.said}</p>
    ${notice && html`<div ref=${element} class="notice ${notice.kind}" popover="manual" onPointerEnter=${() => clearTimeout(noticeTimer)} onPointerLeave=${runNotice}
        onFocusIn=${() => clearTimeout(noticeTimer)} onFocusOut=${runNotice}>
      <p>${notice.said}</p>${notice.undo && html`<button type="button" onClick=${undo}>${text.undo}</button>`}
      <button type="button" class="close" aria-label=${text.dismiss} onClick=${dismiss}>×</button></div>`}</aside>`;
}

/* A field that saves alone, when it is left or with Enter. While it is edited it keeps its text and says what somebody else wrote.
   `read` makes the value of the text, or throws the text of a fault. */
function Field({ label, value, shownValue = value, type = "text", options, read = written => written, save, edits, max = 255, isTitle }) {
  const [draft, setDraft] = useState(null);
  const [fault, setFault] = useState("");
  const [said, setSaid] = useState("");
  const isLong = isTitle || (type === "text" && max > 255);
  const base = useRef(value);
  const id = useRef(`field-${Math.random().toString(36).slice(2)}`).current;
  if (draft === null) base.current = value;
  const changedMeanwhile = draft !== null && draft !== value && base.current !== value;
  if (!edits) return isBlank(value) ? null : html`<div class="fact"><dt>${label}</dt><dd>${shownValue}</dd></div>`;
  const commit = async written => {
    if (written === String(value)) {
      setDraft(null);
      return setFault("");
    }
    try {
      const meant = read(written);
      setFault("");
      setSaid(text.saving);
      await save(meant);
      setSaid(text.saved(label));
      say(text.saved(label));
      setDraft(current => (current === written ? null : current));
      setTimeout(() => setSaid(""), 3000);
    } catch (error) {
      setSaid("");
      if (error.kind === "ended") return;
      const why = error instanceof Error ? text.refusedField(reason(error)) : error;
      // Closing a sheet saves the field that is left.
      await new Promise(done => setTimeout(done));
      if (!document.getElementById(`${id}-note`)) return notify(`${label}: ${why}`, "bad");
      // A text stays and can be saved again. A choice returns, because only another choice is a change.
      if (options) setDraft(null);
      setFault(why);
      say(`${label}: ${why}`);
    }
  };
  const common = {
    id, class: isTitle ? "big" : undefined, value: draft ?? value, "aria-invalid": fault ? "true" : undefined, "aria-describedby": `${id}-note`,
    // A day is complete when its field is left: while its year is typed, it is another year.
    onChange: ({ target }) => (type === "date" ? setDraft(target.value) : commit(target.value.trim())),
  };
  const typed = {
    ...common, type, maxlength: max, autocomplete: "off",
    onInput: ({ target }) => {
      setDraft(target.value);
      setFault("");
    },
    onKeyDown: event => {
      if (event.key !== "Enter" || event.isComposing || (event.shiftKey && isLong && !isTitle)) return;
      event.preventDefault();
      commit(event.currentTarget.value.trim());
    },
    onBlur: ({ target }) => (type === "date" ? commit(target.value) : target.value.trim() === value && setDraft(null)),
  };
  const note = fault || (changedMeanwhile && text.othersField(shownValue || "–")) || said;
  return html`<div class="field"><label for=${id}>${label}</label>
    ${options ? html`<select ...${common}>${options.map(([key, name]) => html`<option key=${key} value=${key} selected=${String(key) === String(draft ?? value)}>${name}</option>`)}</select>`
      : isLong ? html`<textarea ...${typed} rows="2" />` : html`<input ...${typed} />`}
    <p id=${`${id}-note`} class=${fault ? "fault" : "soft hint"}>${note}</p></div>`;
}

/* Facts that are read only. */
const Facts = ({ entries }) => {
  const shownOnes = entries.filter(([, value]) => !isBlank(value));
  return shownOnes.length > 0 && html`<dl class="facts">${shownOnes.map(([name, value]) => html`<div class="fact" key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
};

/* Fields of a record; facts for a key that may only read it. */
const Fields = ({ edits, children }) => (edits ? html`<div class="fields">${children}</div>` : html`<dl class="facts">${children}</dl>`);

const Section = ({ title, children }) => html`<section class="part"><h3>${title}</h3>${children}</section>`;

/* A link of a text that is an address of the web, a number or an e-mail address. No other scheme of the data becomes a link. */
function linked(value) {
  const said = plain(value);
  if (!/^https?:\/\/\S+$/i.test(said) || !URL.canParse(said)) return said;
  return html`<a href=${said} target="_blank" rel="noopener noreferrer">${said}</a>`;
}
function dial(value) {
  const digits = String(value ?? "").replace(/\D/g, "");
  // A number without its country is dialled as it is.
  const plus = /^\s*\+/.test(value) || /^55\d{10,11}$/.test(digits) ? "+" : "";
  return digits ? html`<a href=${`tel:${plus}${digits}`}>${String(value)}</a>` : value;
}
const mail = value => (String(value ?? "").includes("@") ? html`<a href=${`mailto:${encodeURIComponent(value)}`}>${value}</a>` : value);

/* The reason why something is not shown. A button asks again. */
const Failed = ({ why, again }) => html`<p class="note bad">${why} ${why !== text.missing && html`<button type="button" onClick=${again}>${text.again}</button>`}</p>`;

/* A sheet from the side, over a view. */
function Sheet({ name, title, kind, children, isLast, isForm = false }) {
  return html`<${Dialog} name=${name} css="sheet" label=${title} onClose=${closeSheet} isLast=${isLast}>
    <header class="bar"><p class="soft" tabindex="-1" autofocus=${!isForm}>${kind}</p><button type="button" class="close" aria-label=${text.close} onClick=${closeSheet}>×</button></header>
    <div class="body">${children}</div></${Dialog}>`;
}

/* The place of a menu of a width below its button. On a phone its style places it. */
const below = ({ x, y }, width) => (innerWidth < 768 ? {}
  : { left: `${Math.max(8, Math.min(x, innerWidth - 8) - width)}px`, top: `${Math.max(8, Math.min(y, innerHeight - 420))}px` });

/* The actions of a card: stages, win, lose, reopen. */
function Menu({ isLast }) {
  const { id } = state.menu;
  const record = shown(id);
  const close = () => {
    state.menu = null;
    draw();
  };
  if (!record) return null;
  const run = work => () => {
    close();
    work();
  };
  const title = record.title || `#${id}`;
  return html`<${Dialog} name=${`menu-${id}`} css="menu" label=${text.actionsOf(title)} onClose=${close} isLast=${isLast} style=${below(state.menu, 248)}>
    <h2>${title}</h2><p class="soft">${text.moveTo}</p>
    <ul>${funnelOf(record.crm_id).columns.map(column => html`<li key=${column.id}><button type="button" aria-current=${column.id === record.crm_column ? "true" : undefined}
      onClick=${run(() => move(id, column.id))}>${column.name}</button></li>`)}</ul>
    <div class="acts"><${Acts} record=${record} run=${run} /><button type="button" class="plain" onClick=${close}>${text.cancel}</button></div>
  </${Dialog}>`;
}

const Acts = ({ record, run }) => [
  record.status !== "gain" && html`<button key="win" type="button" class="win" onClick=${run(() => win(record.id))}>${text.win}</button>`,
  record.status !== "lost" && html`<button key="lose" type="button" class="lose" onClick=${run(() => askLoss(record.id))}>${text.lose}</button>`,
  record.status !== "open" && html`<button key="reopen" type="button" onClick=${run(() => reopen(record.id))}>${text.reopen}</button>`,
];

/* The reason of a loss. Nothing moves before it is confirmed. */
function Lose({ isLast }) {
  const id = state.lose;
  const record = shown(id);
  const [fault, setFault] = useState("");
  const close = () => {
    state.lose = null;
    draw();
    focusCard(id);
  };
  const submit = event => {
    event.preventDefault();
    const { elements } = event.currentTarget;
    const chosen = elements.reason.value || elements.other.value.trim();
    const isChosen = event.currentTarget.querySelector(":checked");
    if (!isChosen || !chosen) {
      setFault(isChosen ? "other" : "reason");
      return event.currentTarget.querySelector(isChosen ? "[name=other]" : "[name=reason]").focus();
    }
    state.lose = null;
    draw();
    return loseFor(id, chosen);
  };
  return html`<${Dialog} name=${`lose-${id}`} css="ask" label=${text.loseTitle} onClose=${close} isLast=${isLast}>
    <form onSubmit=${submit} onInput=${() => setFault("")} novalidate><h2>${text.loseTitle}</h2><p class="soft">${record?.title}</p>
      ${fault === "reason" && html`<p id="reason-note" class="fault" role="alert">${text.chooseReason}</p>`}
      <fieldset aria-describedby=${fault === "reason" ? "reason-note" : undefined}><legend class="quiet">${text.loseTitle}</legend>${state.reasons.map(({ id: of, name }) => html`<label key=${of} class="check"><input type="radio" name="reason" value=${name} required /> ${name}</label>`)}
        <label class="check"><input type="radio" name="reason" value="" checked=${state.reasons.length ? undefined : true} /> ${text.otherReason}</label>
        <input name="other" maxlength="500" aria-invalid=${fault === "other" ? "true" : undefined} aria-label=${text.otherReason} autocomplete="off" onInput=${({ target }) => { target.form.querySelector("[name=reason][value='']").checked = true; }} /></fieldset>
      ${fault === "other" && html`<p class="fault" role="alert">${text.required}</p>`}
      <div class="acts"><button class="main">${text.markLost}</button><button type="button" class="plain" onClick=${close}>${text.cancel}</button></div></form>
  </${Dialog}>`;
}
