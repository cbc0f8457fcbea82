/* The list of leads, the sheet of a lead, and the form of a new one. */

const LIST_QUERY = "{total,leads{id,fullname,email,phone,mobile,owner{id,name},tags,lastActive}}";

function showLeads(filters) {
  const name = JSON.stringify(filters);
  if (state.leads?.name === name) return;
  state.leads = { name, filters, list: [], total: null, page: -1, isPartial: false, ends: false, busy: false, error: "" };
  moreLeads();
}

/* Reads the list from its beginning. */
function renewLeads() {
  state.leads = null;
  if (state.route?.view === "leads") showLeads(state.route.filters);
}

async function moreLeads() {
  const { leads } = state;
  if (leads.busy || leads.ends) return;
  Object.assign(leads, { busy: true, error: "" });
  draw();
  try {
    const body = { query: LIST_QUERY, limit: LEADS_PAGE, page: leads.page + 1, search: leads.filters.q || null, tag: leads.filters.tag || null };
    const { content: { data }, headers } = await api.leads(body);
    const held = new Set(leads.list.map(({ id }) => id));
    leads.list.push(...data.leads.filter(({ id }) => !held.has(id)));
    Object.assign(leads, { total: data.total, page: leads.page + 1, ends: data.leads.length < LEADS_PAGE, isPartial: headers.get("x-total-relation") === "gte" });
  } catch (error) {
    leads.error = reason(error);
  }
  leads.busy = false;
  draw();
}

/* An e-mail address may break before its @. */
const breakable = address => String(address ?? "").split(/(?=@)/).map((part, i) => [i > 0 && html`<wbr />`, part]);

