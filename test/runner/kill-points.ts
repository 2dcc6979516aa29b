/** Moments of a publication at which a process can die, each by the statement that it is next to. */

export interface KillPoint {
  readonly name: string;
  readonly store: "postgres" | "clickhouse";
  /** Regular expressions of statements that come one after another. It is the last of them that the process dies at. */
  readonly statements: readonly string[];
  /** Before it is sent, after it was sent and before there is an answer, or after its answer. */
  readonly when: "before" | "during" | "after";
  /** Whether the days count as about to be published by then, and the next run has to finish them. */
  readonly finishedByTheNext: boolean;
  /** It is a swap of what readers see. */
  readonly swapsResults?: boolean;
}

const INTENT = "^\\s*UPDATE tracking_dates SET publishing_hash = staged_hash";
const INTENT_OF_TOPICS = "^\\s*UPDATE topic_attribution_dates SET publishing_hash = staged_hash";
const RESULT = "^\\s*UPDATE tracking_dates AS t SET\\s+published_hash";
const COMMIT = "^COMMIT$";

const inPostgres = { store: "postgres" } as const;

/** Tables in the order in which they are swapped. */
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
  "billing",
];

/** Of these, those that readers see or go by. */
const results = ["publishing_days", "chargebacks", "topic_attributions", "billing"];

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
  ...["publishing_days", "chargebacks", "billing"].map((table) => ({
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
