/** Bytes in and out of every billed Kafka cluster, by the owner of the principal that moved them. */
import type { UsageGap } from "../../../ecosystem.js";
import type { Owners } from "../owners.js";
import { BYTES_IN, BYTES_OUT } from "../rules.js";
import { together } from "../together.js";
import { type Gathering, readMetric, type Wanted } from "./gathering.js";
import { PRINCIPAL } from "./queries.js";

export async function gatherKafkaUsage(
  gathering: Gathering,
  wanted: Wanted,
  owners: Owners,
): Promise<UsageGap[]> {
  /** A principal comes again with every step: 19 M times in 200 days of 2,000. */
  const known = new Map<string, string | undefined>();
  const ownerOf = (labels: Readonly<Record<string, string>>) => {
    const principal = labels[PRINCIPAL] ?? "";
    if (principal === "") return null;
    if (!known.has(principal)) known.set(principal, owners.ofPrincipal(principal));
    return known.get(principal);
  };
  const gaps = await together(
    gathering.stop,
    ([BYTES_IN, BYTES_OUT] as const).map((metric) =>
      readMetric(gathering, { metric, wanted, ownerOf, keepsZeros: true }),
    ),
  );
  return gaps.flat();
}
