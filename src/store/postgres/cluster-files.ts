/**
 * The files of the embedded Postgres in the data directory:
 *
 *   postgres/            the cluster (PGDATA), owned by the user that the server runs as
 *   postgres.password    of its superuser `chargehouse`, mode 0600
 *   postgres.log         what the server writes; kept when we are killed, the last lines go into our errors
 *
 * The server's user often cannot enter the folders above the cluster: a data directory below /root, say, or below a
 * temporary folder of mode 0700. So the server never sees a path from the root: it is started with the cluster as its
 * working directory (libuv changes directory while it is still root) and is told that its data is in `/proc/self/cwd`,
 * a link that the kernel follows without walking the parents. Forked children inherit it; crash recovery and restart
 * work (tested). It must be exactly that path: Postgres changes into the data directory early, and only that one
 * path means the same before and after; initdb into `/proc/self/cwd/new` fails for this reason.
 */
import { join } from "node:path";

export interface ClusterFiles {
  dataDir: string;
  cluster: string;
  password: string;
  log: string;
}

export function clusterFiles(dataDir: string): ClusterFiles {
  const file = (name: string) => join(dataDir, name);
  return {
    dataDir,
    cluster: file("postgres"),
    password: file("postgres.password"),
    log: file("postgres.log"),
  };
}

export const SUPERUSER = "chargehouse";

/** How the server's programs are told where the data is; see the top of this file. Their cwd must be the cluster. */
export function dataPath(cluster: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : cluster;
}

/** Nothing of our environment goes to the programs: it may hold the secrets of upstreams, and PG* changes defaults. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
}
