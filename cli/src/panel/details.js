/* Details of an opportunity or a lead, in a dialog; a lead opened from an opportunity leads back to it */

const trail = [];

/* Fields of a lead that are shown by name, are of no use to a reader, or are nobody's business. */
const NAMED = ["id", "fullname", "email", "phone", "mobile", "chatapp", "address", "city", "state", "country", "zipcode",
  "whatsapp", "owner", "points", "acquisition_channel", "tags", "utmTags", "createDate", "updatedDate", "lastActive", "archived", "photoUrl"];
const UNSHOWN = ["_id", "firstname", "lastname", "initial_password", "stage", "company", "userAccess", "departmentAccess",
  "ignoreSubDepartments", "timezone", "channelRestrictions", "createdBy", "createdByName", "createdByType", "updatedBy",
  "updatedByName", "ips", "link_instancia", "preferred_locale", "role", "department", "instance_active", "lead_online",
  "partner_instance", "instancedomain"];

const isBlank = value => value === null || value === undefined || value === "" || value === false || (Array.isArray(value) && !value.length);

function plain(value) {
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "object" && value !== null) {
    const known = Object.entries(value).filter(([, inner]) => !isBlank(inner));
    return known.map(([name, inner]) => `${name}: ${plain(inner)}`).join(", ");
  }
  if (value === true) return text.yes;
  if (typeof value === "number") return number(value);
  return /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(value) ? when(value) : String(value);
}

/* A text, or a link if it is an address of the web; no other scheme of the data becomes a link. */
function linked(value) {
  const said = plain(value);
  if (!/^https?:\/\/\S+$/i.test(said) || !URL.canParse(said)) return said;
  return make("a", { href: said, target: "_blank", rel: "noopener noreferrer" }, said);
}

function dial(value) {
  const digits = String(value ?? "").replace(/\D/g, "");
  return digits ? make("a", { href: `tel:+${digits}` }, String(value)) : value;
}
const write = value => (String(value ?? "").includes("@") ? make("a", { href: `mailto:${encodeURIComponent(value)}` }, value) : value);
const date = value => value && when(value);

/* A list of facts; nothing where none is known. */
function facts(title, entries) {
  const known = entries.filter(([, value]) => !isBlank(value));
  if (!known.length) return null;
  const fact = ([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value instanceof Node ? value : linked(value)));
  return make("section", {}, make("h3", {}, title), make("dl", {}, known.map(fact)));
}

const custom = fields => facts(text.customFields, Object.entries(fields ?? {}).map(([name, value]) => [name.trim() || name, value]));

function heading(kind, title, ...rest) {
  return make("div", { className: "title" }, make("p", { className: "soft" }, kind),
    make("h2", { id: "details-title", tabIndex: -1 }, title), ...rest);
}

async function opportunity(id) {
  const found = await api.opportunity(id);
  const of = funnels.find(({ id }) => id === found.crm_id);
  const lead = found.dataLead ?? {};
  const company = found.dataCompany;
  const view = make("button", { type: "button", className: "main" }, text.viewLead);
  view.addEventListener("click", () => showDetails("lead", found.lead_id));
  return [
    heading(`${text.opportunity} #${found.id}`, found.title || `#${found.id}`,
      make("p", { className: "foot" }, make("strong", { className: "large" }, money(found.value)), statusBadge(found.status))),
    facts(text.profile, [
      [text.funnel, of?.name], [text.stage, of?.columns.find(({ id }) => id === found.crm_column)?.name],
      [text.user, isBlank(found.user) ? null : person(found.user)],
      [text.createDate, date(found.createDate)], [text.updateDate, date(found.updateDate)],
      [text.expectedCloseDate, date(found.expectedCloseDate)],
      [text.gainDate, date(found.gain_date)], [text.gainReason, found.gain_reason],
      [text.lostDate, date(found.lost_date)], [text.lossReason, found.loss_reason],
      [text.saleChannel, found.sale_channel], [text.campaign, found.campaign], [text.archived, Boolean(found.archived)],
    ]),
    custom(found.fields),
    found.lead_id && make("section", { className: "person" }, avatar(lead.fullname), make("div", {},
      make("h3", {}, text.lead), make("p", {}, lead.fullname || `#${found.lead_id}`), make("p", { className: "soft" }, lead.email ?? "")), view),
    company && facts(text.company, [
      [text.company, company.companyname], [text.email, write(company.companyemail)], [text.phone, dial(company.companyphone)],
      [text.place, [company.companycity, company.companystate].filter(Boolean).join(", ")],
    ]),
  ];
}

async function lead(id) {
  const found = await api.lead(id);
  const others = Object.entries(found).filter(([name]) => !NAMED.includes(name) && !UNSHOWN.includes(name));
  return [
    make("div", { className: "person" }, avatar(found.fullname), heading(`${text.lead} #${found.id}`, found.fullname || `#${found.id}`)),
    facts(text.contact, [
      [text.email, write(found.email)], [text.phone, dial(found.phone)], [text.mobile, dial(found.mobile)], [text.chatapp, dial(found.chatapp)],
      [text.place, [found.address, found.city, found.state, found.zipcode, found.country].filter(Boolean).join(", ")],
    ]),
    facts(text.profile, [
      [text.owner, isBlank(found.owner) ? null : person(found.owner)], [text.points, found.points],
      [text.channel, found.acquisition_channel], [text.tags, found.tags.map(id => tagNames.get(id) ?? `#${id}`)],
      [text.utmTags, found.utmTags], [text.createDate, date(found.createDate)],
      [text.updateDate, date(found.updatedDate)], [text.lastActive, date(found.lastActive)], [text.archived, found.archived],
    ]),
    custom(Object.fromEntries(others)),
  ];
}

function avatar(name) {
  const initials = String(name ?? "").split(/\s+/).filter(Boolean).map(([first]) => first);
  const shown = [initials[0], initials.length > 1 ? initials.at(-1) : ""].join("").toUpperCase();
  return make("span", { className: "avatar", "aria-hidden": "true" }, shown || "·");
}

function showDetails(kind, id) {
  trail.push([kind, id]);
  return renderDetails();
}

/* The last of the trail. The focus goes to its title, and returns to the opener when the dialog closes. */
function renderDetails() {
  const [kind, id] = trail.at(-1);
  $("back").hidden = trail.length < 2;
  $("details-body").replaceChildren(heading(kind === "lead" ? text.lead : text.opportunity, text.loading));
  if (!$("details").open) $("details").showModal();
  const focus = () => $("details-title").focus();
  focus();
  return task("details", $("details-body"), async current => {
    const parts = await (kind === "lead" ? lead(id) : opportunity(id));
    if (!current() || !$("details").open) return;
    $("details-body").replaceChildren(...parts.filter(Boolean));
    $("details").scrollTop = 0;
    focus();
  }, error => {
    const said = words(error.kind === "credentials" ? new Failure("detailsRefused") : error);
    $("details-body").replaceChildren(heading(`#${id}`, said));
    focus();
  });
}

function back() {
  trail.pop();
  return renderDetails();
}
