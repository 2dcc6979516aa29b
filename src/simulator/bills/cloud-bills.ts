/**
 * Delivers the bills of three clouds: Amazon's as Parquet in a bucket (Data Exports, with a manifest), Microsoft's as
 * gzipped CSV in a folder (Cost Management exports, in euros), and Google's as Parquet in a folder. All are functions
 * of the seed and the day.
 */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addDays, addMonths, dayOf, earliest, firstOfMonth, lastOfMonth, latest } from "../../common/days.js";
import { type S3Object, startS3Server } from "../s3-server.js";
import { csvGzOf, parquetOf } from "./files.js";
import type { BillLine } from "./line.js";
import { type MonthOptions, simulatedLines } from "./month.js";
import { aws, azure, google, type Provider } from "./providers.js";

export interface CloudBillsOptions {
  readonly seed: number;
  /** Number of resources of all three providers together. Each has one line a day. */
  readonly resources: number;
  /** Number of days the bills cover, up to yesterday. */
  readonly days: number;
  /** Folder for the bills of two providers. Nothing else may write there. */
  readonly folder: string;
  readonly now?: () => number;
}

export interface CloudBills {
  /** Endpoint of the S3 service. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: { readonly id: string; readonly secret: string };
  readonly folder: string;
  readonly days: number;
  /** Map file of an identity source: sub-accounts that belong to one team, with that team. */
  readonly accountsFile: string;
  /** Delivers a month of Amazon again with more usage on the day before yesterday. Returns that day. */
  deliverAgain(): string;
  close(): Promise<void>;
}

const bucket = "acme-billing";
const key = { id: "SIMULATED", secret: "simulated-secret" };

interface Delivered {
  readonly name: string;
  readonly body: Buffer;
}

export async function startCloudBills(options: CloudBillsOptions): Promise<CloudBills> {
  const { seed, days, folder } = options;
  const today = todayOf(options);
  const first = addDays(today, -days);
  const objects = new Map<string, S3Object>();
  const resources = (share: number) => Math.max(6, Math.round(options.resources * share));
  const modified = anHourAgo();

  function linesIn(provider: Provider, month: string, share: number, corrected: readonly string[] = []) {
    return linesOfMonth(provider, { seed, first, today, month, corrected, resources: resources(share) });
  }
  function deliverAws(month: string, run: string, corrected: readonly string[] = []) {
    const lines = linesIn(aws, month, 0.5, corrected);
    for (const { name, body } of awsExport(month, run, parquetOf(lines, "map")))
      objects.set(name, { body, modified });
  }
  const write = (root: string, file: Delivered) => writeBelow(join(folder, root), file, modified);

  const months = monthsOf(first, addDays(today, -1));
  for (const month of months) {
    deliverAws(month, firstRun(month));
    for (const file of azureExport(month, csvGzOf(linesIn(azure, month, 0.25)))) write("azure", file);
    const labelled = parquetOf(linesIn(google, month, 0.25), "labels");
    write("google", { name: `${month.slice(0, 7)}/focus-000000000000.parquet`, body: labelled });
  }
  const accountsFile = join(folder, "accounts.csv");
  writeFileSync(accountsFile, accounts());
  const server = await startS3Server({ bucket, objects, key });
  return {
    endpoint: server.endpoint,
    bucket,
    key,
    folder,
    days,
    accountsFile,
    deliverAgain() {
      const day = addDays(today, -2);
      const month = firstOfMonth(day);
      deliverAws(month, secondRun(month), [day]);
      return day;
    },
    close: () => server.close(),
  };
}

export interface AwsBillOptions extends Omit<CloudBillsOptions, "resources"> {
  /** Number of resources. Each has one line a day. */
  readonly resources: number;
  /** Only deliver the month of the day before yesterday again, with more usage on that day. */
  readonly again: boolean;
}

/**
 * Writes the bill of one Amazon account into the folder, as Data Exports does. Returns the written months and the
 * corrected day.
 */
