/** The shared HTTP client against a real server that misbehaves in every supported way. */
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { pino } from "pino";
import t, { type Test } from "tap";
import { createUpstreamClient, type UpstreamClientOptions } from "../../src/upstream/http/client.js";
import { UpstreamError, type UpstreamErrorCode } from "../../src/upstream/http/upstream-error.js";
import { holds } from "../holds.js";
import { responses, upstream } from "./upstream-server.js";

const forever = new AbortController().signal;

function clientOf(t: Test, baseUrl: string, options: Partial<UpstreamClientOptions> = {}) {
  const client = createUpstreamClient({
    baseUrl,
    auth: { kind: "none" },
    logger: pino({ level: "silent" }),
    pace: { concurrency: 10, minIntervalMs: 0 },
    retry: { attempts: 3, baseDelayMs: 5, maxDelayMs: 200 },
    ...options,
  });
  t.teardown(() => client.close());
  return client;
}

const get = (path = "api/v1/query") => ({
  method: "GET" as const,
  path,
  decode: (body: Buffer) => JSON.parse(body.toString("utf8")),
});

async function failure(promise: Promise<unknown>): Promise<UpstreamError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
  throw new Error("the request should have failed");
}

t.test("a path prefix of the base address is kept", async (t) => {
  const { url, seen } = await upstream(t, responses(200));
  for (const base of ["/prometheus", "/prometheus/"])
    await clientOf(t, `${url}${base}`).request(get(), forever);
  t.same(
    seen.map((request) => request.url),
    ["/prometheus/api/v1/query", "/prometheus/api/v1/query"],
  );
});

t.test("configured headers are sent with every request, and never replace the client's own", async (t) => {
  const { url, seen } = await upstream(t, responses(200));
  const headers = { "X-Scope-OrgID": "team-1", accept: "text/html" };
  await clientOf(t, url, { headers, auth: { kind: "bearer", token: "abc" } }).request(get(), forever);
  holds(t, seen[0]?.headers, {
    "x-scope-orgid": "team-1",
    accept: "application/json",
    authorization: "Bearer abc",
  });
});

t.test(
  "a token file is read again if it changes, and an unusable one is refused with its name",
  async (t) => {
    const { url, seen } = await upstream(t, responses(200));
    const dir = t.testdir({ first: "first\n", second: "second-token", empty: " \n" });
    const file = join(dir, "token");
    symlinkSync("first", file);
    const client = clientOf(t, url, { auth: { kind: "bearer_file", file } });
    await client.request(get(), forever);
    // A cluster replaces a token by another link.
    rmSync(file);
    symlinkSync("second", file);
    await client.request(get(), forever);
    writeFileSync(join(dir, "second"), "third-one");
    await client.request(get(), forever);
    t.strictSame(
      seen.map((request) => request.headers.authorization),
      ["Bearer first", "Bearer second-token", "Bearer third-one"],
    );
    for (const [name, reason] of [
      ["none", "ENOENT"],
      ["empty", "it has no token of printable characters"],
    ] as const) {
      const broken = clientOf(t, url, { auth: { kind: "bearer_file", file: join(dir, name) } });
      const { code, message } = await failure(broken.request(get(), forever));
      t.equal(code, "unauthorized");
      t.ok(message.endsWith(`the token file ${join(dir, name)} cannot be used: ${reason}`), message);
    }
    t.equal(seen.length, 3, "without a token nothing is sent");
  },
);

t.test("credentials are sent as basic or bearer", async (t) => {
  const { url, seen } = await upstream(t, responses(200));
  await clientOf(t, url, { auth: { kind: "basic", username: "me", password: "p:ß" } }).request(
    get(),
    forever,
  );
  await clientOf(t, url, { auth: { kind: "bearer", token: "abc" } }).request(get(), forever);
  t.same(
    seen.map((request) => request.headers.authorization),
    [`Basic ${Buffer.from("me:p:ß").toString("base64")}`, "Bearer abc"],
  );
});

