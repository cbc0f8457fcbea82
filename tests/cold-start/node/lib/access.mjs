// Credentials: their form, checksum and hash, and who may do what with them.
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

/** Who asks with these credentials; nobody where one of them does not open the instance now. */
export async function open(instance, { key, token }) {
  const presented = [["key", hash(key, "fk_")]];
  if (token !== undefined) presented.push(["token", hash(token, "fa_")]);
  if (presented.some(([, hash]) => hash === undefined)) return undefined;
  const keys = presented.map(([, hash]) => [`#credential#${hash}`, "credential"]);
  const found = await getMany(...keys, [`${instance}#directory`, "directory"]);
  const directory = read(found.pop());
  const now = new Date().toISOString();
  const good = found.every(
    (credential, at) =>
      credential?.kind === presented[at][0] &&
      credential.instance === instance &&
      (credential.expires === undefined || now < credential.expires),
  );
  const user = found[0]?.user;
  const [, group, marks] = directory?.users[user] ?? [];
  if (!good || marks === undefined || found.some((credential) => credential.user !== user)) return undefined;
  const admin = (marks & 1) === 1;
  const may = (permission) => admin || directory.groups[group]?.permissions[permission] === true;
  return { user, admin, directory, may };
}

/** The directory that its item holds. */
export const read = (item) => item && JSON.parse(item.directory);

/** Whether somebody sees a lead. */
export const sees = (viewer, lead) => lead !== undefined && (viewer.admin || lead.owner === viewer.user);
