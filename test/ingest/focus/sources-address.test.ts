import t from "tap";
import { allowedRedirect } from "../../../src/ingest/ecosystems/focus/sources/files/address.js";
import { upstream } from "../../upstream/upstream-server.js";
import { bytesOf, failureOf, openTestSource } from "./bill-files.js";

const DATE = "Wed, 01 Jul 2026 00:00:00 GMT";

/** A file that may change, and its headers. */
async function fileServer(t: Parameters<typeof upstream>[0]) {
  const state = {
    body: "bill",
    headers: { etag: '"1"', "last-modified": DATE } as Record<string, string>,
    length: true,
  };
  const server = await upstream(t, (request, response) => {
    const { etag } = state.headers;
    const wanted = request.headers["if-match"];
    if (wanted !== undefined && wanted !== etag) return response.writeHead(412).end();
    response.writeHead(
      200,
      state.length ? { ...state.headers, "content-length": state.body.length } : state.headers,
    );
    response.end(state.body);
  });
  return { ...server, state, location: `${server.url}/bills/2026-05.csv` };
}

t.test("one file at an address is read with credentials", async (t) => {
  const { location, seen } = await fileServer(t);
  const https = { auth_type: "basic", username: "u", password: "p", query: "?sv=1&sig=secret%2F" };
  const listing = await openTestSource(t, { location, https }).list();
  t.strictSame(
    listing.deliveries.map(({ billing_period, kind, files }) => [
      billing_period,
      kind,
      files.map(({ name, size }) => [name, size]),
    ]),
    [["2026-05", "snapshot", [[location, 4]]]],
    "the query is not a part of the name",
  );
  t.equal(await bytesOf(listing.deliveries[0]?.files[0]), "bill");
  t.strictSame(
    seen.map(({ url, headers }) => [
      url,
      headers.authorization,
      headers["if-match"],
      headers["accept-encoding"],
    ]),
    [undefined, '"1"'].map((condition) => [
      "/bills/2026-05.csv?sv=1&sig=secret%2F",
      `Basic ${Buffer.from("u:p").toString("base64")}`,
      condition,
      "identity",
    ]),
  );
});

t.test("a file that was replaced is not read, whatever its headers say", async (t) => {
  const cases: Record<string, string>[] = [
    { etag: '"1"' },
    { etag: 'W/"1"', "last-modified": DATE },
    { "last-modified": DATE },
  ];
  for (const headers of cases) {
    const { location, state } = await fileServer(t);
    state.headers = headers;
    const source = openTestSource(t, { location });
    const { deliveries } = await source.list();
    t.equal(await bytesOf(deliveries[0]?.files[0]), "bill");
    state.headers = {
      ...headers,
      ...(headers.etag ? { etag: '"2"' } : { "last-modified": "Thu, 02 Jul 2026 00:00:00 GMT" }),
    };
    t.match(await failureOf(bytesOf(deliveries[0]?.files[0])), /^FileChangedError/);
    t.not((await source.list()).deliveries[0]?.id, deliveries[0]?.id);
  }
});

t.test("a file without an ETag and a date is an error, because changes could not be detected", async (t) => {
  const { location, state } = await fileServer(t);
  state.headers = {};
  t.equal(
    await failureOf(openTestSource(t, { location }).list()),
    `Error: ${location}: the server says neither ETag nor Last-Modified, so a change could not be seen`,
  );
  state.headers = { etag: '"1"' };
  state.length = false;
  t.equal(
    await failureOf(openTestSource(t, { location }).list()),
    `Error: ${location}: the server does not say the length of the file (Content-Length)`,
  );
});

t.test("errors show neither credentials nor the query of the address", async (t) => {
  const server = await upstream(t, (request, response) => {
    response.writeHead(403).end(`no: ${request.url} ${request.headers.authorization}`);
  });
  const https = { auth_type: "bearer", bearer_token: "token-of-the-test", query: "sig=secret" };
  t.equal(
    await failureOf(openTestSource(t, { location: `${server.url}/x.csv`, https }).list()),
    `UpstreamError: ${server.host}/x.csv: returned 403`,
  );
});

t.test("redirects are followed, without credentials to other hosts", async (t) => {
  const { location, seen } = await fileServer(t);
  const front = await upstream(t, (request, response) => {
    const to = request.url === "/2026-05.csv" ? "/moved.csv" : location;
    response.writeHead(302, { location: to }).end();
  });
  const https = { auth_type: "bearer", bearer_token: "token-of-the-test" };
  const { deliveries } = await openTestSource(t, { location: `${front.url}/2026-05.csv`, https }).list();
  t.strictSame(
    deliveries.map(({ billing_period }) => billing_period),
    ["2026-05"],
  );
  t.equal(await bytesOf(deliveries[0]?.files[0]), "bill");
  t.strictSame(
    front.seen.map(({ headers }) => headers.authorization),
    Array.from({ length: 4 }, () => "Bearer token-of-the-test"),
  );
  t.strictSame(
    seen.map(({ headers }) => headers.authorization),
    [undefined, undefined],
  );
});

t.test("redirects that do not end, have no target or leave https are errors", async (t) => {
  let to: string | undefined = "/x.csv";
  const { url } = await upstream(t, (_request, response) => {
    response.writeHead(302, to === undefined ? {} : { location: to }).end();
  });
  const failure = () => failureOf(openTestSource(t, { location: `${url}/x.csv` }).list());
  t.equal(await failure(), `Error: ${url}/x.csv: more than 5 redirects`);
  to = undefined;
  t.equal(await failure(), `Error: ${url}/x.csv: a redirect that does not say where to`);
  to = "http://169.254.169.254/latest/meta-data/";
  t.equal(
    await failure(),
    `Error: ${url}/x.csv: a redirect to http://169.254.169.254 is not followed: it must be https`,
  );
  to = "file:///etc/passwd";
  t.equal(await failure(), `Error: ${url}/x.csv: a redirect to file:// is not followed: it must be https`);
});

t.test("a remote source cannot redirect to services of this machine", async (t) => {
  const first = new URL("https://bills.example.org/x.csv");
  t.throws(() => allowedRedirect(first, first, "http://127.0.0.1:9000/"), /it must be https/);
  t.throws(() => allowedRedirect(first, first, "https://localhost:9000/"), /to this machine is not followed/);
  t.throws(() => allowedRedirect(first, first, "https://[::1]/"), /to this machine is not followed/);
  t.equal(allowedRedirect(first, first, "../y.csv").href, "https://bills.example.org/y.csv");
});
