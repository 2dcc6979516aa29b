/** Points at which a process can die, each given by a statement. */

export interface StatementPoint {
  readonly name: string;
  readonly store: "postgres" | "clickhouse";
  /** Regular expressions of consecutive statements. The process dies at the last one. */
  readonly statements: readonly string[];
  /** Before the statement is sent, after it is sent and before its response, or after its response. */
  readonly when: "before" | "during" | "after";
}

/** A point within a publish. */
export interface KillPoint extends StatementPoint {
  /** True if the intent to publish is recorded by then, so the next run has to complete it. */
  readonly finishedByTheNext: boolean;
  /** True if it swaps data that readers see. */
  readonly swapsResults?: boolean;
}

const INTENT = "^\\s*UPDATE tracking_dates SET publishing_hash = staged_hash";
const INTENT_OF_TOPICS = "^\\s*UPDATE topic_attribution_dates SET publishing_hash = staged_hash";
const RESULT = "^\\s*UPDATE tracking_dates AS t SET\\s+published_hash";
const COMMIT = "^COMMIT$";

const inPostgres = { store: "postgres" } as const;

/** Tables in the order of their swaps. */
const swapped = [
  "next_billing",
  "topic_usage",
  "topic_usage_gaps",
  "usage",
  "identity_sets",
  "usage_gaps",
  "publishing_days",
  "chargebacks",
  "topic_attributions",
  "sums_by_identity",
  "sums_by_reason",
  "billing",
];

/** Those that readers see or depend on. */
const results = [
  "publishing_days",
  "chargebacks",
  "topic_attributions",
  "sums_by_identity",
  "sums_by_reason",
  "billing",
];

const swapOf = (table: string) => ({
  store: "clickhouse" as const,
  swapsResults: results.includes(table),
  statements: [`^ALTER TABLE ${table} REPLACE PARTITION`],
  finishedByTheNext: true,
});

export const publicationPoints: readonly KillPoint[] = [
  {
    ...inPostgres,
    name: "calculated, before the intent",
    statements: [INTENT],
    when: "before",
    finishedByTheNext: false,
  },
  {
    ...inPostgres,
    name: "the intent is noted in part",
    statements: [INTENT, INTENT_OF_TOPICS],
    when: "before",
    finishedByTheNext: false,
  },
  {
    ...inPostgres,
    name: "the intent is noted",
    statements: [INTENT, COMMIT],
    when: "after",
    finishedByTheNext: true,
  },
  ...swapped.map((table) => ({ ...swapOf(table), name: `${table} is swapped`, when: "after" as const })),
  ...["publishing_days", "chargebacks", "sums_by_identity", "billing"].map((table) => ({
    ...swapOf(table),
    name: `${table} is being swapped`,
    when: "during" as const,
  })),
  {
    ...inPostgres,
    name: "the result is noted in part",
    statements: [RESULT],
    when: "after",
    finishedByTheNext: true,
  },
  {
    ...inPostgres,
    name: "the result is noted",
    statements: [RESULT, COMMIT],
    when: "after",
    finishedByTheNext: false,
  },
];

/** Points in opening new stores. Each starts where the one before died. */
export const migrationPoints: readonly StatementPoint[] = [
  {
    ...inPostgres,
    name: "a file of Postgres has run, and is not committed",
    statements: ["schema_migration_checksums[^;]*0001"],
    when: "after",
  },
  {
    ...inPostgres,
    name: "the schema of Postgres is committed, and ClickHouse has none",
    statements: ["schema_migration_checksums[^;]*0001", "^COMMIT;?$"],
    when: "after",
  },
  {
    store: "clickhouse",
    name: "the file of ClickHouse has made a part of its tables",
    statements: ["CREATE TABLE IF NOT EXISTS chargebacks\\n"],
    when: "after",
  },
  {
    store: "clickhouse",
    name: "the file of ClickHouse has run, and is not recorded",
    statements: ["^\\s*INSERT INTO schema_migrations"],
    when: "before",
  },
  {
    store: "clickhouse",
    name: "the file of ClickHouse is recorded",
    statements: ["^\\s*INSERT INTO schema_migrations"],
    when: "after",
  },
];

/** Points in writing a tag and mirroring it to ClickHouse. */
export const taggingPoints: readonly StatementPoint[] = [
  {
    ...inPostgres,
    name: "a tag is written, and not committed",
    statements: ["INSERT INTO tag_outbox"],
    when: "after",
  },
  {
    ...inPostgres,
    name: "a tag is committed, and its response is not sent",
    statements: ["INSERT INTO tag_outbox", COMMIT],
    when: "after",
  },
  {
    store: "clickhouse",
    name: "a tag is not in ClickHouse yet",
    statements: ["^INSERT INTO dimension_tags$"],
    when: "before",
  },
  {
    store: "clickhouse",
    name: "a tag is in ClickHouse, and still waits",
    statements: ["^INSERT INTO dimension_tags$"],
    when: "after",
  },
  {
    ...inPostgres,
    name: "a tag waits no more, which is not committed",
    statements: ["DELETE FROM tag_outbox"],
    when: "after",
  },
  {
    ...inPostgres,
    name: "a tag waits no more",
    statements: ["DELETE FROM tag_outbox", COMMIT],
    when: "after",
  },
];

const dropOf = (table: string, when: StatementPoint["when"]): StatementPoint => ({
  store: "clickhouse",
  name: `${table}: days past the retention ${when === "before" ? "are about to go" : "are gone"}`,
  statements: [`^ALTER TABLE ${table} DROP PARTITION`],
  when,
});

/** Points in dropping data past the retention. */
export const retentionPoints: readonly StatementPoint[] = [
  dropOf("chargebacks", "before"),
  dropOf("chargebacks", "after"),
  dropOf("billing", "after"),
  dropOf("identity_sets", "after"),
  {
    ...inPostgres,
    name: "state of days past the retention is about to go",
    statements: ["DELETE FROM tracking_dates"],
    when: "before",
  },
];

/** Points in writing files. */
export const emittingPoints: readonly StatementPoint[] = [
  {
    ...inPostgres,
    name: "a file is replaced, and not recorded",
    statements: ["INSERT INTO emissions"],
    when: "before",
  },
  {
    ...inPostgres,
    name: "a file is recorded, and others are not written",
    statements: ["INSERT INTO emissions"],
    when: "after",
  },
];
