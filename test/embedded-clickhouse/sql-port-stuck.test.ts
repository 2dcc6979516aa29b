/** Some statements do not check for cancellation. They only use resources of their own user. */
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import t from "tap";
import { createSlots } from "../../src/embedded-clickhouse/server/slots.js";
import {
  type EngineResponse,
  engineResponseText,
  quietClient,
  sendRequest,
  sqlListener,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

/**
 * The engine calculates this before it reads the first block, in quadratic time (200,000: 21 s on one core), and does
 * not check for cancellation meanwhile.
 */
const stuck = (elements: number) =>
  `SELECT hasAny(range(${elements}), range(${elements}, ${2 * elements})) AS stuck`;
const MINUTES = stuck(700_000);
const SECONDS = stuck(180_000);
const IN_ENGINE =
  "SELECT count() FROM system.processes WHERE query LIKE '%stuck%' AND query NOT LIKE '%LIKE%'";
const MEMORY_BYTES = 4 * 2 ** 30;
/** The port gets a quarter of the memory, and each of four queries a quarter of that. */
const PORT_BYTES = MEMORY_BYTES / 4;
const MEMORY = "SELECT getSetting('max_memory_usage')";
const MAX_SECONDS = 6;
/** A busy machine may add this much. */
const SOON_MS = 2_000;

const users = ["a", "b", "c"].map((user) => ({ user, password: "p", databases: [] }));
const codeOf = ({ status, headers }: EngineResponse) => [status, headers["x-clickhouse-exception-code"]];
const OVERDUE = [408, "159"];

t.test("two users whose statements cannot be stopped do not block the SQL port for others", async (t) => {
  const port = await freePort();
  const warned: unknown[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => warned.push(JSON.parse(line)) });
  const sqlPort = sqlListener(port, users, { limits: { maxSeconds: MAX_SECONDS } });
  const { engine, endpoint } = await startEngine(t, { sqlPort, logger, maxMemoryBytes: MEMORY_BYTES });
  const service = quietClient(t, endpoint);
  const as = (username: string) => ({ url: `http://127.0.0.1:${port}`, username, password: "p" });
  const send = (user: string, body: string, path = "/") => sendRequest(as(user), path, { body });
  const said = async (user: string, body: string) => {
    const { status, body: response } = await send(user, body);
    return [status, response.toString()];
  };
  const timed = async (response: Promise<EngineResponse>) => {
    const from = performance.now();
    return [...codeOf(await response), performance.now() - from < MAX_SECONDS * 1000 + SOON_MS];
  };

  t.strictSame(await said("c", MEMORY), [200, `${PORT_BYTES / 4}\n`]);
  const first: Promise<unknown>[] = [];
  for (const [at, user] of ["a", "a", "a", "b"].entries()) {
    first.push(timed(send(user, MINUTES, `/?query_id=${at}`)));
    await until("it to run", async () => (await engineResponseText(service, IN_ENGINE)) === `${at + 1}`);
  }
  t.strictSame(
    await Promise.all(first),
    Array(4).fill([...OVERDUE, true]),
    "the responses come soon after max_seconds",
  );
  t.equal(await engineResponseText(service, IN_ENGINE), "4", "the engine continues to run the statements");
  t.strictSame(await said("c", "SELECT 'bi'"), [200, "bi\n"], "other users are served");

  const gone = new AbortController();
  const left = ["b", "b"].map((user) =>
    fetch(as(user).url, {
      method: "POST",
      headers: { Authorization: `Basic ${Buffer.from(`${user}:p`).toString("base64")}` },
      body: MINUTES,
      signal: gone.signal,
    }),
  );
  await until("a user's whole share", async () => (await engineResponseText(service, IN_ENGINE)) === "6");
  gone.abort();
  for (const response of left) await t.rejects(response, { name: "AbortError" });
  // A statement that can be stopped may take this long.
  await delay(1_000);
  const bytes = Math.floor(PORT_BYTES / (4 + 6));
  t.strictSame(
    await Promise.all([said("c", MEMORY), said("c", MEMORY), said("c", "SELECT 'bi'")]),
    [
      [200, `${bytes}\n`],
      [200, `${bytes}\n`],
      [200, "bi\n"],
    ],
    "other statements get less memory, because those that still run hold theirs",
  );
  t.strictSame(
    await Promise.all([timed(send("a", "SELECT 1")), timed(send("b", "SELECT 1"))]),
    [
      [...OVERDUE, true],
      [...OVERDUE, true],
    ],
    "the users of the stuck statements have no free slot",
  );
  t.strictSame(codeOf(await send("a", "SELECT 1", "/?query_id=0")), [500, "216"], "the query id is in use");
  t.strictSame(
    await timed(send("a", "SELECT 1", "/?query_id=0&replace_running_query=1")),
    [...OVERDUE, true],
    "replacing the query does not wait forever",
  );
  t.equal(await engineResponseText(service, "SELECT 1"), "1");

  const warning = (user: string) => ({
    user,
    msg: "a statement of a SQL user was ended, but the engine goes on with it; it counts towards the max_running of its user until it is over",
  });
  const seen = () => warned.map((line) => Object(line)).map(({ user, msg }) => ({ user, msg }));
  await until("it to be said of each", () => warned.length >= 6, 90);
  t.strictSame(
    seen().sort((one, other) => (one.user < other.user ? -1 : 1)),
    ["a", "a", "a", "b", "b", "b"].map(warning),
  );

  const from = performance.now();
  await engine.stop();
  t.ok(performance.now() - from < 4_000, "stopping does not wait for them");
});

