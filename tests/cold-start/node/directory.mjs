// GET /user: the users by id, with noblock=1 the active ones.
import { bearer, open } from "./lib/access.mjs";
import { answer, query, unauthorized } from "./lib/http.mjs";
import { serve } from "./lib/runtime.mjs";
import { list } from "./lib/table.mjs";

const USER = {
  lastName: null, email: null, admin: false, active: true, department: null, group: null, telephone: null, photo: null,
  whatsapp: null, branch: null, position_company: null, username: null, last_login: null, last_action: null,
};

function shown({ pk, sk, id, name, ...rest }) {
  const user = { id, name, ...USER, ...rest };
  return { ...user, admin: Number(user.admin), active: Number(user.active) };
}

serve(async (event) => {
  const params = query(event);
  const instance = params.get("i");
  const [isOpen, users] = await Promise.all([
    open(instance, { key: event.headers.apitoken, token: bearer(event) }),
    list(`${instance}#user`),
  ]);
  if (!isOpen) return unauthorized();
  const all = users.map(shown);
  return answer(200, params.get("noblock") === "1" ? all.filter(({ active }) => active) : all);
});
