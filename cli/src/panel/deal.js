/* The sheet of an opportunity, and the form of a new one. */

/* A text of one line. */
const required = written => {
  if (!written) throw text.required;
  return written.replace(/\s*\n\s*/g, " ");
};

/* A day with a whole year. */
const readDay = written => {
  if (!isDay(written)) throw text.badDay;
  return written;
};

/* A custom field. A number stays a number, and an empty field is removed. */
function CustomField({ name, kind, value, save, edits, isOld = false }) {
  // The funnel has no such field any more.
  if (isOld && edits) return html`<${Facts} entries=${[[name, plain(value)]]} />`;
  const known = value ?? "";
  if (typeof value === "boolean" || /^bool/i.test(kind)) {
    const options = [["", ""], ["true", text.yes], ["false", text.no]];
    return html`<${Field} label=${name} value=${String(known)} shownValue=${plain(known)} options=${options} edits=${edits} save=${written => save(written === "" ? null : written === "true")} />`;
  }
  if (typeof value === "object" && value !== null) return edits ? html`<${Facts} entries=${[[name, plain(value)]]} />` : html`<div class="fact"><dt>${name}</dt><dd>${plain(value)}</dd></div>`;
  const isNumber = typeof value === "number" || isNumeric(kind);
  const isDay = /^date$/i.test(kind) && (known === "" || /^\d{4}-\d\d-\d\d$/.test(known));
  const read = written => (written === "" ? null : isNumber ? readNumber(written) : written);
  return html`<${Field} label=${name} value=${typeof value === "number" ? numberText(value) : String(known)} shownValue=${linked(known)} type=${isDay ? "date" : "text"} max=${10_000} read=${read} save=${save} edits=${edits} />`;
}

