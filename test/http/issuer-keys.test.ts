/** The keys that verify JWTs are read once, read again, and kept while their issuer is down. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { pino } from "pino";
import t, { type Test } from "tap";
import {
  AFTER_FAILURE_MS,
  AFTER_SUCCESS_MS,
  FRESH_MS,
  issuerKeys,
  KeysNotReadError,
  USABLE_MS,
} from "../../src/http/auth/issuer-keys.js";

const [first, second] = await Promise.all([1, 2].map(() => generateKeyPair("ES256")));
if (first === undefined || second === undefined) throw new Error("no keys");
const [one, two] = await Promise.all(
  [first, second].map(async ({ publicKey }, index) => ({
    ...(await exportJWK(publicKey)),
    kid: `${index + 1}`,
    alg: "ES256",
  })),
);

/** Starts an issuer that can go down, with a clock that the test sets. */
async function issuer(t: Test) {
  const state = { keys: [one] as unknown[], status: 200, requested: 0, now: 1_000 };
  const server = createServer((_, response) => {
    state.requested++;
    response.statusCode = state.status;
    response.end(JSON.stringify({ keys: state.keys }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const warned: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void warned.push(JSON.parse(line).msg) });
  const keys = issuerKeys(`http://127.0.0.1:${port}/keys`, logger, () => state.now);
  /** Returns `ok`, or the name of the error. */
  const check = async (pair = first, kid = "1") => {
    if (pair === undefined) throw new Error("no keys");
    const token = await new SignJWT({}).setProtectedHeader({ alg: "ES256", kid }).sign(pair.privateKey);
    return await jwtVerify(token, keys).then(
      () => "ok",
      (error: Error) => (error instanceof KeysNotReadError ? "KeysNotReadError" : error.name),
    );
  };
  return { state, check, warned };
}

/** Waits until the keys have been read in the background. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500 && !(await holds()); tries++) await delay(10);
}

t.test("keys are read once, and again when they are old", async (t) => {
  const { state, check } = await issuer(t);
  t.strictSame(await Promise.all([check(), check(), check()]), ["ok", "ok", "ok"]);
  t.equal(state.requested, 1);
  state.now += FRESH_MS - 1;
  t.equal(await check(), "ok");
  t.equal(state.requested, 1);
  state.now += 1;
  t.strictSame(await Promise.all([check(), check()]), ["ok", "ok"]);
  await until(() => state.requested === 2);
  t.equal(state.requested, 2);
});

t.test("a new key is found at once, and unknown key ids do not cause more requests", async (t) => {
  const { state, check } = await issuer(t);
  t.equal(await check(), "ok");
  state.keys = [one, two];
  state.now += AFTER_SUCCESS_MS;
  t.equal(await check(second, "2"), "ok");
  t.equal(state.requested, 2);
  for (let tries = 0; tries < 10; tries++) t.equal(await check(second, "made up"), "JWKSNoMatchingKey");
  t.equal(state.requested, 2);
});

t.test("a revoked key is not used once the keys are read again", async (t) => {
  const { state, check } = await issuer(t);
  t.equal(await check(), "ok");
  state.keys = [two];
  state.now += FRESH_MS;
  t.equal(await check(), "ok", "the keys are read in the background");
  await until(async () => (await check()) !== "ok");
  t.equal(await check(), "JWKSNoMatchingKey");
});

t.test("while the issuer is unreachable, its keys are valid for a day", async (t) => {
  const { state, check, warned } = await issuer(t);
  t.equal(await check(), "ok");
  state.status = 500;
  state.now += FRESH_MS;
  t.equal(await check(), "ok");
  await until(() => warned.length === 1);
  t.strictSame(warned, ["the keys of api.oidc.issuer cannot be read"]);
  for (let tries = 0; tries < 10; tries++) t.equal(await check(), "ok");
  t.equal(state.requested, 2, "the issuer is not called for each request");
  t.equal(await check(second, "2"), "KeysNotReadError", "the key may exist, but the service cannot know");
  t.equal(state.requested, 2);
  state.now += AFTER_FAILURE_MS;
  t.equal(await check(second, "2"), "KeysNotReadError");
  t.equal(state.requested, 3);
  state.now = 1_000 + USABLE_MS - 1;
  t.equal(await check(), "ok");
  await until(() => warned.length === 3);
  t.equal(state.requested, 4);
  state.now += 1;
  t.equal(await check(), "KeysNotReadError");
  state.status = 200;
  state.now += AFTER_FAILURE_MS;
  t.equal(await check(), "ok");
});

t.test("an issuer that sends no keys counts as unreachable", async (t) => {
  const { state, check } = await issuer(t);
  state.keys = "none" as unknown as unknown[];
  t.equal(await check(), "KeysNotReadError");
  state.keys = [one];
  state.now += AFTER_FAILURE_MS;
  t.equal(await check(), "ok");
});
