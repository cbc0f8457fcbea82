// A lead as answers show it.
const CHANNEL = { mainChannel: false, disabled: false, frequencyValue: null, frequencyUnits: "DAY" };

const LEAD = {
  firstname: null, lastname: null, email: null, phone: null, chatapp: null, mobile: null, points: 0, owner: null,
  stage: null, photoUrl: null, company: null, userAccess: [], departmentAccess: [], tags: [], ignoreSubDepartments: false,
  address: null, city: null, state: null, country: null, zipcode: null, timezone: null, archived: false,
  acquisition_channel: null, createdBy: null, createdByName: null, createdByType: null, updatedBy: null,
  updatedByName: null, updatedDate: null, ips: [], link_instancia: null, preferred_locale: "pt-BR",
  initial_password: null, role: null, department: null, instance_active: "true", lead_online: "false",
  partner_instance: null,
  channelRestrictions: { social_photo: CHANNEL, chatapp: CHANNEL, email: CHANNEL, social_chat: CHANNEL },
};

/** First and last name. */
export const fullname = ({ firstname, lastname }) => [firstname, lastname].filter(Boolean).join(" ");

/** Every fixed field. */
export const whole = (instance, lead, utmTags = []) => ({
  _id: `lead-${lead.id}`, fullname: fullname(lead), ...LEAD, ...lead, whatsapp: lead.chatapp ?? null,
  instancedomain: instance, utmTags,
});
