/**
 * The bills of three clouds, as they are delivered: Amazon's as Parquet in a bucket (Data Exports, with a manifest), Microsoft's as packed CSV
 * in a folder (Cost Management exports, in euros), Google's as Parquet in a folder. All of them are functions of the seed and the day.
 */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addDays, addMonths, dayOf, earliest, firstOfMonth, lastOfMonth, latest } from "../../time/days.js";
import { type S3Object, startS3Server } from "../s3-server.js";
import { csvGzOf, parquetOf } from "./files.js";
import { linesOf } from "./month.js";
import { aws, azure, google, type Provider } from "./providers.js";

export interface CloudBillsOptions {
  readonly seed: number;
  /** Of the three providers together; each has a line a day. */
  readonly resources: number;
  /** How many days back the bills go, to yesterday. */
  readonly days: number;
  /** A folder of ours alone: the bills of two of the providers are written there. */
  readonly folder: string;
  readonly now?: () => number;
}

export interface CloudBills {
  /** Of the S3 service. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: { readonly id: string; readonly secret: string };
  readonly folder: string;
  readonly days: number;
  /** Sub-accounts, and the team that each belongs to as a whole, as a map of an identity source. */
  readonly accountsFile: string;
  /** Amazon delivers a month again: it had metered too little on the day before yesterday, which is returned. */
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
  const today = dayOf(new Date(options.now?.() ?? Date.now()));
  const first = addDays(today, -days);
  const objects = new Map<string, S3Object>();
  const resources = (share: number) => Math.max(6, Math.round(options.resources * share));
  // Bills that were copied a moment ago wait; these are of this morning.
  const modified = new Date(Date.now() - 3_600_000);

  function linesIn(provider: Provider, month: string, share: number, corrected: readonly string[] = []) {
    const next = addMonths(month, 1);
    const days = [latest(first, month), earliest(next, today)] as const;
    return linesOf(provider, {
      ...{ seed, month, days, corrected },
      ...{ resources: resources(share), closed: next <= today },
    });
  }
  function deliverAws(month: string, run: string, corrected: readonly string[] = []) {
    const lines = linesIn(aws, month, 0.5, corrected);
    for (const { name, body } of awsExport(month, run, parquetOf(lines, "map")))
      objects.set(name, { body, modified });
  }
  function write(root: string, { name, body }: Delivered) {
    const path = join(folder, root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, body);
    utimesSync(path, modified, modified);
  }

  const months = monthsOf(first, addDays(today, -1));
  for (const month of months) {
    deliverAws(month, `${month.replaceAll("-", "")}T060000Z-first`);
    for (const file of azureExport(month, csvGzOf(linesIn(azure, month, 0.25)))) write("azure", file);
    const labelled = parquetOf(linesIn(google, month, 0.25), "labels");
    write("google", { name: `${month.slice(0, 7)}/focus-000000000000.parquet`, body: labelled });
  }
  const accountsFile = join(folder, "accounts.csv");
  writeFileSync(accountsFile, accounts());
  const server = await startS3Server({ bucket, objects, key });
  return {
    ...{ endpoint: server.endpoint, bucket, key, folder, days, accountsFile },
    deliverAgain() {
      const day = addDays(today, -2);
      const month = firstOfMonth(day);
      deliverAws(month, `${month.replaceAll("-", "")}T180000Z-second`, [day]);
      return day;
    },
    close: () => server.close(),
  };
}

function monthsOf(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = firstOfMonth(first); month <= last; month = addMonths(month, 1)) months.push(month);
  return months;
}

/** A folder for each run; the manifest of the newest says what counts. */
function awsExport(month: string, run: string, body: Buffer): Delivered[] {
  const period = `BILLING_PERIOD=${month.slice(0, 7)}`;
  const data = `exports/focus/data/${period}/${run}/focus-00001.snappy.parquet`;
  const manifest = {
    ...{ exportName: "focus", billingPeriod: month.slice(0, 7) },
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

/** Where people try things, nothing is tagged; two of the three such accounts have an owner all the same. */
function accounts(): string {
  const owned = [
    [aws, "platform"],
    [azure, "data"],
  ] as const;
  const rows = owned.map(([{ subAccounts }, team]) => `${subAccounts.at(-1)?.[0]},${team}`);
  return ["value,identity", ...rows, ""].join("\n");
}
