// Prints every lead as a line of JSON, with all fields.
//
//   FUNIL_URL=http://127.0.0.1:3000 INSTANCE=demo FUNIL_KEY=fk_… FUNIL_TOKEN=fa_… node examples/leads.mjs
//
// Needs Node.js 18 or later.

const { FUNIL_URL, INSTANCE, FUNIL_KEY, FUNIL_TOKEN } = process.env;
const LIMIT = 200;
if (!FUNIL_URL || !INSTANCE || !FUNIL_KEY || !FUNIL_TOKEN) {
  console.error("usage: FUNIL_URL=… INSTANCE=… FUNIL_KEY=fk_… FUNIL_TOKEN=fa_… node examples/leads.mjs");
  process.exit(2);
}

/** A page of leads. Waits as long as a rate limit asks. */
async function page(number) {
  const query = new URLSearchParams({ i: INSTANCE, page: number, limit: LIMIT, allFields: 1 });
  const headers = { apitoken: FUNIL_KEY, Authorization: `Bearer ${FUNIL_TOKEN}` };
  const response = await fetch(`${FUNIL_URL}/leads?${query}`, { headers });
  if (response.status === 429) {
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get("retry-after"))));
    return page(number);
  }
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()).data.leads;
}

// A page with fewer leads than the limit is the last.
for (let number = 1, leads; leads === undefined || leads.length === LIMIT; number++) {
  leads = await page(number);
  for (const lead of leads) console.log(JSON.stringify(lead));
}
