/** What a pipeline's files hold, as fixed SQL: where its rows are, and which of its columns are written. */
import type { FilePipeline } from "../config/emitters.js";
import { chargebackOrder } from "../query/chargeback-list.js";
import { attributionKey } from "../query/topic-attribution-list.js";

export interface EmittedPipeline {
  /** Table of ClickHouse. */
  readonly facts: "chargebacks" | "topic_attributions";
  /** Of a file, in its order. `timestamp` and `amount` are written as they are, all others as text. */
  readonly columns: readonly string[];
  /** Columns that sums do not keep apart: empty in their files. */
  readonly leftOutOfSums: readonly string[];
  /** Order of rows as they are. */
  readonly order: readonly string[];
  /** Table of Postgres with the state of its days, and its column with their number of rows. */
  readonly state: "tracking_dates" | "topic_attribution_dates";
  readonly rows: "chargeback_rows" | "attribution_rows";
}

export const emittedPipelines: Readonly<Record<FilePipeline, EmittedPipeline>> = {
  chargeback: {
    facts: "chargebacks",
    columns: [
      "ecosystem",
      "tenant_id",
      "timestamp",
      "resource_id",
      "product_category",
      "product_type",
      "identity_id",
      "cost_type",
      "amount",
      "allocation_method",
      "allocation_detail",
    ],
    leftOutOfSums: ["allocation_detail"],
    order: chargebackOrder,
    state: "tracking_dates",
    rows: "chargeback_rows",
  },
  topic_attribution: {
    facts: "topic_attributions",
    columns: [
      "ecosystem",
      "tenant_id",
      "timestamp",
      "env_id",
      "cluster_resource_id",
      "topic_name",
      "product_category",
      "product_type",
      "attribution_method",
      "amount",
    ],
    leftOutOfSums: [],
    order: ["day", ...Object.keys(attributionKey)],
    state: "topic_attribution_dates",
    rows: "attribution_rows",
  },
};
