/**
 * The files of the embedded Postgres in the data directory:
 *
 *   postgres/            the cluster (PGDATA), owned by the user that the server runs as postgres.password    of its
 * superuser `chargehouse`, mode 0600 postgres.log         output of the server; it survives a kill of our process, and
 * our errors quote its last lines
 *
 * The server's user often cannot enter the folders above the cluster, for example if the data directory is below /root
 * or below a temporary folder of mode 0700. So the server never uses an absolute path. It starts with the cluster as
 * its working directory (libuv changes directory while it is still root), and its data directory is `/proc/self/cwd`, a
 * link that the kernel follows without walking the parents. Forked children inherit it; crash recovery and restart work
 * (tested). Only this exact path works, because Postgres changes into the data directory early, and this path means the
 * same before and after. For this reason initdb into `/proc/self/cwd/new` fails.
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

/** The data directory as passed to the server's programs; see the top of this file. Their cwd must be the cluster. */
export function dataPath(cluster: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : cluster;
}

/** The programs get none of our environment: it may contain secrets of upstreams, and PG* variables change defaults. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
}