export function writeAwsBill(options: AwsBillOptions): {
  readonly months: string[];
  readonly corrected?: string;
} {
  const { seed, resources, days, folder, again } = options;
  const today = todayOf(options);
  const first = addDays(today, -days);
  const deliver = (month: string, run: string, corrected: readonly string[]) => {
    const lines = linesOfMonth(aws, { seed, first, today, month, resources, corrected });
    for (const file of awsExport(month, run, parquetOf(lines, "map"))) writeBelow(folder, file, anHourAgo());
  };
  if (again) {
    const corrected = addDays(today, -2);
    const month = firstOfMonth(corrected);
    deliver(month, secondRun(month), [corrected]);
    return { months: [month], corrected };
  }
  const months = monthsOf(first, addDays(today, -1));
  for (const month of months) deliver(month, firstRun(month), []);
  return { months };
}

const firstRun = (month: string) => `${month.replaceAll("-", "")}T060000Z-first`;
const secondRun = (month: string) => `${month.replaceAll("-", "")}T180000Z-second`;

const todayOf = ({ now = Date.now }: Pick<CloudBillsOptions, "now">) => dayOf(new Date(now()));

/** An hour ago: bills that were modified more recently would have to wait. */
const anHourAgo = () => new Date(Date.now() - 3_600_000);

function linesOfMonth(
  provider: Provider,
  {
    first,
    today,
    ...rest
  }: Pick<MonthOptions, "seed" | "month" | "resources" | "corrected"> & {
    readonly first: string;
    readonly today: string;
  },
): BillLine[] {
  const next = addMonths(rest.month, 1);
  const days = [latest(first, rest.month), earliest(next, today)] as const;
  return simulatedLines(provider, { ...rest, days, closed: next <= today });
}

function writeBelow(root: string, { name, body }: Delivered, modified: Date): void {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, body);
  utimesSync(path, modified, modified);
}

function monthsOf(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = firstOfMonth(first); month <= last; month = addMonths(month, 1)) months.push(month);
  return months;
}

/** Each run has a folder. The manifest of the newest run lists the files that count. */
function awsExport(month: string, run: string, body: Buffer): Delivered[] {
  const period = `BILLING_PERIOD=${month.slice(0, 7)}`;
  const data = `exports/focus/data/${period}/${run}/focus-00001.snappy.parquet`;
  const manifest = {
    exportName: "focus",
    billingPeriod: month.slice(0, 7),
    dataFiles: [`s3://${bucket}/${data}`],
  };
  return [
    { name: data, body },
    {
      name: `exports/focus/metadata/${period}/${run}/focus-Manifest.json`,
      body: Buffer.from(JSON.stringify(manifest)),
    },
  ];
}

function azureExport(month: string, body: Buffer): Delivered[] {
  const plain = (day: string) => day.replaceAll("-", "");
  const folder = `focuscost/${plain(month)}-${plain(lastOfMonth(month))}/1b2c3d4e-0000-4000-8000-000000000001`;
  const blobName = `${folder}/part_0_0001.csv.gz`;
  const manifest = {
    blobCount: 1,
    exportConfig: { exportName: "focuscost", type: "FocusCost", dataVersion: "1.2-preview" },
    runInfo: { submittedTime: `${month}T04:00:00Z` },
    blobs: [{ blobName, byteCount: body.length }],
  };
  return [
    { name: blobName, body },
    { name: `${folder}/manifest.json`, body: Buffer.from(JSON.stringify(manifest)) },
  ];
}

/** Sandbox accounts have no tags. Two of the three sandbox accounts have a team in this map. */
function accounts(): string {
  const owned = [
    [aws, "platform"],
    [azure, "data"],
  ] as const;
  const rows = owned.map(([{ subAccounts }, team]) => `${subAccounts.at(-1)?.[0]},${team}`);
  return ["value,identity", ...rows, ""].join("\n");
}
