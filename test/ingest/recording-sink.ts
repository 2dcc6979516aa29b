/** A sink that records what it gets, for tests of a single gatherer. */
import type {
  BillingLine,
  IdentityRecord,
  IdentitySetMember,
  InventorySink,
  ResourceRecord,
  UsageFact,
  UsageGap,
  WindowSink,
} from "../../src/ingest/ecosystem.js";
import { factsOf } from "../../src/ingest/usage-series.js";

export interface Recorded {
  readonly billing: BillingLine[];
  readonly usage: UsageFact[];
  readonly identitySets: IdentitySetMember[];
  readonly usageGaps: UsageGap[];
  readonly resources: ResourceRecord[];
  readonly identities: IdentityRecord[];
}

export function recordingSink(): WindowSink & InventorySink & { readonly recorded: Recorded } {
  const recorded: Recorded = {
    billing: [],
    usage: [],
    identitySets: [],
    usageGaps: [],
    resources: [],
    identities: [],
  };
  const into =
    <Item>(list: Item[]) =>
    async (batch: readonly Item[]) => {
      list.push(...batch);
    };
  return {
    recorded,
    billing: into(recorded.billing),
    usage: into(recorded.usage),
    billingRows: async () => {
      throw new Error("lines that the engine selects are not recorded here");
    },
    usageRows: async () => {
      throw new Error("facts that the engine selects are not recorded here");
    },
    usageSeries: async (batch) => void recorded.usage.push(...factsOf(batch)),
    identitySets: into(recorded.identitySets),
    usageGaps: into(recorded.usageGaps),
    usageGapsOfBilled: async () => {
      throw new Error("gaps that the engine selects are not recorded here");
    },
    resources: into(recorded.resources),
    resourceRows: async () => {
      throw new Error("resources that the engine selects are not recorded here");
    },
    identities: into(recorded.identities),
  };
}
