import type { Logger } from "pino";
import type { RunListener } from "../runner/run-events.js";
import { publishedText } from "./run-summary.js";
import type { StatusLine } from "./status-line.js";

/**
 * Shows the progress of runs in a line of the terminal, with a bar once there are days to publish. The bar never moves
 * back: each tenant is an equal part of it, because the number of its days is only known after gathering.
 */
export function progressOnLine(line: StatusLine, tenantsOfCycle: () => number): RunListener {
  const runs = new Map<string, TenantProgress>();
  const update = (tenant: string, change: (run: TenantProgress) => void) => {
    const run = runs.get(tenant) ?? { state: "gathering", pending: 0, published: 0, rows: 0 };
    runs.set(tenant, run);
    change(run);
    line.show(progressText([...runs], tenantsOfCycle()));
  };
  return {
    began(tenant) {
      // A finished tenant that begins again belongs to the next cycle.
      if (runs.get(tenant)?.state === "done") runs.clear();
      update(tenant, () => undefined);
    },
    pending: (tenant, days) =>
      update(tenant, (run) => {
        run.state = "calculating";
        run.pending = Math.max(run.pending, days);
      }),
    published: (tenant, day) =>
      update(tenant, (run) => {
        run.published += 1;
        run.rows += day.rows;
      }),
    finished: (tenant) =>
      update(tenant, (run) => {
        run.state = "done";
      }),
  };
}

/** Logs the progress of runs where there is no terminal, one line per step. */
export function progressInLog(logger: Logger): RunListener {
  return {
    gathered: (tenant, days) => logger.info({ tenant, days }, `Tenant ${tenant}: gathered ${days} days`),
    pending: (tenant, days) => logger.info({ tenant, days }, `Tenant ${tenant}: ${days} days to calculate`),
    published: (tenant, { day, rows }) =>
      logger.debug({ tenant, day, rows }, `Tenant ${tenant}: published ${day}`),
  };
}

interface TenantProgress {
  state: "gathering" | "calculating" | "done";
  pending: number;
  published: number;
  rows: number;
}

const barWidth = 20;

function progressText(runs: readonly (readonly [string, TenantProgress])[], tenants: number): string {
  const inState = (state: TenantProgress["state"]) => runs.filter(([, run]) => run.state === state);
  const [gathering, done] = [inState("gathering"), inState("done")];
  if (done.length === tenants) return "";
  const parts: string[] = [];
  const published = runs.reduce((sum, [, run]) => sum + run.published, 0);
  if (runs.some(([, run]) => run.pending > 0)) {
    const rows = runs.reduce((sum, [, run]) => sum + run.rows, 0);
    const filled = Math.floor((barWidth * runs.reduce((sum, [, run]) => sum + partDone(run), 0)) / tenants);
    parts.push("█".repeat(filled) + "░".repeat(barWidth - filled));
    parts.push(publishedText(published, rows));
  }
  if (tenants > 1) parts.push(`${done.length} of ${tenants} tenants done`);
  if (gathering.length > 0) parts.push(`gathering ${gathering.map(([tenant]) => tenant).join(", ")}`);
  return parts.join("  ");
}

function partDone({ state, pending, published }: TenantProgress): number {
  if (state === "done") return 1;
  return pending === 0 ? 0 : Math.min(1, published / pending);
}
