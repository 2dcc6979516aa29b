import t from "tap";
import { billFolder, type Files, openTestSource } from "./bill-files.js";

const NOW = Date.parse("2026-07-10T00:00:00Z");
const ago = (minutes: number) => new Date(NOW - minutes * 60_000);
const at = (text: string, minutes: number) => ({ text, modified: ago(minutes) });
const seen = async (
  t: Parameters<typeof billFolder>[0],
  files: Files,
  written: Record<string, unknown> = {},
) => await openTestSource(t, { location: await billFolder(t, files), ...written }, { now: () => NOW }).seen();

const aws = (names: readonly string[], more: object = {}) =>
  JSON.stringify({ exportName: "x", dataFiles: names, ...more });

t.test("in an AWS export that overwrites, the files of the manifest are the bill of the month", async (t) => {
  const month = "BILLING_PERIOD=2026-05";
  const other = "billing_period=2026-06";
  const files: Files = {
    [`e/x/data/${month}/x-00001.csv.gz`]: "1",
    [`e/x/data/${month}/x-00002.csv.gz`]: "2",
    [`e/x/data/${month}/x-00003.csv.gz`]: "left over",
    [`e/x/metadata/${month}/x-Manifest.json`]: aws([
      `s3://bucket/any/x/data/${month}/x-00001.csv.gz`,
      `data/${month}/x-00002`,
    ]),
    [`e/x/data/${other}/x-00001.snappy.parquet`]: "3",
    [`e/x/metadata/${other}/x-Manifest.json`]: aws([
      `s3://bucket/any/x/data/${other}/x-00001.snappy.parquet`,
    ]),
    "e/x/data/BILLING_PERIOD=2026-07/x-00001.csv.gz": "4",
    "e/x/metadata/BILLING_PERIOD=2026-07/x-create-table.sql": "",
  };
  t.strictSame(await seen(t, files), {
    deliveries: [
      {
        billing_period: "2026-05",
        kind: "snapshot",
        files: [`e/x/data/${month}/x-00001.csv.gz`, `e/x/data/${month}/x-00002.csv.gz`],
        remarks: [`e/x/data/${month}/x-00003.csv.gz is not named by the manifest, and is not read.`],
      },
      { billing_period: "2026-06", kind: "snapshot", files: [`e/x/data/${other}/x-00001.snappy.parquet`] },
    ],
    waiting: [
      "e/x, 2026-07: there is no manifest for these files (yet); to take files as they are, set `layout: plain`",
    ],
  });
});

t.test(
  "in an AWS export with a folder for each run, the newest run with a manifest is the bill",
  async (t) => {
    const base = "x/data/BILLING_PERIOD=2026-05";
    const meta = "x/metadata/BILLING_PERIOD=2026-05";
    const [first, second, third] = [
      "2026-05-30T08:00:00.000Z-aaaa",
      "2026-06-01T08:00:00.000Z-0000",
      "2026-06-02T08:00:00.000Z-0000",
    ];
    const files: Files = {
      // Copied in another order than it was made, so the date of the file means nothing.
      [`${base}/${first}/x-00001.csv.gz`]: at("1", 100),
      [`${meta}/${first}/x-Manifest.json`]: at(aws([`s3://b/${base}/${first}/x-00001.csv.gz`]), 100),
      [`${base}/${second}/x-00001.csv.gz`]: at("2", 200),
      [`${meta}/${second}/x-Manifest.json`]: at(aws([`s3://b/${base}/${second}/x-00001.csv.gz`]), 200),
      [`${base}/${third}/x-00001.csv.gz`]: at("3", 100),
    };
    const bill = { billing_period: "2026-05", kind: "snapshot", files: [`${base}/${second}/x-00001.csv.gz`] };
    t.strictSame(await seen(t, files), {
      deliveries: [bill],
      waiting: [
        `${base}/${third}: there is no manifest for these files (yet); to take files as they are, set \`layout: plain\``,
      ],
    });
    const broken = {
      ...files,
      [`${meta}/${third}/x-Manifest.json`]: aws([`${base}/${third}/x-00002.csv.gz`]),
    };
    t.strictSame(
      await seen(t, broken),
      {
        deliveries: [],
        waiting: [
          `x, 2026-05: ${meta}/${third}/x-Manifest.json names "${base}/${third}/x-00002.csv.gz", which is not there`,
        ],
      },
      "an incomplete newer run is not replaced by an older one",
    );
  },
);

