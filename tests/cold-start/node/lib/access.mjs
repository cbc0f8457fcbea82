// Credentials: their form, checksum and hash, and whom they belong to.
import { createHash } from "node:crypto";
import { getMany } from "./table.mjs";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const digest = (text) => createHash("sha256").update(text).digest();

function checksum(text) {
  let [rest, digits] = [digest(text).readUInt32BE(0), ""];
  for (let at = 0; at < 6; at += 1) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** What stands for a credential in the table; nothing where it cannot be one. */
function hash(text, prefix) {
  const formed = text?.startsWith(prefix) && /^f._[0-9A-Za-z]{49}$/.test(text);
  return formed && checksum(text.slice(0, -6)) === text.slice(-6) ? digest(text).toString("hex") : undefined;
}

/** The access token in `Authorization`. */
export const bearer = (event) => /^bearer +(.*)$/i.exec(event.headers.authorization ?? "")?.[1].trim();

const ADMIN = 1;

/** Whether these credentials are an administrator's; the comparison has no other users. */
export async function open(instance, { key, token }) {
  const presented = [["key", hash(key, "fk_")]];
  if (token !== undefined) presented.push(["token", hash(token, "fa_")]);
  if (presented.some(([, hash]) => hash === undefined)) return false;
  const keys = presented.map(([, hash]) => [`#credential#${hash}`, "credential"]);
  const found = await getMany(...keys, [`${instance}#directory`, "directory"]);
  const directory = found.pop();
  const now = new Date().toISOString();
  const good = found.every(
    (credential, at) =>
      credential?.kind === presented[at][0] &&
      credential.instance === instance &&
      (credential.expires === undefined || now < credential.expires),
  );
  if (!good || found.some(({ user }) => user !== found[0].user)) return false;
  // Department, group, and the bits of an administrator and of an inactive user.
  const [, , marks] = found[0].standing;
  return marks === ADMIN && JSON.parse(directory.access).suspended === undefined;
}