t.test("temporary failures are retried, and lasting ones are not", async (t) => {
  const cases: { name: string; status: number; code: UpstreamErrorCode; attempts: number }[] = [
    ...[408, 425, 500, 502, 503, 504].map((status) => ({
      name: `${status}`,
      status,
      code: "bad_status" as const,
      attempts: 3,
    })),
    { name: "429", status: 429, code: "rate_limited", attempts: 3 },
    { name: "400", status: 400, code: "bad_status", attempts: 1 },
    { name: "401", status: 401, code: "unauthorized", attempts: 1 },
    { name: "403", status: 403, code: "unauthorized", attempts: 1 },
    { name: "422", status: 422, code: "bad_status", attempts: 1 },
  ];
  for (const { name, status, code, attempts } of cases) {
    const { url, host, seen } = await upstream(t, responses(status, "said why"));
    const error = await failure(clientOf(t, url).request(get(), forever));
    holds(t, error, { code, attempts, status, endpoint: `${host}/api/v1/query` }, name);
    t.ok(error.message.includes(`returned ${status}: said why`), error.message);
    t.equal(seen.length, attempts, `${name}: requests`);
  }
});

t.test("an upstream that recovers is not an error", async (t) => {
  const { url, seen } = await upstream(
    t,
    responses(503),
    (request) => request.socket.resetAndDestroy(),
    responses(200, '{"ok":1}'),
  );
  t.same(await clientOf(t, url).request(get(), forever), { ok: 1 });
  t.equal(seen.length, 3);
});

t.test("a connection that breaks before or during the response is retried", async (t) => {
  const midway: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write("{", () => response.socket?.resetAndDestroy());
  };
  for (const handler of [((request) => request.socket.resetAndDestroy()) as RequestListener, midway]) {
    const { url, seen } = await upstream(t, handler);
    holds(t, await failure(clientOf(t, url).request(get(), forever)), { code: "unreachable", attempts: 3 });
    t.equal(seen.length, 3);
  }
});

t.test("a port without a listener is unreachable", async (t) => {
  const error = await failure(clientOf(t, "http://127.0.0.1:9").request(get(), forever));
  holds(t, error, { code: "unreachable", attempts: 3 });
});

t.test("a server of plain HTTP behind an https address is reported as such", async (t) => {
  const { url } = await upstream(t, responses(200));
  const error = await failure(clientOf(t, url.replace("http://", "https://")).request(get(), forever));
  holds(t, error, {
    code: "unreachable",
    attempts: 3,
    message: /does not speak TLS: is it plain HTTP, so that its address begins with http:\/\/\?/,
  });
});

t.test("Retry-After is obeyed in both forms, and so are reset headers", async (t) => {
  const now = () => Math.ceil(Date.now() / 1000);
  const aYearBehind = "Mon, 10 Mar 2025 15:30:00 GMT";
  const cases: [string, () => Record<string, string>][] = [
    ["seconds", () => ({ "retry-after": "1" })],
    ["HTTP date", () => ({ "retry-after": new Date((now() + 1) * 1000).toUTCString() })],
    ["relative reset", () => ({ "x-ratelimit-reset": "1" })],
    ["epoch reset", () => ({ "ratelimit-reset": String(now() + 1) })],
    [
      "HTTP date of a clock that is behind",
      () => ({ date: aYearBehind, "retry-after": "Mon, 10 Mar 2025 15:30:01 GMT" }),
    ],
    [
      "epoch reset of a clock that is behind",
      () => ({ date: aYearBehind, "x-ratelimit-reset": String(Date.parse(aYearBehind) / 1000 + 1) }),
    ],
  ];
  await Promise.all(
    cases.map(async ([name, headers]) => {
      const limited: RequestListener = (_request, response) => {
        response.writeHead(429, headers());
        response.end();
      };
      const { url, seen } = await upstream(t, limited, responses(200));
      // A misread header means a wait of weeks, and the test would never end.
      const retry = { attempts: 2, baseDelayMs: 1, maxDelayMs: 2_000_000_000 };
      await clientOf(t, url, { retry }).request(get(), forever);
      const waited = (seen[1]?.at ?? 0) - (seen[0]?.at ?? 0);
      t.ok(waited > 600, `${name}: waited ${Math.round(waited)} ms`);
    }),
  );
});

t.test("a wait is capped, and there is none after the last attempt", async (t) => {
  const { url, seen } = await upstream(t, responses(429, "", { "retry-after": "3600" }));
  const error = await failure(clientOf(t, url).request(get(), forever));
  holds(t, error, { code: "rate_limited", attempts: 3 });
  t.equal(seen.length, 3);
  const retry = { attempts: 1, baseDelayMs: 1, maxDelayMs: 3_600_000 };
  const once = await failure(clientOf(t, url, { retry }).request(get(), forever));
  holds(
    t,
    once,
    { code: "rate_limited", attempts: 1 },
    "without the limit the response would come an hour later",
  );
});

