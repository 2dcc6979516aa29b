import type { Writable } from "node:stream";
import { Presets, SingleBar } from "cli-progress";
import type { Logger } from "pino";
import type { RunObserver } from "../runner/observe.js";

/** Shows how far runs are: a bar on a terminal, a log line per step elsewhere. */
export interface RunProgress {
  readonly observer: RunObserver;
  /** Takes the bar away; harmless when there is none. */
  stop(): void;
}

export function runProgress(stream: Writable & { readonly isTTY?: boolean }, logger: Logger): RunProgress {
  return stream.isTTY ? barProgress(stream) : lineProgress(logger);
}

function barProgress(stream: Writable): RunProgress {
  const format = "{bar} {value}/{total} days published, {rows} rows  {tenants}";
  const bar = new SingleBar(
    { stream, format, clearOnComplete: true, hideCursor: true },
    Presets.shades_classic,
  );
  const shown = { total: 0, done: 0, rows: 0, tenants: new Set<string>() };
  let started = false;
  const paint = () => {
    const payload = { rows: shown.rows, tenants: [...shown.tenants].join(", ") };
    if (!started) bar.start(shown.total, shown.done, payload);
    started = true;
    bar.setTotal(shown.total);
    bar.update(shown.done, payload);
  };
  return {
    observer: {
      pending(tenant, days) {
        shown.total += days;
        shown.tenants.add(tenant);
        paint();
      },
      published(_tenant, day) {
        shown.done += 1;
        shown.rows += Number(day.rows);
        paint();
      },
      finished(tenant) {
        shown.tenants.delete(tenant);
      },
    },
    stop() {
      if (started) bar.stop();
      started = false;
    },
  };
}

function lineProgress(logger: Logger): RunProgress {
  return {
    observer: {
      gathered: (tenant, days) => logger.info({ tenant, days }, `Tenant ${tenant}: gathered ${days} days`),
      pending: (tenant, days) => logger.info({ tenant, days }, `Tenant ${tenant}: ${days} days to calculate`),
      published: (tenant, { day, rows }) =>
        logger.debug({ tenant, day, rows }, `Tenant ${tenant}: published ${day}`),
    },
    stop: () => undefined,
  };
}