t.test("AWS parts newer than the manifest are taken for an export in progress, for a while", async (t) => {
  const base = "BILLING_PERIOD=2026-05";
  const files = (minutes: number): Files => ({
    [`x/data/${base}/x-00001.csv.gz`]: at("1", minutes),
    [`x/data/${base}/x-00002.csv.gz`]: at("2", 60),
    [`x/metadata/${base}/x-Manifest.json`]: at(
      aws([`data/${base}/x-00001.csv.gz`, `data/${base}/x-00002.csv.gz`]),
      50,
    ),
  });
  t.strictSame((await seen(t, files(14))).waiting, [
    `x, 2026-05: x/data/${base}/x-00001.csv.gz is newer than x/metadata/${base}/x-Manifest.json: the export is being rewritten`,
  ]);
  t.equal((await seen(t, files(16))).deliveries.length, 1);
  const fresh = aws([`data/${base}/x.csv`]);
  const done = {
    [`x/data/${base}/x.csv`]: at("1", 10),
    [`x/metadata/${base}/x-Manifest.json`]: at(fresh, 5),
  };
  t.equal((await seen(t, done)).deliveries.length, 1, "the export was written again and finished");
  t.equal((await seen(t, files(55))).deliveries.length, 1);
});

t.test("an AWS manifest that is invalid, or names files outside of its export, makes no bill", async (t) => {
  const base = "BILLING_PERIOD=2026-05";
  const manifest = `x/metadata/${base}/x-Manifest.json`;
  const cases: Record<string, string> = {
    [aws(["s3://b/x/data/BILLING_PERIOD=2026-06/x.csv"])]:
      'names "s3://b/x/data/BILLING_PERIOD=2026-06/x.csv", which is no part of this export and month',
    [aws([
      `s3://b/${base}/../../../../etc/passwd`,
    ])]: `names "s3://b/${base}/../../../../etc/passwd", which is no part of this export and month`,
    [aws([`x/data/${base}/../x.csv`])]: `names "x/data/${base}/../x.csv", which is not there`,
    [aws([manifest])]: `names "${manifest}", which is no part of this export and month`,
    [aws(["a\nb"])]: 'names "a\\nb", which is no part of this export and month',
    [aws([])]: "names no files",
    "{": "is no JSON",
    "[]": "is no manifest of this layout",
    '{"dataFiles":[1]}': "is no manifest of this layout",
  };
  for (const [text, reason] of Object.entries(cases)) {
    const files = {
      [`x/data/${base}/x.csv`]: "",
      [manifest]: text,
      "x/data/BILLING_PERIOD=2026-06/x.csv": "",
    };
    t.equal(
      (await seen(t, files)).waiting.filter((each) => each.startsWith("x, 2026-05: "))[0],
      `x, 2026-05: ${manifest} ${reason}`,
    );
  }
});

t.test("several exports of one month are one bill, and wait for each other", async (t) => {
  const base = "BILLING_PERIOD=2026-05";
  const files: Files = {
    [`a/data/${base}/a.csv`]: "",
    [`a/metadata/${base}/a-Manifest.json`]: aws([`data/${base}/a.csv`]),
    [`b/data/${base}/b.csv`]: "",
  };
  t.strictSame(await seen(t, files), {
    deliveries: [],
    waiting: [
      "a, 2026-05: another export of this month is not complete",
      "b, 2026-05: there is no manifest for these files (yet); to take files as they are, set `layout: plain`",
    ],
  });
  const complete = { ...files, [`b/metadata/${base}/b-Manifest.json`]: aws([`data/${base}/b.csv`]) };
  t.strictSame((await seen(t, complete)).deliveries, [
    {
      billing_period: "2026-05",
      kind: "snapshot",
      files: [`a/data/${base}/a.csv`, `b/data/${base}/b.csv`],
    },
  ]);
});

const RUN = (digit: number) => `${String(digit).repeat(8)}-aaaa-4aaa-8aaa-000000000000`;
const azure = (blobs: readonly string[], more: object = {}) =>
  JSON.stringify({ blobCount: blobs.length, blobs: blobs.map((blobName) => ({ blobName })), ...more });

