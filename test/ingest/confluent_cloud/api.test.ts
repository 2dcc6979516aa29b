/**
 * The client of Confluent Cloud's APIs against a real HTTP server: paging, errors, retries, and where keys may be sent.
 */
import type { RequestListener } from "node:http";
import { pino } from "pino";
import t, { type Test } from "tap";
import { settingsOf } from "../../../src/config/settings/ecosystem-settings.js";
import { listProgress } from "../../../src/ingest/ecosystems/confluent_cloud/api/client.js";
import {
  connectConfluent,
  type Tuning,
} from "../../../src/ingest/ecosystems/confluent_cloud/api/connection.js";
import { confluentCloudSettings } from "../../../src/ingest/ecosystems/confluent_cloud/settings.js";
import { UpstreamError } from "../../../src/upstream/http/upstream-error.js";
import { holds } from "../../holds.js";
import { responses, upstream } from "../../upstream/upstream-server.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { confluentSettings, context, quick } from "./tenant.js";

type Settings = Readonly<Record<string, unknown>>;

function connected(t: Test, url: string, { tuning = {}, ...more }: Settings & { tuning?: Tuning } = {}) {
  const settings = settingsOf(confluentCloudSettings, confluentSettings(url, more));
  const connection = connectConfluent(settings, context, { ...quick, ...tuning });
  t.teardown(() => connection.close());
  return connection;
}

const page = (data: unknown, next?: unknown, metadata: Settings = {}) =>
  responses(
    200,
    JSON.stringify({ metadata: { ...metadata, ...(next === undefined ? {} : { next }) }, data }),
  );
const to = (token: string, host = "https://api.confluent.cloud") =>
  `${host}/iam/v2/users?page_size=1&page_token=${encodeURIComponent(token)}`;

async function listed(t: Test, ...handlers: readonly RequestListener[]) {
  const { url, seen } = await upstream(t, ...handlers);
  return { seen, url, list: () => itemsOf(connected(t, url)) };
}

async function itemsOf({ cloud }: ReturnType<typeof connected>, options: Settings = {}): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const batch of cloud.list("iam/v2/users", { kind: "a b" }, { signal: forever, ...options })) {
    items.push(...batch);
  }
  return items;
}

async function failure(work: Promise<unknown>): Promise<UpstreamError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
  throw new Error("the request should have failed");
}

t.test("a list of no, one and three pages is read to its end", async (t) => {
  const none = await listed(t, page([]));
  t.same(await none.list(), []);
  t.equal(none.seen.length, 1);
  const one = await listed(t, page([1, 2], null));
  t.same(await one.list(), [1, 2]);
  const three = await listed(t, page([1], to("a+/=&b")), page([], to("2", "")), page([3], ""));
  t.same(await three.list(), [1, 3], "an empty page is not the end of the list");
  const queries = three.seen.map(({ url }) => new URL(url, "http://x").searchParams);
  t.same(
    queries.map((query) => [query.get("kind"), query.get("page_size"), query.get("page_token")]),
    [
      ["a b", "100", null],
      ["a b", "100", "a+/=&b"],
      ["a b", "100", "2"],
    ],
    "each page repeats the query and its page size",
  );
  holds(t, three.seen[2]?.headers, {
    authorization: `Basic ${Buffer.from("CLOUDKEY:s3cret-word").toString("base64")}`,
  });
});

t.test("each form of the end of a list is recognised", async (t) => {
  for (const end of [
    page([1]),
    page([1], null),
    page([1], ""),
    page([1], to("")),
    responses(200, '{"data":[1]}'),
  ]) {
    const { list, seen } = await listed(t, end);
    t.same(await list(), [1]);
    t.equal(seen.length, 1);
  }
});

t.test("a list that never ends fails instead of counting its items repeatedly", async (t) => {
  const loop = await listed(t, page([1], to("x")), page([2], to("y")), page([3], to("x")));
  t.match((await failure(loop.list())).message, /token of its next page repeats/);
  t.equal(loop.seen.length, 3);

  let token = 0;
  const samePage: RequestListener = (request, response) => {
    token += 1;
    page([{ id: 1 }], to(String(token)), { page: token })(request, response);
  };
  const again = await listed(t, samePage);
  t.match((await failure(again.list())).message, /the list does not end: a page repeats$/);
  t.equal(again.seen.length, 2, "a page with a new token and the same items ends the list");
  const digests = async () => {
    const found: string[] = [];
    for await (const digest of connected(t, again.url).cloud.digests("x", {}, { signal: forever }))
      found.push(digest);
    return found;
  };
  t.match((await failure(digests())).message, /the list does not end: a page repeats$/);
});

