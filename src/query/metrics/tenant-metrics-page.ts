/**
 * A tenant's page for Prometheus. It is rendered from the stores on each request and streamed, with nothing kept in
 * memory.
 */
import { addAbortSignal, Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { engineBytes } from "../../clickhouse/engine-bytes.js";
import { readRows } from "../../clickhouse/statement.js";
import { midnightSeconds } from "../../common/days.js";
import { readerError } from "../../common/reader-error.js";
import type { PrometheusEmitter } from "../../config/settings/emitters.js";
import { readPostgres } from "../../postgres/statement.js";
import { readChargebackDates } from "../chargebacks/scan.js";
import { bareLines } from "../csv-cell.js";
import { readAttributionDates } from "../topics/list.js";
import {
  amountFamilies,
  amountLines,
  entityFamilies,
  entityLines,
  familyHead,
  labelText,
  newestDayFamily,
  provisionalFamily,
} from "./tenant-metrics.js";

export interface MetricsPage {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly tenantId: string;
  readonly ecosystem: string;
  readonly emitter: PrometheusEmitter;
  /** Leaves out older days. */
  readonly since: string | undefined;
  /** OpenMetrics requires an end marker. */
  readonly openMetrics: boolean;
}

const ENTITIES_AT_ONCE = 5000;

type AmountPipeline = keyof typeof amountFamilies;

/** Resolves once the shown days are known, so that an unreachable store is still an ordinary error response. */
export async function openMetricsPage(page: MetricsPage, signal: AbortSignal): Promise<Readable> {
  const days = await shownDays(page, signal);
  const text = Readable.from(textOf(page, days, signal), { objectMode: false, highWaterMark: 1 << 17 });
  return readerError(addAbortSignal(signal, text));
}

interface DaysOfPipeline {
  /** Ascending. */
  readonly days: readonly string[];
  /** How many of them are provisional. */
  readonly provisional: number;
}

type DaysByPipeline = ReadonlyMap<AmountPipeline, DaysOfPipeline>;

/**
 * Returns the latest days that have rows. Bills and chargebacks have the same days; topic attributions may be behind.
 */
async function shownDays(
  { client, emitter, since = "" }: MetricsPage,
  signal: AbortSignal,
): Promise<DaysByPipeline> {
  const { pipelines, params } = emitter;
  const latest = (days: readonly string[], provisional: readonly string[]): DaysOfPipeline => {
    const marked = new Set(provisional);
    const shown = days
      .filter((day) => day >= since && (params.provisional === "mark" || !marked.has(day)))
      .slice(-params.days);
    return { days: shown, provisional: shown.filter((day) => marked.has(day)).length };
  };
  const found = new Map<AmountPipeline, DaysOfPipeline>();
  const [chargeback, billing] = [pipelines.includes("chargeback"), pipelines.includes("billing")];
  if (chargeback || billing) {
    const days = await readChargebackDates(client, signal);
    const shown = latest(days, await readProvisionalDates(client, "chargebacks", signal));
    if (chargeback) found.set("chargeback", shown);
    if (billing) found.set("billing", shown);
  }
  if (pipelines.includes("topic_attribution")) {
    const days = await readAttributionDates(client, signal);
    found.set(
      "topic_attribution",
      latest(days, await readProvisionalDates(client, "topic_attributions", signal)),
    );
  }
  return found;
}

async function readProvisionalDates(
  client: ClickHouseClient,
  facts: "chargebacks" | "topic_attributions",
  signal: AbortSignal,
): Promise<string[]> {
  const read = { query: `SELECT DISTINCT day FROM ${facts} WHERE provisional`, params: {} };
  return (await readRows<{ day: string }>(client, read, signal)).map(({ day }) => day);
}

async function* textOf(
  page: MetricsPage,
  shown: DaysByPipeline,
  signal: AbortSignal,
): AsyncGenerator<Buffer | string> {
  const pipelineLines = (
    sampleValue: (days: DaysOfPipeline) => number | undefined,
    { name }: { readonly name: string },
  ) =>
    [...shown]
      .flatMap(([pipeline, days]) => pipelineLine(page, { name, pipeline, value: sampleValue(days) }))
      .join("");
  yield familyHead(newestDayFamily) + pipelineLines(newestDay, newestDayFamily);
  yield familyHead(provisionalFamily) + pipelineLines(provisionalDays, provisionalFamily);
  for (const [pipeline, { days }] of shown) {
    const family = amountFamilies[pipeline];
    yield familyHead(family);
    yield* await engineBytes(
      page.client,
      amountLines(family, days, page.emitter.params.days > 1),
      signal,
      bareLines,
    );
  }
  for (const pipeline of ["resource", "identity"] as const) {
    if (page.emitter.pipelines.includes(pipeline)) yield* entities(page, entityFamilies[pipeline], signal);
  }
  if (page.openMetrics) yield "# EOF\n";
}

/** In seconds since 1970; undefined if no day is shown. */
function newestDay({ days }: DaysOfPipeline): number | undefined {
  const newest = days.at(-1);
  return newest === undefined ? undefined : midnightSeconds(newest);
}

function provisionalDays({ days, provisional }: DaysOfPipeline): number | undefined {
  return days.length === 0 ? undefined : provisional;
}

function pipelineLine(
  { tenantId, ecosystem }: MetricsPage,
  { name, pipeline, value }: { name: string; pipeline: string; value: number | undefined },
): string[] {
  if (value === undefined) return [];
  const labels = `tenant_id="${labelText(tenantId)}",ecosystem="${labelText(ecosystem)}",pipeline="${pipeline}"`;
  return [`${name}{${labels}} ${value}\n`];
}

async function* entities(
  { postgres, tenantName }: MetricsPage,
  family: (typeof entityFamilies)[keyof typeof entityFamilies],
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield familyHead(family);
  for (let after: string | null = ""; after !== null; ) {
    const read = entityLines(family, tenantName, after, ENTITIES_AT_ONCE);
    const [piece] = await readPostgres<{ lines: string; last: string | null }>(postgres, read, signal);
    if (piece?.lines) yield piece.lines;
    after = piece?.last ?? null;
  }
}