t.test("the newest Azure run with a manifest is the bill of the month", async (t) => {
  const range = "d/exp/20260501-20260531";
  const run = (digit: number, submitted: string, minutes: number): Files => ({
    [`${range}/${RUN(digit)}/part_0_0001.csv.gz`]: at(`${digit}`, minutes),
    [`${range}/${RUN(digit)}/manifest.json`]: at(
      azure([`exp/20260501-20260531/${RUN(digit)}/part_0_0001.csv.gz`], {
        runInfo: { submittedTime: submitted },
      }),
      minutes,
    ),
  });
  const files: Files = {
    ...run(1, "2026-05-30T04:00:00Z", 10),
    ...run(2, "2026-06-05T04:00:00.1234Z", 30),
    ...run(3, "2026-06-04T04:00:00Z", 20),
    [`${range}/${RUN(4)}/part_0_0001.csv.gz`]: "4",
    "d/exp/20260610-20260620/202606200400/run/part.csv": "",
    "d/exp/20260610-20260620/202606200400/run/manifest.json": azure(["run/part.csv"]),
  };
  t.strictSame(await seen(t, files), {
    deliveries: [
      { billing_period: "2026-05", kind: "snapshot", files: [`${range}/${RUN(2)}/part_0_0001.csv.gz`] },
    ],
    waiting: [
      `${range}/${RUN(4)}: its manifest.json is not there (yet)`,
      "d/exp/20260610-20260620/202606200400/run: it is not one month from its first day on",
    ].sort(),
  });
});

t.test("an Azure run that differs from its manifest is not a bill", async (t) => {
  const range = "exp/20260501-20260531";
  const cases: [string, string][] = [
    [azure(["run/other.csv"]), 'names "run/other.csv", which is not there'],
    [azure(["elsewhere/part.csv"]), 'names "elsewhere/part.csv", which is no part of its run'],
    [azure(["../part.csv"]), 'names "../part.csv", which is no part of its run'],
    [azure(["run/part.csv"], { blobCount: 2 }), "counts 2 blobs and names 1"],
    [azure([]), "names no blobs"],
    [
      JSON.stringify({ blobs: [{ blobName: "run/part.csv", byteCount: 5 }] }),
      'names "run/part.csv" with 5 bytes; it has 4',
    ],
    ["no", "is no JSON"],
    ["{}", "is no manifest of this layout"],
  ];
  for (const [text, reason] of cases) {
    const files = { [`${range}/run/part.csv`]: "bill", [`${range}/run/manifest.json`]: text };
    t.strictSame(await seen(t, files), {
      deliveries: [],
      waiting: [`exp, 2026-05: ${range}/run/manifest.json ${reason}`],
    });
  }
});

t.test("Azure exports of other types are reported, and do not hold up the bill", async (t) => {
  const run = (base: string, type: string): Files => ({
    [`${base}/20260501-20260531/run/part.csv`]: "",
    [`${base}/20260501-20260531/run/manifest.json`]: azure(["run/part.csv"], { exportConfig: { type } }),
  });
  t.strictSame(await seen(t, { ...run("actual", "ActualCost"), ...run("focus", "FocusCost") }), {
    deliveries: [
      { billing_period: "2026-05", kind: "snapshot", files: ["focus/20260501-20260531/run/part.csv"] },
    ],
    waiting: ['actual/20260501-20260531/run: it is an export of type "ActualCost", not FocusCost'],
  });
});

t.test("Azure scopes that contain one another are not charged twice", async (t) => {
  const run = (base: string, resourceId: string): Files => ({
    [`${base}/20260501-20260531/run/part.csv`]: "",
    [`${base}/20260501-20260531/run/manifest.json`]: azure(["run/part.csv"], {
      exportConfig: { resourceId },
    }),
  });
  const nested = { ...run("a", "/subscriptions/S"), ...run("b", "/subscriptions/s/resourceGroups/g/") };
  const held = (name: string) =>
    `${name}, 2026-05: a and b export the same charges: leave all but one of them out, such as with \`exclude: ["${name}/**"]\``;
  t.strictSame(await seen(t, nested), { deliveries: [], waiting: [held("a"), held("b")] });
  const named = (scope: string, name: string) =>
    `${scope}/providers/Microsoft.CostManagement/exports/${name}`;
  const exports = {
    ...run("a", named("/subscriptions/S", "daily")),
    ...run("b", named("/subscriptions/s", "once").toLowerCase()),
  };
  t.strictSame(
    await seen(t, exports),
    { deliveries: [], waiting: [held("a"), held("b")] },
    "a manifest names an export in a folder below its scope",
  );
  t.strictSame(
    (await seen(t, { ...run("a", "/subscriptions/s1"), ...run("b", "/subscriptions/s10") })).deliveries,
    [
      {
        billing_period: "2026-05",
        kind: "snapshot",
        files: ["a/20260501-20260531/run/part.csv", "b/20260501-20260531/run/part.csv"],
      },
    ],
  );
});

