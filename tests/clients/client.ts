// A client with every credential: operations ignore those that they do not take.
import createClient, { createQuerySerializer } from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { env: Record<string, string>; exitCode: number };
const { FUNIL_URL, FUNIL_KEY, FUNIL_TOKEN } = process.env;

const serializer = createQuerySerializer();
export const client = createClient<paths>({
  baseUrl: FUNIL_URL,
  headers: { apitoken: FUNIL_KEY, Authorization: `Bearer ${FUNIL_TOKEN}` },
  querySerializer: (query) => serializer({ ...query, apitoken: FUNIL_KEY }),
});

/** A time that the demo's calendar has free. The one in the document is over some day. */
export async function freeTime(): Promise<string> {
  const { data } = await client.GET("/calendarmeeting/slots", {
    params: { query: { i: "demo", keyName: "demo" } },
  });
  return data!.data.slots[0];
}

/** Sends a request and compares the status. */
export async function check(
  id: string,
  expected: number,
  sent: Promise<{ data?: unknown; error?: unknown; response: Response }>,
): Promise<void> {
  const { data, error, response } = await sent;
  if (response.status === expected && data !== undefined) return;
  console.error(`${id}: ${response.status} ${JSON.stringify(error)}`);
  process.exitCode = 1;
}
