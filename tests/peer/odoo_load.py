"""Loads the data into Odoo. `odoo shell` runs this with `env`."""

from itertools import islice

from psycopg2.extras import execute_values

import data

env = env(context={**env.context, "tracking_disable": True, "mail_create_nosubscribe": True, "no_reset_password": True})


def create(model, records, created=()):
    """Creates records in batches, and sets their dates, which Odoo's interface does not allow."""
    records, made = iter(records), []
    while batch := list(islice(records, 1000)):
        made += env[model].create(batch).ids
        env.cr.commit()
        env.invalidate_all()
        print(model, len(made), flush=True)
    if created:
        execute_values(env.cr._obj, f"UPDATE {env[model]._table} SET create_date = new.at, write_date = new.at "
                       "FROM (VALUES %s) AS new (id, at) WHERE new.id = " + env[model]._table + ".id",
                       list(zip(made, created)), page_size=10_000)
        env.cr.commit()
    return made


leads = list(data.leads())
stages = env["crm.stage"].search([]).ids
stages += create("crm.stage", [{"name": ""}] * (len(data.COLUMNS) - len(stages)))
for sequence, (stage, name) in enumerate(zip(stages, data.COLUMNS)):
    env["crm.stage"].browse(stage).write({"name": name, "sequence": sequence, "is_won": False, "fold": False})
env["res.config.settings"].create({"group_use_lead": True}).execute()
users = create("res.users", [{"name": f"User {n}", "login": f"user{n}"} for n in range(1, data.USERS + 1)])
partners = create("res.partner", ({
    "name": f"{lead['first']} {lead['last']}", "email": lead["email"], "phone": lead["phone"], "city": lead["city"],
    "ref": "peer"} for lead in leads))
create("crm.lead", ({
    "type": "lead", "name": f"{lead['first']} {lead['last']}", "contact_name": f"{lead['first']} {lead['last']}",
    "email_from": lead["email"], "phone": lead["phone"], "city": lead["city"], "partner_id": partner,
    "user_id": users[lead["user"] - 1]} for lead, partner in zip(leads, partners)), [lead["created"] for lead in leads])
opportunities = list(data.opportunities())
create("crm.lead", ({
    "type": "opportunity", "name": one["title"], "expected_revenue": one["value"], "stage_id": stages[one["column"]],
    "partner_id": partners[one["lead"] - 1], "user_id": users[one["user"] - 1],
} for one in opportunities), [one["created"] for one in opportunities])