t.test("an Azure run for some dates of a month removes no other days", async (t) => {
  const run = (to: string, digit: number, submittedTime: string): Files => ({
    [`e/20260501-${to}/${RUN(digit)}/part.csv`]: "",
    [`e/20260501-${to}/${RUN(digit)}/manifest.json`]: azure([`${RUN(digit)}/part.csv`], {
      runInfo: { submittedTime },
    }),
  });
  const whole = run("20260531", 1, "2026-06-01T04:00:00Z");
  const part = run("20260520", 2, "2026-06-03T04:00:00Z");
  const earlier = run("20260510", 3, "2026-05-11T04:00:00Z");
  t.strictSame(await seen(t, { ...whole, ...part, ...earlier }), {
    deliveries: [
      { billing_period: "2026-05", kind: "snapshot", files: [`e/20260501-20260531/${RUN(1)}/part.csv`] },
    ],
    waiting: [
      `e/20260501-20260520/${RUN(2)}: it ends on 2026-05-20, and e/20260501-20260531/${RUN(1)} has the days until 2026-05-31: that one counts. Run the export for the whole month, so that what it corrects is charged`,
    ],
  });
});

t.test("every file of Oracle adds to the bill, whatever day its folder names", async (t) => {
  const files: Files = { "FOCUS Reports/2026/05/10/1.csv.gz": "", "FOCUS Reports/2026/06/03/2.csv.gz": "" };
  t.strictSame(await seen(t, files), {
    deliveries: Object.keys(files).map((name) => ({
      billing_period: undefined,
      kind: "additive",
      files: [name],
    })),
    waiting: [],
  });
});

t.test(
  "`auto` takes neither files of several layouts, nor a location that begins too far below",
  async (t) => {
    const base = "x/data/BILLING_PERIOD=2026-05";
    t.strictSame(await seen(t, { [`${base}/x.csv`]: "", "2026-05.csv": "" }), {
      deliveries: [],
      waiting: [
        "2026-05.csv: it is laid out as plain, other files here are not: set `layout`, or make a source of each",
        `${base}/x.csv: it is laid out as aws_data_exports, other files here are not: set \`layout\`, or make a source of each`,
      ],
    });
    t.strictSame((await seen(t, { "BILLING_PERIOD=2026-05/run1/x.csv": "" })).waiting, [
      "BILLING_PERIOD=2026-05/run1/x.csv: it is not below data/BILLING_PERIOD=YYYY-MM of an export: let `location` begin above `data`, or set `layout: plain`",
    ]);
    t.strictSame((await seen(t, { [`${RUN(1)}/x.csv`]: "" })).waiting, [
      `${RUN(1)}/x.csv: it is not below YYYYMMDD-YYYYMMDD/RUN of an export: let \`location\` begin above that, or set \`layout: plain\``,
    ]);
    t.strictSame((await seen(t, { "BILLING_PERIOD=2026-05/x.csv": "" }, { layout: "plain" })).deliveries, [
      { billing_period: "2026-05", kind: "snapshot", files: ["BILLING_PERIOD=2026-05/x.csv"] },
    ]);
    t.match(
      (await seen(t, { [`${base}/x.csv`]: "" }, { delivery: "additive" })).waiting[0] ?? "",
      /: the files are laid out as aws_data_exports, which is never additive: /,
    );
  },
);

t.test("long lists of waiting bills are cut", async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 120 }, (_, n) => [`${String(n).padStart(3, "0")}.zip`, ""]),
  );
  const { waiting } = await seen(t, files);
  t.strictSame(
    [waiting.length, waiting.at(-2)?.slice(0, 7), waiting.at(-1)],
    [101, "099.zip", "…: and 20 more"],
  );
});
