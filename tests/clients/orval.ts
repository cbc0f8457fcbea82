// The client of orval: it compiles, keeps custom fields, and updates a lead.
import { updateLead } from "./funil.js";

declare const process: { env: Record<string, string>; exitCode: number };
const { FUNIL_URL, FUNIL_KEY, FUNIL_TOKEN } = process.env;

const send = globalThis.fetch;
globalThis.fetch = (path, init) => send(`${FUNIL_URL}${path}`, init);
const headers = { apitoken: FUNIL_KEY, Authorization: `Bearer ${FUNIL_TOKEN}` };
const { data, status } = await updateLead(1001, { city: "Londrina", filial: "Apucarana" }, { i: "demo" }, { headers });
if (status === 200 && data.data.filial === "Apucarana") {
  console.log("a custom field stored");
} else {
  console.error(status, data);
  process.exitCode = 1;
}
