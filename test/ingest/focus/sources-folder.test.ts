import { appendFile, link, mkdir, rename, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { billFolder, bytesOf, failureOf, LONG_AGO, openTestSource, write } from "./bill-files.js";

t.test("files of a folder are one snapshot for each month that their paths name", async (t) => {
  const location = await billFolder(t, {
    "2026-05/b.csv": "b",
    "2026-05/a.csv.gz": "a",
    "bill-2026-06.parquet": "c",
    "x/BILL.CSV.ZST": "d",
    "delivered-2026-07-02.csv": "a day is not a month",
    "2026-01..2026-02.csv": "two months are none",
    ".hidden.csv": "",
    ".folder/2026-05.csv": "",
    "read.me": "",
  });
  t.strictSame(await openTestSource(t, { location }).seen(), {
    deliveries: [
      {
        billing_period: undefined,
        kind: "snapshot",
        files: ["2026-01..2026-02.csv", "delivered-2026-07-02.csv", "x/BILL.CSV.ZST"],
        remarks: ["Some files name no month in their path, while others do."],
      },
      { billing_period: "2026-05", kind: "snapshot", files: ["2026-05/a.csv.gz", "2026-05/b.csv"] },
      { billing_period: "2026-06", kind: "snapshot", files: ["bill-2026-06.parquet"] },
    ],
    waiting: [],
    remarks: ['".hidden.csv": skipped, because names that begin with `_` or `.` are no bills'],
  });
});

t.test("leftovers of Spark, Hadoop and Delta beside their parts are skipped and reported", async (t) => {
  const part = "2026-05/part-00000-aa.csv";
  const location = await billFolder(t, {
    [part]: "a",
    "2026-05/_SUCCESS": "",
    "2026-05/.part-00000-aa.csv.crc": "x",
    "2026-05/_temporary/0/task_1/part-00000-aa.csv": "a",
    "2026-05/_draft.csv": "a",
    "_delta_log/00000000000000000010.checkpoint.parquet": "",
    "_month=2026-06/part-00000-bb.csv": "a partition",
    ".git/bill.csv": "",
  });
  const { deliveries, waiting, remarks } = await openTestSource(t, { location }).seen();
  t.strictSame(
    deliveries.map(({ files }) => files),
    [[part], ["_month=2026-06/part-00000-bb.csv"]],
  );
  t.strictSame(waiting, []);
  t.strictSame(remarks, [
    '"2026-05/_draft.csv", "2026-05/_temporary/", "_delta_log/": skipped, because names that begin with `_` or `.` are no bills',
    '"_delta_log/" belongs to a Delta table: files that the table no longer uses are charged as well, until VACUUM removes them',
  ]);
  const inside = await openTestSource(t, { location: join(location, "2026-05/_temporary") }).seen();
  t.strictSame(
    inside.deliveries.map(({ files }) => files),
    [["0/task_1/part-00000-aa.csv"]],
    "the location itself may have such a name",
  );
});

t.test("each file of an additive source is a delivery of its own", async (t) => {
  const location = await billFolder(t, { "2026-05/a.csv": "a", "2026-05/b.csv": "b" });
  t.strictSame((await openTestSource(t, { location, delivery: "additive" }).seen()).deliveries, [
    { billing_period: "2026-05", kind: "additive", files: ["2026-05/a.csv"] },
    { billing_period: "2026-05", kind: "additive", files: ["2026-05/b.csv"] },
  ]);
});

t.test("a location may be a glob, or one file", async (t) => {
  const folder = await billFolder(t, { "a/x.csv": "", "a/x.parquet": "", "b/y.csv": "", "b/deep/z.csv": "" });
  const filesOf = async (location: string) =>
    (await openTestSource(t, { location }).seen()).deliveries.flatMap(({ files }) => files);
  t.strictSame(await filesOf(`${folder}/*/*.csv`), ["a/x.csv", "b/y.csv"]);
  t.strictSame(await filesOf(`${folder}/**/*.csv`), ["a/x.csv", "b/deep/z.csv", "b/y.csv"]);
  t.strictSame(await filesOf(`${folder}/b/y.csv`), ["y.csv"]);
});

t.test("the bytes read are those that were listed, and the id identifies the content", async (t) => {
  const location = await billFolder(t, { "a.csv": "first" });
  const source = openTestSource(t, { location });
  const { deliveries } = await source.list();
  t.equal(await bytesOf(deliveries[0]?.files[0]), "first");
  t.equal((await source.list()).deliveries[0]?.id, deliveries[0]?.id);
  await write(location, { "a.csv": { text: "other", modified: new Date("2026-07-02T00:00:00Z") } });
  t.not(
    (await source.list()).deliveries[0]?.id,
    deliveries[0]?.id,
    "another content of the same size has another id",
  );
});

t.test("a file that changes after it was listed, or while it is read, is not read", async (t) => {
  const large = "x".repeat(8_000_000);
  const replaced = join(t.testdir({}), "replacement");
  const changes: Record<string, (path: string) => Promise<unknown>> = {
    grows: (path) => appendFile(path, "more"),
    shrinks: (path) => truncate(path, 10),
    "is touched": (path) => utimes(path, LONG_AGO, new Date()),
    "is replaced by another with its date and size": async (path) => {
      await writeFile(replaced, large);
      await utimes(replaced, LONG_AGO, LONG_AGO);
      await rename(replaced, path);
    },
    "becomes a link": async (path) => {
      await rename(path, `${path}.old`);
      await symlink(`${path}.old`, path);
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const location = await billFolder(t, { "a.csv": large });
    const path = join(location, "a.csv");
    const { deliveries } = await openTestSource(t, { location }).list();
    await change(path);
    t.equal(
      await failureOf(bytesOf(deliveries[0]?.files[0])),
      'FileChangedError: "a.csv" changed after it was listed, or while it was read',
      `${what} before it is read`,
    );
  }
  for (const what of ["grows", "shrinks", "is touched"]) {
    const location = await billFolder(t, { "a.csv": large });
    const { deliveries } = await openTestSource(t, { location }).list();
    const stream = await deliveries[0]?.files[0]?.open(AbortSignal.timeout(60_000));
    const reading = async () => {
      for await (const _ of stream ?? []) await changes[what]?.(join(location, "a.csv"));
    };
    t.match(await failureOf(reading()), /^FileChangedError: "a\.csv" changed/, `${what} while it is read`);
  }
});

t.test("reading stops with its signal", async (t) => {
  const location = await billFolder(t, { "a.csv": "x".repeat(8_000_000) });
  const { deliveries } = await openTestSource(t, { location }).list();
  const stopped = new AbortController();
  const stream = await deliveries[0]?.files[0]?.open(stopped.signal);
  const reading = async () => {
    for await (const _ of stream ?? []) stopped.abort();
  };
  t.match(await failureOf(reading()), /^AbortError/);
});

t.test("links outside of the folder are not followed, and no file counts twice", async (t) => {
  const outside = await billFolder(t, { "secret.csv": "s", "sub/2026-06.csv": "s" });
  const location = join(outside, "bills");
  await write(location, { "2026-05/real.csv": "r", "2026-07/other.csv": "o" });
  await symlink(join(location, "2026-05/real.csv"), join(location, "2026-05/again.csv"));
  await link(join(location, "2026-05/real.csv"), join(location, "2026-05/hard.csv"));
  await symlink(join(outside, "sub"), join(location, "linked"));
  await symlink(join(outside, "nothing"), join(location, "2026-05/broken.csv"));
  await symlink(join(outside, "secret.csv"), join(location, "2026-07/escape.csv"));
  await mkdir(join(location, "2026-05/folder.csv"));
  await write(outside, { "bills-of-others/x.csv": "x" });
  await symlink(join(outside, "bills-of-others/x.csv"), join(location, "2026-08.csv"));
  t.strictSame(await openTestSource(t, { location }).seen(), {
    deliveries: [{ billing_period: "2026-05", kind: "snapshot", files: ["2026-05/hard.csv"] }],
    waiting: [
      "2026-05/again.csv: it is the same file as 2026-05/hard.csv, which counts once",
      "2026-05/broken.csv: a link that leads nowhere",
      "2026-05/real.csv: it is the same file as 2026-05/hard.csv, which counts once",
      '2026-07: "2026-07/escape.csv": it is a link that leads out of the folder',
      '2026-08: "2026-08.csv": it is a link that leads out of the folder',
      "linked: links to folders are not followed",
    ],
  });
});

t.test("a mounted volume of Kubernetes is read, whose files are links into a hidden folder", async (t) => {
  const location = await billFolder(t, { "..2026_07_01/2026-05.csv": "k" });
  await symlink("..2026_07_01", join(location, "..data"));
  await symlink("..data/2026-05.csv", join(location, "2026-05.csv"));
  const { deliveries } = await openTestSource(t, { location }).list();
  t.strictSame(
    deliveries.map(({ billing_period, files }) => [billing_period, files.length]),
    [["2026-05", 1]],
  );
  t.equal(await bytesOf(deliveries[0]?.files[0]), "k");
});

t.test("a bill waits while it may still be copied, and if a part of it cannot be taken", async (t) => {
  const now = Date.parse("2026-07-10T00:00:00Z");
  const location = await billFolder(t, {
    "2026-01/old.csv": "",
    "2026-01/new.csv": { text: "", modified: new Date(now - 59_000) },
    "2026-02/settled.csv": { text: "", modified: new Date(now - 60_000) },
    "2026-03/future.csv": { text: "", modified: new Date(now + 86_400_000) },
    "2026-04/a\nb.csv": "",
    "2026-05/large.csv": "x".repeat(1_048_577),
    "2026-06/bill.csv.zip": "",
  });
  const limits = { max_file_mib: 1 };
  t.strictSame(await openTestSource(t, { location, limits }, { now: () => now }).seen(), {
    deliveries: [
      { billing_period: "2026-02", kind: "snapshot", files: ["2026-02/settled.csv"] },
      { billing_period: "2026-03", kind: "snapshot", files: ["2026-03/future.csv"] },
    ],
    waiting: [
      "2026-01: 2026-01/new.csv changed less than 60 seconds ago (limits.settle_seconds)",
      '2026-04: "2026-04/a\\nb.csv": its name has control characters, or is not UTF-8: rename it',
      "2026-05: 2026-05/large.csv is larger than 1 MiB (limits.max_file_mib)",
      "2026-06/bill.csv.zip: only .csv, .csv.gz, .csv.zst and .parquet are read",
    ],
  });
});

t.test("folders in the style of Hive and of six digits name a month", async (t) => {
  const location = await billFolder(t, {
    "year=2026/month=9/part-0.csv": "",
    "year=2026/month=10/part-0.csv": "",
    "202611/part-0.csv": "",
    "run-202612/part-0.csv": "",
  });
  t.strictSame(
    (await openTestSource(t, { location }).seen()).deliveries.map(({ billing_period }) => billing_period),
    [undefined, "2026-09", "2026-10", "2026-11"],
  );
});

t.test("excluded files are not read, and are named", async (t) => {
  const location = await billFolder(t, {
    "a/2026-05.csv": "",
    "a/2026-05-draft.csv": "",
    "b/2026-05.csv": "",
  });
  const source = openTestSource(t, { location, exclude: ["**/*-draft.csv", "b/**"] });
  const { deliveries, remarks } = await source.list();
  t.strictSame(
    deliveries.flatMap(({ files }) => files.map(({ name }) => name)),
    ["a/2026-05.csv"],
  );
  t.strictSame(remarks, ['2 files are left alone by `exclude`: "a/2026-05-draft.csv", "b/2026-05.csv"']);
});

t.test("a folder that cannot be listed completely is an error", async (t) => {
  const location = await billFolder(t, { "a.csv": "", "b.csv": "", "c/d.csv": "" });
  const list = (written: Record<string, unknown>) => failureOf(openTestSource(t, written).list());
  t.equal(await list({ location: `${location}/none` }), `Error: ${location}/none: there is no such folder`);
  t.equal(
    await list({ location: `${location}/a.csv/x` }),
    `Error: ${location}/a.csv/x: a part of the path is not a folder`,
  );
  t.equal(
    await list({ location, limits: { max_files: 2 } }),
    `Error: ${location}: there are more than 2 files (limits.max_files)`,
  );
  await mkdir(join(location, ...Array.from({ length: 34 }, () => "d")), { recursive: true });
  t.equal(await list({ location }), `Error: ${location}: more than 32 folders lie in one another`);
});