t.test("a statement that finally ends frees its slot, its memory and its id", async (t) => {
  const port = await freePort();
  const sqlPort = sqlListener(port, users, { limits: { maxSeconds: 3, maxRunning: 1 } });
  const { endpoint } = await startEngine(t, { sqlPort, maxMemoryBytes: MEMORY_BYTES });
  const service = quietClient(t, endpoint);
  const send = (body: string, path = "/", username = "a") =>
    sendRequest({ url: `http://127.0.0.1:${port}`, username, password: "p" }, path, { body });
  for (let round = 0; round < 2; round++) {
    const response = send(SECONDS, "/?query_id=same");
    await until("it to run", async () => (await engineResponseText(service, IN_ENGINE)) === "1");
    t.strictSame(codeOf(await response), OVERDUE);
    t.strictSame(codeOf(await send("SELECT 1")), OVERDUE);
    await until("its end", async () => (await engineResponseText(service, IN_ENGINE)) === "0");
    const { status, body } = await send(MEMORY, "/?query_id=same");
    t.strictSame([status, body.toString()], [200, `${PORT_BYTES / 4}\n`]);
    const rows = await send("SELECT number FROM numbers(200000)");
    t.equal(rows.body.toString(), Array.from({ length: 200_000 }, (_, row) => `${row}\n`).join(""));
  }
});

t.test(
  "statements that cannot be stopped leave at most as many slots behind as there are spares",
  async (t) => {
    const never = new AbortController().signal;
    const slots = createSlots(["2nd spare", "1st spare", "x"], { maxTaken: 1, maxWaiting: 9, maxRunning: 9 });
    const taken: string[] = [];
    const take = async (owner: string) => taken.push(await slots.take(owner, never));
    for (const owner of ["a", "b", "c", "d", "e"]) void take(owner);
    await delay(1);
    t.strictSame([taken, slots.leftBehind()], [["x"], 0]);
    slots.leaveBehind("x");
    await delay(1);
    t.strictSame([taken, slots.leftBehind()], [["x", "1st spare"], 1]);
    slots.leaveBehind("1st spare");
    slots.leaveBehind("2nd spare");
    await delay(1);
    t.strictSame(
      [taken, slots.leftBehind()],
      [["x", "1st spare", "2nd spare"], 3],
      "there is no third spare",
    );
    slots.give("a", "x");
    await delay(1);
    t.strictSame([taken.at(-1), taken.length, slots.leftBehind()], ["x", 4, 2], "a free slot is used again");
    slots.give("b", "1st spare");
    await delay(1);
    t.strictSame([taken.length, slots.leftBehind()], [4, 1], "the limit is one at a time again");
  },
);
