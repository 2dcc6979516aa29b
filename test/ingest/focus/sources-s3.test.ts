import { once } from "node:events";
import { createServer } from "node:http";
import t, { type Test } from "tap";
import type { S3Object, S3Options } from "../../../src/simulator/s3-server.js";
import { bucketAddress } from "../../../src/upstream/s3/client.js";
import fc from "../../property.js";
import { s3Server } from "../../upstream/s3-server.js";
import { bytesOf, failureOf, LONG_AGO, openTestSource, short } from "./bill-files.js";

const KEY = { id: "AKIDEXAMPLE", secret: "secret/of+the/test" };
const object = (text: string, more: Partial<S3Object> = {}): S3Object => ({
  body: Buffer.from(text),
  modified: LONG_AGO,
  ...more,
});
const objects = (names: Readonly<Record<string, string>>) =>
  new Map(Object.entries(names).map(([name, text]) => [name, object(text)]));

async function bucket(t: Test, options: Partial<S3Options> & Pick<S3Options, "objects">, more: object = {}) {
  const server = await s3Server(t, { bucket: "bills", key: KEY, ...options });
  const s3 = {
    endpoint: server.endpoint,
    credentials: "keys",
    access_key_id: KEY.id,
    secret_access_key: KEY.secret,
    ...more,
  };
  return {
    ...server,
    source: (location: string, context = {}, rest = {}) =>
      openTestSource(t, { location, s3, ...rest }, context),
    s3,
  };
}

t.test("leftovers in a bucket are skipped below the prefix, and each folder is named once", async (t) => {
  const { source } = await bucket(t, {
    objects: objects({
      "_lake/2026-05/part-0.csv": "a",
      "_lake/2026-05/_temporary/0/part-0.csv": "a",
      "_lake/2026-05/_temporary/0/part-1.csv": "a",
      "_lake/2026-05/_SUCCESS": "",
      "_lake/2026-05/.part-0.csv.crc": "",
    }),
  });
  const { deliveries, remarks } = await source("s3://bills/_lake").seen();
  t.strictSame(
    deliveries.map(({ files }) => files),
    [["_lake/2026-05/part-0.csv"]],
  );
  t.strictSame(remarks, [
    '"2026-05/_temporary/": skipped, because names that begin with `_` or `.` are no bills',
  ]);
});

t.test("bills of a bucket are listed over many pages, and read", async (t) => {
  const names = [
    "pre/2026-05/a b+c&d=e%2F'()*!~ü€😀.csv",
    "pre/2026-05/b.csv",
    "pre/2026-05/c.csv.gz",
    "pre/2026-06/d.parquet",
    "pre/2026-06//e.csv",
  ];
  const others = {
    "pre/": "",
    "pre/.hidden/2026-05.csv": "",
    "prefix-of-others.csv": "",
    "pre/2026-06/": "",
  };
  const { source, requests } = await bucket(t, {
    objects: objects({ ...Object.fromEntries(names.map((name) => [name, `bytes of ${name}`])), ...others }),
    pageSize: 2,
  });
  const listing = await source("s3://bills/pre").list();
  t.strictSame(short(listing), {
    deliveries: [
      { billing_period: "2026-05", kind: "snapshot", files: names.slice(0, 3) },
      { billing_period: "2026-06", kind: "snapshot", files: ["pre/2026-06//e.csv", "pre/2026-06/d.parquet"] },
    ],
    waiting: [],
  });
  t.equal(requests.length, 4, "the list has several pages");
  for (const file of listing.deliveries.flatMap(({ files }) => files))
    t.equal(await bytesOf(file), `bytes of ${file.name}`);
  const filesAt = async (location: string) =>
    (await source(location).seen()).deliveries.flatMap(({ files }) => files);
  t.strictSame(
    await filesAt("s3://bills/pre/2026-05/b.csv"),
    ["pre/2026-05/b.csv"],
    "the address is one key",
  );
  t.equal((await filesAt("s3://bills")).length, 6, "the address is a whole bucket");
});

