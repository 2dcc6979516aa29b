/** The simulated Confluent Cloud produces the configured faults, and no others. */
import t from "tap";
import { waitHeaders } from "../../src/simulator/confluent/api-faults.js";
import { malformedKinds } from "../../src/simulator/confluent/malformed.js";
import { holds } from "../holds.js";
import { now, readCosts, simulated } from "./confluent-client.js";

const USERS = "/iam/v2/users";

t.test("a response with status 429 reports the wait in each configured header", async (t) => {
  const { cloud, get } = await simulated(t);
  const at = Math.ceil(now() / 1000);
  const wanted = {
    none: {},
    "retry-after": { "retry-after": "3" },
    "retry-after-date": { "retry-after": "Tue, 10 Mar 2026 15:30:03 GMT" },
    "ratelimit-reset": { "ratelimit-reset": "3" },
    "x-ratelimit-reset": { "x-ratelimit-reset": "3" },
    "x-ratelimit-reset-epoch": { "x-ratelimit-reset": String(at + 3) },
  };
  for (const header of waitHeaders) {
    cloud.setFaults([{ kind: "rate_limited", header, seconds: 3, times: 1 }]);
    const { status, headers, text } = await get(USERS);
    t.equal(status, 429, header);
    t.equal(JSON.parse(text).errors[0].status, "429");
    for (const name of ["retry-after", "ratelimit-reset", "x-ratelimit-reset"]) {
      t.equal(
        headers.get(name),
        (wanted[header] as Record<string, string>)[name] ?? null,
        `${header}: ${name}`,
      );
    }
    t.equal((await get(USERS)).status, 200, "the fault occurs once");
  }
});

t.test("a rate limit rejects requests until its window ends", async (t) => {
  let time = now();
  const { get } = await simulated(t, { now: () => time, rateLimit: { requests: 2, seconds: 10 } });
  t.equal((await get(USERS)).headers.get("x-ratelimit-remaining"), "1");
  t.equal((await get(USERS)).status, 200);
  const refused = await get(USERS);
  t.equal(refused.status, 429);
  t.equal(refused.headers.get("retry-after"), "10");
  time += 10_000;
  t.equal((await get(USERS)).status, 200);
});

t.test("a fault with a match affects only matching requests", async (t) => {
  const { cloud, get } = await simulated(t);
  cloud.setFaults([{ kind: "status", status: 503, match: USERS }]);
  for (let time = 0; time < 3; time += 1) t.equal((await get(`${USERS}?page_size=5`)).status, 503);
  t.equal((await get("/iam/v2/service-accounts")).status, 200);
  cloud.setFaults([{ kind: "status", status: 500, match: "page_token", after: 1, times: 1 }]);
  const pages: number[] = [];
  let path: string | undefined = "/iam/v2/api-keys?page_size=5";
  while (path !== undefined && pages.length < 4) {
    const { status, text } = await get(path);
    pages.push(status);
    path = status === 200 ? JSON.parse(text).metadata.next?.slice(cloud.url.length) : undefined;
  }
  t.strictSame(pages, [200, 200, 500], "only the third page fails");
});

t.test("responses can be reset, cut, withheld or endless", async (t) => {
  const { cloud, get } = await simulated(t);
  cloud.setFaults([{ kind: "reset" }]);
  await t.rejects(get(USERS), /fetch failed/);
  cloud.setFaults([{ kind: "reset", midway: true }]);
  await t.rejects(get(USERS), /terminated/);
  cloud.setFaults([{ kind: "truncated" }]);
  const { status, text } = await get(USERS);
  t.equal(status, 200);
  t.throws(() => JSON.parse(text), SyntaxError, "the body is cut");
  cloud.setFaults([{ kind: "stall" }]);
  const stalled = fetch(`${cloud.url}${USERS}`, {
    headers: { authorization: `Basic ${Buffer.from("SIMULATED:simulated-secret").toString("base64")}` },
    signal: AbortSignal.timeout(300),
  });
  await t.rejects(stalled, { name: "TimeoutError" }, "there is no response");
  cloud.setFaults([{ kind: "endless" }]);
  const response = await fetch(`${cloud.url}${USERS}`, {
    headers: { authorization: `Basic ${Buffer.from("SIMULATED:simulated-secret").toString("base64")}` },
  });
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > 4_000_000) break;
  }
  t.ok(bytes > 4_000_000, "the response does not end");
  cloud.setFaults([]);
  t.equal((await get(USERS)).status, 200);
});

