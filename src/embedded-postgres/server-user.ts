/**
 * The account that the embedded Postgres runs as. Postgres refuses to run as root, so root starts it as another user:
 * the owner of the existing files, else `postgres`, else `nobody`. All other users run it as themselves.
 */
import { readFileSync, statSync } from "node:fs";

export interface ServerUser {
  uid: number;
  gid: number;
}

/** Accounts for root to choose from, best first. */
const ACCOUNTS = ["postgres", "nobody"];

/** Returns undefined to run the server as the current user. `cluster` need not exist yet. */
export function serverUser(cluster: string): ServerUser | undefined {
  const owner = statSync(cluster, { throwIfNoEntry: false });
  const ownUid = process.getuid?.();
  if (ownUid !== 0) {
    if (owner === undefined || ownUid === undefined || owner.uid === ownUid) return undefined;
    throw new Error(
      `The embedded Postgres in ${cluster} belongs to the user with uid ${owner.uid}: run as that user or as root.`,
    );
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const account of ACCOUNTS) {
    const user = accountOf(account);
    if (user !== undefined) return user;
  }
  throw new Error(
    `Postgres refuses to run as root, and this machine has no user ${ACCOUNTS.join(" or ")}: ` +
      "run as an ordinary user, or set postgres.connection_string to a server.",
  );
}

function accountOf(name: string): ServerUser | undefined {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [account, , uid, gid] = line.split(":");
    if (account === name && Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}
