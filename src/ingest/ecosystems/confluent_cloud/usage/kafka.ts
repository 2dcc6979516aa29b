/** Bytes in and out of every billed Kafka cluster, by the owner of the principal that moved them. */
import { allOrStop } from "../../../../common/all-or-stop.js";
import type { UsageGap } from "../../../ecosystem.js";
import type { Owners } from "../owners.js";
import { BYTES_IN, BYTES_OUT } from "../rules.js";
import { readMetric, type UsageGathering, type Wanted } from "./gathering.js";
import { PRINCIPAL_LABEL } from "./queries.js";

export async function gatherKafkaUsage(
  gathering: UsageGathering,
  wanted: Wanted,
  owners: Owners,
): Promise<UsageGap[]> {
  const ownerOf = (labels: Readonly<Record<string, string>>) => {
    const principal = labels[PRINCIPAL_LABEL] ?? "";
    const owner = principal === "" ? null : owners.ofPrincipal(principal);
    return () => owner;
  };
  const gaps = await allOrStop(
    gathering.stop,
    ([BYTES_IN, BYTES_OUT] as const).map((metric) =>
      readMetric(gathering, { metric, wanted, ownerOf, unnamed: "nobodys", keepsZeros: true }),
    ),
  );
  return gaps.flat();
}
