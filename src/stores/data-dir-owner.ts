/**
 * Finds the owner of a data directory, and whether that process is still running.
 *
 * Processes are compared by pid and start time, because pids are reused, in containers at nearly every start. A process
 * in another container (pid namespace) or on another machine cannot be examined, so its state is unknown.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface Owner {
  pid: number;
  /** Start time of the process; see `processStart`. */
  started: string;
  host: string;
  /** The pid namespace: it decides which processes are visible. Empty on systems without namespaces. */
  namespace: string;
  /** Boot id of the machine. If only the boot id differs, the same machine has been restarted since. */
  boot: string;
}

export function ourselves(): Owner {
  const { host, namespace, boot } = surroundings();
  return { pid: process.pid, started: processStart(process.pid) ?? "", host, namespace, boot };
}

/** Returns undefined if the text was not written by chargehouse. */
export function parseOwner(text: string): Owner | undefined {
  try {
    const { pid, started, host, namespace, boot } = JSON.parse(text) as Partial<Record<keyof Owner, unknown>>;
    const texts = [started, host, namespace, boot];
    if (typeof pid !== "number" || texts.some((value) => typeof value !== "string")) return undefined;
    return {
      pid,
      started: String(started),
      host: String(host),
      namespace: String(namespace),
      boot: String(boot),
    };
  } catch {
    return undefined;
  }
}

export function judgeOwner(owner: Owner): "alive" | "dead" | "out of sight" {
  const here = surroundings();
  if (owner.boot === here.boot && owner.namespace === here.namespace) {
    return processStart(owner.pid) === owner.started ? "alive" : "dead";
  }
  return owner.boot !== here.boot && owner.host === here.host ? "dead" : "out of sight";
}

function surroundings(): { host: string; namespace: string; boot: string } {
  const host = hostname();
  if (process.platform !== "linux") return { host, namespace: "", boot: host };
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return { host, namespace: readlinkSync("/proc/self/ns/pid"), boot };
}

/** Tells a process from a later one with the same pid. Undefined if there is no such live process. */
export function processStart(pid: number): string | undefined {
  return process.platform === "linux" ? linuxProcessStart(pid) : otherProcessStart(pid);
}

function linuxProcessStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): the name, in parentheses, may contain blanks and parentheses. The state follows it, and the start time
    // in clock ticks since boot is the 20th field from there. A zombie has ended.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function otherProcessStart(pid: number): string | undefined {
  try {
    const env = { PATH: process.env.PATH ?? "/bin:/usr/bin", LC_ALL: "C" };
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return started.trim() || undefined;
  } catch {
    return undefined;
  }
}
