/**
 * Sends every kind of request that clients send, including wrong ones, once for each tenant, and starts a run on
 * changed input.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import type { Test } from "tap";
import { dayOf } from "../../src/common/days.js";
import { until } from "../until.js";

export interface LoadedTenant {
  readonly name: string;
  readonly sqlPort: number;
  /** The password of the user `bi`. */
  readonly sqlPassword: string;
}

interface RequestOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** A body that is sent unchanged. */
  readonly text?: string;
  readonly auth?: string;
}

/** Sends a request on a connection of its own. */
function send(url: string, { method, body, text, auth }: RequestOptions) {
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const sent = request(url, {
    method: method ?? (content === undefined ? "GET" : "POST"),
    agent: false,
    headers: content === undefined ? {} : { "content-type": "application/json" },
    ...(auth !== undefined && { auth }),
  });
  sent.end(content);
  return sent;
}

async function sendRequest(
  url: string,
  requested: RequestOptions = {},
): Promise<{ status: number | undefined; text: string }> {
  const [response] = (await once(send(url, requested), "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, text };
}

/** Aborts after this many milliseconds, or when the response has begun. */
async function hangUp(url: string, requested: RequestOptions, when: number | "begun"): Promise<void> {
  const sent = send(url, requested);
  sent.on("error", () => undefined);
  if (when === "begun") {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    await once(response, "readable");
  } else await new Promise((resolve) => setTimeout(resolve, when));
  const closed = new Promise((resolve) => sent.once("close", resolve));
  sent.destroy();
  await closed;
}

/** Sends half a request, and then nothing. */
async function sendHalf(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write("POST /api/v1/tenants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  socket.destroy();
  await once(socket, "close");
}

/** Gathers and calculates the tenant completely. Returns the number of published rows. */
export async function runLoad(t: Test, url: string, { name }: LoadedTenant): Promise<number> {
  const pipeline = `${url}/api/v1/tenants/${name}/pipeline`;
  const started = await sendRequest(`${pipeline}/run`, { body: { force_gather: true } });
  if (started.status !== 202) throw new Error(`no run: ${started.text}`);
  const { run_id } = JSON.parse(started.text);
  let record: { status: string; ended_at: string | null; chargeback_rows_written: number } | undefined;
  const isOver = async () => {
    record = JSON.parse((await sendRequest(`${pipeline}/runs/${run_id}`)).text);
    return record !== undefined && record.ended_at !== null;
  };
  await until(`run ${run_id} is over`, isOver, 240);
  if (record?.status !== "completed") t.fail(`run ${run_id}: ${JSON.stringify(record)}`);
  return record?.chargeback_rows_written ?? 0;
}

/** Columns that make an export long. */
const manyColumns = Array.from({ length: 100 }, () => "allocation_detail");
const aggregates = ["identity_id", "resource_id&group_by=product_type&group_by=cost_type"];

/** Fails if a response has another status than expected. */
export async function readAndTag(t: Test, url: string, tenant: LoadedTenant): Promise<void> {
  const base = `${url}/api/v1/tenants/${tenant.name}`;
  const today = dayOf(new Date());
  const responses = async (status: number, path: string, requested: RequestOptions = {}) => {
    const received = await sendRequest(
      path.startsWith("/") ? url + path : `${base}${path && `/${path}`}`,
      requested,
    );
    if (received.status !== status)
      t.fail(`${path}: ${received.status} instead of ${status}: ${received.text}`);
    return received.text;
  };

  for (const path of ["/health", "/metrics", "/openapi.json", "/api/v1/readiness", "/api/v1/tenants"])
    await responses(200, path);
  for (const list of ["chargebacks", "billing", "resources", "identities", "tags", "pipeline/runs"])
    for (const page of [1, 2]) await responses(200, `${list}?page=${page}&page_size=200`);
  for (const path of ["status", "inventory/summary", "chargebacks/dates", "metrics", "reconciliation"])
    await responses(200, path);
  for (const group of aggregates) await responses(200, `chargebacks/aggregate?group_by=${group}`);
  for (const format of ["csv", "parquet", "focus"])
    await responses(200, `export?format=${format}`, { body: {} });

  const long = { body: { columns: manyColumns } };
  await hangUp(`${base}/export`, long, "begun");
  for (const milliseconds of [0, 5, 20, 60]) {
    await hangUp(`${base}/export`, long, milliseconds);
    await hangUp(`${base}/chargebacks/aggregate?time_bucket=hour`, {}, milliseconds);
  }
  await sendHalf(url);

  await responses(404, "/api/v1/tenants/nobody/status");
  await responses(404, "chargebacks/1");
  await responses(400, "chargebacks?start_date=yesterday");
  await responses(400, "chargebacks?pagesize=1");
  await responses(400, "export", { body: { columns: ["amounts"] } });
  await responses(400, "tags/bulk", { text: "{" });

  const { items } = JSON.parse(await responses(200, "chargebacks?page_size=1"));
  const dimension = `chargebacks/${items[0].dimension_id}`;
  const tag = { tag_key: "load", display_name: today, created_by: "test" };
  const { tag_id } = JSON.parse(await responses(201, `${dimension}/tags`, { body: tag }));
  await responses(409, `${dimension}/tags`, { body: tag });
  await responses(200, `tags/${tag_id}`, { method: "PATCH", body: { display_name: "renamed" } });
  await responses(200, dimension, { method: "PATCH", body: { add_tags: [{ ...tag, tag_key: "more" }] } });
  await responses(200, dimension, { method: "PATCH", body: { tags: [{ ...tag, tag_key: "other" }] } });
  await responses(200, dimension, { method: "PATCH", body: { tags: [] } });
  await responses(200, "tags/bulk-by-filter", {
    body: { ...tag, tag_key: "all", override_existing: true, display_name: String(Math.random()) },
  });

  const sql = `http://127.0.0.1:${tenant.sqlPort}/?database=${tenant.name}`;
  const auth = `bi:${tenant.sqlPassword}`;
  const query = async (text: string, status: number) => {
    const received = await sendRequest(sql, { text, auth });
    if (received.status !== status) t.fail(`${text}: ${received.status}: ${received.text}`);
  };
  await query(
    "SELECT identity_id, currency, sum(total_amount) FROM daily_cost_by_identity GROUP BY ALL",
    200,
  );
  await query("SELECT nothing FROM daily_cost_by_identity", 404);
  await query("DROP TABLE chargebacks", 500);
  await hangUp(sql, { text: "SELECT * FROM daily_cost_by_identity", auth }, 5);
}
