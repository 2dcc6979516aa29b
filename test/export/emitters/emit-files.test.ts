import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { holds } from "../../holds.js";
import { daysBefore, runContext, runOnce, runRecords, shortTenants } from "../../runner/runs.js";
import { scriptedUpstream } from "../../runner/scripted-upstream.js";
import { attributedOn, clusterWithTopics, topicUpstream } from "../../runner/topic-upstream.js";
import { openTestStores } from "../../stores.js";
import { watchStatements } from "../../watched-statements.js";
import { csvEmitter, emissionsOf, emittedLines, namesIn, stateOf, withEmitters } from "./emitting.js";

const HEADER =
  "ecosystem,tenant_id,timestamp,resource_id,product_category,product_type,identity_id,cost_type,amount,allocation_method,allocation_detail,currency";
const [first, second, third] = [daysBefore(6), daysBefore(4), daysBefore(3)];
const tenants = [
  "kept",
  "failing",
  "summed",
  "topics",
  "moved",
  "renamed",
  "ended",
  "quoted",
  "provisional",
  "unnoted",
  "left",
  "giver",
  "taker",
];

t.test("CSV emitters write the published rows to files", async (t) => {
  const { config, stores, folder: root } = await openTestStores(t, shortTenants(tenants));
  const folderOf = (name: string) => join(root, "out", name);
  const row = (tenant: string, day: string, identity: string, amount: string) =>
    `generic_metrics_only,${tenant},${day}T00:00:00Z,r-1,test,SHARED,${identity},shared,${amount},even_split,even_split_allocation,USD`;

  await t.test("files follow the published days, and nothing else", async (t) => {
    const out = folderOf("kept");
    const emitting = withEmitters(config, "kept", [csvEmitter(out)], { retention_days: 8 });
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [first, second, third]) upstream.bill.set(day, { "r-1": "3" });
    const run = (changes = {}) => runOnce(runContext(stores, { ecosystems, ...changes }), emitting, "kept");
    const file = (day: string) => `kept_${day}.csv`;

    await t.test("each day has a file of its rows; a day that never had rows has none", async (t) => {
      holds(t, await run(), { status: "completed", errors: [] });
      t.same(namesIn(out), [first, second, third].map(file));
      const text = `${HEADER}\n${row("kept", first, "ann", "1.5")}\n${row("kept", first, "bob", "1.5")}\n`;
      t.equal(readFileSync(join(out, file(first)), "utf8"), text);
      t.same(await emissionsOf(stores, "kept"), [
        `csv chargeback ${first} emitted 0`,
        `csv chargeback ${second} emitted 0`,
        `csv chargeback ${third} emitted 0`,
      ]);
    });

    await t.test("a run without changes writes nothing, and leaves removed files alone", async (t) => {
      const before = stateOf(out);
      holds(t, await run(), { status: "completed", dates_calculated: 0 });
      t.same(stateOf(out), before);
      rmSync(join(out, file(third)));
      await run();
      t.same(namesIn(out), [first, second].map(file), "a removed file is not written again");
    });

    await t.test("a day that is recalculated is written again", async (t) => {
      const before = stateOf(out);
      upstream.bill.set(second, { "r-1": "30" });
      holds(t, await run(), { status: "completed", dates_calculated: 1 });
      t.same(emittedLines(out, file(second)), [
        row("kept", second, "ann", "15"),
        row("kept", second, "bob", "15"),
      ]);
      const after = stateOf(out);
      t.equal(after[file(first)], before[file(first)], "no other file changes");
      t.not(after[file(second)], before[file(second)]);
      const request = { trigger: "cli" as const, signal: new AbortController().signal, force: true };
      holds(t, await runOnce(runContext(stores, { ecosystems }), emitting, "kept", request), {
        status: "completed",
      });
      t.same(namesIn(out), [first, second, third].map(file), "--force brings files back");
    });

    await t.test("a day that loses its rows gets a file with only a header", async (t) => {
      upstream.bill.delete(second);
      holds(t, await run(), { status: "completed_with_errors" });
      holds(t, await run(), { status: "completed" });
      t.equal(readFileSync(join(out, file(second)), "utf8"), `${HEADER}\n`);
      const before = stateOf(out);
      await run();
      t.same(stateOf(out), before);
    });

    await t.test("the file of a day that leaves the retention is removed", async (t) => {
      writeFileSync(join(out, "not-ours.csv"), "mine");
      const later = new Date(`${daysBefore(-3)}T12:00:00Z`);
      holds(t, await run({ now: () => later }), { status: "completed", errors: [] });
      t.same(namesIn(out), [...[second, third].map(file), "not-ours.csv"].sort());
      t.same(
        (await emissionsOf(stores, "kept")).map((record) => record.split(" ")[2]),
        [second, third],
      );
    });
  });

  await t.test("a failed emitter is reported and retried", async (t) => {
    const [good, bad] = [folderOf("good"), folderOf("bad")];
    const emitters = [csvEmitter(bad, { name: "bad" }), csvEmitter(good, { name: "good" })];
    const emitting = withEmitters(config, "failing", emitters);
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(first, { "r-1": "3" });
    upstream.bill.set(second, { "r-1": "4" });
    const run = () => runOnce(runContext(stores, { ecosystems }), emitting, "failing");
    mkdirSync(folderOf(""), { recursive: true });
    writeFileSync(bad, "a file where the folder should be");

    const failed = await run();
    holds(
      t,
      failed,
      { status: "completed_with_errors", dates_calculated: 2, chargeback_rows_written: 4 },
      "all days are published",
    );
    holds(t, failed.errors, [
      { date: null, source: "emit", message: /^emitter bad \(chargeback\) failed for 2 files, .*EEXIST/ },
    ]);
    t.equal(namesIn(good).length, 2, "the other emitter has written its files");
    holds(t, (await runRecords(stores, "failing")).at(-1), {
      status: "completed_with_errors",
      errors: failed.errors,
    });
    await run();
    holds(t, await emissionsOf(stores, "failing"), [
      `bad chargeback ${first} failed 2`,
      `bad chargeback ${second} failed 2`,
      `good chargeback ${first} emitted 0`,
      `good chargeback ${second} emitted 0`,
    ]);
    rmSync(bad);
    holds(t, await run(), { status: "completed", errors: [] });
    t.same(namesIn(bad), namesIn(good));
    holds(t, await emissionsOf(stores, "failing"), [`bad chargeback ${first} emitted 0`, /./, /./, /./]);

    await t.test("a link in place of a file is not replaced", async (t) => {
      const target = join(root, "secret.txt");
      const link = join(bad, `failing_${second}.csv`);
      writeFileSync(target, "untouched");
      rmSync(link);
      symlinkSync(target, link);
      upstream.bill.set(second, { "r-1": "5" });
      const refused = await run();
      holds(t, refused.errors, [
        { date: second, source: "emit", message: /^emitter bad .*not a plain file/ },
      ]);
      t.equal(readFileSync(target, "utf8"), "untouched");
      t.equal(emittedLines(good, `failing_${second}.csv`).length, 2);
      t.same(
        namesIn(bad),
        [first, second].map((day) => `failing_${day}.csv`),
        "no unfinished file remains",
      );
      rmSync(link);
      holds(t, await run(), { status: "completed" });
    });

    await t.test(
      "a folder without write permission is reported, and other emitters keep their files",
      async (t) => {
        // Root may write anywhere except in folders whose files only the kernel creates.
        const closed = process.getuid?.() === 0 ? "/sys/kernel" : folderOf("closed");
        if (closed === folderOf("closed")) mkdirSync(closed, { mode: 0o500 });
        const namesBefore = namesIn(closed);
        const refused = withEmitters(config, "failing", [
          ...emitters,
          csvEmitter(closed, { name: "closed" }),
        ]);
        holds(t, (await runOnce(runContext(stores, { ecosystems }), refused, "failing")).errors, [
          { date: null, source: "emit", message: /^emitter closed .*(EACCES|EPERM|EROFS)/ },
        ]);
        t.same(namesIn(closed), namesBefore);
        t.same(namesIn(good).length, 2, "other emitters keep their files");
      },
    );
  });

  await t.test("a file that cannot be removed is reported and retried", async (t) => {
    const out = folderOf("left");
    const emitting = withEmitters(config, "left", [csvEmitter(out)], { retention_days: 8 });
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [first, second]) upstream.bill.set(day, { "r-1": "3" });
    const run = (changes = {}) => runOnce(runContext(stores, { ecosystems, ...changes }), emitting, "left");
    await run();
    renameSync(out, folderOf("away"));
    writeFileSync(out, "a file where the folder should be");
    const now = () => new Date(`${daysBefore(-3)}T12:00:00Z`);
    holds(t, (await run({ now })).errors, [
      { date: first, source: "emit", message: /^emitter csv \(chargeback\): .*EEXIST/ },
    ]);
    rmSync(out);
    renameSync(folderOf("away"), out);
    t.strictSame((await run({ now })).errors, []);
    t.strictSame(namesIn(out), [`left_${second}.csv`]);
  });

  await t.test("daily and monthly files have exact sums", async (t) => {
    const out = folderOf("summed");
    const monthly = csvEmitter(out, {
      name: "monthly",
      aggregation: "monthly",
      params: { filename_template: "{month}.csv" },
    });
    const daily = csvEmitter(out, { name: "daily", aggregation: "daily" });
    const emitting = withEmitters(config, "summed", [monthly, daily]);
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(first, { "r-1": "3", "r-2": "-1" });
    upstream.bill.set(second, { "r-1": "0.000000000001" });
    const run = () => runOnce(runContext(stores, { ecosystems }), emitting, "summed");
    holds(t, await run(), { status: "completed" });
    const sums = (name: string) =>
      emittedLines(out, name).map((line) => {
        const cells = line.split(",");
        return [2, 3, 6, 8, 9, 10].map((index) => cells[index]).join(" ");
      });
    t.same(namesIn(out), ["2026-06.csv", `summed_${first}.csv`, `summed_${second}.csv`]);
    t.same(sums("2026-06.csv"), [
      "2026-06-01T00:00:00Z r-1 ann 1.5 even_split ",
      "2026-06-01T00:00:00Z r-1 bob 1.500000000001 even_split ",
      "2026-06-01T00:00:00Z r-2 ann -0.5 even_split ",
      "2026-06-01T00:00:00Z r-2 bob -0.5 even_split ",
    ]);
    t.same(sums(`summed_${second}.csv`), [`${second}T00:00:00Z r-1 bob 0.000000000001 even_split `]);
    const before = stateOf(out);
    upstream.bill.set(third, { "r-1": "10" });
    holds(t, await run(), { status: "completed" });
    holds(t, sums("2026-06.csv"), [/ r-1 ann 6.5 /, / r-1 bob 6.500000000001 /, / r-2 /, / r-2 /]);
    const { "2026-06.csv": _, [`summed_${third}.csv`]: new_, ...others } = stateOf(out);
    const { "2026-06.csv": __, ...wanted } = before;
    t.ok(new_);
    t.same(others, wanted, "only the file of the new day is written");
  });

  await t.test("cells that look like formulas are escaped, unless raw is set", async (t) => {
    const [plain, raw] = [folderOf("plain"), folderOf("raw")];
    const emitters = [csvEmitter(plain), csvEmitter(raw, { name: "raw", params: { raw: true } })];
    const emitting = withEmitters(config, "quoted", emitters);
    const { upstream, ecosystems } = scriptedUpstream({ members: { "=1+1,2": 1, 'say "hi"': 1, "-x": 1 } });
    upstream.bill.set(first, { "@r": "-3" });
    holds(t, await runOnce(runContext(stores, { ecosystems }), emitting, "quoted"), { status: "completed" });
    const cells = (resource: string, identity: string) =>
      `generic_metrics_only,quoted,${first}T00:00:00Z,${resource},test,SHARED,${identity},shared,-1,even_split,even_split_allocation,USD`;
    const file = `quoted_${first}.csv`;
    t.same(emittedLines(plain, file), [
      cells("'@r", "'-x"),
      cells("'@r", `"'=1+1,2"`),
      cells("'@r", '"say ""hi"""'),
    ]);
    t.same(emittedLines(raw, file), [
      cells("@r", "-x"),
      cells("@r", '"=1+1,2"'),
      cells("@r", '"say ""hi"""'),
    ]);
  });

  await t.test("topic attributions have files, which become empty when they are withdrawn", async (t) => {
    const out = folderOf("topics");
    const emitter = csvEmitter(out, {
      pipelines: ["topic_attribution", "chargeback"],
      params: { filename_template: "{pipeline}_{date}.csv" },
    });
    const emitting = withEmitters(clusterWithTopics(config), "topics", [emitter]);
    const { upstream, ecosystems } = topicUpstream();
    upstream.bill.set(first, { "metered-1": "8" });
    const run = () => runOnce(runContext(stores, { ecosystems }), emitting, "topics");
    holds(t, await run(), { status: "completed" });
    t.same(namesIn(out), [`chargeback_${first}.csv`, `topic_attribution_${first}.csv`]);
    const file = `topic_attribution_${first}.csv`;
    t.equal(
      readFileSync(join(out, file), "utf8"),
      "ecosystem,tenant_id,timestamp,env_id,cluster_resource_id,topic_name,product_category,product_type,attribution_method,amount,currency\n" +
        `generic_metrics_only,topics,${first}T00:00:00Z,,metered-1,orders,test,METERED,bytes_ratio,2,USD\n` +
        `generic_metrics_only,topics,${first}T00:00:00Z,,metered-1,users,test,METERED,bytes_ratio,6,USD\n`,
    );
    // The new cluster has no earlier measurements.
    upstream.bill.set(first, { "metered-1": "8", "metered-2": "1" });
    upstream.onTopics = () => {
      throw new Error("the metrics have moved out");
    };
    holds(t, await run(), { dates_calculated: 1 });
    const cells = (resource: string, topic: string, method: string, amount: number) =>
      `generic_metrics_only,topics,${first}T00:00:00Z,,${resource},${topic},test,METERED,${method},${amount},USD`;
    t.same(emittedLines(out, file.replace(".csv", ".provisional.csv")), [
      cells("metered-1", "orders", "bytes_ratio", 2),
      cells("metered-1", "users", "bytes_ratio", 6),
      cells("metered-2", "__UNATTRIBUTED__", "terminal", 1),
    ]);
    upstream.bill.set(first, { "metered-1": "4", "metered-2": "1" });
    const context = runContext(stores, { ecosystems });
    const off = clusterWithTopics(emitting, { enabled: false });
    holds(t, await runOnce(context, off, "topics"), { dates_calculated: 1 });
    t.same(await attributedOn(stores, "topics", first), [], "attributions are withdrawn");
    t.same(emittedLines(out, file), [], "withdrawn costs are removed from the file");
    t.equal(emittedLines(out, `chargeback_${first}.csv`).length, 4);
  });

  await t.test("files of provisional days have a marked name, or wait", async (t) => {
    const [marking, waiting] = [folderOf("marking"), folderOf("waiting")];
    const emitters = [
      csvEmitter(marking),
      csvEmitter(waiting, { name: "waiting", params: { provisional: "wait" } }),
    ];
    const emitting = withEmitters(config, "provisional", emitters);
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [first, second]) upstream.bill.set(day, { "metered-1": "8" });
    upstream.gaps.add(second);
    const run = () => runOnce(runContext(stores, { ecosystems }), emitting, "provisional");
    holds(t, await run(), { dates_calculated: 2 });
    const whole = [`provisional_${first}.csv`, `provisional_${second}.csv`];
    const marked = `provisional_${second}.provisional.csv`;
    t.same(namesIn(marking), [whole[0], marked]);
    t.match(
      emittedLines(marking, marked).join("\n"),
      /,UNALLOCATED,shared,8,terminal,metrics_fetch_failed,USD$/,
    );
    t.same(namesIn(waiting), [whole[0]]);
    upstream.gaps.clear();
    holds(t, await run(), { status: "completed", dates_calculated: 1 });
    t.same(namesIn(marking), whole, "the final file has replaced the provisional one");
    t.same(namesIn(waiting), whole);
    t.equal(emittedLines(marking, whole[1] ?? "").length, 2);

    await t.test(
      "a final file stays unchanged if its day becomes provisional again and files wait",
      async (t) => {
        const before = stateOf(waiting);
        upstream.gaps.add(second);
        upstream.bill.set(second, { "metered-1": "8", "metered-2": "4" });
        holds(t, await run(), { dates_calculated: 1 });
        t.same(namesIn(marking), [whole[0], marked]);
        t.same(stateOf(waiting), before);
      },
    );
  });

  await t.test("an unrecorded provisional file is replaced by the final one", async (t) => {
    const out = folderOf("unnoted");
    const emitting = withEmitters(config, "unnoted", [csvEmitter(out)]);
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(first, { "metered-1": "8" });
    upstream.gaps.add(first);
    const run = () => runOnce(runContext(stores, { ecosystems }), emitting, "unnoted");
    const watched = watchStatements(stores.postgres);
    watched.at("before", /^\s*WITH overwritten/, () => Promise.reject(new Error("no room")));
    const unrecorded = (await run()).errors.filter(({ source }) => source === "emit");
    t.strictSame(unrecorded, [{ date: first, source: "emit", message: "emitter csv (chargeback): no room" }]);
    t.strictSame(namesIn(out), [`unnoted_${first}.provisional.csv`]);
    upstream.gaps.clear();
    t.strictSame((await run()).errors, []);
    t.strictSame(namesIn(out), [`unnoted_${first}.csv`], "the costs exist only once");
  });

  await t.test("changed settings write new files and remove the old ones", async (t) => {
    const out = folderOf("moved");
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [first, second]) upstream.bill.set(day, { "r-1": "3" });
    const run = (emitter: ReturnType<typeof csvEmitter>) =>
      runOnce(runContext(stores, { ecosystems }), withEmitters(config, "moved", [emitter]), "moved");
    await run(csvEmitter(out));
    await run(csvEmitter(out, { params: { filename_template: "x-{date}.csv" } }));
    t.same(namesIn(out), [`x-${first}.csv`, `x-${second}.csv`]);
    await run(csvEmitter(out, { aggregation: "monthly", params: { filename_template: "x-{date}.csv" } }));
    t.same(namesIn(out), ["x-2026-06-01.csv"]);
    t.same(await emissionsOf(stores, "moved"), ["csv chargeback 2026-06-01 emitted 0"]);
    await run(csvEmitter(out, { lookback_days: 5 }));
    t.same(namesIn(out), [`moved_${second}.csv`], "days before lookback_days are left out");
  });

  await t.test("a renamed emitter that writes the same files removes them with their days", async (t) => {
    const out = folderOf("renamed");
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [first, second]) upstream.bill.set(day, { "r-1": "3" });
    const run = (name: string, changes = {}) => {
      const emitting = withEmitters(config, "renamed", [csvEmitter(out, { name })], { retention_days: 8 });
      return runOnce(runContext(stores, { ecosystems, ...changes }), emitting, "renamed");
    };
    await run("old");
    await run("new");
    t.strictSame(namesIn(out), [`renamed_${first}.csv`, `renamed_${second}.csv`]);
    t.strictSame(await emissionsOf(stores, "renamed"), [
      `new chargeback ${first} emitted 0`,
      `new chargeback ${second} emitted 0`,
    ]);
    const later = new Date(`${daysBefore(-3)}T12:00:00Z`);
    holds(t, await run("new", { now: () => later }), { status: "completed", errors: [] });
    t.strictSame(namesIn(out), [`renamed_${second}.csv`]);
  });

  await t.test("a tenant that takes over file names of another one gets all of its files", async (t) => {
    const out = folderOf("taken");
    const { upstream, ecosystems } = scriptedUpstream();
    upstream.bill.set(first, { "r-1": "3" });
    const run = (tenant: string, filename_template: string) => {
      const emitting = withEmitters(config, tenant, [csvEmitter(out, { params: { filename_template } })]);
      return runOnce(runContext(stores, { ecosystems }), emitting, tenant);
    };
    await run("giver", "x-{date}.csv");
    const watched = watchStatements(stores.postgres);
    // The new file exists, but is not recorded yet, when the other tenant removes its former file of this name.
    watched.at("before", /^\s*WITH overwritten/, async () => {
      t.strictSame((await run("giver", "y-{date}.csv")).errors, []);
    });
    holds(t, (await run("taker", "x-{date}.csv")).errors, [
      { date: first, source: "emit", message: /x-.*\.csv was removed at the same moment/ },
    ]);
    t.strictSame((await run("taker", "x-{date}.csv")).errors, []);
    t.strictSame(namesIn(out), [`x-${first}.csv`, `y-${first}.csv`]);
  });

  await t.test("an aborted run ends between files", async (t) => {
    const out = folderOf("ended");
    const emitting = withEmitters(config, "ended", [csvEmitter(out)]);
    const { upstream, ecosystems } = scriptedUpstream();
    for (const day of [first, second, third]) upstream.bill.set(day, { "r-1": "3" });
    const stop = new AbortController();
    let files = 0;
    const pool = stores.postgres;
    // Abort the run just before it writes the second file.
    const watched = new Proxy(pool, {
      get(target, property) {
        if (property !== "query") return Reflect.get(target, property, target);
        return (query: string, params: unknown[]) => {
          if (params[1] === "emitting" && ++files === 2) stop.abort();
          return Reflect.apply(target.query, target, [query, params]);
        };
      },
    });
    const context = runContext(
      { ...stores, postgres: watched, tenant: (name) => stores.tenant(name) },
      { ecosystems },
    );
    const request = { trigger: "cli" as const, signal: stop.signal };
    holds(t, await runOnce(context, emitting, "ended", request), { status: "failed", dates_calculated: 3 });
    t.same(namesIn(out), [`ended_${first}.csv`], "no unfinished file remains");
    holds(t, await runOnce(runContext(stores, { ecosystems }), emitting, "ended"), { status: "completed" });
    t.equal(namesIn(out).length, 3);
  });
});
