/** Requests the bill, and every metric of the existing resources, once. */
import { addDays, type DayRange, dayOf, latest } from "../../../common/days.js";
import type { PluginSettings } from "../../../config/settings/plugin-settings.js";
import { UpstreamError } from "../../../upstream/http/upstream-error.js";
import type { ResourceRecord } from "../../ecosystem.js";
import { probeQuery } from "../../prometheus/probe.js";
import type { Probe } from "../../reports.js";
import { gatherCosts } from "./costs/gather-costs.js";
import { requestWindows } from "./costs/request-windows.js";
import { BYTES_IN, BYTES_OUT, FLINK_CFU, FLINK_CFU_MINUTES } from "./rules.js";
import { type MeasuredMetric, PRINCIPAL_LABEL, STATEMENT_NAME, usageQuery } from "./usage/queries.js";
import type { WindowGathering } from "./window.js";

type ProbeContext = Pick<WindowGathering, "connection" | "logger" | "now"> & {
  readonly settings: Pick<PluginSettings, "metrics_step_seconds">;
};

/** Number of days of the bill, and of resources of each kind, that are requested. */
const BILLED_DAYS = 3;
const MOST_RESOURCES = 100;

export async function probeConfluent(
  context: ProbeContext,
  window: DayRange,
  resources: readonly ResourceRecord[],
  signal: AbortSignal,
): Promise<Probe[]> {
  const bill = await probeBill(context, window, signal);
  const { prometheus } = context.connection;
  if (prometheus === undefined) {
    return [bill, { name: "metrics", remark: "none are configured: no cost is split by usage" }];
  }
  const idsOf = (type: string) =>
    resources.filter(({ resource_type }) => resource_type === type).map(({ resource_id }) => resource_id);
  const [clusters, pools] = [idsOf("kafka_cluster"), idsOf("flink_compute_pool")];
  const stepSeconds = context.settings.metrics_step_seconds;
  const metric = (name: MeasuredMetric, ids: readonly string[], label: string, isOptional: boolean) => {
    if (ids.length === 0) return [];
    const expression = usageQuery(name, ids.slice(0, MOST_RESOURCES), stepSeconds);
    return [{ name: `usage ${name}`, expression, label, isOptional, addsSeries: true, window, stepSeconds }];
  };
  const queries = [
    ...metric(BYTES_IN, clusters, PRINCIPAL_LABEL, false),
    ...metric(BYTES_OUT, clusters, PRINCIPAL_LABEL, false),
    // One of them is enough, and running statements stand in for both.
    ...metric(FLINK_CFU, pools, STATEMENT_NAME, true),
    ...metric(FLINK_CFU_MINUTES, pools, STATEMENT_NAME, true),
  ];
  return [bill, ...(await Promise.all(queries.map((query) => probeQuery(prometheus, query, signal))))];
}

async function probeBill(
  { connection, logger, now }: ProbeContext,
  window: DayRange,
  signal: AbortSignal,
): Promise<Probe> {
  const name = "bill";
  const today = dayOf(now());
  const last = requestWindows(window, BILLED_DAYS, today).at(-1);
  if (last === undefined)
    return { name, remark: "no day of the lookback is within the year that the vendor keeps" };
  const start = latest(last.start, addDays(last.end, -BILLED_DAYS));
  try {
    const query = { cloud: connection.cloud, window: { ...last, start }, logger, dropped: () => undefined };
    const found = { lines: 0, days: 0 };
    for (const { lines } of await gatherCosts(query, signal)) {
      found.lines += lines.length;
      found.days += lines.length > 0 ? 1 : 0;
    }
    const remark = found.lines === 0 && {
      remark: `nothing is billed from ${start} to ${addDays(last.end, -1)}`,
    };
    return { name, found, ...remark };
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return { name, failure: error.message };
  }
}