t.test("a bucket without bills names what is missing", async (t) => {
  const { source } = await bucket(t, {
    objects: objects({ "export.parquet/part-0.parquet": "", "notes/a.txt": "", "notes/b.txt": "" }),
  });
  const nothing = async (location: string) => (await source(location).list()).nothing;
  t.equal(await nothing("s3://bills/elsewhere"), "s3://bills/elsewhere has no files");
  t.equal(await nothing("s3://bills/2026-05.csv"), "there is no file s3://bills/2026-05.csv");
  t.equal(
    await nothing("s3://bills/notes"),
    "s3://bills/notes has 2 files, none of which ends in .csv, .csv.gz, .csv.zst, .parquet",
  );
  t.equal(await nothing("s3://bills/export.parquet/"), undefined);
  t.equal(
    await failureOf(source("s3://bills/export.parquet").list()),
    "Error: s3://bills/export.parquet is no file, and there are files below it: to read them, end `location` with a slash (s3://bills/export.parquet/)",
  );
});

t.test("ambiguous keys, and objects in an archive, hold up their bill", async (t) => {
  const { source } = await bucket(t, {
    objects: new Map([
      ["2026-04/../2026-05/x.csv", object("")],
      ["2026-06/a\nb.csv", object("")],
      ["2026-07/x.csv", object("", { storageClass: "DEEP_ARCHIVE" })],
      ["2026-08/x.csv", object("", { storageClass: "GLACIER_IR" })],
    ]),
  });
  t.strictSame(await source("s3://bills").seen(), {
    deliveries: [{ billing_period: "2026-08", kind: "snapshot", files: ["2026-08/x.csv"] }],
    waiting: [
      '2026-06: "2026-06/a\\nb.csv": its name has control characters, or is not UTF-8: rename it',
      '2026-07: "2026-07/x.csv": it is archived (DEEP_ARCHIVE): restore it',
      'files that name no month: "2026-04/../2026-05/x.csv": its name has the part `.` or `..`: rename it',
    ],
  });
});

t.test("an object that was replaced or removed is not read", async (t) => {
  const stored = objects({ "2026-05/x.csv": "first", "2026-06/y.csv": "y" });
  const { source } = await bucket(t, { objects: stored });
  const { deliveries } = await source("s3://bills").list();
  stored.set("2026-05/x.csv", object("other"));
  stored.delete("2026-06/y.csv");
  const failures = deliveries.map(({ files }) => failureOf(bytesOf(files[0])));
  t.strictSame(await Promise.all(failures), [
    'FileChangedError: "2026-05/x.csv" changed after it was listed, or while it was read',
    'FileChangedError: "2026-06/y.csv" changed after it was listed, or while it was read',
  ]);
});

t.test("an object that is cut off, or does not meet the condition, is not taken", async (t) => {
  let headers: Record<string, string | number> = {};
  let body = "";
  const { source, requests } = await bucket(t, {
    objects: objects({ "2026-05/x.csv": "12345678" }),
    instead: (request, response) => {
      if (!request.url?.endsWith("x.csv")) return false;
      response.writeHead(200, headers);
      response.write(body);
      if (headers["content-length"] === body.length) response.end();
      else setTimeout(() => response.destroy(), 20);
      return true;
    },
  });
  const [bill] = (await source("s3://bills").list()).deliveries;
  const failure = async (sent: string, more: typeof headers) => {
    body = sent;
    headers = { "content-length": sent.length, ...more };
    return await failureOf(bytesOf(bill?.files[0]));
  };
  t.match(
    await failure("1234", { "content-length": 8 }),
    /^(?!nothing|FileChangedError)/,
    "the network cut the object off",
  );
  t.match(await failure("1234", {}), /^FileChangedError/, "the object is shorter than listed");
  t.match(await failure("123456789", {}), /^FileChangedError/, "the object is longer than listed");
  t.match(
    await failure("abcdefgh", { etag: '"another"' }),
    /^FileChangedError/,
    "the service ignores conditions",
  );
  t.equal(await failure("12345678", {}), "nothing failed");
  t.equal(requests.at(-1)?.headers["if-match"], '"25d55ad283aa400af464c76d713c07ad"');
});

