/** A client of the simulated vendor that returns complete responses. */
import type { Test } from "tap";
import {
  type ConfluentCloud,
  type ConfluentCloudOptions,
  startConfluentCloud,
} from "../../src/simulator/confluent/cloud.js";

export const now = () => Date.parse("2026-03-10T15:30:00Z");

export interface ResponseEnvelope {
  readonly api_version: string;
  readonly kind: string;
  readonly metadata: { readonly first: string; readonly next?: string; readonly total_size?: number };
  readonly data: readonly Record<string, unknown>[];
}

export interface VendorError {
  readonly errors: readonly {
    readonly status: string;
    readonly code: string;
    readonly detail: string;
    readonly source?: { readonly parameter: string };
  }[];
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Client {
  readonly cloud: ConfluentCloud;
  get(path: string): Promise<ClientResponse>;
  page(path: string): Promise<ResponseEnvelope>;
  /** Returns all items of a list by following `next`. */
  all(path: string): Promise<Record<string, unknown>[]>;
  error(path: string): Promise<VendorError["errors"][number] & { http: number }>;
}

export const basic = ({ key, secret }: { key: string; secret: string }) =>
  `Basic ${Buffer.from(`${key}:${secret}`).toString("base64")}`;

export async function simulated(t: Test, options: ConfluentCloudOptions = {}): Promise<Client> {
  const cloud = await startConfluentCloud({ size: "tiny", now, ...options });
  t.teardown(() => cloud.close());
  return clientOf(cloud, cloud.url, basic(cloud.credentials));
}

export function clientOf(cloud: ConfluentCloud, base: string, authorization: string): Client {
  const get = async (path: string) => {
    const response = await fetch(`${base}${path}`, { headers: { authorization } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const page = async (path: string): Promise<ResponseEnvelope> => {
    const { status, text } = await get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  return {
    cloud,
    get,
    page,
    async all(path) {
      const items: Record<string, unknown>[] = [];
      let next: string | undefined = path;
      while (next !== undefined) {
        const { data, metadata } = await page(next);
        items.push(...data);
        next = metadata.next?.slice(base.length);
      }
      return items;
    },
    async error(path) {
      const { status, text } = await get(path);
      const { errors }: VendorError = JSON.parse(text);
      const [first] = errors;
      if (first === undefined) throw new Error(`${path}: no error`);
      return { ...first, http: status };
    },
  };
}

export const readCosts = (start: string, end: string, more = "") =>
  `/billing/v1/costs?start_date=${start}&end_date=${end}${more}`;
