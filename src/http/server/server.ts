/** Listens on the configured port, and shuts down gracefully. */
import type { Logger } from "pino";
import type { TlsFiles } from "../../common/tls/certificate.js";
import { readCertificate } from "../../common/tls/certificate.js";
import { type Renewal, watchCertificate } from "../../common/tls/renewal.js";
import { refusalToListen } from "../../config/settings/api.js";
import { type AppOptions, buildApp } from "../app.js";
import { watchIdleConnections } from "./idle-connections.js";
import { type TlsServers, tlsServers } from "./tls-servers.js";

export interface HttpServer {
  /** `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops accepting requests, waits up to `graceMs` for active ones, and closes the remaining connections. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Listens on the address of `config.api`. Throws if that would give everybody access. In the mode `worker`, only the
 * routes that monitor a process are served.
 */
export async function startHttpServer(options: AppOptions): Promise<HttpServer> {
  const refusal = refusalToListen(options.config.api);
  if (refusal !== undefined) throw new Error(refusal);
  const { config, logger } = options;
  const tls = config.api.tls && (await openTls(config.api.tls, logger));
  const app = await buildApp({ ...options, tls: tls?.servers });
  const idle = watchIdleConnections(app.server);
  const { host, port } = config.api;
  const url = await app.listen({ host, port });
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be accepted"));
  return {
    url,
    async close(graceMs = 10_000) {
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
      idle.end();
      tls?.close();
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    },
  };
}

interface Tls {
  readonly servers: TlsServers;
  close(): void;
}

/** Reads the certificate, and again when its files change or SIGHUP arrives. */
async function openTls(settings: TlsFiles, logger: Logger): Promise<Tls> {
  const section = "api.tls";
  const current = await readCertificate(settings, section);
  const servers = tlsServers(current);
  const logCertificate = ({ validUntil }: typeof current, message: string) =>
    logger[validUntil < new Date() ? "warn" : "info"]({ valid_until: validUntil }, message);
  logCertificate(current, `the certificate of ${section}`);
  const renewal: Renewal = watchCertificate({
    settings,
    section,
    current,
    use(renewed) {
      servers.use(renewed);
      logCertificate(renewed, `the certificate of ${section} was renewed`);
    },
    onProblem: (problem) =>
      logger.error(
        { problem },
        `the files of ${section} changed and cannot be used; the former certificate stays in use`,
      ),
  });
  const onHangUp = () => void renewal.check();
  process.on("SIGHUP", onHangUp);
  return {
    servers,
    close() {
      process.off("SIGHUP", onHangUp);
      renewal.stop();
    },
  };
}