t.test("pages can have wrong links and wrong content", async (t) => {
  const { cloud, page } = await simulated(t);
  cloud.setFaults([{ kind: "foreign_next", host: "http://127.0.0.2:9" }]);
  t.match((await page(USERS)).metadata.next, /^http:\/\/127\.0\.0\.2:9\/iam\/v2\/users\?page_token=/);
  cloud.setFaults([{ kind: "repeated_token" }]);
  const next = async (path: string) => (await page(path)).metadata.next?.slice(cloud.url.length) ?? "";
  const second = await next(USERS);
  t.equal(await next(second), second);
  cloud.setFaults([{ kind: "new_tokens" }]);
  const third = await next(USERS);
  const [first, other] = [await page(USERS), await page(third)];
  t.strictSame(other.data, first.data);
  t.not(await next(third), third);
  cloud.setFaults([{ kind: "null_data" }]);
  t.equal((await page(USERS)).data, null);
  cloud.setFaults([{ kind: "empty" }]);
  holds(t, await page(USERS), { data: [], metadata: { total_size: 0 } });
});

t.test("each day has one malformed row of each configured kind", async (t) => {
  const { all, cloud } = await simulated(t, { malformed: malformedKinds });
  const rows: unknown[] = await all(readCosts("2026-03-01", "2026-03-03"));
  const ids = rows.filter((row) => JSON.stringify(row).includes('"bad-2026-03-02-'));
  t.equal(ids.length, malformedKinds.length - 1, "all kinds except the one that is not an object");
  t.equal(rows.filter((row) => typeof row === "string").length, 2);
  t.ok(ids.some((row) => Array.isArray((row as { resource: unknown }).resource)));
  t.ok(ids.some((row) => !("start_date" in (row as object))));
  cloud.bill.setMalformed([]);
  const clean = await all(readCosts("2026-03-01", "2026-03-03"));
  t.equal(clean.length, rows.length - 2 * malformedKinds.length);
});

t.test("corrections revise and withdraw lines and days, and can be undone", async (t) => {
  const { cloud } = await simulated(t);
  const { bill, organisation } = cloud;
  const [cluster] = organisation.clusters;
  const day = "2026-03-05";
  const one = { day, lineType: "KAFKA_NETWORK_READ", resource: cluster?.id ?? "" };
  const corrected = () =>
    bill
      .rows(day)
      .filter(({ charge }) => charge.lineType === one.lineType && charge.resource?.id === one.resource);
  const before = bill.rows(day);
  const [original] = corrected();
  bill.setCorrections([{ ...one, kind: "revised", percent: 150 }]);
  t.equal(corrected()[0]?.original, ((original?.original ?? 0n) * 150n) / 100n);
  t.equal(corrected()[0]?.id, original?.id);
  t.strictSame(
    bill.rows(day).filter((row) => row.id !== original?.id),
    before.filter((row) => row.id !== original?.id),
    "no other row changes",
  );
  bill.setCorrections([{ ...one, kind: "withdrawn" }]);
  t.equal(corrected().length, 0);
  t.equal(bill.rows(day).length, before.length - 1);
  bill.setCorrections([{ day, kind: "withdrawn" }]);
  t.equal(bill.rows(day).length, 0);
  bill.setCorrections([]);
  t.strictSame(bill.rows(day), before);
});
