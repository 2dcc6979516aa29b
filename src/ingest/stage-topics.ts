/**
 * Gathers the usage of topics on days whose bill is staged, and records which days wait to be attributed. A failure
 * here affects only the attribution: the chargebacks of a day neither wait for its topics nor change with them.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { isoDay } from "../clickhouse/sql-text.js";
import { stagedTable } from "../clickhouse/staging.js";
import { readRows } from "../clickhouse/statement.js";
import { addDays } from "../common/days.js";
import { ledgers } from "../domain/ledger.js";
import { type TopicRule, topicMetrics } from "../domain/topic-rule.js";
import { errorText } from "../stores/error-text.js";
import type { Gatherer } from "./ecosystem.js";
import type { TopicReport } from "./reports.js";
import { alignScales } from "./staging/align-scales.js";
import { attributionContents, type DayContent } from "./staging/content-hash.js";
import { keepDroppedUsage } from "./staging/keep-published/keep-dropped-usage.js";
import { keepMeasuredUsage } from "./staging/keep-published/keep-measured-usage.js";
import { leaveOutExcluded } from "./staging/leave-out-excluded.js";
import { type MissingData, readMissingData } from "./staging/missing-data.js";
import { recordAttributable } from "./staging/record-attributable.js";
import { createStagingWriter } from "./staging/staging-writer.js";
import { createTopicSink } from "./staging/topic-sink.js";

/** How a tenant's costs are attributed to topics. */
export interface TopicStaging {
  readonly rules: readonly TopicRule[];
  readonly rulesHash: string;
  /** Number of consecutive gatherings with missing data after which a day's attribution is final. */
  readonly retryLimit: number;
  /** Topics that are charged nothing. */
  readonly isExcluded: (topic: string) => boolean;
  /** First day that is attributed. `retention_days` would drop older ones again. */
  readonly from: string;
}

export interface StageTopicsOptions {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly epoch: number;
  readonly gatherer: Gatherer;
  readonly topics: TopicStaging;
  readonly decimalPlaces: number;
  /** Days whose bill is staged completely, ascending. */
  readonly days: readonly string[];
  readonly stagedBefore: ReadonlyMap<string, string>;
  readonly force: boolean;
  readonly signal: AbortSignal;
}

export interface StagedTopics {
  /** Days that wait to be attributed, ascending. */
  readonly waiting: readonly string[];
  /** Usage that could not be measured now, and is kept as it was measured before. */
  readonly kept: MissingData;
  readonly contents: readonly DayContent[];
  /** Responses and failures of the topic report. */
  readonly responses: unknown;
  readonly failures: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

export const noTopics: StagedTopics = {
  waiting: [],
  kept: new Map(),
  contents: [],
  responses: undefined,
  failures: 0,
  dropped: {},
  errors: [],
};

/** Undefined if the lease is lost. */
export async function stageTopics(options: StageTopicsOptions): Promise<StagedTopics | undefined> {
  const { client, postgres, tenantName, epoch, topics, decimalPlaces, signal } = options;
  const days = options.days.filter((day) => day >= topics.from);
  if (days.length === 0) return noTopics;
  const productTypes = topics.rules.map((rule) => rule.product_type);
  const report = await gatherToStaging(options, { days, productTypes });
  const facts = { ledger: ledgers.topic_attributions, productTypes };
  const kept = await keepMeasuredUsage(client, { epoch, days }, facts, signal);
  const { retentionCovers } = options.gatherer;
  const keptDays =
    retentionCovers === undefined
      ? []
      : await keepDroppedUsage(client, { epoch, days }, { facts, retentionCovers }, signal);
  const restoredDays = [...new Set([...kept.keys(), ...keptDays])];
  await leaveOutExcluded(client, { epoch, days: restoredDays }, topics.isExcluded, signal);
  await alignScales(client, { epoch, days }, { ledger: facts.ledger, rulesHash: topics.rulesHash }, signal);
  const lacks = await readMissingData(client, { epoch, days }, ledgers.topic_attributions, signal);
  const inputs = { days, rulesHash: topics.rulesHash, decimalPlaces, lacks, productTypes };
  const contents = await attributionContents(client, epoch, inputs, signal);
  const { stagedBefore, force } = options;
  const { retryLimit } = topics;
  const attributable = { tenantName, epoch, contents, stagedBefore, retryLimit, force };
  const waiting = await recordAttributable(postgres, attributable);
  return waiting && { waiting, kept, contents, ...report };
}

async function gatherToStaging(
  { client, epoch, gatherer, signal }: StageTopicsOptions,
  { days, productTypes }: { readonly days: readonly string[]; readonly productTypes: readonly string[] },
): Promise<Required<TopicReport>> {
  const billed = await billedClusters(client, epoch, { days, productTypes }, signal);
  const clusters = [...billed.keys()];
  const [start] = days;
  const last = days.at(-1);
  if (clusters.length === 0 || start === undefined || last === undefined)
    return { dropped: {}, errors: [], responses: undefined, failures: 0 };
  const writer = createStagingWriter({ client, epoch, prepare: async () => undefined, signal });
  const sink = createTopicSink(new Set(days), billed, writer);
  const errors: string[] = [];
  let responses: unknown;
  let failures = 0;
  try {
    if (gatherer.gatherTopics === undefined) throw new Error("this ecosystem has no topics");
    const window = { start, end: addDays(last, 1) };
    const report = await gatherer.gatherTopics({ window, clusters }, sink, signal);
    for (const [reason, count] of Object.entries(report.dropped)) {
      sink.dropped[reason] = (sink.dropped[reason] ?? 0) + count;
    }
    errors.push(...report.errors);
    responses = report.responses;
    failures = report.failures ?? 0;
  } catch (error) {
    signal.throwIfAborted();
    const reason = errorText(error);
    errors.push(`usage of topics could not be gathered: ${reason}`);
    for (const resource_id of clusters) {
      await sink.usageGaps(
        days.flatMap((day) => topicMetrics.map((metric) => ({ day, metric, resource_id, reason }))),
      );
    }
  }
  await writer.finish();
  return { dropped: sink.dropped, errors, responses, failures };
}

/** Cluster → days on which it has staged lines of these types. */
async function billedClusters(
  client: ClickHouseClient,
  epoch: number,
  { days, productTypes }: { readonly days: readonly string[]; readonly productTypes: readonly string[] },
  signal: AbortSignal,
): Promise<Map<string, ReadonlySet<string>>> {
  const read = {
    query: `
      SELECT toString(resource_id) AS cluster, groupUniqArray(toString(day)) AS billed_days
      FROM ${stagedTable("billing", epoch)}
      WHERE day IN {days:Array(Date)} AND product_type IN {product_types:Array(String)}
      GROUP BY cluster ORDER BY cluster`,
    params: { days: days.map(isoDay), product_types: productTypes },
  };
  const found = await readRows<{ cluster: string; billed_days: string[] }>(client, read, signal);
  return new Map(found.map(({ cluster, billed_days }) => [cluster, new Set(billed_days)]));
}
