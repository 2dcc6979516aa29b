/**
 * The bill of the cluster's account: machines, volumes and the fee of the cluster on each day, a bucket of another
 * team, and support for the whole month.
 */
import { addDays, firstOfMonth } from "../../common/days.js";
import type { BillLine } from "../bills/line.js";
import { charge, ofSubAccount, priced, supportLine } from "../bills/month.js";
import { aws, type CloudService } from "../bills/providers.js";
import type { SimulatedCluster } from "./cluster.js";

const machines: CloudService = {
  name: "AmazonEC2",
  category: "Compute",
  subcategory: "Virtual Machines",
  resourceType: "Instance",
  unit: "Hours",
  price: 384_000,
  maxUnits: 24,
};
const disks: CloudService = {
  name: "AmazonEBS",
  category: "Storage",
  subcategory: "Block Storage",
  resourceType: "Volume",
  unit: "GB-Days",
  price: 3_170,
  maxUnits: 1000,
};
const clusters: CloudService = {
  name: "AmazonEKS",
  category: "Compute",
  subcategory: "Containers",
  resourceType: "Cluster",
  unit: "Hours",
  price: 100_000,
  maxUnits: 24,
};
const buckets: CloudService = {
  name: "AmazonS3",
  category: "Storage",
  subcategory: "Object Storage",
  resourceType: "Bucket",
  unit: "GB-Days",
  price: 760,
  maxUnits: 9000,
};

/** Lines of the days from the first (inclusive) to the second (exclusive), which are in one month. */
export function clusterBill(
  cluster: SimulatedCluster,
  [from, to]: readonly [from: string, to: string],
  closed: boolean,
): BillLine[] {
  const options = { month: firstOfMonth(from), closed };
  const lines: BillLine[] = [];
  for (let day = from; day < to; day = addDays(day, 1)) {
    const usage = (service: CloudService, id: string, units: number, tags: Record<string, string> = {}) =>
      lines.push({
        ...charge(aws, options, day, addDays(day, 1)),
        ...priced(service, units, false),
        ChargeCategory: "Usage",
        ChargeFrequency: "Usage-Based",
        ChargeDescription: `${service.name}, ${service.unit}`,
        ConsumedQuantity: String(units),
        ConsumedUnit: service.unit,
        RegionId: "eu-central-1",
        RegionName: "EU (Frankfurt)",
        ResourceId: id,
        ResourceName: id,
        ResourceType: service.resourceType,
        ...ofSubAccount(aws, ACCOUNT),
        tags,
      });
    for (const { id } of cluster.nodes) usage(machines, id, 24);
    for (const { id, gib } of cluster.volumes) usage(disks, id, gib);
    usage(clusters, `arn:aws:eks:eu-central-1:${ACCOUNT[0]}:cluster/prod`, 24);
    usage(buckets, "acme-campaigns", 1200, { team: "marketing" });
  }
  const resources = cluster.nodes.length;
  return from === to ? lines : [...lines, supportLine(aws, { ...options, resources })];
}

const ACCOUNT = ["610987654321", "acme-kubernetes"] as const;
