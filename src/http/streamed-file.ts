/** What files that are streamed from the store have in common: their head, their name, and limits for the client. */
import type { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { type Coverage, coverageOf } from "../common/coverage.js";
import { dayOfSeconds, daysBetween } from "../common/days.js";
import { isLostConnection } from "../common/lost-connection.js";
import type { ApiSettings } from "../config/settings/api.js";
import { type ReaderPace, readerPace } from "../export/reader-pace.js";
import { readTrackingDates } from "../query/state/tenant-status.js";
import type { HttpContext } from "./context.js";
import { problemPath } from "./problem.js";

/** Minimum speed of a client, in bytes per second, while another read waits for a slot. */
export const MIN_BYTES_PER_SECOND = 65_536;

/** An export may take minutes, but it is closed after so many milliseconds without progress. */
export function exportIdleMs(api: Pick<ApiSettings, "request_timeout_seconds">): number {
  return Math.max(api.request_timeout_seconds, 30) * 1000;
}

/** The pace counts after half of the time that a read may wait for a slot. */
export function paceOf({ config: { api } }: HttpContext, request: FastifyRequest): ReaderPace {
  return readerPace({
    graceMs: (api.request_timeout_seconds / 4) * 1000,
    bytesPerSecond: MIN_BYTES_PER_SECOND,
    hasWaiters: () => request.isSlotWanted(),
  });
}

export const isHead = ({ method }: FastifyRequest) => method === "HEAD";

/**
 * Logs why a file broke off. Its headers are sent already, so an error response is not possible: the connection breaks,
 * and the log has the cause.
 */
export function logBreak(request: FastifyRequest, stream: Readable, signal: AbortSignal): void {
  stream.once("error", (error) => {
    if (signal.aborted) return;
    const cause = isLostConnection(error) ? ": the store went away" : "";
    request.log.warn({ err: error, path: problemPath(request.url) }, `an export broke off${cause}`);
  });
}

/** How complete the UTC days of the window are. Days that the store has lost are not covered. */
export async function coverageOfWindow(
  { stores, drift }: HttpContext,
  { tenant: { tenant_name: name }, window, stopSignal }: FastifyRequest,
): Promise<Coverage> {
  const startDate = dayOfSeconds(window.from);
  const endDate = dayOfSeconds(window.to - 1);
  const [days, drifted] = await Promise.all([
    readTrackingDates(stores.postgres, name, { startDate, endDate }, stopSignal),
    drift.check(name),
  ]);
  const stored = days.filter(({ tracking_date: day }) => !drifted?.lostDays.has(day));
  return coverageOf(stored, daysBetween(startDate, endDate) + 1);
}

export function headOf({ tenant, window }: FastifyRequest, { covered, days, state }: Coverage): string {
  return [
    `Tenant,${tenant.tenant_name}`,
    `Period (${window.timezone}),${window.startDate},${window.endDate}`,
    `Covered days,${covered} of ${days}`,
    `State,${state}`,
    "",
    "",
  ].join("\n");
}

/** The state of a period in the name of a file. */
export function completenessOf({ covered, days, state }: Coverage): string {
  return state === "incomplete" ? `${covered}-of-${days}-days_incomplete` : state;
}