function DealSheet({ isLast }) {
  const { id } = state.route;
  const record = shown(id);
  if (!record) {
    const why = state.missing?.id === id && state.missing.why;
    return html`<${Sheet} name=${`deal-${id}`} title=${text.opportunity} kind=${text.opportunity} isLast=${isLast}>${why ? html`<${Failed} why=${why} again=${load} />` : html`<p class="empty">${text.loading}</p>`}</${Sheet}>`;
  }
  const edits = may("editOpportunities");
  const save = async change => {
    try {
      await write(id, change);
      if ("user" in change) await hasGone("opportunities", api.deal, id, text.saved(title));
    } catch (error) {
      if (error.kind === "missing") fetchDeal(id);
      throw error;
    }
  };
  const { title, crm_id: funnel, crm_column: column, status, dataLead: lead, dataCompany: company } = record;
  const run = work => () => work();
  const fields = [...funnelOf(funnel).fields, ...Object.keys(record.fields ?? {}).filter(name => !funnelOf(funnel).fields.some(one => one.name === name)).map(name => ({ name, type: "text", isOld: true }))];
  const columns = funnelOf(funnel).columns.map(one => [one.id, one.name]);
  return html`<${Sheet} name=${`deal-${id}`} title=${title} kind=${`${text.opportunity} #${id}`} isLast=${isLast}>
    <h2 class=${edits ? "quiet" : ""}>${title}</h2>
    ${!edits && html`<p class="soft">${text.onlyReads}</p>`}
    <p class="state"><strong class="large">${money(record.cents)}</strong><span class="tag ${status}">${text[`${status}1`]}</span></p>
    ${edits && html`<div class="acts"><${Acts} record=${record} run=${run} /></div>`}
    <${Fields} key=${id} edits=${edits}>
      <${Field} label=${text.name} value=${title} edits=${edits} isTitle read=${required} save=${value => save({ title: value })} />
      <${Field} label=${text.stage} value=${column} shownValue=${columnOf(funnel, column)?.name} options=${columns} edits=${edits} save=${value => save({ crm_column: Number(value) })} />
      <${Field} label=${text.value} value=${amountText(record.cents)} shownValue=${money(record.cents)} edits=${edits} read=${readMoney} save=${value => save({ value })} />
      <${Field} label=${text.owner} value=${record.user} shownValue=${person(record.user)} options=${userOptions(record.user)} edits=${edits} save=${value => save({ user: Number(value) })} />
      <${Field} label=${text.expected} type="date" value=${record.expectedCloseDate ? dayOf(record.expectedCloseDate) : ""} shownValue=${record.expectedCloseDate && when(dayOf(record.expectedCloseDate))}
        edits=${edits} read=${readDay} save=${value => save({ expectedCloseDate: value || null })} />
      ${status !== "open" && html`<${Field} label=${status === "lost" ? text.lossReason : text.gainReason} value=${(status === "lost" ? record.loss_reason : record.gain_reason) ?? ""} max=${10_000} edits=${edits}
        save=${value => save({ [status === "lost" ? "loss_reason" : "gain_reason"]: value || null })} />`}
    </${Fields}>
    ${fields.length > 0 && html`<${Section} title=${text.customFields}><${Fields} edits=${edits}>${fields.map(({ name, type, isOld }) => html`<${CustomField} key=${name} name=${name} kind=${type ?? "text"} value=${record.fields?.[name]}
      edits=${edits} isOld=${isOld} save=${value => save({ fields: { [name]: value } })} />`)}</${Fields}></${Section}>`}
    ${record.lead_id && html`<${Section} title=${text.lead}><div class="person"><span class="avatar" aria-hidden="true">${initials(lead?.fullname)}</span>
      <div><p>${may("leads") ? html`<a href=${written({ view: "leads", id: record.lead_id, filters: FILTERS.leads })}>${lead?.fullname || `#${record.lead_id}`}</a>` : lead?.fullname}</p>
        <p class="soft">${mail(lead?.email)} ${dial(lead?.mobile ?? lead?.phone)}</p></div></div></${Section}>`}
    ${company && html`<${Section} title=${text.company}><${Facts} entries=${[[text.company, company.companyname], [text.email, mail(company.companyemail)], [text.phone, dial(company.companyphone)],
      [text.city, [company.companycity, company.companystate].filter(Boolean).join(", ")]]} /></${Section}>`}
    <${Section} title=${text.facts}><${Facts} entries=${[[text.funnel, funnelOf(funnel).name], [text.createDate, moment(record.createDate)], [text.updateDate, moment(record.updateDate)],
      [text.gainDate, record.gain_date && moment(record.gain_date)], [text.lostDate, record.lost_date && moment(record.lost_date)], [text.saleChannel, linked(record.sale_channel)],
      [text.campaign, linked(record.campaign)], [text.archived, record.archived ? text.yes : ""]]} /></${Section}>
  </${Sheet}>`;
}

/* A lead by name, number or address. The last choice makes a new one. */
function LeadChoice({ chosen, choose, fault }) {
  const [draft, setDraft] = useState(chosen?.name ?? "");
  const [found, setFound] = useState([]);
  const [at, setAt] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const asked = useRef("");
  const timer = useRef();
  const options = [...found.map(({ id, fullname, email }) => ({ id, name: fullname || email || `#${id}`, email })), ...(draft.trim() && may("editLeads") ? [{ id: null, name: draft.trim() }] : [])];
  const search = written => {
    clearTimeout(timer.current);
    asked.current = written;
    timer.current = setTimeout(async () => {
      const leads = written && may("leads") ? await api.findLeads(written).catch(() => []) : [];
      if (asked.current !== written) return;
      setFound(leads);
      // A choice that was made meanwhile is the last one: a new lead.
      setAt(old => (old < 0 && leads.length ? 0 : old < 0 ? -1 : leads.length));
    }, 250);
  };
  const typed = ({ target }) => {
    setDraft(target.value);
    setOpen(true);
    choose(null);
    // Those of the former text.
    setFound([]);
    setAt(-1);
    search(target.value.trim());
  };
  const pick = option => {
    setDraft(option.name);
    setOpen(false);
    choose(option);
  };
  const pressed = event => {
    if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      return setOpen(false);
    }
    if (event.key === "Enter" && isOpen && options[at]) {
      event.preventDefault();
      return pick(options[at]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !options.length) return undefined;
    event.preventDefault();
    setOpen(true);
    return setAt((at + step + options.length) % options.length);
  };
  const isShown = isOpen && options.length > 0;
  return html`<div class="field combo"><label for="new-lead">${text.lead}</label>
    <input id="new-lead" role="combobox" autocomplete="off" maxlength="255" placeholder=${text.chooseLead} aria-expanded=${isShown} aria-controls="new-lead-list" aria-autocomplete="list"
      aria-activedescendant=${isShown && at >= 0 ? `new-lead-${at}` : undefined} aria-invalid=${fault ? "true" : undefined} aria-describedby="new-lead-note" value=${draft} onInput=${typed} onKeyDown=${pressed} onBlur=${() => setTimeout(() => setOpen(false), 150)} />
    <ul id="new-lead-list" role="listbox" aria-label=${text.lead} hidden=${!isShown}>${options.map((option, i) => html`<li key=${option.id ?? "new"} id=${`new-lead-${i}`} role="option" aria-selected=${i === at}
      onPointerDown=${event => { event.preventDefault(); pick(option); }}>${option.id === null ? text.createLead(option.name) : option.name}<span class="soft">${option.email && option.email !== option.name ? option.email : ""}</span></li>`)}</ul>
    <p id="new-lead-note" class="fault">${fault}</p></div>`;
}

