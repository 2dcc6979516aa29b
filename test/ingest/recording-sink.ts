/** A sink that keeps what it is given, for tests that look at a gatherer alone. */
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
    identitySets: into(recorded.identitySets),
    usageGaps: into(recorded.usageGaps),
    resources: into(recorded.resources),
    identities: into(recorded.identities),
  };
}
