/** The port for SQL clients can use a certificate. */
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:net";
import t from "tap";
import { certificateFiles, first, renewed } from "../certificates.js";
import { sendRequest, sqlListener, startEngine } from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

t.test("the SQL port serves clients over TLS and renews its certificate", async (t) => {
  const port = await freePort();
  const { settings, renew } = certificateFiles(t);
  const user = { user: "bi", password: "s3cret", databases: [] };
  const listeners = process.listenerCount("SIGHUP");
  const { engine } = await startEngine(t, { sqlPort: sqlListener(port, [user], { tls: settings }) });
  const query = async (ca: string) => {
    const requested = request({
      host: "127.0.0.1",
      port,
      method: "POST",
      path: "/",
      ca,
      auth: "bi:s3cret",
      agent: false,
    }).end("SELECT 6 * 7");
    const [response] = await once(requested, "response");
    let body = "";
    for await (const chunk of response) body += chunk;
    return body;
  };
  t.equal(await query(first.certificate), "42\n");
  const idle = Array.from({ length: 300 }, () => connect({ port, host: "127.0.0.1" }));
  for (const socket of idle) socket.on("error", () => undefined);
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  t.equal(await query(first.certificate), "42\n", "connections without a handshake do not prevent others");
  t.ok(idle.filter((socket) => socket.closed).length >= 44, "the oldest of them were closed");
  for (const socket of idle) socket.destroy();
  await t.rejects(query(renewed.certificate), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  const plain = sendRequest({ url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" }, "/", {
    body: "SELECT 1",
  });
  await t.rejects(plain, { code: "ECONNRESET" }, "passwords are not accepted without TLS");

  renew(renewed);
  await until(
    "the new certificate to be served",
    async () => (await query(renewed.certificate).catch(() => "")) === "42\n",
  );
  t.equal(engine.sqlPort()?.listening, true);

  // The certificate has just been checked, and the next check would be in 10 seconds.
  t.equal(process.listenerCount("SIGHUP"), listeners + 1, "the signal does not end the service");
  renew(first);
  const since = performance.now();
  process.emit("SIGHUP");
  await until(
    "the first certificate to be served again",
    async () => (await query(first.certificate).catch(() => "")) === "42\n",
  );
  t.ok(performance.now() - since < 5_000, "the renewal is immediate");
  await engine.stop();
  t.equal(process.listenerCount("SIGHUP"), listeners, "no signal handlers are left");
});

t.test("without a certificate, SIGHUP ends the service as usual", async (t) => {
  const listeners = process.listenerCount("SIGHUP");
  const user = { user: "bi", password: "s3cret", databases: [] };
  await startEngine(t, { sqlPort: sqlListener(await freePort(), [user]) });
  t.equal(process.listenerCount("SIGHUP"), listeners);
});

t.test("an unreadable certificate is reported and retried, like a port that is in use", async (t) => {
  const port = await freePort();
  const { settings, renew } = certificateFiles(t);
  renew({ key: renewed.key });
  const user = { user: "bi", password: "s3cret", databases: [] };
  const { engine } = await startEngine(t, { sqlPort: sqlListener(port, [user], { tls: settings }) });
  const problem = `embedded.sql_tls.key_file: ${settings.key_file} is not the key of the first certificate in certificate_file`;
  t.strictSame(engine.sqlPort(), { address: `127.0.0.1:${port}`, listening: false, problem });
  renew(first);
  await until("the port to listen", () => engine.sqlPort()?.listening === true);
});
