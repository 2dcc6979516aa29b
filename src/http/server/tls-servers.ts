/**
 * TLS servers whose certificate can be replaced while they run. There may be several: Fastify creates one for each
 * address of `localhost`.
 */
import type { RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import { type Certificate, HANDSHAKE_TIMEOUT_MS } from "../../common/tls/certificate.js";

export interface TlsServers {
  create(limits: ServerOptions, listener: RequestListener): Server;
  /** Uses the certificate for new connections. */
  use(renewed: Certificate): void;
}

export function tlsServers(certificate: Certificate): TlsServers {
  const servers: Server[] = [];
  let current = certificate;
  return {
    create(limits, listener) {
      const options = { ...limits, ...current.options, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
      const server = createServer(options, listener);
      servers.push(server);
      return server;
    },
    use(renewed) {
      current = renewed;
      for (const server of servers) server.setSecureContext(renewed.options);
    },
  };
}