t.test("the number of pages and items of a list is limited, and a series of empty pages ends it", (t) => {
  const progress = listProgress({ pages: 4, items: 5, emptyPagesInARow: 2 });
  const message = (digest: string, items: readonly unknown[]) => {
    const next = { digest, items, isEmpty: items.length === 0 };
    try {
      progress.check(next);
      progress.add(next);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  t.equal(message("a", [1, 2]), "");
  t.equal(message("", []), "");
  t.equal(message("", []), "");
  t.equal(message("", []), "the list does not end: more than 2 pages in a row are empty");
  t.equal(message("b", [1, 2, 3, 4]), "the list has more than 5 items");
  t.equal(message("a", [1]), "the list does not end: a page repeats");
  t.equal(message("c", [1]), "");
  t.equal(message("d", [1]), "the list does not end: it has more than 4 pages");
  t.end();
});

t.test("the key is never sent to a host that a response names", async (t) => {
  const foreign = await upstream(t, page(["stolen"]));
  const { list, seen } = await listed(t, page([1], to("x", foreign.url)), page([2]));
  const error = await failure(list());
  holds(t, error, { code: "bad_body", attempts: 1 });
  t.match(error.message, /another host/);
  t.equal(foreign.seen.length, 0);
  t.equal(seen.length, 1);
  const lookalike = await listed(t, page([1], to("x", "https://api.confluent.cloud.evil.example")));
  holds(t, await failure(lookalike.list()), { code: "bad_body" });
  const elsewhere = await upstream(t, responses(200));
  const redirect = await listed(t, responses(302, "", { location: elsewhere.url }));
  holds(t, await failure(redirect.list()), { code: "redirect_refused" });
  t.equal(elsewhere.seen.length, 0);
});

t.test("a response in another format than the vendor's is not a list", async (t) => {
  for (const body of [
    "[]",
    "<html>",
    '{"data":{}}',
    '{"data":null}',
    '{"data":null,"metadata":{}}',
    '{"data":[1]',
    '{"data":[],"metadata":{"next":7}}',
    "{}",
  ]) {
    holds(
      t,
      await failure((await listed(t, responses(200, body))).list()),
      { code: "bad_body", attempts: 3 },
      body,
    );
  }
});

t.test("temporary failures are retried, and a broken list continues where it was", async (t) => {
  const cut: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"data":[', () => response.socket?.resetAndDestroy());
  };
  const { list, seen } = await listed(t, page([1], to("x")), responses(500, "oops"), cut, page([2]));
  t.same(await list(), [1, 2]);
  t.same(
    seen.map(({ url }) => new URL(url, "http://x").searchParams.get("page_token")),
    [null, "x", "x", "x"],
  );
});

t.test("a response that stalls is aborted and requested again", async (t) => {
  const { url } = await upstream(t, () => undefined, page([1]));
  t.same(await itemsOf(connected(t, url, { tuning: { attemptTimeoutMs: 200 } })), [1]);
});

t.test("each header of a 429 is obeyed, with a wait of at least a second before the retry", async (t) => {
  const inTwoSeconds = () => new Date(Date.now() + 2000).toUTCString();
  const headers: [string, () => Record<string, string>, number][] = [
    ["seconds", () => ({ "retry-after": "1" }), 990],
    ["a date", () => ({ "retry-after": inTwoSeconds() }), 990],
    ["the metrics API's reset", () => ({ "rateLimit-reset": "1" }), 990],
    ["seconds from now, not since 1970", () => ({ "X-RateLimit-Reset": "2" }), 1990],
    ["the floor", () => ({ "retry-after": "0" }), 990],
    ["the first of several", () => ({ "retry-after": "1", "x-ratelimit-reset": "3600" }), 990],
    ["what cannot be read is passed over", () => ({ "retry-after": "soon", "x-ratelimit-reset": "1" }), 990],
  ];
  await Promise.all(
    headers.map(async ([name, given, least]) => {
      const limited: RequestListener = (_request, response) => response.writeHead(429, given()).end();
      const { url, seen } = await upstream(t, limited, page([1]));
      const retry = { attempts: 2, baseDelayMs: 1, maxDelayMs: 60_000, minRequestedWaitMs: 1000 };
      t.same(await itemsOf(connected(t, url, { tuning: { retry } })), [1], name);
      const waited = (seen[1]?.at ?? 0) - (seen[0]?.at ?? 0);
      t.ok(waited >= least, `${name}: waited ${Math.round(waited)} ms`);
    }),
  );
});

t.test("an error has the vendor's own message, without secrets", async (t) => {
  const body = JSON.stringify({
    errors: [
      {
        id: "1",
        status: "403",
        code: "forbidden",
        title: "Forbidden",
        detail: "needs BillingAdmin, not s3cret-word",
      },
      { id: "2", title: "Second" },
    ],
  });
  const { list, url } = await listed(t, responses(403, body));
  const error = await failure(list());
  holds(t, error, { code: "unauthorized", status: 403, attempts: 1 });
  t.equal(
    error.message,
    `${new URL(url).host}/iam/v2/users: returned 403: needs BillingAdmin, not ***; Second`,
  );
  const plain = await listed(t, responses(400, "no such thing"));
  t.match((await failure(plain.list())).message, /returned 400: no such thing/);
});

t.test("a 404 is an error, or an empty result where that is harmless", async (t) => {
  const { url } = await upstream(t, responses(404, '{"errors":[{"detail":"gone"}]}'));
  const connection = connected(t, url);
  holds(t, await failure(itemsOf(connection)), { code: "bad_status", status: 404, attempts: 1 });
  t.same(await itemsOf(connection, { notFound: "empty" }), []);
  const get = (notFound?: "empty") =>
    connection.cloud.get("connect/v1/x", {}, { signal: forever, ...(notFound && { notFound }) });
  holds(t, await failure(get()), { status: 404 });
  t.same(await get("empty"), {});
});

t.test("an object is read as it is, and its numbers become text on request", async (t) => {
  const { url } = await upstream(t, responses(200, '{"a":0.10,"data":[0.10,12345678901234567890]}'));
  const connection = connected(t, url);
  holds(t, await connection.cloud.get("x", {}, { signal: forever }), { a: 0.1 });
  t.same(await itemsOf(connection, { numbers: "text" }), ["0.10", "12345678901234567890"]);
});

t.test("an abort ends a list", async (t) => {
  const giveUp = new AbortController();
  const { url } = await upstream(t, page([1], to("x")), () => giveUp.abort());
  holds(t, await failure(itemsOf(connected(t, url), { signal: giveUp.signal })), { code: "aborted" });
});

t.test(
  "each region of Flink has its own key and address, and regions without a key have no API",
  async (t) => {
    const { url, seen } = await upstream(t, page([1]));
    const flink = [
      { region_id: " EU-West-1 ", key: "FLINKKEY", secret: "f", base_url: `${url}/flink` },
      { region_id: "us-east-2", key: "OTHER", secret: "o" },
    ];
    const connection = connected(t, "http://127.0.0.1:9", { flink });
    const region = connection.flink("eu-west-1", "AWS");
    t.ok(region);
    t.equal(connection.flink("eu-west-1", "aws"), region, "each region has one client");
    t.equal(connection.flink("ap-south-1", "aws"), undefined);
    t.ok(connection.flink("us-east-2", "AZURE"));
    t.equal(connection.flink("us-east-2", "evil.example/"), undefined, "a cloud is a word and not a host");
    for await (const batch of region?.list("sql/v1/statements", {}, { signal: forever, pageSize: 50 }) ??
      []) {
      t.same(batch, [1]);
    }
    t.equal(seen[0]?.url, "/flink/sql/v1/statements?page_size=50");
    t.equal(seen[0]?.headers.authorization, `Basic ${Buffer.from("FLINKKEY:f").toString("base64")}`);
  },
);

t.test("tenants with one key share its pace: a burst, then one request after another", async (t) => {
  const { url, seen } = await upstream(t, page([1]));
  const pace = { concurrency: 8, minIntervalMs: 300, burst: 3 };
  const tenants = [connected(t, url, { tuning: { pace } }), connected(t, url, { tuning: { pace } })];
  await Promise.all(tenants.flatMap((tenant) => [1, 2, 3].map(() => itemsOf(tenant))));
  const at = seen.map((request) => request.at);
  t.equal(at.length, 6);
  // Three at once, the other three 300, 600 and 900 ms after the first, as seen by the server: the first may have
  // arrived late.
  t.ok((at[5] ?? 0) - (at[0] ?? 0) >= 500, `${Math.round((at[5] ?? 0) - (at[0] ?? 0))} ms`);
});

t.test("a tenant with the key of another tenant gets one warning", async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const settings = settingsOf(confluentCloudSettings, confluentSettings("http://127.0.0.1:9/shared"));
  for (const tenantName of ["one", "two", "one", "two"]) {
    await connectConfluent(settings, { tenantName, logger }).close();
  }
  t.equal(lines.length, 1);
  t.match(lines[0], /Tenant two: has the same Confluent Cloud key as one/);
  t.notMatch(lines[0], /CLOUDKEY|s3cret/);
});
