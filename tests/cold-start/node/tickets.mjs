// GET /sac360/lead/{id}: the tickets of a lead, the newest first.
import { open } from "./lib/access.mjs";
import { answer, query, unauthorized } from "./lib/http.mjs";
import { serve } from "./lib/runtime.mjs";
import { get, list, padded } from "./lib/table.mjs";

const TICKET = {
  status: null, attendant: null, attendantName: null, userAttendance: null, userClient: null, department: null,
  name: null, lead_name: null, name_contact: null, startDate: null, endDate: null, star: null, evaluation: null,
  chatGroup: null, isGroup: null, type: null, recipientid: null, accid: null, photo: null, photo_larger: null,
  photo_store: null, obs: null, lead_relation: null, post_id: null, page_id: null, comment_id: null,
  comment_txt: null, chatapp_acc: null, chatapp_number: null, chatapp_oficial: null, unread: 0,
  lastMesssageUser: null, lastMesssageAttendance: null, pin: null, archive: null, opportunity: null, sequence: null,
};
const seconds = (time) => (time ? Math.floor(Date.parse(time) / 1000) : null);

function shown({ ticket }) {
  const of = { ...TICKET, ...JSON.parse(ticket) };
  return {
    ...of,
    createDateUnix: seconds(of.createDate),
    updateDateUnix: seconds(of.updateDate),
    lastMesssageUserUnix: seconds(of.lastMesssageUser),
  };
}

serve(async (event) => {
  const instance = query(event).get("i");
  const id = Number(/^\/sac360\/lead\/(\d{1,15})$/.exec(event.rawPath)?.[1]);
  const [isOpen, lead, tickets] = await Promise.all([
    open(instance, { key: event.headers.apitoken }),
    get(`${instance}#lead`, padded(id)),
    list(`${instance}#lead-ticket#${id}`),
  ]);
  if (!isOpen) return unauthorized();
  if (!lead) return answer(400, { error: "Invalid request" });
  return answer(200, tickets.map(shown));
});