const sent = event => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  event.currentTarget.form.requestSubmit();
};
/* A field of a form. A long one grows with its text, and Enter submits the form as in the others. */
const Input = ({ label, name, type = "text", isLong, fault, ...rest }) => html`<div class="field"><label for=${`new-${name}`}>${label}</label>
  <${isLong ? "textarea" : "input"} id=${`new-${name}`} name=${name} ...${isLong ? { rows: 2, onKeyDown: sent } : { type }} autocomplete="off" maxlength="255" aria-invalid=${fault ? "true" : undefined} aria-describedby=${`new-${name}-note`} ...${rest} />
  <p id=${`new-${name}-note`} class="fault">${fault}</p></div>`;

function NewDeal({ isLast }) {
  const { funnel } = state.route;
  const [lead, setLead] = useState(null);
  const [faults, setFaults] = useState({});
  const [busy, setBusy] = useState(false);
  const submit = async event => {
    event.preventDefault();
    if (busy) return;
    const entries = Object.fromEntries(new FormData(event.currentTarget));
    const wrong = { lead: lead ? "" : text.chooseLead };
    const read = (name, reader) => {
      try {
        return reader(entries[name].trim());
      } catch (fault) {
        wrong[name] = fault;
      }
    };
    const [title, value] = [read("title", required), read("value", written => readMoney(written || "0"))];
    const expected = read("expected", readDay);
    setFaults(wrong);
    const first = ["title", "lead", "value", "expected"].find(name => wrong[name]);
    if (first) return void document.getElementById(`new-${first}`).focus();
    setBusy(true);
    try {
      const leadId = lead.id ?? (await api.createLead(personOf(lead.name))).id;
      if (!lead.id) renewLeads();
      const body = { title, crm_column: Number(entries.column), lead_id: leadId, value, user: Number(entries.user) };
      if (expected) body.expectedCloseDate = expected;
      const record = keep(await api.create(funnel, body));
      onceKeys.clear();
      if (!await hasGone("opportunities", api.deal, record.id, text.createdNow(title))) added(record);
    } catch (error) {
      setFaults({ form: text.refusedField(reason(error)) });
    }
    setBusy(false);
  };
  const { columns } = funnelOf(funnel);
  const clear = name => setFaults(old => ({ ...old, [name]: "", form: "" }));
  const chosen = option => {
    setLead(option);
    clear("lead");
  };
  return html`<${Sheet} isForm name="deal-new" title=${text.newDeal} kind=${funnelOf(funnel).name} isLast=${isLast}>
    <form class="fields" onSubmit=${submit} onInput=${({ target }) => clear(target.name)} novalidate><h2>${text.newDeal}</h2>
      <${Input} isLong label=${text.name} name="title" fault=${faults.title} autofocus />
      <${LeadChoice} chosen=${lead} choose=${chosen} fault=${faults.lead} />
      <${Input} label=${text.value} name="value" inputmode="decimal" fault=${faults.value} />
      <div class="field"><label for="new-column">${text.stage}</label><select id="new-column" name="column">${columns.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}</select></div>
      <div class="field"><label for="new-user">${text.owner}</label><select id="new-user" name="user">${userOptions(state.me.user.id).map(([id, name]) => html`<option key=${id} value=${id} selected=${id === state.me.user.id}>${name}</option>`)}</select></div>
      <${Input} label=${text.expected} name="expected" type="date" fault=${faults.expected} />
      ${faults.form && html`<p class="fault" role="alert">${faults.form}</p>`}
      <div class="acts"><button class="main" aria-disabled=${busy}>${text.create}</button><button type="button" class="plain" onClick=${closeSheet}>${text.cancel}</button></div></form>
  </${Sheet}>`;
}

/* A new lead from what was typed: an e-mail address, a number or a name. */
function personOf(typedText) {
  if (/^\S+@\S+$/.test(typedText)) return { email: typedText };
  return /^[+\d][\d\s().-]{6,}$/.test(typedText) ? { phone: typedText } : { name: typedText };
}

/* Puts a created opportunity on the board, if the page can judge that it belongs there. Else the board is read again. */
function added(record) {
  const { board } = state;
  const said = text.createdNow(record.title);
  if (state.route?.view === "board" && state.route.id === "new") closeSheet();
  if (board && isJudged(board) && passes(board, record)) {
    board.members.add(record.id);
    shift(board, null, record);
    state.writes++;
    setTimeout(() => focusCard(record.id), 60);
  } else if (board) loadBoard(board);
  say(said);
  notify(said, "ok");
}
