/**
 * Sources of bills for tests: folders with files, settings as the configuration reads them, and listings made short.
 */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Test } from "tap";
import type { DeliveredFile, SourceListing } from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import {
  openBillSource,
  type SourceContext,
} from "../../../src/ingest/ecosystems/focus/sources/open-source.js";
import {
  type BillSourceSettings,
  billSourceSettings,
} from "../../../src/ingest/ecosystems/focus/sources/settings.js";

/** Default time of the last change of test files. */
export const LONG_AGO = new Date("2026-07-01T00:00:00Z");

export type Files = Readonly<Record<string, string | { readonly text: string; readonly modified: Date }>>;

/** Creates a folder with these files. */
export async function billFolder(t: Test, files: Files): Promise<string> {
  const folder = t.testdir({});
  await write(folder, files);
  return folder;
}

export async function write(folder: string, files: Files): Promise<void> {
  for (const [name, file] of Object.entries(files)) {
    const { text, modified } = typeof file === "string" ? { text: file, modified: LONG_AGO } : file;
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await utimes(path, modified, modified);
  }
}

/** Fills in the defaults of the configuration. */
export function sourceSettings(written: Record<string, unknown>): BillSourceSettings {
  const value = Value.Default(billSourceSettings, { name: "bills", ...structuredClone(written) });
  if (Value.Check(billSourceSettings, value)) return value;
  throw new Error(
    JSON.stringify([...Value.Errors(billSourceSettings, value)].map(({ path, message }) => [path, message])),
  );
}

/** Opens a source that is closed at the end of the test. */
export function openTestSource(t: Test, written: Record<string, unknown>, context: SourceContext = {}) {
  const source = openBillSource(sourceSettings(written), { attempts: 2, baseDelayMs: 1, ...context });
  t.teardown(() => source.close());
  return {
    list: () => source.list(AbortSignal.timeout(60_000)),
    /** Removes values that tests cannot predict. */
    seen: async () => short(await source.list(AbortSignal.timeout(60_000))),
  };
}

export function short({ deliveries, waiting, remarks }: SourceListing) {
  return {
    deliveries: deliveries.map(({ billing_period, kind, files, remarks }) => ({
      billing_period,
      kind,
      files: files.map(({ name }) => name),
      ...(remarks.length === 0 ? {} : { remarks }),
    })),
    waiting: waiting.map(({ name, reason }) => `${name}: ${reason}`),
    ...(remarks.length === 0 ? {} : { remarks }),
  };
}

export async function bytesOf(file: DeliveredFile | undefined): Promise<string> {
  if (file === undefined) throw new Error("there is no such file");
  return Buffer.concat(await (await file.open(AbortSignal.timeout(60_000))).toArray()).toString("utf8");
}

/** Returns the error of a rejected promise. */
export async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  return "nothing failed";
}