function Leads() {
  const { leads, route: { filters } } = state;
  const tags = [...state.tags];
  const total = leads.total === null ? leads.error || text.loading : `${leads.isPartial ? `${text.atLeast} ` : ""}${text.totalLeads(leads.total)}`;
  const scrolled = ({ currentTarget: list }) => list.scrollTop + list.clientHeight > list.scrollHeight - 600 && leads.total !== null && !leads.error && moreLeads();
  const clicked = event => {
    const row = event.target.closest("tr[data-lead]");
    if (row && !event.target.closest("a")) visit({ id: Number(row.dataset.lead) });
  };
  return html`<section class="view leads" aria-labelledby="leads-title"><h1 id="leads-title" class="quiet">${text.leads}</h1>
    <div class="row"><p class="total">${total}</p><div class="filters shown" role="search" aria-label=${text.leads}>
      <${Search} value=${filters.q} onText=${q => later({ q })} />
      ${tags.length > 0 && html`<${Choice} label=${text.tag} value=${filters.tag} options=${[["", `${text.tag}: ${text.all}`], ...tags]} onChange=${tag => replace({ filters: { tag } })} />`}</div>
      ${may("editLeads") && html`<button type="button" class="new-lead" onClick=${() => visit({ id: "new" })}>+ ${text.newLead}</button>`}</div>
    <div class="scroll" onScroll=${scrolled} onClick=${clicked} tabindex="0" role="group" aria-label=${text.leads}><table>
      <thead><tr>${[text.lead, text.email, text.phone, text.owner, text.tags, text.lastActive].map(name => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
      <tbody>${leads.list.map(lead => html`<tr key=${lead.id} data-lead=${lead.id}><th scope="row"><a href=${to({ id: lead.id })}>${lead.fullname || lead.email || `#${lead.id}`}</a></th>
        <td>${breakable(lead.email)}</td><td>${lead.mobile ?? lead.phone}</td><td>${lead.owner && (lead.owner.name ?? person(lead.owner.id))}</td>
        <td>${(lead.tags ?? []).map(tag => html`<span key=${tag} class="tag">${state.tags.get(tag) ?? `#${tag}`}</span>`)}</td><td>${lead.lastActive && when(lead.lastActive)}</td></tr>`)}</tbody></table>
      ${leads.total === 0 && html`<p class="empty">${text.noLeads}</p>`}${leads.error && html`<${Failed} why=${leads.error} again=${moreLeads} />`}
      ${leads.total > leads.list.length && !leads.ends && html`<button type="button" class="more" aria-disabled=${leads.busy} onClick=${moreLeads}>${text.moreLeads}</button>`}</div></section>`;
}

/* Fields with a name of their own, and those that are of no use to a reader or nobody's business. All others are custom. */
const LEAD_FIELDS = [["firstname", "firstname"], ["lastname", "lastname"], ["email", "email"], ["phone", "phone"], ["mobile", "mobile"], ["chatapp", "chatapp"],
  ["address", "addressLine"], ["city", "city"], ["state", "state"], ["country", "country"], ["zipcode", "zipcode"]];
const UNSHOWN = ["_id", "id", "fullname", "whatsapp", "owner", "points", "acquisition_channel", "tags", "utmTags", "createDate", "updatedDate", "lastActive", "archived", "photoUrl",
  "initial_password", "stage", "company", "userAccess", "departmentAccess", "ignoreSubDepartments", "timezone", "channelRestrictions", "createdBy", "createdByName", "createdByType",
  "updatedBy", "updatedByName", "ips", "link_instancia", "preferred_locale", "role", "department", "instance_active", "lead_online", "partner_instance", "instancedomain"];

async function fetchLead(id) {
  if (state.person?.id !== id) state.person = { id, lead: null, error: "", parts: {} };
  const open = state.person;
  const part = async (name, isAllowed, ask) => {
    if (isAllowed) open.parts[name] = await ask(id).catch(error => ({ error: reason(error) }));
    draw();
  };
  part("deals", may("opportunities"), api.dealsOf);
  part("events", true, lead => api.timeline(lead, state.me.pageBase));
  part("meetings", may("calendars"), api.meetings);
  part("tickets", may("tickets"), api.tickets);
  try {
    open.lead = await api.lead(id);
  } catch (error) {
    open.error = reason(error);
  }
  draw();
}

/* Saves changes of a lead, in turn. The list and the cards show them at once. A function makes the change of what is stored. */
async function changeLead(id, change) {
  if (state.offline) throw new Failure("unanswered");
  const lead = await inTurn(`lead-${id}`, async () => api.changeLead(id, typeof change === "function" ? change(await api.lead(id)) : change)).catch(error => {
    if (error.kind === "missing" && state.person?.id === id) Object.assign(state.person, { lead: null, error: reason(error) });
    if (error.kind === "missing") renewLeads();
    throw error;
  });
  if (state.person?.id === id) state.person.lead = lead;
  const row = state.leads?.list.find(one => one.id === id);
  if (row) Object.assign(row, { fullname: lead.fullname, email: lead.email, phone: lead.phone, mobile: lead.mobile, tags: lead.tags, owner: lead.owner && { id: lead.owner, name: person(lead.owner) } });
  for (const [key, item] of state.items) if (item.lead_id === id) state.items.set(key, { ...item, dataLead: { ...item.dataLead, ...lead } });
  draw();
  if ("owner" in change) await hasGone("leads", api.lead, id, text.saved(lead.fullname || `#${id}`));
}

function Tags({ lead, save }) {
  // A change replaces the whole list, so it begins with the stored one.
  const toggle = id => save(({ tags }) => ({ tags: [...tags.filter(tag => tag !== id), ...lead.tags.includes(id) ? [] : [id]] }))
    .then(() => say(text.saved(text.tags)), error => notify(text.refusedField(reason(error)), "bad"));
  return html`<div class="tags" role="group" aria-label=${text.tags}>${[...state.tags].map(([id, tag]) => html`<button key=${id} type="button" class="chip" aria-pressed=${lead.tags.includes(id)} onClick=${() => toggle(id)}>${tag}</button>`)}</div>`;
}

const Event = ({ event }) => (event.name === "form.received"
  ? html`<li><p><strong>${text.formReceived}</strong> <time class="soft">${moment(event.createDate)}</time></p><${Facts} entries=${Object.entries(event.values ?? {}).map(([name, value]) => [name, linked(value)])} /></li>`
  : html`<li><p><strong>${event.name === "voip.call_incoming" ? text.callIn : text.callOut}</strong> <time class="soft">${moment(event.createDate)}</time></p>
    <p class="soft">${[event.phone, event.status === "COMPLETE" ? `${text.answered}, ${text.seconds(number(event.duration))}` : text.unansweredCall, person(event.operator)].filter(Boolean).join(" · ")}</p></li>`);

/* A part of the sheet: its records, that there are none, or why it cannot be shown. */
function Part({ title, part, list = part, children }) {
  if (part === undefined) return null;
  return html`<${Section} title=${title}>${part.error ? html`<p class="soft">${part.error}</p>` : list.length ? html`<ul class="records">${list.map(children)}</ul>` : html`<p class="soft">${text.nothing}</p>`}</${Section}>`;
}

function LeadSheet({ isLast }) {
  const { id } = state.route;
  const open = state.person?.id === id ? state.person : null;
  const lead = open?.lead;
  if (!lead) return html`<${Sheet} name=${`lead-${id}`} title=${text.lead} kind=${text.lead} isLast=${isLast}>${open?.error ? html`<${Failed} why=${open.error} again=${load} />` : html`<p class="empty">${text.loading}</p>`}</${Sheet}>`;
  const edits = may("editLeads");
  const save = change => changeLead(id, change);
  const customs = Object.keys(lead).filter(name => !UNSHOWN.includes(name) && !LEAD_FIELDS.some(([known]) => known === name));
  const { parts } = open;
  const contact = { email: mail(lead.email), phone: dial(lead.phone), mobile: dial(lead.mobile), chatapp: dial(lead.chatapp) };
  return html`<${Sheet} name=${`lead-${id}`} title=${lead.fullname || text.lead} kind=${`${text.lead} #${id}`} isLast=${isLast}>
    <div class="person"><span class="avatar" aria-hidden="true">${initials(lead.fullname)}</span><div><h2>${lead.fullname || `#${id}`}</h2><p class="soft">${contact.email} ${contact.mobile || contact.phone}</p></div></div>
    ${!edits && html`<p class="soft">${text.onlyReads}</p>`}
    ${edits ? state.tags.size > 0 && html`<${Tags} lead=${lead} save=${save} />` : html`<p>${lead.tags.map(tag => html`<span key=${tag} class="tag">${state.tags.get(tag) ?? `#${tag}`}</span>`)}</p>`}
    <${Fields} key=${id} edits=${edits}>${LEAD_FIELDS.map(([name, label]) => html`<${Field} key=${name} label=${text[label]} value=${lead[name] ?? ""} shownValue=${contact[name] ?? lead[name]} edits=${edits} read=${value => value || null} save=${value => save({ [name]: value })} />`)}
      <${Field} label=${text.owner} value=${lead.owner ?? ""} shownValue=${lead.owner && person(lead.owner)} options=${[["", text.none], ...userOptions(lead.owner)]} edits=${edits} save=${value => save({ owner: value === "" ? null : Number(value) })} /></${Fields}>
    ${customs.length > 0 && html`<${Section} title=${text.customFields}><${Fields} edits=${edits}>${customs.map(name => html`<${CustomField} key=${name} name=${name} kind="text" value=${lead[name]} edits=${edits} save=${value => save({ [name]: value })} />`)}</${Fields}></${Section}>`}
    <${Part} title=${text.opportunities} part=${parts.deals}>${deal => html`<li key=${deal.id}><p>${funnelOf(deal.funnel_id) ? html`<a href=${written({ view: "board", funnel: deal.funnel_id, id: deal.id, filters: FILTERS.board })}>${deal.title}</a>` : deal.title}
      <span class="tag ${deal.status}">${text[`${deal.status}1`]}</span></p><p class="soft">${money(cents(deal.value))} · ${columnOf(deal.funnel_id, deal.crm_column)?.name ?? ""} · ${when(deal.createDate)}</p></li>`}</${Part}>
    <${Part} title=${text.timeline} part=${parts.events} list=${parts.events?.events}>${event => html`<${Event} key=${`${event.name} ${event.id}`} event=${event} />`}</${Part}>
    ${parts.events?.total > parts.events?.events?.length && html`<button type="button" class="more" onClick=${moreEvents}>${text.more(number(parts.events.total - parts.events.events.length))}</button>`}
    <${Part} title=${text.meetings} part=${parts.meetings}>${meeting => html`<li key=${meeting.id}><p><strong>${moment(meeting.date)}</strong> <span class="tag">${text[meeting.status]}</span></p><p class="soft">${meeting.userId ? person(meeting.userId) : ""}</p></li>`}</${Part}>
    <${Part} title=${text.tickets} part=${parts.tickets}>${ticket => html`<li key=${ticket.id}><p><strong>#${ticket.id}</strong> ${ticket.status && html`<span class="tag">${ticket.status}</span>`} <span class="soft">${ticket.createDate && moment(ticket.createDate)}</span></p>
      <p class="soft">${[ticket.attendantName, ticket.department, ticket.obs].filter(Boolean).join(" · ")}</p></li>`}</${Part}>
    <${Section} title=${text.facts}><${Facts} entries=${[[text.points, lead.points], [text.channel, linked(lead.acquisition_channel)], ["UTM", plain(lead.utmTags)], [text.leadCreated, lead.createDate && moment(lead.createDate)],
      [text.lastActive, lead.lastActive && moment(lead.lastActive)], [text.archived, lead.archived ? text.yes : ""]]} /></${Section}>
  </${Sheet}>`;
}

async function moreEvents() {
  const { id, parts: { events } } = state.person;
  const page = state.me.pageBase + Math.ceil(events.events.length / 50);
  const next = await api.timeline(id, page).catch(error => notify(reason(error), "bad"));
  if (next && state.person.id === id) {
    const held = new Set(events.events.map(event => event.id));
    events.events.push(...next.events.filter(event => !held.has(event.id)));
  }
  draw();
}

function NewLead({ isLast }) {
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async event => {
    event.preventDefault();
    if (busy) return;
    const entries = [...new FormData(event.currentTarget)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
    const body = Object.fromEntries(entries);
    if (body.owner) body.owner = Number(body.owner);
    if (!entries.some(([name]) => name !== "owner")) return setFault(text.badPerson);
    setBusy(true);
    try {
      const lead = await api.createLead(body);
      onceKeys.clear();
      renewLeads();
      const said = text.createdLead(lead.fullname || `#${lead.id}`);
      if (await hasGone("leads", api.lead, lead.id, said)) return undefined;
      notify(said, "ok");
      say(said);
      if (state.route?.view === "leads" && state.route.id === "new") replace({ id: lead.id });
    } catch (error) {
      setFault(text.refusedField(reason(error)));
    }
    setBusy(false);
    return undefined;
  };
  return html`<${Sheet} isForm name="lead-new" title=${text.newLead} kind=${text.leads} isLast=${isLast}>
    <form class="fields" onSubmit=${submit} onInput=${() => setFault("")} novalidate><h2>${text.newLead}</h2>
      ${LEAD_FIELDS.slice(0, 6).map(([name, label], i) => html`<${Input} key=${name} label=${text[label]} name=${name} autofocus=${i === 0} />`)}<${Input} label=${text.city} name="city" />
      <div class="field"><label for="new-owner">${text.owner}</label><select id="new-owner" name="owner"><option value="">${text.none}</option>${userOptions().map(([id, name]) => html`<option key=${id} value=${id}>${name}</option>`)}</select></div>
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
      <div class="acts"><button class="main" aria-disabled=${busy}>${text.create}</button><button type="button" class="plain" onClick=${closeSheet}>${text.cancel}</button></div></form>
  </${Sheet}>`;
}