t.test("requests are retried, and errors contain the service's message without secrets", async (t) => {
  let left = 0;
  const flaky: S3Options["instead"] = (_request, response) => {
    if (left === 0) return false;
    left -= 1;
    response.writeHead(503, {});
    response.end("<Error><Code>SlowDown</Code><Message>slow down</Message></Error>");
    return true;
  };
  const { source, endpoint, s3 } = await bucket(t, { objects: objects({ "x.csv": "x" }), instead: flaky });
  const host = endpoint.replace("http://", "");
  const bills = source("s3://bills");
  left = 1;
  const [bill] = (await bills.list()).deliveries;
  left = 1;
  t.equal(await bytesOf(bill?.files[0]), "x");
  left = 2;
  t.equal(
    await failureOf(bills.list()),
    `UpstreamError: ${host}/bills: returned 503: SlowDown: slow down (after 2 attempts)`,
  );
  left = 2;
  t.match(
    await failureOf(bytesOf(bill?.files[0])),
    /returned 503: SlowDown: slow down \(after 2 attempts\)$/,
  );
  left = 0;
  const wrong = (more: object) =>
    failureOf(openTestSource(t, { location: "s3://bills", s3: { ...s3, ...more } }).list());
  t.equal(
    await wrong({ secret_access_key: "wrong-secret" }),
    `UpstreamError: ${host}/bills: returned 403: SignatureDoesNotMatch: of the simulator`,
  );
  t.equal(
    await wrong({ region: "eu-west-1" }),
    `UpstreamError: ${host}/bills: returned 403: AuthorizationHeaderMalformed: of the simulator`,
  );
  t.equal(
    await failureOf(source("s3://other").list()),
    `UpstreamError: ${host}/other: returned 404: NoSuchBucket: of the simulator`,
  );
});

t.test("an error that repeats the secret does not show it, and a redirect names the region", async (t) => {
  const { source } = await bucket(t, {
    objects: objects({}),
    instead: ({ url = "" }, response) => {
      const region = url.includes("elsewhere");
      response.writeHead(region ? 301 : 400, region ? { "x-amz-bucket-region": "eu-west-1" } : {});
      response.end(`<Error><Code>Bad</Code><Message>you sent ${KEY.secret}</Message></Error>`);
      return true;
    },
  });
  t.match(await failureOf(source("s3://bills").list()), /: returned 400: Bad: you sent \*\*\*$/);
  t.match(
    await failureOf(source("s3://bills/elsewhere").list()),
    /: returned 301: Bad: you sent \*\*\* \(the bucket is in eu-west-1: set s3\.region\)$/,
  );
});

