// GET /leads/{id}: a lead in summary.
import { bearer, open } from "./lib/access.mjs";
import { answer, query, unauthorized } from "./lib/http.mjs";
import { fullname } from "./lib/leads.mjs";
import { serve } from "./lib/runtime.mjs";
import { get, padded } from "./lib/table.mjs";

serve(async (event) => {
  const instance = query(event).get("i");
  const id = Number(/^\/leads\/(\d{1,15})$/.exec(event.rawPath)?.[1]);
  const [isOpen, lead] = await Promise.all([
    open(instance, { key: event.headers.apitoken, token: bearer(event) }),
    get(`${instance}#lead`, padded(id)),
  ]);
  if (!isOpen) return unauthorized();
  if (!lead) return answer(404, { error: "Not found" });
  return answer(200, { data: { lead: { id: lead.id, fullname: fullname(lead), email: lead.email ?? null } } });
});