t.test("an abort ends a wait at once", async (t) => {
  const { url } = await upstream(t, responses(429, "", { "retry-after": "3600" }));
  const giveUp = new AbortController();
  const retry = { attempts: 3, baseDelayMs: 1, maxDelayMs: 3_600_000 };
  const request = failure(clientOf(t, url, { retry }).request(get(), giveUp.signal));
  setTimeout(() => giveUp.abort(new Error("enough")), 50);
  holds(t, await request, { code: "aborted" }, "without the abort the response would come an hour later");
});

t.test("an abort ends a request in progress", async (t) => {
  const giveUp = new AbortController();
  const { url } = await upstream(t, () => giveUp.abort());
  holds(t, await failure(clientOf(t, url).request(get(), giveUp.signal)), { code: "aborted" });
});

t.test("a response that does not start or does not end times out", async (t) => {
  const dripping: RequestListener = (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  };
  for (const handler of [(() => undefined) as RequestListener, dripping]) {
    const { url, seen } = await upstream(t, handler);
    const error = await failure(clientOf(t, url, { attemptTimeoutMs: 150 }).request(get(), forever));
    holds(t, error, { code: "timeout", attempts: 3 });
    t.equal(seen.length, 3);
  }
});

t.test("a response that is too large is refused once, even if only its unpacked size is", async (t) => {
  const zipped = gzipSync(Buffer.alloc(5_000_000, 32));
  const endless: RequestListener = (_request, response) => {
    const pour = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", pour);
    pour();
  };
  for (const handler of [endless, responses(200, zipped, { "content-encoding": "gzip" })]) {
    const { url, seen } = await upstream(t, handler);
    const error = await failure(clientOf(t, url, { maxBytes: 1_000_000 }).request(get(), forever));
    holds(t, error, { code: "too_large", attempts: 1 });
    t.match(error.message, /1000000 bytes/);
    t.equal(seen.length, 1);
  }
});

t.test("a compressed response is unpacked, and a damaged one is requested again", async (t) => {
  const good = JSON.stringify({ ok: 1 });
  for (const [encoding, packed] of [
    ["gzip", gzipSync(good)],
    ["GZIP", gzipSync(good)],
    ["br", brotliCompressSync(good)],
    ["identity", Buffer.from(good)],
  ] as const) {
    const { url, seen } = await upstream(t, responses(200, packed, { "content-encoding": encoding }));
    t.strictSame(await clientOf(t, url).request(get(), forever), { ok: 1 }, encoding);
    t.equal(seen[0]?.headers["accept-encoding"], "gzip, br");
  }
  for (const [encoding, broken] of [
    ["gzip", gzipSync(good).subarray(0, 20)],
    ["gzip", Buffer.from(good)],
    ["br", Buffer.from("not brotli at all")],
  ] as const) {
    const { url, seen } = await upstream(t, responses(200, broken, { "content-encoding": encoding }));
    const error = await failure(clientOf(t, url).request(get(), forever));
    holds(t, error, { code: "unreachable", attempts: 3 });
    t.ok(error.message.includes("the response cannot be unpacked"), error.message);
    t.equal(seen.length, 3);
  }
});

t.test("an error's status counts, whatever happens to its body", async (t) => {
  const midway: RequestListener = (_request, response) => {
    response.writeHead(403, { "content-length": "1000" });
    response.write("said", () => response.socket?.resetAndDestroy());
  };
  for (const handler of [responses(403, "not gzip", { "content-encoding": "gzip" }), midway]) {
    const { url } = await upstream(t, handler);
    const error = await failure(clientOf(t, url).request(get(), forever));
    holds(t, error, { code: "unauthorized", status: 403, attempts: 1 });
  }
});

t.test("an unreadable response is requested again", async (t) => {
  const { url, seen } = await upstream(t, responses(200, '{"cut":'), responses(200, '{"ok":1}'));
  t.same(await clientOf(t, url).request(get(), forever), { ok: 1 });
  t.equal(seen.length, 2);
});

t.test("a redirect is not followed, and its target gets nothing", async (t) => {
  const target = await upstream(t, responses(200));
  const location = `${target.url}/other?secret=1`;
  const { url } = await upstream(t, responses(302, "", { location }));
  const auth = { kind: "bearer" as const, token: "very-secret" };
  const error = await failure(clientOf(t, url, { auth }).request(get(), forever));
  holds(t, error, { code: "redirect_refused", status: 302, attempts: 1 });
  t.ok(error.message.includes(target.host), error.message);
  t.notMatch(error.message, /secret/);
  t.equal(target.seen.length, 0);
});