t.test("an invalid, endless or too long listing is an error", async (t) => {
  let page = "";
  const { source } = await bucket(t, {
    objects: objects({}),
    instead: (_request, response) => {
      response.end(page);
      return true;
    },
  });
  const entry =
    "<Contents><Key>k</Key><Size>1</Size><ETag>e</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>";
  const received = async (text: string, rest = {}) => {
    page = text;
    return (await failureOf(source("s3://bills", {}, rest).list())).replace(/127\.0\.0\.1:\d+/, "HOST");
  };
  const unreadable = "Error: HOST/bills: the listing cannot be read:";
  t.equal(await received("nonsense"), `${unreadable} it is no XML`);
  t.equal(
    await received('<!DOCTYPE a [<!ENTITY b "c">]><ListBucketResult>&b;</ListBucketResult>'),
    `${unreadable} it is no XML`,
  );
  t.equal(await received("<Other/>"), `${unreadable} the response is not a listing of a bucket`);
  t.equal(
    await received("<ListBucketResult/>"),
    `${unreadable} the listing does not say whether it is complete`,
  );
  t.equal(
    await received("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"),
    `${unreadable} the listing is not complete, and does not say where it goes on`,
  );
  t.equal(
    await received(
      `<ListBucketResult><IsTruncated>false</IsTruncated>${entry.replace("<ETag>e</ETag>", "")}</ListBucketResult>`,
    ),
    `${unreadable} an object of the listing has no key, size, date or ETag`,
  );
  const endless = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>${entry}</ListBucketResult>`;
  t.equal(await received(endless), "Error: s3://bills/: the listing does not end");
  const long = `<ListBucketResult><IsTruncated>false</IsTruncated>${[1, 2, 3].map((n) => entry.replace("<Key>k", `<Key>k${n}`)).join("")}</ListBucketResult>`;
  t.equal(
    await received(long, { limits: { max_files: 2 } }),
    "Error: s3://bills/: there are more than 2 files (limits.max_files)",
  );
});

t.test(
  "requests are signed without credentials, with those of the environment, and with temporary ones",
  async (t) => {
    const open = await s3Server(t, { bucket: "bills", objects: objects({ "x.csv": "" }) });
    const s3 = { endpoint: open.endpoint, credentials: "none" };
    t.equal((await openTestSource(t, { location: "s3://bills", s3 }).list()).deliveries.length, 1);

    const key = { ...KEY, token: "token-of-the-test" };
    const {
      source,
      s3: written,
      endpoint,
    } = await bucket(t, { objects: objects({ "x.csv": "" }), key }, { session_token: key.token });
    t.equal((await source("s3://bills").list()).deliveries.length, 1);
    t.equal(written.endpoint, endpoint);
    const fromEnvironment = (env: NodeJS.ProcessEnv) =>
      openTestSource(
        t,
        { location: "s3://bills", s3: { endpoint, credentials: "environment" } },
        { env },
      ).list();
    const env = {
      AWS_ACCESS_KEY_ID: key.id,
      AWS_SECRET_ACCESS_KEY: key.secret,
      AWS_SESSION_TOKEN: key.token,
    };
    t.equal((await fromEnvironment(env)).deliveries.length, 1);
    t.equal(
      await failureOf(fromEnvironment({})),
      "Error: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which s3.credentials environment needs, must be set",
    );
  },
);

t.test("credentials of the instance's role are requested once until they expire", async (t) => {
  const now = Date.parse("2026-07-10T00:00:00Z");
  let clock = now;
  let role = "bills-reader";
  const requested: string[] = [];
  const metadata = createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    if (request.url === "/latest/api/token") {
      response.writeHead(
        request.method === "PUT" && request.headers["x-aws-ec2-metadata-token-ttl-seconds"] ? 200 : 403,
      );
      return response.end("the-token");
    }
    if (request.headers["x-aws-ec2-metadata-token"] !== "the-token") return response.writeHead(401).end();
    if (request.url?.endsWith("/security-credentials/")) return response.end(role);
    const expires = new Date(now + 3_600_000).toISOString();
    const lent = {
      Code: "Success",
      AccessKeyId: KEY.id,
      SecretAccessKey: KEY.secret,
      Token: "lent",
      Expiration: expires,
    };
    response.end(JSON.stringify(lent));
  }).listen(0, "127.0.0.1");
  await once(metadata, "listening");
  t.teardown(() => metadata.close());
  const address = metadata.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { endpoint } = await s3Server(t, {
    bucket: "bills",
    objects: objects({ "x.csv": "" }),
    key: { ...KEY, token: "lent" },
  });
  const open = (base: string) =>
    openTestSource(
      t,
      { location: "s3://bills", s3: { endpoint, credentials: "instance_role" } },
      { env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: base }, now: () => clock },
    );
  const source = open(`http://127.0.0.1:${port}/`);
  const roles = "/latest/meta-data/iam/security-credentials/";
  await source.list();
  await source.list();
  t.strictSame(requested, ["PUT /latest/api/token", `GET ${roles}`, `GET ${roles}bills-reader`]);
  clock = now + 3_600_000 - 5 * 60_000;
  await source.list();
  t.equal(requested.length, 6, "the credentials are requested again before they expire");
  role = "";
  t.equal(
    await failureOf(open(`http://127.0.0.1:${port}`).list()),
    "Error: the machine has no role (s3.credentials instance_role)",
  );
  t.equal(
    await failureOf(open("http://127.0.0.1:1").list()),
    "Error: the metadata service of the machine lends no key (s3.credentials instance_role): is this an EC2 instance with a role?",
  );
});

t.test("the endpoint of a bucket is derived from the settings", async (t) => {
  const at = (name: string, settings: object) =>
    bucketAddress(name, { region: "eu-central-1", credentials: "none", ...settings });
  t.equal(at("bills", {}), "https://bills.s3.eu-central-1.amazonaws.com");
  t.equal(at("my.bills", {}), "https://s3.eu-central-1.amazonaws.com/my.bills");
  t.equal(at("bills", { path_style: true }), "https://s3.eu-central-1.amazonaws.com/bills");
  t.equal(at("bills", { region: "cn-north-1" }), "https://bills.s3.cn-north-1.amazonaws.com.cn");
  t.equal(at("bills", { endpoint: "https://minio:9000/s3/" }), "https://minio:9000/s3/bills");
  t.equal(at("bills", { endpoint: "https://minio:9000", path_style: false }), "https://bills.minio:9000");
});

