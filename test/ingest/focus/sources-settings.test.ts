import t from "tap";
import { loadConfig } from "../../../src/config/load.js";
import { list, mapping } from "../../../src/config/reader/setting.js";
import type { EcosystemSettings } from "../../../src/config/settings/ecosystem-settings.js";
import { readLocation } from "../../../src/ingest/ecosystems/focus/sources/location.js";
import { billSourceSettings } from "../../../src/ingest/ecosystems/focus/sources/settings.js";

const ecosystem: EcosystemSettings = {
  description: "Of the test.",
  settings: mapping(
    { sources: list(billSourceSettings, { description: "Sources.", maxItems: 10 }) },
    { description: "" },
  ),
};

/** Returns the parsed source, or its problems. */
function read(source: Record<string, unknown>) {
  const text = `tenants: ${JSON.stringify({
    t: {
      ecosystem: "bills",
      tenant_id: "t",
      storage: { connection_string: "embedded:t" },
      plugin_settings: { sources: [{ name: "aws", ...source }] },
    },
  })}`;
  const loaded = loadConfig(text, { file: "x.yaml", env: {}, ecosystems: new Map([["bills", ecosystem]]) });
  if (!loaded.ok)
    return loaded.problems.map(({ path, message }) => `${path.split("sources[0].").at(-1)}: ${message}`);
  const [tenant] = loaded.config.tenants.values();
  const sources: unknown = Reflect.get(tenant?.plugin_settings ?? {}, "sources");
  return Array.isArray(sources) ? sources[0] : undefined;
}

t.test("a source has its default settings", async (t) => {
  t.strictSame(read({ location: "/bills" }), {
    name: "aws",
    location: "/bills",
    layout: "auto",
    exclude: [],
    overlap: "hold",
    limits: { max_files: 100_000, max_file_mib: 51_200, max_unpacked_mib: 102_400, settle_seconds: 60 },
  });
  t.strictSame(Reflect.get(read({ location: "s3://bills/x", s3: {} }), "s3"), {
    region: "us-east-1",
    credentials: "environment",
  });
});

t.test("locations that cannot be read are refused", async (t) => {
  const problems: Record<string, string> = {
    "s3://": "must name a bucket: s3://bucket/prefix",
    "s3://Bills/x": "must name a bucket: s3://bucket/prefix",
    "s3://bills@host/x": "must name a bucket: s3://bucket/prefix",
    "s3://bills/a/../b": "must not contain the parts `.` or `..`",
    "gs://bills": "must be a folder, s3://bucket/prefix or https://host/file",
    "file:///bills": "must be a folder, s3://bucket/prefix or https://host/file",
    "https://": "must be an address such as https://host/bills/2026-05.csv.gz",
    "http://bills.example.org/x.csv": "must be https: plain http is taken only from this machine",
    "https://u:p@host/x.csv": "must not contain credentials; they have keys of their own under `https`",
    "https://host/x.csv?sig=1":
      "must not hold a query (`?`): write it in `https.query`, which is never shown",
    "https://host/x.csv#a": "must not hold a fragment (`#`)",
    "/bills\n/x": 'must not contain control characters, not "/bills\\n/x"',
  };
  for (const [location, problem] of Object.entries(problems))
    t.strictSame(read({ location }), [`location: ${problem}`], location);
  for (const location of [
    "http://127.0.0.1:8080/x.csv",
    "http://localhost/x.csv",
    "http://[::1]/x.csv",
    "./bills",
    "bills/*.csv",
  ])
    t.equal(Reflect.get(read({ location }), "location"), location);
});

t.test("keys that exclude each other are refused", async (t) => {
  t.strictSame(read({ location: "/bills", s3: {}, https: {} }), [
    "s3: is used with a location s3://… alone: remove it",
    "https: is used with a location https://… alone: remove it",
  ]);
  t.strictSame(read({ location: "s3://bills", s3: { credentials: "keys", access_key_id: "a" } }), [
    "s3.secret_access_key: is required with credentials keys",
  ]);
  t.strictSame(
    read({ location: "s3://bills", s3: { access_key_id: "a", secret_access_key: "b", session_token: "c" } }),
    [
      "s3.access_key_id: is not used with credentials environment: remove it",
      "s3.secret_access_key: is not used with credentials environment: remove it",
      "s3.session_token: is not used with credentials environment: remove it",
    ],
  );
  t.strictSame(read({ location: "https://h/x.csv", https: { auth_type: "bearer", username: "u" } }), [
    "https.username: is not used with auth_type bearer: remove it",
    "https.bearer_token: is required with auth_type bearer",
  ]);
  t.strictSame(read({ location: "/b", layout: "aws_data_exports", delivery: "additive" }), [
    "delivery: must be snapshot with layout aws_data_exports",
  ]);
  t.strictSame(read({ location: "/b", layout: "oci", delivery: "snapshot" }), [
    "delivery: must be additive with layout oci",
  ]);
  t.strictSame(read({ location: "https://h/x.csv", layout: "oci" }), [
    "layout: must be plain with a location https://…, which is one file",
  ]);
  t.strictSame(read({ location: "s3://bills", s3: { endpoint: "https://u:p@minio" } }), [
    "s3.endpoint: must not contain credentials; they have keys of their own",
  ]);
});

t.test("each form of a location is parsed", async (t) => {
  t.strictSame(readLocation("s3://bills"), { kind: "s3", bucket: "bills", prefix: "" });
  t.strictSame(readLocation("s3://bills/a/b"), { kind: "s3", bucket: "bills", prefix: "a/b/" });
  t.strictSame(readLocation("s3://bills/a/b/"), { kind: "s3", bucket: "bills", prefix: "a/b/" });
  t.strictSame(readLocation("s3://bills/a/b.csv.gz"), { kind: "s3", bucket: "bills", prefix: "a/b.csv.gz" });
  t.strictSame(readLocation("/bills/2026"), { kind: "folder", path: "/bills/2026", glob: undefined });
  t.strictSame(readLocation("/bills/*/x.csv"), { kind: "folder", path: "/bills", glob: "*/x.csv" });
  t.strictSame(readLocation("*.csv"), { kind: "folder", path: ".", glob: "*.csv" });
});
