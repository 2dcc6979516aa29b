/** Three clouds with their accounts and services. Names follow the providers' own; numbers are made up. */

export interface CloudService {
  readonly name: string;
  readonly category: string;
  readonly subcategory: string;
  readonly resourceType: string;
  readonly unit: string;
  /** List price of a unit, in millionths of the currency; a multiple of 10. */
  readonly price: number;
  /** The largest number of units that a resource uses in a day. */
  readonly maxUnits: number;
  /** Whether a commitment covers some of its resources. */
  readonly committed?: true;
}

export interface Provider {
  readonly name: string;
  readonly publisher: string;
  readonly currency: string;
  readonly account: { readonly id: string; readonly name: string; readonly type: string };
  readonly subAccountType: string;
  /** Id and name. The last one is a sandbox without tags. */
  readonly subAccounts: readonly (readonly [id: string, name: string])[];
  readonly regions: readonly (readonly [id: string, name: string])[];
  readonly services: readonly CloudService[];
  readonly support: string;
  readonly commitment: { readonly id: string; readonly name: string; readonly type: string };
  /** Returns the id of a resource in the provider's format. */
  resourceId(resource: { subAccount: string; region: string; kind: string; name: string }): string;
}

const machines = {
  category: "Compute",
  subcategory: "Virtual Machines",
  unit: "Hours",
  maxUnits: 24,
} as const;
const containers = { category: "Compute", subcategory: "Containers", unit: "Hours", maxUnits: 24 } as const;
const functions = {
  category: "Compute",
  subcategory: "Serverless Compute",
  unit: "GB-Seconds",
  maxUnits: 900_000,
} as const;
const objects = {
  category: "Storage",
  subcategory: "Object Storage",
  unit: "GB-Days",
  maxUnits: 9000,
} as const;
const databases = {
  category: "Databases",
  subcategory: "Relational Databases",
  unit: "Hours",
  maxUnits: 24,
} as const;
const transfer = {
  category: "Networking",
  subcategory: "Network Connectivity",
  unit: "GB",
  maxUnits: 800,
} as const;

export const aws: Provider = {
  name: "AWS",
  publisher: "AWS",
  currency: "USD",
  account: { id: "482930104821", name: "acme-payer", type: "Payer Account" },
  subAccountType: "Linked Account",
  subAccounts: [
    ["210987654321", "acme-prod"],
    ["310987654321", "acme-staging"],
    ["410987654321", "acme-data"],
    ["510987654321", "acme-sandbox"],
  ],
  regions: [
    ["eu-central-1", "EU (Frankfurt)"],
    ["us-east-1", "US East (N. Virginia)"],
  ],
  services: [
    { ...machines, name: "AmazonEC2", resourceType: "Instance", price: 192_000, committed: true },
    { ...containers, name: "AmazonEKS", resourceType: "Cluster", price: 100_000 },
    { ...functions, name: "AWSLambda", resourceType: "Function", price: 20 },
    { ...objects, name: "AmazonS3", resourceType: "Bucket", price: 760 },
    { ...databases, name: "AmazonRDS", resourceType: "DBInstance", price: 415_000 },
    { ...transfer, name: "AWSDataTransfer", resourceType: "NatGateway", price: 45_000 },
  ],
  support: "AWS Support (Business)",
  commitment: {
    id: "arn:aws:savingsplans::482930104821:savingsplan/5f0c8d1e",
    name: "Compute, 1 year, no upfront",
    type: "Compute Savings Plan",
  },
  resourceId: ({ subAccount, region, kind, name }) =>
    `arn:aws:cloud:${region}:${subAccount}:${kind.toLowerCase()}/${name}`,
};

export const azure: Provider = {
  name: "Microsoft",
  publisher: "Microsoft",
  currency: "EUR",
  account: {
    id: "/providers/Microsoft.Billing/billingAccounts/8611537",
    name: "Acme GmbH",
    type: "Billing Profile",
  },
  subAccountType: "Subscription",
  subAccounts: [
    ["/subscriptions/7c1f0a52-0000-4000-8000-000000000001", "Acme production"],
    ["/subscriptions/7c1f0a52-0000-4000-8000-000000000002", "Acme data"],
    ["/subscriptions/7c1f0a52-0000-4000-8000-000000000003", "Acme trials"],
  ],
  regions: [
    ["westeurope", "West Europe"],
    ["germanywestcentral", "Germany West Central"],
  ],
  services: [
    {
      ...machines,
      name: "Virtual Machines",
      resourceType: "Virtual machine",
      price: 184_000,
      committed: true,
    },
    { ...objects, name: "Storage Accounts", resourceType: "Storage account", price: 640 },
    { ...databases, name: "SQL Database", resourceType: "SQL database", price: 505_000 },
    { ...transfer, name: "Bandwidth", resourceType: "Virtual network", price: 70_000 },
  ],
  support: "Microsoft Unified Support",
  commitment: {
    id: "/providers/Microsoft.Capacity/reservationOrders/0d7b/reservations/91aa",
    name: "D4s v5, 1 year",
    type: "Reservation",
  },
  resourceId: ({ subAccount, kind, name }) =>
    `${subAccount}/resourceGroups/acme/providers/${kind.toLowerCase().replaceAll(" ", "-")}/${name}`,
};

export const google: Provider = {
  name: "Google Cloud",
  publisher: "Google Cloud",
  currency: "USD",
  account: { id: "01AB2C-3D4E5F-678901", name: "acme", type: "Billing Account" },
  subAccountType: "Project",
  subAccounts: [
    ["acme-prod-1", "Production"],
    ["acme-ml-1", "Machine learning"],
    ["acme-play-1", "Playground"],
  ],
  regions: [
    ["europe-west3", "Frankfurt"],
    ["us-central1", "Iowa"],
  ],
  services: [
    { ...machines, name: "Compute Engine", resourceType: "Instance", price: 168_000, committed: true },
    { ...objects, name: "Cloud Storage", resourceType: "Bucket", price: 670 },
    {
      name: "BigQuery",
      category: "Databases",
      subcategory: "Data Warehouses",
      resourceType: "Dataset",
      unit: "TiB",
      price: 6_250_000,
      maxUnits: 3,
    },
    {
      name: "Vertex AI",
      category: "AI and Machine Learning",
      subcategory: "Generative AI",
      resourceType: "Endpoint",
      unit: "Hours",
      price: 1_240_000,
      maxUnits: 24,
    },
  ],
  support: "Google Cloud Enhanced Support",
  commitment: {
    id: "projects/acme-prod-1/commitments/4711",
    name: "General purpose, 1 year",
    type: "Committed use discount",
  },
  resourceId: ({ subAccount, region, kind, name }) =>
    `//cloud/projects/${subAccount}/locations/${region}/${kind.toLowerCase()}s/${name}`,
};