t.test("the deliveries do not depend on the order and the pages of a listing", async (t) => {
  const months = ["2026-05", "2026-06"];
  const aws = (name: string, month: string, run: string) => {
    const data = `${name}/data/BILLING_PERIOD=${month}/${run}x.csv`;
    return {
      [data]: run,
      [`${name}/metadata/BILLING_PERIOD=${month}/${run}x-Manifest.json`]: JSON.stringify({
        dataFiles: [data],
      }),
    };
  };
  const azure = (name: string, month: string, run: string) => {
    const folder = `${name}/${month.replace("-", "")}01-${month.replace("-", "")}28/${run}`;
    const submittedTime = `2026-07-0${run.length}T00:00:00Z`;
    return {
      [`${folder}/part.csv`]: run,
      [`${folder}/manifest.json`]: JSON.stringify({
        blobs: [{ blobName: `${run}/part.csv` }],
        runInfo: { submittedTime },
      }),
    };
  };
  const exported = (make: typeof aws, runs: readonly string[]) =>
    fc
      .uniqueArray(
        fc.tuple(fc.constantFrom("a", "b"), fc.constantFrom(...months), fc.constantFrom(...runs)),
        {
          selector: (each) => each.join(),
          maxLength: 8,
        },
      )
      .map((all) => Object.assign({}, ...all.map((each) => make(...each))) as Record<string, string>);
  const files = fc.oneof(
    exported(aws, ["", "20260601T000000Z-1/", "20260602T000000Z-0/"]),
    exported(azure, ["r", "rr", "rrr"]),
    // Two manifests of one run, of which names can differ in their case alone.
    exported(azure, ["r"]).map((all) => ({ ...all, "a/20260501-20260528/r/Manifest.json": "{" })),
    fc.dictionary(
      fc.constantFrom("2026-05/a.csv", "2026-05/a.parquet", "2026-06.csv", "none.csv", "x.zip"),
      fc.string(),
    ),
    exported(aws, [""]).map((all) => ({ ...all, "2026-05.csv": "mixed" })),
  );
  const classes = { several: 0, none: 0, waiting: 0, remarks: 0, pages: 0 };
  let stored = new Map<string, S3Object>();
  let order: (keys: string[]) => string[] = (keys) => keys;
  const options: S3Options = { bucket: "bills", key: KEY, order: (keys) => order(keys), objects: new Map() };
  const server = await s3Server(t, {
    ...options,
    get objects() {
      return stored;
    },
    get pageSize() {
      return pageSize;
    },
  });
  let pageSize = 1000;
  const s3 = {
    endpoint: server.endpoint,
    credentials: "keys",
    access_key_id: KEY.id,
    secret_access_key: KEY.secret,
  };
  const source = openTestSource(t, { location: "s3://bills", s3 });
  const listed = async () => {
    const listing = await source.list();
    return { ...short(listing), ids: listing.deliveries.map(({ id }) => id) };
  };
  await fc.assert(
    fc.asyncProperty(
      files,
      fc.integer({ min: 1, max: 5 }),
      fc.infiniteStream(fc.nat()),
      async (each, size, numbers) => {
        // Dates are equal, so that nothing but names and manifests can tell runs apart.
        stored = objects(each);
        pageSize = 1000;
        order = (keys) => keys;
        const expected = await listed();
        const ranks = new Map(Object.keys(each).map((name) => [name, numbers.next().value]));
        order = (keys) => [...keys].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
        pageSize = size;
        t.strictSame(await listed(), expected);
        if (expected.deliveries.length > 1) classes.several += 1;
        if (expected.deliveries.length === 0) classes.none += 1;
        if (expected.waiting.length > 0) classes.waiting += 1;
        if (expected.deliveries.some(({ remarks }) => remarks !== undefined)) classes.remarks += 1;
        if (stored.size > pageSize) classes.pages += 1;
      },
    ),
    { numRuns: 100 },
  );
  t.strictSame(
    Object.entries(classes).filter(([, count]) => count === 0),
    [],
    JSON.stringify(classes),
  );
});