t.test("an error's text is short and contains no secrets", async (t) => {
  const auth = { kind: "basic" as const, username: "me", password: "s3cr3t-pw" };
  const echo = `Authorization: Basic ${Buffer.from("me:s3cr3t-pw").toString("base64")} password=s3cr3t-pw
    https://other:hidden-pw@host/path?api_key=hidden-key Bearer hidden.token "token": "hidden-json" ${"x".repeat(5000)}`;
  const { url } = await upstream(t, responses(500, echo));
  const client = clientOf(t, url, { auth });
  const error = await failure(client.request({ ...get(), query: { key: "hidden-query" } }, forever));
  t.notMatch(error.message, /s3cr3t|hidden|\n/);
  t.notMatch(JSON.stringify(error), /s3cr3t|hidden/);
  t.ok(error.message.length < 320, `${error.message.length} characters`);
});

t.test(
  "requests with one credential share a limit across clients, and release it while they wait",
  async (t) => {
    let running = 0;
    let most = 0;
    let first = true;
    const { url, seen } = await upstream(t, async (_request, response) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      response.writeHead(first ? 503 : 200);
      first = false;
      response.end("{}");
    });
    const pace = { concurrency: 1, minIntervalMs: 0 };
    const retry = { attempts: 2, baseDelayMs: 400, maxDelayMs: 400 };
    const clients = [clientOf(t, url, { pace, retry }), clientOf(t, url, { pace, retry })];
    const order: number[] = [];
    await Promise.all(
      [0, 1, 2, 3].map(async (number) => {
        await clients[number % 2]?.request(get(), forever);
        order.push(number);
      }),
    );
    t.equal(most, 1);
    t.equal(seen.length, 5);
    t.same(order, [1, 2, 3, 0], "a request that waits lets the others pass");
  },
);

t.test("requests start at intervals", async (t) => {
  const { url, seen } = await upstream(t, responses(200));
  const client = clientOf(t, url, { pace: { concurrency: 10, minIntervalMs: 50 } });
  const began = performance.now();
  await Promise.all([1, 2, 3, 4].map(() => client.request(get(), forever)));
  // Measured from the beginning, because a late arrival shortens the next gap.
  t.same(
    seen.map(({ at }, index) => at - began > index * 45),
    [true, true, true, true],
  );
});

t.test("an upstream that states its limit of requests is used at that pace", async (t) => {
  const says = (remaining: string, reset: string) => ({
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": reset,
  });
  const generous = await upstream(t, responses(200, "{}", says("100000", "60")));
  // At the agreed pace, the second would start in ten minutes.
  const client = clientOf(t, generous.url, { pace: { concurrency: 2, minIntervalMs: 600_000 } });
  for (let turn = 0; turn < 5; turn += 1) await client.request(get(), forever);
  t.equal(generous.seen.length, 5);

  for (const [remaining, reset] of [
    ["0", "60"],
    ["3", "60"],
    ["soon", "60"],
    ["100000", "never"],
  ] as const) {
    const mean = await upstream(t, responses(200, "{}", says(remaining, reset)));
    const patient = clientOf(t, mean.url, { pace: { concurrency: 2, minIntervalMs: 50 } });
    const began = performance.now();
    for (let turn = 0; turn < 3; turn += 1) await patient.request(get(), forever);
    t.ok(
      (mean.seen[2]?.at ?? 0) - began > 90,
      `the requests keep the stated pace, with ${remaining} left for ${reset}`,
    );
  }
});

t.test("a request that is aborted in the queue leaves it, and the others go on", async (t) => {
  let release: (() => void) | undefined;
  const held: RequestListener = (_request, response) => {
    release = () => response.end("{}");
  };
  const { url, seen } = await upstream(t, held, responses(200));
  const client = clientOf(t, url, { pace: { concurrency: 1, minIntervalMs: 0 } });
  const giveUp = new AbortController();
  const first = client.request(get(), forever);
  const second = failure(client.request(get(), giveUp.signal));
  const third = client.request(get(), forever);
  giveUp.abort();
  holds(t, await second, { code: "aborted" }, "the first request still runs");
  while (release === undefined) await new Promise((resolve) => setImmediate(resolve));
  release();
  await Promise.all([first, third]);
  t.equal(seen.length, 2);
});
