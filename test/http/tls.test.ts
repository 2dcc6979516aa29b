/** The API uses its own certificate. */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import pino from "pino";
import t from "tap";
import type { ApiSettings } from "../../src/config/settings/api.js";
import { startHttpServer } from "../../src/http/server/server.js";
import { certificateFiles, first, type Pair, renewed } from "../certificates.js";
import { promise } from "../promise.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";

t.test("the API works over TLS", async (t) => {
  const { config, stores } = await openTestStores(t);
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const { settings, renew } = certificateFiles(t);
  const [requested, send] = promise();
  const [held, release] = promise();
  const start = async (api: Partial<ApiSettings> = {}, mode: "both" | "worker" = "both") => {
    const server = await startHttpServer({
      config: { ...config, api: { ...config.api, port: 0, tls: settings, ...api } },
      stores,
      control: {
        lookForDue: () => undefined,
        async trigger() {
          send();
          await held;
          return { run_id: "0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10", queued: false };
        },
      },
      logger,
      version: "0.1.0",
      mode,
    });
    let isClosed = false;
    const close = async (graceMs?: number) => {
      isClosed = true;
      await server.close(graceMs);
    };
    t.teardown(() => isClosed || close());
    return { url: server.url, port: Number(new URL(server.url).port), close };
  };
  const service = await start();

  /** Reads over a new connection, and verifies its certificate. */
  const get = async (pair: Pair, path: string, { port, host = "127.0.0.1" } = { port: service.port }) => {
    const requested = request({ host, port, path, ca: pair.certificate, agent: false }).end();
    const [response] = await once(requested, "response");
    let body = "";
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode, headers: response.headers, body };
  };
  const open = async (version?: SecureVersion): Promise<TLSSocket> => {
    const only = version && { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
    const socket = connect({ host: "127.0.0.1", port: service.port, ca: first.certificate, ...only });
    t.teardown(() => socket.destroy());
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    return socket;
  };

  await t.test("the URL has https, and the certificate is that of the files", async (t) => {
    t.equal(service.url, `https://127.0.0.1:${service.port}`);
    t.strictSame((await get(first, "/health")).status, 200);
    await t.rejects(get(renewed, "/health"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    t.strictSame(
      log.filter(({ msg }) => msg === "the certificate of api.tls").map(({ level }) => level),
      [30],
    );
  });

  await t.test("TLS 1.2 and 1.3 are supported, and nothing older", async (t) => {
    t.equal((await open("TLSv1.2")).getProtocol(), "TLSv1.2");
    t.equal((await open("TLSv1.3")).getProtocol(), "TLSv1.3");
    for (const version of ["TLSv1", "TLSv1.1"] as const)
      await t.rejects(open(version), { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" }, version);
  });

  await t.test("a connection without TLS is closed, and the service continues", async (t) => {
    const plain = connectPlain(service.port, "127.0.0.1");
    let said = "";
    plain.on("data", (data) => {
      said += data.toString("latin1");
    });
    plain.on("error", () => undefined);
    plain.write("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(plain, "close");
    t.notMatch(said, /HTTP/);
    t.equal((await get(first, "/health")).status, 200);
  });

  await t.test("a connection without a handshake is closed", async (t) => {
    const silent = connectPlain(service.port, "127.0.0.1");
    silent.on("error", () => undefined);
    await once(silent.resume(), "close");
    t.equal((await get(first, "/health")).status, 200);
  });

  await t.test(
    "every address of localhost has the renewed certificate, and open connections stay",
    async (t) => {
      const local = await start({ host: "localhost" });
      const before = await open();
      renew(renewed);
      process.emit("SIGHUP");
      await until("both to be renewed", async () => {
        const found = log.filter(({ msg }) => msg === "the certificate of api.tls was renewed");
        return found.length === 2;
      });
      t.equal((await get(renewed, "/health")).status, 200);
      const addresses = await lookup("localhost", { all: true });
      for (const { address: host } of addresses) {
        const { port } = local;
        const options = { host, port, servername: "localhost" };
        const socket = connect({ ...options, ca: renewed.certificate });
        t.teardown(() => socket.destroy());
        await once(socket, "secureConnect");
        t.equal(socket.getPeerCertificate().subject.CN, "renewed", host);
      }
      before.write("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      t.match(String((await once(before, "data"))[0]), /^HTTP\/1\.1 200 /);
      await local.close();
      renew(first);
      process.emit("SIGHUP");
      await until(
        "it to be as before",
        async () => (await get(first, "/health").catch(() => undefined))?.status === 200,
      );
    },
  );

  await t.test("a key of another certificate is logged, and the certificate stays", async (t) => {
    renew({ key: renewed.key });
    process.emit("SIGHUP");
    const message = "the files of api.tls changed and cannot be used; the former certificate stays in use";
    await until("the log line", () => log.some(({ msg }) => msg === message));
    t.strictSame(
      log.filter(({ msg }) => msg === message).map(({ level, problem }) => [level, problem]),
      [
        [
          50,
          `api.tls.key_file: ${settings.key_file} is not the key of the first certificate in certificate_file`,
        ],
      ],
    );
    t.equal((await get(first, "/health")).status, 200);
    await t.rejects(start(), { name: "CertificateError" }, "the service does not start with it");
    renew(first);
  });

  await t.test("the port of a worker uses TLS as well", async (t) => {
    const worker = await start({}, "worker");
    t.equal((await get(first, "/health", worker)).status, 200);
    await worker.close();
  });

  await t.test(
    "closing waits for active responses, but not for idle connections or handshakes",
    async (t) => {
      const listeners = process.listenerCount("SIGHUP");
      const raw = connectPlain(service.port, "127.0.0.1");
      await once(raw, "connect");
      const others = [raw, await open()];
      for (const socket of others) socket.on("error", () => undefined);
      const busy = await open();
      const line = "POST /api/v1/tenants/acme/pipeline/run HTTP/1.1";
      busy.write(`${line}\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`);
      await requested;
      let closed = false;
      const closing = service.close(2 ** 31 - 1).then(() => {
        closed = true;
      });
      await Promise.all(others.map((socket) => socket.closed || once(socket.resume(), "close")));
      t.equal(closed, false, "the active response is sent before the connection closes");
      let response = "";
      busy.on("data", (data) => {
        response += data;
      });
      release();
      await once(busy, "close");
      await closing;
      t.match(response, /^HTTP\/1\.1 202 /);
      t.equal(process.listenerCount("SIGHUP"), listeners - 1, "no signal handlers are left");
    },
  );
});
