/** Columns and row order of the files of each ledger. */
import type { FilePipeline } from "../../config/settings/emitters.js";
import { type Ledger, ledgers } from "../../domain/ledger.js";
import { chargebackOrder } from "../../query/chargebacks/list.js";
import { attributionOrder } from "../../query/topics/list.js";

export interface FileLayout {
  readonly ledger: Ledger;
  /** Columns of a file, in order. `timestamp` and `amount` are written unchanged, all others as text cells. */
  readonly columns: readonly string[];
  /** Columns that sums are not grouped by. They are empty in files of sums. */
  readonly leftOutOfSums: readonly string[];
  /** Sort order of single rows. */
  readonly order: readonly string[];
}

export const fileLayouts: Readonly<Record<FilePipeline, FileLayout>> = {
  chargeback: {
    ledger: ledgers.chargebacks,
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
      "currency",
    ],
    leftOutOfSums: ["allocation_detail"],
    order: chargebackOrder,
  },
  topic_attribution: {
    ledger: ledgers.topic_attributions,
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
      "currency",
    ],
    leftOutOfSums: [],
    order: attributionOrder,
  },
};
